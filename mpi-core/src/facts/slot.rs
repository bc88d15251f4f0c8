//! A handle and a fact of its object, readable without a lock.
//!
//! The writer holds the process lock. It stores the fact before the handle, and removes the handle before it reuses the
//! slot. A reader reads the handle, the fact, and the handle again; one that got the handle before it reads need not
//! read it first.
//! Invariant: a reader that finds its handle both times has read the fact of that handle. `tests/loom.rs` checks all
//! orders.

use crate::Handle;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// One slot.
#[derive(Debug)]
pub(crate) struct Slot {
    word: AtomicUsize,
    fact: AtomicU64,
}

impl Default for Slot {
    fn default() -> Self {
        Slot { word: AtomicUsize::new(0), fact: AtomicU64::new(0) }
    }
}

impl Slot {
    /// Stores a fact; the slot must be empty.
    #[inline]
    pub(crate) fn set(&self, handle: Handle, fact: u64) {
        // Release pairs with the Acquire of `fact` in `get`: a reader of this fact no longer finds the previous handle.
        self.fact.store(fact, Ordering::Release);
        // Release pairs with the first Acquire in `get`: a thread that reads this handle reads this fact, or a later
        // one.
        self.word.store(handle.0, Ordering::Release);
    }

    /// Removes the handle.
    #[inline]
    pub(crate) fn clear(&self) {
        self.word.store(0, Ordering::Relaxed);
    }

    /// The fact, if the slot has the handle both before and after the fact is read.
    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> Option<u64> {
        // An empty slot has the word 0, which is no handle.
        if self.word.load(Ordering::Acquire) != handle.0 || handle.0 == 0 {
            return None;
        }
        // Acquire pairs with the Release of the fact in `set`.
        let fact = self.fact.load(Ordering::Acquire);
        (self.word.load(Ordering::Relaxed) == handle.0).then_some(fact)
    }

    /// As [`Slot::get`], for a word that is not 0. If it is a handle, its object was made before this call, as seen by
    /// this thread: then the fact is that of this handle or of a later one, never an earlier one's. Of any other word
    /// the fact may be another object's while the object with this word is being made.
    #[inline(always)]
    pub(crate) fn get_existing(&self, handle: Handle) -> Option<u64> {
        // Acquire pairs with the Release of the fact in `set`: a reader of a later fact no longer finds this handle.
        let fact = self.fact.load(Ordering::Acquire);
        (self.word.load(Ordering::Relaxed) == handle.0).then_some(fact)
    }
}
