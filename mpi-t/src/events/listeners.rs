//! The numbers of registrations with a callback: of each event point, and of all points together.
//!
//! Not here: the callbacks and their selection (`dispatcher`).

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::dispatcher::Interest;
use crate::field::KEPT;

/// In the lower half the registrations with a callback, of all registries and events; in the upper half those who ask for
/// longer ways. One word for all, so that its address is a constant and one cache line serves every point and short way.
static ALL: AtomicU64 = AtomicU64::new(0);
/// One that asks for longer ways.
const LONGER_WAY: u64 = 1 << 32;
const REGISTRATIONS: u64 = LONGER_WAY - 1;

/// Whether any event has a callback: one relaxed load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn any_callback_registered() -> bool {
    KEPT && ALL.load(Relaxed) & REGISTRATIONS != 0
}

/// Whether calls that have a short way take the longer one: an event has a callback, or [`ask_for_longer_ways`] holds. One relaxed
/// load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn longer_ways_asked_for() -> bool {
    KEPT && ALL.load(Relaxed) != 0
}

/// Asks that all calls take their longer ways, which record what the short ones leave out (`true`), or takes that back
/// (`false`); each asker by itself. A call that has begun may still take its short way. Thread-safe.
pub fn ask_for_longer_ways(ask: bool) {
    if ask {
        ALL.fetch_add(LONGER_WAY, Relaxed);
    } else {
        ALL.fetch_sub(LONGER_WAY, Relaxed);
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
