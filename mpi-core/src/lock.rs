//! The lock of a process, the cells that only its holder can access, and a short mutex for other state.
//!
//! All state that messages change is in [`Guarded`] cells of one [`ProcessLock`]. Taking the lock is one compare-and-swap, or two
//! loads and a store for a thread that takes it many times in turn (`bias`); while the process has one thread
//! ([`single_threaded`]) it is a load and a store. How threads wait
//! for it is in `raw`. The lock works at every thread level: a program that calls from more threads
//! than its level allows may wait, but cannot corrupt state. A thread that holds the lock and takes it again panics,
//! because the wait would never end. A signal handler that interrupts a call of the library can cause this.
//!
//! Invariant: at most one [`Guard`] of a lock exists at a time, and it stays on the thread that took the lock.
#![allow(unsafe_code)] // a guard proves the access to a cell, which the borrow checker cannot check

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::single_threaded;

mod bias;
mod raw;
mod thread_id;
mod word;

use raw::RawLock;
use thread_id::this_thread;

/// The lock of one process, or of one rank that runs as a thread.
#[derive(Debug)]
pub struct ProcessLock {
    raw: RawLock,
    multiple: AtomicBool,
    id: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl ProcessLock {
    /// A free lock; `multiple` is whether several threads may call concurrently.
    pub fn new(multiple: bool) -> Self {
        single_threaded::find_flag();
        ProcessLock {
            raw: RawLock::with_biases(),
            multiple: AtomicBool::new(multiple),
            // Relaxed: only uniqueness matters.
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether several threads may call concurrently (`MPI_THREAD_MULTIPLE`), so that a waiting thread has to release
    /// the lock for the others. The lock excludes other threads in either case.
    #[inline]
    pub fn is_multiple(&self) -> bool {
        self.multiple.load(Ordering::Relaxed)
    }

    /// Whether another thread may wait for the lock: several may call concurrently, and the process has several. While
    /// it is false, releasing the lock serves no purpose.
    #[inline]
    pub fn is_contended(&self) -> bool {
        self.is_multiple() && !single_threaded::is_single_threaded()
    }

    /// Sets whether several threads may call concurrently. The caller holds the lock.
    pub fn set_multiple(&self, multiple: bool) {
        self.multiple.store(multiple, Ordering::SeqCst);
    }

    /// Takes the lock; waits while another thread holds it.
    ///
    /// # Panics
    /// If the calling thread holds the lock already.
    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        self.raw.take();
        Guard::of(self)
    }

    /// As [`ProcessLock::lock`], for a thread that polls, or that was woken: it does not leave the lock to a burst of
    /// another thread's calls.
    #[inline]
    pub fn lock_soon(&self) -> Guard<'_> {
        self.raw.take_soon();
        Guard::of(self)
    }

    /// Takes the lock if it is free. May find it held for the length of an attempt of another thread that fails.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_>> {
        self.raw.try_take().then(|| Guard::of(self))
    }

    /// As [`ProcessLock::try_lock`], for short ways of a call, whose longer way takes the lock by [`ProcessLock::lock`]: may
    /// not take the lock that another thread has taken many times in turn and released. `ALONE`: only if the process has one
    /// thread; then releasing is one store.
    #[inline(always)]
    pub fn try_lock_quickly<const ALONE: bool>(&self) -> Option<QuickGuard<'_, ALONE>> {
        let taken = if ALONE { self.raw.take_alone() } else { self.raw.try_take_quickly() };
        taken.then(|| QuickGuard(ManuallyDrop::new(Guard::of(self))))
    }

    /// Takes the lock for any thread, also one that does not belong to the program, such as a tool's.
    ///
    /// `None` if the calling thread holds the lock already. While only one thread of the program calls, also `None` if
    /// any thread holds it, because then a waiting call keeps the lock. Not async-signal-safe.
    pub fn lock_beside(&self) -> Option<Guard<'_>> {
        if !self.is_multiple() {
            return self.try_lock();
        }
        if self.raw.is_held_by(this_thread()) { None } else { Some(self.lock()) }
    }
}

