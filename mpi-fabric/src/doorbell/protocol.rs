//! The sleep and wake protocol alone, over two words and three kernel services.

use std::hint::cold_path;

use crate::sync::{AtomicU32, Ordering, compiler_fence, fence};

/// The system services that the protocol needs; loom's model has its own.
pub(crate) trait Kernel {
    /// Sleeps while `word` is `expected`; may return at any time. `bounded`: return after a while in any case.
    fn wait(&self, word: &AtomicU32, expected: u32, bounded: bool);
    /// Wakes all threads that sleep on `word`.
    fn wake(&self, word: &AtomicU32);
    /// Makes all senders that do not fence for themselves pass a full fence; false if that is impossible.
    fn fence_others(&self) -> bool;
}

/// The two words of one receiver.
pub(crate) struct Bell<'a> {
    pub(crate) waiters: &'a AtomicU32,
    pub(crate) futex: &'a AtomicU32,
}

impl Bell<'_> {
    /// Announces that the caller is going to sleep. After this, and before [`Self::sleep`], it must look for messages
    /// once more. Returns the futex word's value, and whether a wake-up could still be missed.
    pub(crate) fn announce(&self, kernel: &impl Kernel) -> (u32, bool) {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        // Pairs with the fence in `ring`: our store above is before the last poll's loads.
        fence(Ordering::SeqCst);
        let fenced = kernel.fence_others();
        // Acquire pairs with the Release in `ring`: a wake-up already counted here comes with its record, for the last
        // poll.
        (self.futex.load(Ordering::Acquire), !fenced)
    }

    /// Sleeps until rung since `announce`.
    pub(crate) fn sleep(&self, kernel: &impl Kernel, (seen, bounded): (u32, bool)) {
        kernel.wait(self.futex, seen, bounded);
    }

    /// Withdraws the announcement.
    pub(crate) fn retract(&self) {
        self.waiters.fetch_sub(1, Ordering::Relaxed);
    }

    /// Orders a record's store before the load of `waiters`; `fenced` when others can do it for us (`fence_others`).
    #[inline(always)]
    pub(crate) fn has_waiters(&self, fenced: bool) -> bool {
        if fenced {
            // The processor's part is done by `fence_others`; this is the compiler's.
            compiler_fence(Ordering::SeqCst);
        } else {
            cold_path();
            // Pairs with the fence in `announce`.
            fence(Ordering::SeqCst);
        }
        self.waiters.load(Ordering::Relaxed) != 0
    }

    /// Wakes the receiver's threads.
    #[cold]
    pub(crate) fn ring(&self, kernel: &impl Kernel) {
        // Release pairs with the Acquire in `announce`.
        self.futex.fetch_add(1, Ordering::Release);
        kernel.wake(self.futex);
    }
}

/// The services of the Linux kernel.
#[cfg(not(loom))]
pub(crate) struct LinuxKernel;

#[cfg(not(loom))]
impl Kernel for LinuxKernel {
    fn wait(&self, word: &AtomicU32, expected: u32, bounded: bool) {
        let limit = bounded.then_some(std::time::Duration::from_millis(1));
        crate::os::futex_wait(word, expected, limit);
    }

    fn wake(&self, word: &AtomicU32) {
        crate::os::futex_wake(word);
    }

    fn fence_others(&self) -> bool {
        crate::os::membarrier_all()
    }
}
