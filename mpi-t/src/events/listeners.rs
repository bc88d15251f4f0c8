//! The numbers of registrations with a callback: of each event point, and of all points together.
//!
//! Not here: the callbacks and their selection (`dispatcher`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::dispatcher::Interest;
use crate::field::KEPT;

/// In the lower half the registrations with a callback, of all registries and events; in the upper half the requests for
/// whole calls. One word for all, so that its address is a constant and one cache line serves every point and short way.
static ALL: AtomicU64 = AtomicU64::new(0);
/// One request for whole calls.
const WHOLE_CALLS: u64 = 1 << 32;
const REGISTRATIONS: u64 = WHOLE_CALLS - 1;

/// Whether any event has a callback: one relaxed load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn any_callback_registered() -> bool {
    KEPT && ALL.load(Relaxed) & REGISTRATIONS != 0
}

/// Whether no call takes its short way: an event has a callback, or [`request_whole_calls`] is in force. One relaxed
/// load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn whole_calls_requested() -> bool {
    KEPT && ALL.load(Relaxed) != 0
}

/// Requests that calls do not take their short ways, which leave out some records (`true`), or withdraws one request
/// (`false`). Requests are counted. A call that has begun may still take its short way. Thread-safe.
pub fn request_whole_calls(on: bool) {
    if on {
        ALL.fetch_add(WHOLE_CALLS, Relaxed);
    } else {
        ALL.fetch_sub(WHOLE_CALLS, Relaxed);
    }
}

/// Registrations with a callback of the events of one point.
#[derive(Debug, Default)]
pub(crate) struct Listeners(AtomicU32);

impl Listeners {
    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

impl Interest for &'static Listeners {
    // Relaxed: the dispatcher selects callbacks under its lock; these counts only decide whether to take it.
    fn more(&self) {
        self.0.fetch_add(1, Relaxed);
        ALL.fetch_add(1, Relaxed);
    }

    fn less(&self) {
        self.0.fetch_sub(1, Relaxed);
        ALL.fetch_sub(1, Relaxed);
    }
}
