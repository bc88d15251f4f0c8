//! The lock of one process's memory: held by any number of processes together, or by one alone.
//!
//! One word has the state: the number of processes that share the lock, or the rank of the one that holds it alone.
//! A second word counts the processes that wait to hold it alone. While there are some, a process that wants to share
//! the lock lets them go first, for a limited time: one of those that share it may wait for that process.
//! Invariant: only a process that holds the lock releases it.

use crate::sync::{AtomicU64, Ordering};

/// Place of the rank of the process that holds the lock alone, plus one; below it is the number of those that share it.
const ALONE: u32 = 32;

/// The lock of one process's memory, in words that several processes share. Thread-safe.
#[derive(Debug, Clone, Copy)]
pub struct RankLock<'a> {
    state: &'a AtomicU64,
    claims: &'a AtomicU64,
}

impl<'a> RankLock<'a> {
    /// The lock in these words, which are 0 at first.
    pub(crate) fn new(state: &'a AtomicU64, claims: &'a AtomicU64) -> RankLock<'a> {
        RankLock { state, claims }
    }

    /// Takes the lock together with others; false while a process holds it alone, or waits to.
    #[inline]
    pub fn try_share(self) -> bool {
        self.claims.load(Ordering::Relaxed) == 0 && self.try_share_first()
    }

    /// As [`RankLock::try_share`], also while a process waits to hold the lock alone.
    #[inline]
    pub fn try_share_first(self) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while state >> ALONE == 0 {
            // Acquire pairs with the Release in `release`.
            match self.state.compare_exchange(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => state = found,
            }
        }
        false
    }

    /// Takes the lock alone, for the process with this rank; false while any process holds it.
    #[inline]
    pub fn try_hold(self, rank: u32) -> bool {
        let alone = (u64::from(rank) + 1) << ALONE;
        // Acquire pairs with the Release in `release` and in `stop_sharing`.
        self.state.compare_exchange(0, alone, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Releases the lock that this process holds alone.
    #[inline]
    pub fn release(self) {
        // Release pairs with the Acquires in `try_share` and `try_hold`.
        self.state.store(0, Ordering::Release);
    }

    /// Releases the lock that this process shares.
    #[inline]
    pub fn stop_sharing(self) {
        // Release pairs with the Acquire in `try_hold`.
        self.state.fetch_sub(1, Ordering::Release);
    }

    /// The process begins to wait until it holds the lock alone.
    pub fn claim(self) {
        self.claims.fetch_add(1, Ordering::Relaxed);
    }

    /// The process waits no longer.
    pub fn end_claim(self) {
        let fewer = |claims: u64| claims.checked_sub(1);
        // Without claims another process has forgotten this one's.
        let _ = self.claims.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
    }

    /// Forgets who waits to hold the lock alone, because one that does has ended. The others get the lock as before, and
    /// those that want to share it do not let them go first.
    pub fn forget_claims(self) {
        self.claims.store(0, Ordering::Relaxed);
    }

    /// Whether a process waits to hold the lock alone, as the word has it.
    pub fn is_claimed(self) -> bool {
        self.claims.load(Ordering::Relaxed) > 0
    }

    /// The rank of the process that holds the lock alone, as the word has it.
    pub fn holder(self) -> Option<u32> {
        ((self.state.load(Ordering::Relaxed) >> ALONE) as u32).checked_sub(1)
    }

    /// Whether processes share the lock, as the word has it.
    pub fn is_shared(self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state != 0 && state >> ALONE == 0
    }

    /// Takes the lock from `holder`, which has ended, for the process with this rank; false if that one does not hold it.
    pub fn take_over(self, holder: u32, rank: u32) -> bool {
        let [before, after] = [holder, rank].map(|rank| (u64::from(rank) + 1) << ALONE);
        self.state.compare_exchange(before, after, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_shared_or_held_alone_and_a_claim_keeps_others_from_sharing() {
        let (state, claims) = (AtomicU64::new(0), AtomicU64::new(0));
        let lock = RankLock::new(&state, &claims);
        assert!(lock.try_share() && lock.try_share() && !lock.try_hold(0));
        assert!(lock.is_shared());
        lock.claim();
        assert!(!lock.try_share() && lock.try_share_first());
        lock.stop_sharing();
        lock.stop_sharing();
        assert!(!lock.try_hold(0));
        lock.stop_sharing();
        assert!(!lock.is_shared() && lock.try_hold(0) && !lock.try_hold(1) && !lock.try_share_first());
        assert!(!lock.is_shared());
        lock.end_claim();
        assert_eq!((lock.holder(), lock.try_share()), (Some(0), false));
        lock.release();
        assert_eq!((lock.holder(), lock.try_share()), (None, true));
    }

    #[test]
    fn a_claim_that_is_forgotten_keeps_nobody_from_sharing() {
        let (state, claims) = (AtomicU64::new(0), AtomicU64::new(0));
        let lock = RankLock::new(&state, &claims);
        lock.claim();
        lock.claim();
        assert!(lock.is_claimed() && !lock.try_share());
        lock.forget_claims();
        assert!(!lock.is_claimed() && lock.try_share());
        lock.end_claim();
        assert!(!lock.is_claimed() && lock.try_share());
        lock.claim();
        assert!(!lock.try_share());
    }

    #[test]
    fn only_the_lock_of_the_process_that_ended_is_taken_over() {
        let (state, claims) = (AtomicU64::new(0), AtomicU64::new(0));
        let lock = RankLock::new(&state, &claims);
        assert!(!lock.take_over(3, 1) && lock.try_hold(3));
        assert!(!lock.take_over(2, 1) && lock.take_over(3, 1));
        assert_eq!(lock.holder(), Some(1));
    }
}
