//! The one lock of a process, and cells that only its holder can open; and locks of books that need no other lock.
//!
//! All state that messages change sits in [`Guarded`] cells of one [`ProcessLock`]. For a program of one thread the
//! lock is a plain flag: no atomic read-modify-write, no fence; it still refuses a second entry, so a call from a
//! signal handler or a second thread is seen instead of corrupting anything it can be seen to corrupt.
//! Where threads may call at once it is a spin-then-sleep mutex.
//!
//! Invariant: at most one [`Guard`] of a lock exists at a time once the thread level is honoured by the program.
#![allow(unsafe_code)] // the cell's interior is handed out against the guard, which the borrow checker cannot see

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use crate::single_threaded;

mod word;

use word::{FREE, HELD, LockWord};

/// The lock of one process (or of one rank that lives as a thread).
#[derive(Debug)]
pub struct ProcessLock {
    raw: RawLock,
    multiple: AtomicBool,
    /// The thread for which the lock is a plain flag; none where it never was.
    owner: AtomicUsize,
    id: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl ProcessLock {
    /// A free lock; `multiple` says whether several threads may call at once.
    pub fn new(multiple: bool) -> Self {
        single_threaded::find_flag();
        ProcessLock {
            raw: RawLock::new(),
            multiple: AtomicBool::new(multiple),
            owner: AtomicUsize::new(if multiple { 0 } else { this_thread() }),
            // Relaxed: only uniqueness matters.
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether several threads may call at once (`MPI_THREAD_MULTIPLE`).
    #[inline]
    pub fn is_multiple(&self) -> bool {
        self.multiple.load(Ordering::Relaxed)
    }

    /// Sets whether several threads may call at once; if not, the calling thread is the only one that does. For the
    /// holder of the lock, while no other thread is in a call.
    pub fn set_multiple(&self, multiple: bool) {
        if !multiple {
            self.owner.store(this_thread(), Ordering::Relaxed);
        }
        self.multiple.store(multiple, Ordering::SeqCst);
    }

    /// Takes the lock, waiting for another thread if there is one.
    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        if self.is_multiple() {
            self.raw.take();
        } else if self.raw.word.state.load(Ordering::Relaxed) == FREE {
            self.raw.word.state.store(HELD, Ordering::Relaxed);
        } else {
            // Below `MPI_THREAD_MULTIPLE` this is reached only by programs that call from more threads than they asked
            // for; they are served as if they had asked.
            self.raw.take_slow();
        }
        Guard::of(self)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        self.raw.word.try_take().then(|| Guard::of(self))
    }

    /// Takes the lock for a thread that need not be one of the program's, such as a tool's.
    ///
    /// `None` where the lock is the plain flag of a program of one thread, and the caller is another thread or called
    /// from within the library: the flag keeps neither out. Not async-signal-safe.
    pub fn lock_beside(&self) -> Option<Guard<'_>> {
        if self.is_multiple() {
            return Some(self.lock());
        }
        // Relaxed: a thread that finds its own name here has stored it itself.
        if self.owner.load(Ordering::Relaxed) == this_thread() { self.try_lock() } else { None }
    }
}

/// A lock that threads spin for a little and then sleep for.
#[derive(Debug)]
struct RawLock {
    word: LockWord,
}

impl RawLock {
    const fn new() -> RawLock {
        RawLock { word: LockWord { state: AtomicU32::new(FREE), sleepers: AtomicU32::new(0) } }
    }

    #[inline]
    fn take(&self) {
        if !self.word.try_take() {
            self.take_slow();
        }
    }

    #[inline]
    fn release(&self) {
        if self.word.release() {
            self.wake();
        }
    }

    /// Waits for the holder.
    #[cold]
    fn take_slow(&self) {
        for _ in 0..100 {
            std::hint::spin_loop();
            if self.word.state.load(Ordering::Relaxed) == FREE && self.word.try_take() {
                return;
            }
        }
        self.word.announce();
        all_threads_fence();
        while !self.word.try_take() {
            self.sleep();
        }
        self.word.arrived();
    }

    fn sleep(&self) {
        // A bounded sleep: the fence is not to be had everywhere, and below MPI_THREAD_MULTIPLE two threads that should
        // not call at once may take the lock for each other's.
        let limit = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        // SAFETY: the word outlives the call, and the kernel only compares it.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.word.state.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                HELD,
                &limit as *const libc::timespec,
            );
        }
    }

    #[cold]
    fn wake(&self) {
        // SAFETY: waking on an address only names it.
        unsafe {
            libc::syscall(libc::SYS_futex, self.word.state.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
        }
    }
}

/// A word that names the calling thread among those that live.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Makes every running thread of the process pass a fence, where the kernel offers that; else only this one does.
fn all_threads_fence() {
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    fence(Ordering::SeqCst);
    // SAFETY: a system call without pointers.
    let membarrier = |command: libc::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 };
    // The first call of a process is refused until it has registered.
    if !membarrier(PRIVATE_EXPEDITED) && membarrier(REGISTER_PRIVATE_EXPEDITED) {
        membarrier(PRIVATE_EXPEDITED);
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
        self.lock.raw.release();
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

/// ShortMutex that one thread at a time looks into, briefly, beside the process's lock: a mutex that costs no bus lock while
/// the process has one thread, and is usable again after a panic of its holder, who must leave it in order.
///
/// It is not async-signal-safe and not taken twice by a thread.
#[derive(Debug)]
pub struct ShortMutex<T> {
    raw: RawLock,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the value needs the lock, which one thread has at a time.
unsafe impl<T: Send> Sync for ShortMutex<T> {}

impl<T> ShortMutex<T> {
    /// Free, with this value.
    pub const fn new(value: T) -> ShortMutex<T> {
        ShortMutex { raw: RawLock::new(), value: UnsafeCell::new(value) }
    }

    /// Waits for another thread if there is one in the books.
    #[inline]
    pub fn lock(&self) -> ShortMutexGuard<'_, T> {
        self.raw.take();
        ShortMutexGuard { books: self, one_thread: PhantomData }
    }
}

impl<T: Default> Default for ShortMutex<T> {
    fn default() -> ShortMutex<T> {
        ShortMutex::new(T::default())
    }
}

/// What [`ShortMutex::lock`] gives; dropping it lets the books go.
#[derive(Debug)]
pub struct ShortMutexGuard<'a, T> {
    books: &'a ShortMutex<T>,
    /// The thread that took the lock lets it go.
    one_thread: PhantomData<*const T>,
}

impl<T> Deref for ShortMutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, and this is the only way to the value.
        unsafe { &*self.books.value.get() }
    }
}

impl<T> DerefMut for ShortMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and borrowed mutably.
        unsafe { &mut *self.books.value.get() }
    }
}

impl<T> Drop for ShortMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.books.raw.release();
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
    fn four_threads_lose_no_entry_of_the_books() {
        static BOOKS: ShortMutex<u64> = ShortMutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *BOOKS.lock() += 1));
            }
        });
        assert_eq!(*BOOKS.lock(), 80_000);
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

    #[test]
    fn beside_a_program_of_one_thread_no_other_takes_the_lock() {
        let lock = ProcessLock::new(false);
        let other =
            || std::thread::scope(|scope| scope.spawn(|| lock.lock_beside().is_some()).join().expect("no panic"));
        assert!(lock.lock_beside().is_some() && !other());
        let guard = lock.lock();
        assert!(lock.lock_beside().is_none(), "it would wait for itself");
        drop(guard);
        lock.set_multiple(true);
        assert!(lock.lock_beside().is_some() && other());
    }
}
