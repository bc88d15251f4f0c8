//! The word that one waiting thread of a process sleeps on while another thread of the process waits for messages.
//!
//! The thread that completes the waiting thread's operation sets the word. Only a setter that finds the thread asleep
//! has to call the kernel; so a thread that still spins costs it nothing.
//! Invariant: one thread waits on a word at a time. All else that the threads exchange is ordered by the lock that both
//! take, so every step here is relaxed. Model: `mpi-p2p/tests/loom_waiters.rs`.
//! Not here: how long the thread spins, and the kernel's calls (`thread_wait`).

use crate::sync::{AtomicU32, Ordering::Relaxed};

/// The thread waits, and is awake.
const ARMED: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
/// The thread has been woken, or will see the word before it sleeps.
const WOKEN: u32 = 2;

/// A word in the memory of one process, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct ThreadWord {
    state: AtomicU32,
}

impl Default for ThreadWord {
    fn default() -> ThreadWord {
        ThreadWord { state: AtomicU32::new(WOKEN) }
    }
}

impl ThreadWord {
    /// The thread begins to wait. Before this is visible to others (under their lock), none sets the word.
    pub fn arm(&self) {
        self.state.store(ARMED, Relaxed);
    }

    /// Whether the word has been set since [`Self::arm`].
    #[inline]
    pub fn is_set(&self) -> bool {
        self.state.load(Relaxed) == WOKEN
    }

    /// Sets the word; true if its thread sleeps and the kernel has to wake it.
    pub fn set(&self) -> bool {
        // The swap and the exchange in `sleep` are ordered by the word itself: the setter sees `ASLEEP`, or the
        // sleeper sees `WOKEN`.
        self.state.swap(WOKEN, Relaxed) == ASLEEP
    }

    /// The kernel's part of [`Self::set`].
    pub(crate) fn wake(&self, wake: impl FnOnce(&AtomicU32)) {
        wake(&self.state);
    }

    /// Sleeps until the word is set; `wait` sleeps while the word has the given value, and may return at any time.
    pub(crate) fn sleep(&self, mut wait: impl FnMut(&AtomicU32, u32)) {
        if self.state.compare_exchange(ARMED, ASLEEP, Relaxed, Relaxed).is_ok() {
            while !self.is_set() {
                wait(&self.state, ASLEEP);
            }
        }
    }
}