/// Proof that the calling thread holds a [`ProcessLock`]; dropping it releases the lock.
#[derive(Debug)]
pub struct Guard<'a> {
    lock: &'a ProcessLock,
    /// Makes the guard neither `Send` nor `Sync`: the value behind [`Guarded::get`] need not be `Sync`, and the word of
    /// the lock is the identity of the guard's thread.
    one_thread: PhantomData<*const ()>,
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

    /// Releases the lock, and lets a thread that waits for it take it before this thread does again. For threads that
    /// have nothing urgent to do: others keep the lock for a burst of calls (`raw`).
    #[inline]
    pub fn give_way(self) {
        let guard = ManuallyDrop::new(self);
        guard.lock.raw.give_way();
    }

    /// Releases the lock, and leaves the wishes of waiting threads to the next release. For a short way that ends with
    /// nothing done, where the calling thread takes the lock again at once: nothing has to be called here, so that the
    /// short way keeps no registers for it. If it does not, threads that sleep for the lock find it free after a millisecond.
    #[inline(always)]
    pub fn release_to_retake(self) {
        let guard = ManuallyDrop::new(self);
        guard.lock.raw.release_to_retake();
    }

    /// As [`Guard::unlocked`] with an empty body, if a thread waits for the lock; that thread takes it first.
    #[inline]
    pub fn let_others_in(&mut self) {
        if self.lock.raw.is_awaited() {
            self.lock.raw.give_way();
            self.lock.raw.take();
        }
    }

    /// The lock that this guard holds.
    #[inline]
    pub fn lock(&self) -> &'a ProcessLock {
        self.lock
    }

    /// Runs `body` without the lock, then takes the lock again. Other threads may have changed every cell meanwhile.
    pub fn unlocked<R>(&mut self, body: impl FnOnce() -> R) -> R {
        /// Takes the lock again, also when the body panics, because the drop of the guard releases it.
        struct Again<'a>(&'a ProcessLock);
        impl Drop for Again<'_> {
            fn drop(&mut self) {
                std::mem::forget(self.0.lock());
            }
        }
        // `&mut self` proves that no reference into a cell of this lock exists.
        self.lock.raw.release();
        let _again = Again(self.lock);
        body()
    }
}

/// What [`ProcessLock::try_lock_quickly`] returns; dropping it releases the lock.
#[derive(Debug)]
pub struct QuickGuard<'a, const ALONE: bool>(ManuallyDrop<Guard<'a>>);

impl<'a, const ALONE: bool> QuickGuard<'a, ALONE> {
    /// The guard of a longer way.
    #[inline(always)]
    pub fn into_guard(self) -> Guard<'a> {
        let mut quick = ManuallyDrop::new(self);
        // SAFETY: the guard is taken once, because the drop below does not run.
        unsafe { ManuallyDrop::take(&mut quick.0) }
    }
}

impl<const ALONE: bool> Drop for QuickGuard<'_, ALONE> {
    #[inline(always)]
    fn drop(&mut self) {
        if ALONE { self.0.lock.raw.release_alone() } else { self.0.lock.raw.release() }
    }
}

impl<'a, const ALONE: bool> Deref for QuickGuard<'a, ALONE> {
    type Target = Guard<'a>;

    #[inline(always)]
    fn deref(&self) -> &Guard<'a> {
        &self.0
    }
}

/// A guard of a [`ProcessLock`], of either type.
///
/// A [`QuickGuard`] gives no `&mut Guard`: with another guard in its place, or after that one has released the lock and taken it
/// again, its release by one store would be wrong.
pub trait Held: private::HeldLock {}

impl Held for Guard<'_> {}
impl<const ALONE: bool> Held for QuickGuard<'_, ALONE> {}

