//! The lock of memory that several processes have mapped: one word, which holds the id of the process that has it.
//!
//! A process has it for some microseconds, so the others spin. One that ends meanwhile keeps it: another process that
//! finds it ended takes the lock over.
//! Invariants: one process has the lock at a time, and sees what those before it did. What another process wrote into
//! the word is input: any value makes a process wait or take the lock over, and nothing else.
//! Not here: waiting, and whether a process still runs (`shared`).

#[cfg(all(test, loom))]
mod model;

use crate::sync::{AtomicU32, Ordering};

/// The value of the word while no process has the lock.
const FREE: u32 = 0;

/// The lock in a word, which is 0 at first.
#[derive(Clone, Copy)]
pub(crate) struct MemoryLock<'a>(pub &'a AtomicU32);

impl MemoryLock<'_> {
    /// Takes the lock for the process with this id, which is not 0, if no process has it.
    #[inline(always)]
    pub fn try_take(self, process: u32) -> bool {
        // Acquire pairs with the Release in `release`.
        self.0.compare_exchange(FREE, process, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The process that has the lock, as the word has it.
    pub fn holder(self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|holder| *holder != FREE)
    }

    /// Takes the lock of `holder`, which has ended; false if that one does not have it. A process that has ended takes
    /// the lock no more, so one of those that find it ended succeeds.
    pub fn take_over(self, holder: u32, process: u32) -> bool {
        // Acquire pairs with nothing where the holder ended within its changes, which then are there in part; the system
        // has reported its end after all of its stores.
        self.0.compare_exchange(holder, process, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the lock, which this process has.
    #[inline(always)]
    pub fn release(self) {
        // Release pairs with the Acquire in `try_take`.
        self.0.store(FREE, Ordering::Release);
    }
}
