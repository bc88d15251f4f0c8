//! Short ways of the most frequent calls: operations on few contiguous bytes in memory that this process has mapped,
//! flushes of windows whose operations need no messages, and locks that are free.
//!
//! Each either carries out the whole call or changes nothing, and then the longer way finds the reason. `record` is
//! called when nothing but the access remains. An operation takes the guard, and gives it back if nothing has happened:
//! so nothing has to be kept while the lock is released, and no call is made before that.
//! Invariant: the checks are those of the longer way, for the arguments that get through.
//! Not here: the look-ups of window and datatype (`mpi-capi`), the effect on one element (`single`).
#![allow(unsafe_code)] // reads and writes elements of the program and of memory that other processes have mapped

use std::sync::atomic::{Ordering, fence};

use mpi_core::Guard;
use mpi_core::abi::{MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
use mpi_datatype::Number;
use mpi_fabric::SharedMemoryGuard;

use crate::OneSided;
use crate::epoch::{Epoch, Held};
use crate::memory::MappedMemory;
use crate::single::{Single, Word};
use crate::window::Win;

/// Most bytes of a put or get that a short way copies.
pub const SHORT_BYTES: u64 = 4096;

/// What a short way of an operation returns: the guard if nothing has happened, and nothing where the call is complete
/// and the lock released.
pub type Shortly<'g> = Result<(), Guard<'g>>;

impl OneSided {
    /// `MPI_Put` of contiguous bytes, at most [`SHORT_BYTES`].
    ///
    /// # Safety
    /// `bytes` bytes are readable from `data` on.
    #[inline(always)] // one caller: the entry point
    pub unsafe fn put_quickly<'g>(
        &self,
        mut guard: Guard<'g>,
        win: &Win,
        (data, bytes): (*const u8, usize),
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Shortly<'g> {
        let Some((epoch, _, to)) = win.place_mapped(&mut guard, rank, displacement, bytes) else { return Err(guard) };
        record();
        epoch.start_one();
        let instruments = win.instruments();
        instruments.puts.incr();
        instruments.put_bytes.add(bytes as u64);
        self.stored(&guard);
        // SAFETY: the caller's promise; `place_mapped` has found the place inside of memory that stays valid.
        unsafe { copy_few(data, to, bytes, guard) }
        Ok(())
    }

    /// `MPI_Get` of contiguous bytes, at most [`SHORT_BYTES`].
    ///
    /// # Safety
    /// `bytes` bytes are writable from `into` on.
    #[inline(always)] // one caller: the entry point
    pub unsafe fn get_quickly<'g>(
        &self,
        mut guard: Guard<'g>,
        win: &Win,
        (into, bytes): (*mut u8, usize),
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Shortly<'g> {
        let Some((epoch, _, from)) = win.place_mapped(&mut guard, rank, displacement, bytes) else { return Err(guard) };
        record();
        epoch.start_one();
        let instruments = win.instruments();
        instruments.gets.incr();
        instruments.get_bytes.add(bytes as u64);
        self.order_stores(&guard);
        // SAFETY: as in `put_quickly`.
        unsafe { copy_few(from, into, bytes, guard) }
        Ok(())
    }

    /// `MPI_Accumulate` of one element.
    ///
    /// # Safety
    /// One element is readable from `data` on.
    #[allow(clippy::too_many_arguments)] // the parts of a call, from its one caller
    #[inline(always)] // one caller: the entry point
    pub unsafe fn accumulate_quickly<'g>(
        &self,
        mut guard: Guard<'g>,
        win: &Win,
        data: *const u8,
        number: Number,
        rank: i32,
        displacement: isize,
        op: usize,
        record: impl FnOnce(),
    ) -> Shortly<'g> {
        let Some(single) = Single::changing(number, op) else { return Err(guard) };
        let place = win.place_locked(&mut guard, rank, displacement, number.bytes());
        let Some((epoch, held, element)) = place else { return Err(guard) };
        record();
        epoch.start_one();
        let instruments = win.instruments();
        instruments.accumulates.incr();
        instruments.accumulate_bytes.add(number.bytes() as u64);
        self.stored(&guard);
        // SAFETY: as in `put_quickly`; the lock of the memory is held.
        unsafe {
            match number.is_long() {
                true => {
                    _ = change::<u64>(element, |before| single.combined(data.cast::<u64>().read_unaligned(), before))
                }
                false => {
                    _ = change::<u32>(element, |before| single.combined(data.cast::<u32>().read_unaligned(), before))
                }
            }
        }
        drop(held);
        Ok(())
    }

    /// `MPI_Fetch_and_op`.
    ///
    /// # Safety
    /// One element is readable from `data` on, also if the operation is `MPI_NO_OP`, and writable from `result` on.
    #[allow(clippy::too_many_arguments)] // the parts of a call, from its one caller
    #[inline(always)] // one caller: the entry point
    pub unsafe fn fetch_and_op_quickly<'g>(
        &self,
        mut guard: Guard<'g>,
        win: &Win,
        (data, result): (*const u8, *mut u8),
        number: Number,
        rank: i32,
        displacement: isize,
        op: usize,
        record: impl FnOnce(),
    ) -> Shortly<'g> {
        let Some(single) = Single::fetching(number, op) else { return Err(guard) };
        let place = win.place_locked(&mut guard, rank, displacement, number.bytes());
        let Some((epoch, held, element)) = place else { return Err(guard) };
        record();
        epoch.start_one();
        self.count_fetch(win, number);
        self.stored(&guard);
        // SAFETY: as in `accumulate_quickly`.
        unsafe {
            match number.is_long() {
                true => fetch::<u64>(held, (data, result), element, |data, before| single.combined(data, before)),
                false => fetch::<u32>(held, (data, result), element, |data, before| single.combined(data, before)),
            }
        }
        Ok(())
    }

    /// `MPI_Compare_and_swap`.
    ///
    /// # Safety
    /// One element is readable from `data` and from `compare` on, and writable from `result` on.
    #[allow(clippy::too_many_arguments)] // the parts of a call, from its one caller
    #[inline(always)] // one caller: the entry point
    pub unsafe fn compare_and_swap_quickly<'g>(
        &self,
        mut guard: Guard<'g>,
        win: &Win,
        (data, compare, result): (*const u8, *const u8, *mut u8),
        number: Number,
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Shortly<'g> {
        if !number.is_integer() {
            return Err(guard);
        }
        let place = win.place_locked(&mut guard, rank, displacement, number.bytes());
        let Some((epoch, held, element)) = place else { return Err(guard) };
        record();
        epoch.start_one();
        self.count_fetch(win, number);
        self.stored(&guard);
        // SAFETY: as in `accumulate_quickly`.
        unsafe {
            match number.is_long() {
                true => {
                    let compare = compare.cast::<u64>().read_unaligned();
                    fetch(held, (data, result), element, |data: u64, before| (before == compare).then_some(data));
                }
                false => {
                    let compare = compare.cast::<u32>().read_unaligned();
                    fetch(held, (data, result), element, |data: u32, before| (before == compare).then_some(data));
                }
            }
        }
        Ok(())
    }

    /// `MPI_Win_flush` and `MPI_Win_flush_local`, where no operation goes as a message. Every sixteenth call goes the
    /// longer way, which makes progress: a process may wait in calls of this for what another does when it gets a message.
    #[inline(always)] // one caller each: the entry points
    pub fn flush_quickly(&self, guard: &mut Guard<'_>, win: &Win, rank: i32) -> Option<()> {
        let epoch = win.epoch.get_mut(guard);
        // A negative rank is a large number here. In a window with operations that go as messages no progress is skipped.
        if !epoch.locks.has(rank as u32) || !epoch.may_skip_progress() {
            return None;
        }
        win.instruments().flushes.incr();
        // A process that finds a later store of this one finds the data of its puts: `order_stores` has the rest.
        fence(Ordering::Release);
        Some(())
    }

    /// `MPI_Win_lock` of a lock that is free.
    #[inline(always)] // one caller: the entry point
    pub fn lock_quickly(&self, guard: &mut Guard<'_>, win: &Win, lock_type: i32, rank: i32, assert: i32) -> Option<()> {
        let epoch = win.epoch.get_mut(guard);
        if assert != 0 || !epoch.may_lock() || win.is_given_out() {
            return None;
        }
        // A negative rank is a large number here, and in `unlock_quickly`.
        let (held, number) = epoch.locks.place(rank as u32)?;
        if *held != Held::No {
            return None;
        }
        let lock = win.lock_at(rank as u32)?;
        let (now, taken) = match lock_type {
            MPI_LOCK_EXCLUSIVE => (Held::Alone, lock.try_hold(win.rank())),
            MPI_LOCK_SHARED => (Held::Shared, lock.try_share()),
            _ => return None,
        };
        if !taken {
            return None;
        }
        *held = now;
        *number += 1;
        epoch.open = false;
        win.instruments().locks.incr();
        Some(())
    }

    /// `MPI_Win_unlock` where no operation goes as a message; every sixteenth call goes the
    /// longer way.
    #[inline(always)] // one caller: the entry point
    pub fn unlock_quickly(&self, guard: &mut Guard<'_>, win: &Win, rank: i32) -> Option<()> {
        let epoch = win.epoch.get_mut(guard);
        let lock = win.lock_at(rank as u32)?;
        if epoch.locks.all || !matches!(epoch.locks.of(rank as u32), Held::Shared | Held::Alone) {
            return None;
        }
        if !epoch.may_skip_progress() {
            return None;
        }
        let (held, number) = epoch.locks.place(rank as u32)?;
        *number -= 1;
        // Releases of the lock: whoever takes it next finds the data of the operations.
        if std::mem::take(held) == Held::Shared {
            lock.stop_sharing()
        } else {
            lock.release()
        }
        Some(())
    }

    #[inline(always)]
    fn count_fetch(&self, win: &Win, number: Number) {
        let instruments = win.instruments();
        instruments.fetches.incr();
        instruments.fetch_bytes.add(number.bytes() as u64);
    }
}

