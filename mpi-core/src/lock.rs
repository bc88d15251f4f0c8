//! The one lock of a process, and cells that only its holder can open.
//!
//! All state that messages change sits in [`Guarded`] cells of one [`ProcessLock`]. Below `MPI_THREAD_MULTIPLE` the
//! lock is a plain flag: no atomic read-modify-write, no fence; it still refuses a second entry, so a call from a
//! signal handler or a second thread is seen instead of corrupting anything it can be seen to corrupt.
//! At `MPI_THREAD_MULTIPLE` it is a spin-then-sleep mutex.
//!
//! Invariant: at most one [`Guard`] of a lock exists at a time once the thread level is honoured by the program.
#![allow(unsafe_code)] // the cell's interior is handed out against the guard, which the borrow checker cannot see

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// The lock of one process (or of one rank that lives as a thread).
#[derive(Debug)]
pub struct ProcessLock {
    state: AtomicU32,
    multiple: AtomicBool,
    id: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl ProcessLock {
    /// A free lock; `multiple` says whether several threads may call at once.
    pub fn new(multiple: bool) -> Self {
        ProcessLock {
            state: AtomicU32::new(FREE),
            multiple: AtomicBool::new(multiple),
            // Relaxed: only uniqueness matters.
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether several threads may call at once (`MPI_THREAD_MULTIPLE`).
    #[inline]
    pub fn is_multiple(&self) -> bool {
        self.multiple.load(Ordering::Relaxed)
    }

    /// Sets the thread level. Call it while no other thread is inside the library: at start-up.
    pub fn set_multiple(&self, multiple: bool) {
        self.multiple.store(multiple, Ordering::SeqCst);
    }

    /// Takes the lock, waiting for another thread if there is one.
    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        if self.is_multiple() {
            // Acquire pairs with the Release swap in `Guard::drop`.
            if self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
                self.lock_slow();
            }
        } else if self.state.load(Ordering::Relaxed) == FREE {
            self.state.store(HELD, Ordering::Relaxed);
        } else {
            self.lock_slow();
        }
        Guard::of(self)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        // Acquire pairs with the Release swap in `Guard::drop`.
        let free = self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok();
        free.then(|| Guard::of(self))
    }

    /// Waits for the holder. Below `MPI_THREAD_MULTIPLE` this is reached only by programs that call from more
    /// threads than they asked for; they are served as if they had asked.
    #[cold]
    fn lock_slow(&self) {
        for _ in 0..100 {
            std::hint::spin_loop();
            if self.state.load(Ordering::Relaxed) == FREE
                && self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
        }
        // Acquire pairs with the Release swap in `Guard::drop`; CONTENDED makes the holder wake a sleeper.
        while self.state.swap(CONTENDED, Ordering::Acquire) != FREE {
            self.sleep();
        }
    }

    fn sleep(&self) {
        // A bounded sleep: below MPI_THREAD_MULTIPLE the holder's plain store may overwrite CONTENDED.
        let limit = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        // SAFETY: the word outlives the call, and the kernel only compares it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.state.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                CONTENDED,
                &limit as *const libc::timespec,
            );
        }
    }

    #[cold]
    fn wake(&self) {
        // SAFETY: waking on an address only names it.
        unsafe {
            libc::syscall(libc::SYS_futex, self.state.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
        }
    }
}

/// Proof that the calling thread holds a [`ProcessLock`]; dropping it lets the lock go.
#[derive(Debug)]
pub struct Guard<'a> {
    lock: &'a ProcessLock,
    /// Threads must not share a guard: what [`Guarded::get`] shows need not be `Sync`.
    one_thread: PhantomData<Cell<()>>,
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.is_multiple() {
            // Release pairs with the Acquire in `lock`.
            if self.lock.state.swap(FREE, Ordering::Release) == CONTENDED {
                self.lock.wake();
            }
        } else {
            self.lock.state.store(FREE, Ordering::Release);
        }
    }
}

impl<'a> Guard<'a> {
    #[inline(always)]
    fn of(lock: &'a ProcessLock) -> Guard<'a> {
        Guard { lock, one_thread: PhantomData }
    }

    /// The lock this guard holds.
    #[inline]
    pub fn lock(&self) -> &'a ProcessLock {
        self.lock
    }
}

/// A value that only the holder of one particular [`ProcessLock`] can reach.
#[derive(Debug)]
pub struct Guarded<T> {
    lock: u64,
    value: UnsafeCell<T>,
}

// SAFETY: a reference into the cell needs a guard of the one lock, which threads cannot share, so they reach it one at
// a time.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// A cell that opens to the holder of `lock`.
    pub fn new(lock: &ProcessLock, value: T) -> Self {
        Guarded { lock: lock.id, value: UnsafeCell::new(value) }
    }

    /// Reads the cell for as long as the guard is borrowed.
    #[inline]
    pub fn get<'g>(&'g self, guard: &'g Guard<'_>) -> &'g T {
        assert!(guard.lock.id == self.lock, "a guard of another process's lock");
        // SAFETY: the guard proves that no other thread is inside; `get_mut` needs the guard mutably, so no
        // exclusive reference to any cell of this lock lives at the same time.
        unsafe { &*self.value.get() }
    }

    /// Changes the cell for as long as the guard is mutably borrowed.
    #[inline]
    pub fn get_mut<'g>(&'g self, guard: &'g mut Guard<'_>) -> &'g mut T {
        assert!(guard.lock.id == self.lock, "a guard of another process's lock");
        // SAFETY: the guard is borrowed mutably and is the only one of its lock, so this is the only reference
        // into any cell of the lock.
        unsafe { &mut *self.value.get() }
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn four_threads_lose_no_increment() {
        let lock = Arc::new(ProcessLock::new(true));
        let cell = Arc::new(Guarded::new(&lock, 0u64));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (lock, cell) = (lock.clone(), cell.clone());
                std::thread::spawn(move || (0..20_000).for_each(|_| *cell.get_mut(&mut lock.lock()) += 1))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(*cell.get(&lock.lock()), 80_000);
    }

    #[test]
    fn the_single_threaded_lock_refuses_a_second_entry() {
        let lock = ProcessLock::new(false);
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock().is_none(), "a refusal does not free the lock");
        drop(guard);
        assert!(lock.try_lock().is_some());
    }
}
