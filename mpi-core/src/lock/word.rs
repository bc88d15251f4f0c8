//! The words of the lock: the holder, and what waiting threads wish. Releasing costs a store and a load, and no fence.
//!
//! Before it sleeps, a thread stores its wish, makes all threads of the process execute a fence, and then reads the
//! holder once more. So either it finds the lock free, or the thread that releases the lock reads the wish and wakes
//! it. A wish that is taken changes the word that the kernel compares, so a thread that is just about to sleep returns.
//! A wish for a turn needs no fence: the releases that read it too late are few. `tests/loom.rs` checks all orders.
//! Invariant: while a guard exists, the holder is the identity of the thread that took the lock; otherwise it is `FREE`.
//! Not here: identities of threads, sleeping, waking and the fence (`raw`).

use crate::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence, is_single_threaded};

pub(crate) const FREE: u64 = 0;

/// A wish: a thread sleeps, and is to be woken.
pub(crate) const ASLEEP: u32 = 1;
/// A wish: the next release is to wait until another thread has taken the lock.
pub(crate) const TURN: u32 = 2;

/// The lock without its system calls.
#[derive(Debug)]
pub(crate) struct LockWord {
    pub(crate) holder: AtomicU64,
    pub(crate) wishes: AtomicU32,
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

    /// Releases the lock; returns whether there is a wish, which the caller takes.
    #[inline]
    pub(crate) fn release(&self) -> bool {
        // Release pairs with the Acquire in `try_take`.
        self.holder.store(FREE, Ordering::Release);
        // Pairs with the fence that a thread that wishes to be woken makes all threads execute.
        compiler_fence(Ordering::SeqCst);
        self.wishes.load(Ordering::Relaxed) != 0
    }

    /// Adds a wish and returns all of them. A thread that sleeps then makes all threads execute a fence.
    pub(crate) fn wish(&self, wish: u32) -> u32 {
        self.wishes.fetch_or(wish, Ordering::SeqCst) | wish
    }

    /// Takes all wishes.
    pub(crate) fn take_wishes(&self) -> u32 {
        self.wishes.swap(0, Ordering::SeqCst)
    }
}