mod private {
    /// What only guards implement: cells trust it.
    pub trait HeldLock {
        /// The number of the lock that the calling thread holds while the value exists.
        fn lock_id(&self) -> u64;
    }
}

impl private::HeldLock for Guard<'_> {
    #[inline(always)]
    fn lock_id(&self) -> u64 {
        self.lock.id
    }
}

impl<const ALONE: bool> private::HeldLock for QuickGuard<'_, ALONE> {
    #[inline(always)]
    fn lock_id(&self) -> u64 {
        self.0.lock.id
    }
}

/// A value that only the holder of one particular [`ProcessLock`] can reach.
#[derive(Debug)]
pub struct Guarded<T> {
    lock: u64,
    value: UnsafeCell<T>,
}

// SAFETY: a reference into the cell needs the guard of its lock, which threads cannot share, so one thread at a time
// accesses it.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// A cell that the holder of `lock` can access.
    pub fn new(lock: &ProcessLock, value: T) -> Self {
        Guarded { lock: lock.id, value: UnsafeCell::new(value) }
    }

    /// A shared reference to the value, valid while the guard is borrowed.
    #[inline]
    pub fn get<'g>(&'g self, guard: &'g Guard<'_>) -> &'g T {
        assert!(guard.lock.id == self.lock, "a guard of another process's lock");
        // SAFETY: the guard proves that no other thread accesses the cell; `get_mut` borrows the guard mutably, so no
        // exclusive reference into a cell of this lock exists at the same time.
        unsafe { &*self.value.get() }
    }

    /// An exclusive reference to the value, valid while the guard is mutably borrowed.
    #[inline]
    pub fn get_mut<'g>(&'g self, guard: &'g mut Guard<'_>) -> &'g mut T {
        self.get_mut_held(guard)
    }

    /// As [`Guarded::get_mut`], by a guard of either type.
    #[inline(always)]
    pub fn get_mut_held<'g>(&'g self, guard: &'g mut impl Held) -> &'g mut T {
        assert!(guard.lock_id() == self.lock, "a guard of another process's lock");
        // SAFETY: the guard is borrowed mutably and is the only one of its lock, so this is the only reference
        // into any cell of the lock.
        unsafe { &mut *self.value.get() }
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// A mutex for state outside the process lock that is held briefly. It needs no locked instruction while the process
/// has one thread, and remains usable after a panic of its holder, who must keep the value consistent at all times.
///
/// Not async-signal-safe; a thread that takes it twice panics.
#[derive(Debug)]
pub struct ShortMutex<T> {
    raw: RawLock,
    value: UnsafeCell<T>,
}

// SAFETY: a reference to the value needs the lock, which one thread at a time holds.
unsafe impl<T: Send> Sync for ShortMutex<T> {}

impl<T> ShortMutex<T> {
    /// A free mutex with this value.
    pub const fn new(value: T) -> ShortMutex<T> {
        ShortMutex { raw: RawLock::new(), value: UnsafeCell::new(value) }
    }

    /// Takes the mutex; waits while another thread holds it.
    #[inline]
    pub fn lock(&self) -> ShortMutexGuard<'_, T> {
        self.raw.take();
        ShortMutexGuard { mutex: self, one_thread: PhantomData }
    }
}

impl<T: Default> Default for ShortMutex<T> {
    fn default() -> ShortMutex<T> {
        ShortMutex::new(T::default())
    }
}

/// What [`ShortMutex::lock`] returns; dropping it releases the mutex.
#[derive(Debug)]
pub struct ShortMutexGuard<'a, T> {
    mutex: &'a ShortMutex<T>,
    /// Makes the guard neither `Send` nor `Sync`: the thread that took the mutex releases it.
    one_thread: PhantomData<*const T>,
}

impl<T> Deref for ShortMutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock, and every access to the value needs the guard.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for ShortMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the guard is borrowed mutably.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for ShortMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.release();
    }
}

#[cfg(test)]
mod tests;
