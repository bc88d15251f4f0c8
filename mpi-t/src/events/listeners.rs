//! The numbers of registrations with a callback: of each event point, and of all points together.
//!
//! Not here: the callbacks and their selection (`dispatcher`).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::dispatcher::Interest;
use crate::field::KEPT;

/// Registrations with a callback, of all registries and events. One word for all, so that its address is a constant
/// and one cache line serves every point.
static ALL: AtomicU32 = AtomicU32::new(0);

/// Whether any event has a callback: one relaxed load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn any_callback_registered() -> bool {
    KEPT && ALL.load(Relaxed) != 0
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