impl Win {
    /// The memory that an operation on contiguous bytes, at most [`SHORT_BYTES`], accesses, and the address there, where
    /// all processes have mapped all memory and this one is in an epoch for its owner.
    #[inline(always)]
    fn place_mapped<'g, 'w: 'g>(
        &'w self,
        guard: &'g mut Guard<'_>,
        rank: i32,
        displacement: isize,
        bytes: usize,
    ) -> Option<(&'g mut Epoch, &'w MappedMemory, *mut u8)> {
        let mapped = self.mapped(rank)?;
        let address = mapped.address(displacement, bytes)?;
        let epoch = self.epoch.get_mut(guard);
        epoch.allows(rank as u32).then_some((epoch, mapped, address))
    }

    /// The same, with the lock of the memory, which is free.
    #[inline(always)]
    fn place_locked<'g, 'w: 'g>(
        &'w self,
        guard: &'g mut Guard<'_>,
        rank: i32,
        displacement: isize,
        bytes: usize,
    ) -> Option<(&'g mut Epoch, SharedMemoryGuard<'w>, *mut u8)> {
        let (epoch, mapped, address) = self.place_mapped(guard, rank, displacement, bytes)?;
        Some((epoch, mapped.try_lock()?, address))
    }
}

/// Copies bytes, an element of 8 bytes in one access, and releases the lock.
///
/// # Safety
/// They are readable at `from` and writable at `to`.
#[inline(always)]
unsafe fn copy_few(from: *const u8, to: *mut u8, bytes: usize, guard: Guard<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 8 {
            to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            copy_some(from, to, bytes, guard);
        }
    }
}

