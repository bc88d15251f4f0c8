//! Levels: fields that rise and fall, with watermarks.
//!
//! Invariant: a change that passes the mark of a running watermark moves it (`watch`).
//! Not here: the other fields (`field`), handles of watermarks (`handle`).

pub(crate) mod watch;

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::field::{KEPT, add, field};

/// How much of a resource is in use, with watermarks for handles.
///
/// While no watermark has a handle, a change costs one compare and one branch that is not taken. Otherwise it costs a
/// call more, and a new highest or lowest level a search for the handles.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Level {
    pub(crate) value: AtomicU64,
    /// The complement of the level above which a high-water mark must be moved; zero: no handle exists.
    pub(crate) above: AtomicU64,
    /// The level below which a low-water mark must be moved; zero: no handle exists. In a [`PeakLevel`], which has no such
    /// marks: [`PEAK_KEPT`] and the highest level since [`PeakLevel::keep_peak`]; zero: it was not called.
    pub(crate) below: AtomicU64,
}

/// How many words behind the word of a [`PeakLevel`] its peak stands, for readers of the memory.
pub const PEAK_WORD: usize = 2;
/// Set in that word if the peak is kept; the other bits are the peak. A low-water mark of another level that the program
/// sets so high only makes the level report each change.
pub const PEAK_KEPT: u64 = 1 << 63;

const _: () = assert!(std::mem::offset_of!(Level, below) == PEAK_WORD * 8);

field!(Level, One, [Level, HighWatermark, LowWatermark, Generic]);

impl Level {
    /// `n` more in use. For the holder of the engine's lock.
    #[inline(always)]
    pub fn raise(&self, n: u64) {
        if !KEPT {
            return;
        }
        add(&self.value, n);
        if self.above.load(Relaxed) != 0 {
            self.compare_with_marks();
        }
    }

    /// The level has risen while a high-water mark has a handle. Out of line, so that all other changes are three
    /// instructions.
    #[cold]
    #[inline(never)]
    fn compare_with_marks(&self) {
        let now = self.get();
        // The same as `now > !above`.
        if now.overflowing_add(self.above.load(Relaxed)).1 {
            watch::rose(self, now);
        }
    }

    /// As [`Level::raise`], from any thread and at any place, with an atomic read-modify-write. A level is changed
    /// either in this way or under one lock.
    #[inline]
    pub fn raise_shared(&'static self, n: u64) {
        if !KEPT {
            return;
        }
        // SeqCst, here and below: either this load comes after `watch::expect` of a new mark, or the thread that sets
        // the mark sees this value.
        let now = self.value.fetch_add(n, SeqCst).wrapping_add(n);
        if now.overflowing_add(self.above.load(SeqCst)).1 {
            watch::rose_anywhere(self, now);
        }
    }

    /// As [`Level::lower`], from any thread and at any place. For levels without a low-water mark.
    #[inline]
    pub fn lower_shared(&'static self, n: u64) {
        if KEPT {
            self.value.fetch_sub(n, SeqCst);
        }
    }

    /// `n` less in use; at least `n` must be. For the holder of the engine's lock.
    #[inline(always)]
    pub fn lower(&self, n: u64) {
        if !KEPT {
            return;
        }
        let before = self.value.load(Relaxed);
        debug_assert!(before >= n, "a level cannot be below zero: {before} - {n}");
        let now = before.wrapping_sub(n);
        self.value.store(now, Relaxed);
        if now < self.below.load(Relaxed) {
            watch::fell(self, now);
        }
    }

    /// Raises or lowers the level to `now`. For the holder of the engine's lock.
    #[inline]
    pub fn follow(&self, now: u64) {
        if !KEPT {
            return;
        }
        let before = self.get();
        match now.checked_sub(before) {
            Some(more) => self.raise(more),
            None => self.lower(before - now),
        }
    }

    /// The level now. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.value.load(Relaxed)
    }
}

/// A [`Level`] without low-water marks, whose highest value can be kept for readers outside: to lower it costs one
/// instruction.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct PeakLevel(Level);

field!(PeakLevel, One, [Level, HighWatermark, Generic]);

impl PeakLevel {
    /// As [`Level::raise`].
    #[inline(always)]
    pub fn raise(&self, n: u64) {
        self.0.raise(n);
    }

    /// Keeps the highest level from now on in a word of its own, for readers of the memory. Until then a change costs
    /// nothing for it; afterwards it costs a call more. For the holder of the engine's lock.
    pub fn keep_peak(&self) {
        if KEPT {
            watch::keep_peak(&self.0);
        }
    }

    /// The highest level since [`PeakLevel::keep_peak`], if it was called.
    pub fn peak(&self) -> Option<u64> {
        watch::peak_of(&self.0)
    }

    /// `n` less in use; at least `n` must be. For the holder of the engine's lock.
    #[inline(always)]
    pub fn lower(&self, n: u64) {
        debug_assert!(!KEPT || self.get() >= n, "a level cannot be below zero: {} - {n}", self.get());
        add(&self.0.value, n.wrapping_neg());
    }

    /// The level now. Async-signal-safe, thread-safe.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use crate::field::fits;
    use crate::{Level, PeakLevel, PvarClass, ValueType};

    #[test]
    fn levels_take_only_variables_of_their_classes_and_types() {
        assert!(fits::<Level>(PvarClass::HighWatermark, ValueType::U32));
        assert!(!fits::<Level>(PvarClass::Counter, ValueType::U32));
        assert!(!fits::<Level>(PvarClass::Level, ValueType::I32));
        assert!(fits::<PeakLevel>(PvarClass::HighWatermark, ValueType::U64));
        assert!(!fits::<PeakLevel>(PvarClass::LowWatermark, ValueType::U64));
    }

    #[test]
    fn a_peak_is_kept_from_the_call_on() {
        let level = PeakLevel::default();
        level.raise(5);
        assert_eq!(level.peak(), None);
        level.lower(3);
        level.keep_peak();
        assert_eq!(level.peak(), Some(2));
        level.raise(4);
        level.lower(6);
        level.raise(1);
        assert_eq!((level.get(), level.peak()), (1, Some(6)));
        level.raise(6);
        assert_eq!(level.peak(), Some(7));
    }
}
