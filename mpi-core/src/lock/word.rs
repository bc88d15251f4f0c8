//! The word of the lock and the count of its sleepers: releasing costs a store and a load, and no fence.
//!
//! Before it sleeps, a thread increments the count, makes all threads of the process execute a fence, and then reads
//! the word once more. So either it finds the lock free, or the thread that releases the lock reads the new count and
//! wakes it. `tests/loom.rs` checks all orders.
//! Invariant: while a guard exists, the word is the identity of the thread that took the lock; otherwise it is `FREE`.
//! Not here: identities of threads, sleeping, waking and the fence (`lock`).

use crate::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence, is_single_threaded};

pub(crate) const FREE: u64 = 0;

/// The lock without its system calls.
#[derive(Debug)]
pub(crate) struct LockWord {
    pub(crate) holder: AtomicU64,
    pub(crate) sleepers: AtomicU32,
}

impl LockWord {
    /// Takes the lock for the thread with the identity `me`, which is not `FREE`, if the lock is free.
    #[inline]
    pub(crate) fn try_take(&self, me: u64) -> bool {
        if is_single_threaded() {
            // Only a signal handler can interrupt this, and it either restores the word or does not return.
            let free = self.holder.load(Ordering::Relaxed) == FREE;
            if free {
                self.holder.store(me, Ordering::Relaxed);
            }
            return free;
        }
        // Acquire pairs with the Release in `release`.
        self.holder.compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether the thread `me` holds the lock. No other thread ever stores `me`, so the result cannot be stale.
    #[inline]
    pub(crate) fn is_held_by(&self, me: u64) -> bool {
        self.holder.load(Ordering::Relaxed) == me
    }

    /// Releases the lock; returns whether a sleeping thread has to be woken.
    #[inline]
    pub(crate) fn release(&self) -> bool {
        // Release pairs with the Acquire in `try_take`.
        self.holder.store(FREE, Ordering::Release);
        // Pairs with the fence that the caller of `announce` makes all threads execute.
        compiler_fence(Ordering::SeqCst);
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Counts a sleeper; the caller then makes all threads execute a fence.
    pub(crate) fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
    }

    /// Removes a sleeper, which has taken the lock, from the count.
    pub(crate) fn arrived(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