/// Copies bytes, an element of 4 bytes in one access, and releases the lock. Out of line and the last of its caller, which
/// so keeps nothing for the time of the copy.
///
/// # Safety
/// As `copy_few`.
#[inline(never)]
unsafe fn copy_some(from: *const u8, to: *mut u8, bytes: usize, guard: Guard<'_>) {
    // SAFETY: the caller's promise. Both may lie in the same memory, and overlap.
    unsafe {
        match bytes {
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => std::ptr::copy(from, to, bytes),
        }
    }
    drop(guard);
}

/// Replaces an element by what `change` makes of it, if it makes anything; the value before.
///
/// # Safety
/// The element is readable and writable, and the lock of its memory held.
#[inline(always)]
unsafe fn change<W: Word>(element: *mut u8, change: impl FnOnce(W) -> Option<W>) -> W {
    let element = element.cast::<W>();
    // SAFETY: the caller's promise.
    unsafe {
        let before = element.read_unaligned();
        if let Some(after) = change(before) {
            element.write_unaligned(after);
        }
        before
    }
}

/// As [`change`] with data, and stores the value before, when the lock is released.
///
/// # Safety
/// As `change`; an element is readable from `data` and writable from `result` on.
#[inline(always)]
unsafe fn fetch<W: Word>(
    held: SharedMemoryGuard<'_>,
    (data, result): (*const u8, *mut u8),
    element: *mut u8,
    changed: impl FnOnce(W, W) -> Option<W>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let data = data.cast::<W>().read_unaligned();
        let before = change(element, |before| changed(data, before));
        drop(held);
        result.cast::<W>().write_unaligned(before);
    }
}
