//! The words of the lock: the holder, and what waiting threads wish. Releasing costs two loads and a store, and no fence.
//!
//! Before it sleeps, a thread stores its wish, makes all threads of the process execute a fence, and then reads the
//! holder once more. So either it finds the lock free, or the thread that releases the lock reads the wish and wakes
//! it. A wish that is taken changes the word that the kernel compares, so a thread that is just about to sleep returns.
//! A wish for a turn needs no fence: the releases that read it too late are few. `tests/loom.rs` checks all orders.
//! Invariant: while a guard exists, the holder is the identity of the thread that took the lock, or that thread is inside as
//! the owner of a bias; otherwise the holder is `FREE`, the owner of a bias who is outside, or a thread that claims it.
//! Not here: entering and leaving with a bias (`bias`); identities of threads, sleeping, waking and the fence (`raw`).

use super::bias::{BIASED, Bias, CLAIMED};
use crate::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence, is_single_threaded};

pub(crate) const FREE: u64 = 0;

/// A wish: a thread sleeps, and is to be woken.
pub(crate) const ASLEEP: u32 = 1;
/// A wish: the next release is to wait until another thread has taken the lock.
pub(crate) const TURN: u32 = 2;
/// A wish: the thread that claims the lock sleeps until the owner of the bias has left.
pub(crate) const LEAVE: u32 = 4;

/// The lock without its system calls.
#[derive(Debug)]
pub(crate) struct LockWord {
    pub(crate) holder: AtomicU64,
    pub(crate) wishes: AtomicU32,
    pub(crate) bias: Bias,
}

/// How an attempt to take the lock ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The lock is not taken.
    Failed,
    /// The lock is taken.
    Taken,
    /// The lock is taken, and the thread has taken it so often in turn that it may become the owner of a bias.
    BiasDue,
}

impl LockWord {
    /// Takes the lock for the thread with the identity `me`, which is not `FREE`, if the lock is free and the process has
    /// one thread.
    #[inline(always)]
    pub(crate) fn take_alone(&self, me: u64) -> bool {
        // Only a signal handler can interrupt this, and it either restores the word or does not return.
        let free = is_single_threaded() && self.holder.load(Ordering::Relaxed) == FREE;
        if free {
            self.holder.store(me, Ordering::Relaxed);
        }
        free
    }

    /// Takes the lock for the thread with the identity `me`, if the lock is free or biased towards the thread. `calls` is
    /// how much that counts for a bias, which this grants.
    #[inline(always)]
    pub(crate) fn try_take(&self, me: u64, calls: u32) -> bool {
        let attempt = self.attempt(me, calls);
        if attempt == Attempt::BiasDue {
            self.bias.grant(&self.holder, me);
        }
        attempt != Attempt::Failed
    }

    /// As [`LockWord::try_take`], but grants no bias.
    #[inline(always)]
    pub(crate) fn attempt(&self, me: u64, calls: u32) -> Attempt {
        let holder = self.holder.load(Ordering::Relaxed);
        if holder == me | BIASED {
            return if self.bias.enter(&self.holder, me) { Attempt::Taken } else { Attempt::Failed };
        }
        // Acquire pairs with the Release in `release`.
        let free = || self.holder.compare_exchange(FREE, me, Ordering::Acquire, Ordering::Relaxed).is_ok();
        match holder == FREE && free() {
            false => Attempt::Failed,
            true if self.bias.count(me, calls) => Attempt::BiasDue,
            true => Attempt::Taken,
        }
    }

    /// Whether the thread `me`, which is the calling one, holds the lock. No other thread stores `me` or writes its count,
    /// so the result cannot be stale. A thread that claims the lock counts as its holder.
    #[inline]
    pub(crate) fn is_held_by(&self, me: u64) -> bool {
        self.holder.load(Ordering::Relaxed) & !CLAIMED == me || self.bias.is_inside(me)
    }

    /// Releases the lock if its holder has no bias and there is no wish; whether it did. Otherwise `release_rest` follows.
    #[inline(always)]
    pub(crate) fn release(&self) -> bool {
        // A thread that holds the lock without a bias reads its own identity.
        if self.holder.load(Ordering::Relaxed) & (BIASED | CLAIMED) != 0 {
            return false;
        }
        // Release pairs with the Acquire in `try_take`.
        self.holder.store(FREE, Ordering::Release);
        // Pairs with the fence that a thread that wishes to be woken makes all threads execute.
        compiler_fence(Ordering::SeqCst);
        self.wishes.load(Ordering::Relaxed) == 0
    }

    /// Releases the lock if the thread `me` is inside as the owner of a bias; returns whether there is a wish, which the
    /// caller takes.
    #[inline(always)]
    pub(crate) fn release_rest(&self, me: u64) -> bool {
        if self.bias.is_inside(me) {
            self.bias.leave(me);
            // As in `release`.
            compiler_fence(Ordering::SeqCst);
        }
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
