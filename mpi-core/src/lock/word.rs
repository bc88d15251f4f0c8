//! The word of the lock, and who sleeps for it: letting go costs a store and a load, and no fence.
//!
//! A thread that is going to sleep announces itself and then makes all threads of the process pass a fence, before it
//! looks at the word for the last time. So either it sees that the lock was let go of, or whoever lets go sees it
//! announced and wakes it. `tests/loom.rs` goes through all orders.
//! Invariant: the word is `HELD` while a guard exists.
//! Not here: sleeping, waking and the fence, which are the kernel's.

use crate::sync::{AtomicU32, Ordering, compiler_fence, is_single_threaded};

pub(crate) const FREE: u32 = 0;
pub(crate) const HELD: u32 = 1;

/// The lock without its kernel.
#[derive(Debug)]
pub(crate) struct LockWord {
    pub(crate) state: AtomicU32,
    pub(crate) sleepers: AtomicU32,
}

impl LockWord {
    /// Takes the lock if it is free.
    #[inline]
    pub(crate) fn try_take(&self) -> bool {
        if is_single_threaded() {
            // Only a signal handler can come between, and leaves the word as it was or does not come back.
            let free = self.state.load(Ordering::Relaxed) == FREE;
            if free {
                self.state.store(HELD, Ordering::Relaxed);
            }
            return free;
        }
        // Acquire pairs with the Release in `release`.
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Lets go; whether somebody sleeps and is to be woken.
    #[inline]
    pub(crate) fn release(&self) -> bool {
        // Release pairs with the Acquire in `try_take`.
        self.state.store(FREE, Ordering::Release);
        // Pairs with the fence of `announce`'s caller, which makes a real one of it.
        compiler_fence(Ordering::SeqCst);
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Announces a sleeper, before the fence that all threads pass.
    pub(crate) fn announce(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
    }

    /// A sleeper has the lock.
    pub(crate) fn arrived(&self) {
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
