//! Fields that take work to keep, and are kept only while somebody asks: their second word counts the handles.
//!
//! Invariant: nothing is taken while no handle exists; whether one does is one load.
//! Not here: who counts handles (`handle::pool`), the other fields (`field`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::field::{Field, KEPT, WordUnit, add};
use crate::{Percentage, PvarClass};

/// Sums up time, but only while somebody asks for it: for what is too short to be timed on the chance of a reader.
///
/// While no handle of its variables exists, [`is_watched`](WatchedTimer::is_watched) is one load.
#[derive(Debug, Default)]
#[repr(C)]
pub struct WatchedTimer {
    ns: AtomicU64,
    /// Handles that exist.
    handles: AtomicU64,
}

#[allow(unsafe_code)] // see the trait
// SAFETY: repr(C) over two words, the value first.
unsafe impl Field for WatchedTimer {
    const CLASSES: &'static [PvarClass] = &[PvarClass::Timer];
    const UNIT: WordUnit = WordUnit::Nanosecond;
    const WATCHED: bool = true;
}

impl WatchedTimer {
    /// Whether a handle exists, so that time is to be taken.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        // Relaxed: what begins while a handle is being made may be missed; what begins after is seen by its thread.
        KEPT && self.handles.load(Relaxed) != 0
    }

    /// `ns` nanoseconds more. For the holder of the engine's lock.
    #[inline(always)]
    pub fn add_ns(&self, ns: u64) {
        add(&self.ns, ns);
    }

    /// The nanoseconds taken since the start. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get_ns(&self) -> u64 {
        self.ns.load(Relaxed)
    }
}

/// Which part of a resource is in use, but only while somebody asks for it: for what takes work to find out.
#[derive(Debug, Default)]
#[repr(C)]
pub struct WatchedPercentage {
    part: Percentage,
    /// Handles that exist.
    handles: AtomicU64,
}

#[allow(unsafe_code)] // see the trait
// SAFETY: repr(C) over two words, the value first.
unsafe impl Field for WatchedPercentage {
    const CLASSES: &'static [PvarClass] = &[PvarClass::Percentage];
    const UNIT: WordUnit = WordUnit::Fraction;
    const WATCHED: bool = true;
}

impl WatchedPercentage {
    /// Whether a handle exists, so that the part is to be found out.
    #[inline(always)]
    pub fn is_watched(&self) -> bool {
        // Relaxed: as in `WatchedTimer::is_watched`.
        KEPT && self.handles.load(Relaxed) != 0
    }

    /// Sets the part to `used / size`, as [`Percentage::set`] does.
    #[inline]
    pub fn set(&self, used: u64, size: u64) {
        self.part.set(used, size);
    }

    /// The part as it was last set, 0.0 to 1.0. Async-signal-safe, thread-safe.
    #[inline]
    pub fn get(&self) -> f64 {
        self.part.get()
    }
}
