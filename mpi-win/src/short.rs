//! Short ways of the most frequent calls: operations on few contiguous bytes in memory that this process has mapped,
//! flushes of windows whose operations need no messages, and locks that are free.
//!
//! Each either carries out the whole call or changes nothing, and then the longer way finds the reason. `record` is
//! called when nothing but the access remains.
//! Invariant: the checks are those of the longer way, for the arguments that get through.
//! Not here: the look-ups of window and datatype (`mpi-capi`), the effect on one element (`single`).

use std::sync::atomic::{Ordering, fence};

use mpi_core::Guard;
use mpi_core::abi::{MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
use mpi_datatype::Datatype;

use crate::OneSided;
use crate::epoch::Held;
use crate::memory::MappedMemory;
use crate::single::Single;
use crate::window::Win;

/// Most bytes of a put or get that a short way copies.
pub const SHORT_BYTES: u64 = 4096;

impl OneSided {
    /// `MPI_Put` of contiguous bytes.
    ///
    /// # Safety
    /// `bytes` bytes are readable from `data` on.
    #[allow(unsafe_code)] // the caller's promise about the program's memory is passed on
    #[inline(always)] // one caller: the entry point
    pub unsafe fn put_quickly(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (data, bytes): (*const u8, usize),
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Option<()> {
        let (mapped, offset) = win.place_mapped(guard, rank, displacement, bytes)?;
        record();
        win.start_one(guard);
        let instruments = win.instruments();
        instruments.puts.incr();
        instruments.put_bytes.add(bytes as u64);
        // SAFETY: the caller's promise; `place_mapped` has found the place inside of the memory.
        unsafe { mapped.store(offset, data, bytes) };
        self.stored(guard);
        Some(())
    }

    /// `MPI_Get` of contiguous bytes.
    ///
    /// # Safety
    /// `bytes` bytes are writable from `into` on.
    #[allow(unsafe_code)] // as in `put_quickly`
    #[inline(always)] // one caller: the entry point
    pub unsafe fn get_quickly(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (into, bytes): (*mut u8, usize),
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Option<()> {
        let (mapped, offset) = win.place_mapped(guard, rank, displacement, bytes)?;
        record();
        win.start_one(guard);
        let instruments = win.instruments();
        instruments.gets.incr();
        instruments.get_bytes.add(bytes as u64);
        self.order_stores(guard);
        // SAFETY: as in `put_quickly`.
        unsafe { mapped.load(offset, into, bytes) };
        Some(())
    }

    /// `MPI_Accumulate` of one element.
    ///
    /// # Safety
    /// One element is readable from `data` on.
    #[allow(unsafe_code, clippy::too_many_arguments)] // as in `put_quickly`
    #[inline(always)] // one caller: the entry point
    pub unsafe fn accumulate_quickly(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        data: *const u8,
        datatype: &Datatype,
        rank: i32,
        displacement: isize,
        op: usize,
        record: impl FnOnce(),
    ) -> Option<()> {
        let single = Single::changing(datatype, op)?;
        let (mapped, offset) = win.place_mapped(guard, rank, displacement, single.bytes())?;
        let instruments = win.instruments();
        let held = mapped.try_lock()?;
        record();
        win.start_one(guard);
        instruments.accumulates.incr();
        instruments.accumulate_bytes.add(single.bytes() as u64);
        // SAFETY: as in `put_quickly`; the lock of the memory is held.
        unsafe { mapped.change(offset, single.bytes(), |before| single.combined(single.read(data), before)) };
        drop(held);
        self.stored(guard);
        Some(())
    }

    /// `MPI_Fetch_and_op`.
    ///
    /// # Safety
    /// One element is readable from `data` on unless the operation is `MPI_NO_OP`, and writable from `result` on.
    #[allow(unsafe_code, clippy::too_many_arguments)] // as in `put_quickly`
    #[inline(always)] // one caller: the entry point
    pub unsafe fn fetch_and_op_quickly(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (data, result): (*const u8, *mut u8),
        datatype: &Datatype,
        rank: i32,
        displacement: isize,
        op: usize,
        record: impl FnOnce(),
    ) -> Option<()> {
        let single = Single::fetching(datatype, op)?;
        let (mapped, offset) = win.place_mapped(guard, rank, displacement, single.bytes())?;
        let held = mapped.try_lock()?;
        record();
        win.start_one(guard);
        self.count_fetch(win, single.bytes());
        // SAFETY: as in `accumulate_quickly`.
        unsafe {
            let data = if single.needs_data() { single.read(data) } else { 0 };
            let before = mapped.change(offset, single.bytes(), |before| single.combined(data, before));
            drop(held);
            single.write(result, before);
        }
        self.stored(guard);
        Some(())
    }

    /// `MPI_Compare_and_swap`.
    ///
    /// # Safety
    /// One element is readable from `data` and from `compare` on, and writable from `result` on.
    #[allow(unsafe_code, clippy::too_many_arguments)] // as in `put_quickly`
    #[inline(always)] // one caller: the entry point
    pub unsafe fn compare_and_swap_quickly(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (data, compare, result): (*const u8, *const u8, *mut u8),
        datatype: &Datatype,
        rank: i32,
        displacement: isize,
        record: impl FnOnce(),
    ) -> Option<()> {
        let single = Single::swapping(datatype)?;
        let (mapped, offset) = win.place_mapped(guard, rank, displacement, single.bytes())?;
        let held = mapped.try_lock()?;
        record();
        win.start_one(guard);
        self.count_fetch(win, single.bytes());
        // SAFETY: as in `accumulate_quickly`.
        unsafe {
            let (data, compare) = (single.read(data), single.read(compare));
            let before = mapped.change(offset, single.bytes(), |before| (before == compare).then_some(data));
            drop(held);
            single.write(result, before);
        }
        self.stored(guard);
        Some(())
    }

    /// `MPI_Win_flush` and `MPI_Win_flush_local`, where no operation goes as a message. Every sixteenth call goes the
    /// longer way, which makes progress: a process may wait in calls of this for what another does when it gets a message.
    #[inline(always)] // one caller each: the entry points
    pub fn flush_quickly(&self, guard: &mut Guard<'_>, win: &Win, rank: i32) -> Option<()> {
        let epoch = win.epoch.get_mut(guard);
        let held = epoch.locks.has(u32::try_from(rank).ok()?);
        if !held || !win.is_mapped() || !epoch.may_skip_progress() {
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
        let held = match lock_type {
            MPI_LOCK_EXCLUSIVE => Held::Alone,
            MPI_LOCK_SHARED => Held::Shared,
            _ => return None,
        };
        let place = u32::try_from(rank).ok()?;
        if assert != 0 || !epoch.may_lock() || win.is_given_out() || epoch.locks.of(place) != Held::No {
            return None;
        }
        let lock = win.lock_at(place)?;
        let taken = if held == Held::Alone { lock.try_hold(win.rank()) } else { lock.try_share() };
        if !taken {
            return None;
        }
        epoch.open = false;
        epoch.locks.set(place, held, win.size());
        win.instruments().locks.incr();
        Some(())
    }

    /// `MPI_Win_unlock` where no operation goes as a message; every sixteenth call goes the
    /// longer way.
    #[inline(always)] // one caller: the entry point
    pub fn unlock_quickly(&self, guard: &mut Guard<'_>, win: &Win, rank: i32) -> Option<()> {
        let epoch = win.epoch.get_mut(guard);
        let place = u32::try_from(rank).ok()?;
        if epoch.locks.all || !win.is_mapped() {
            return None;
        }
        let held = epoch.locks.of(place);
        if !matches!(held, Held::Shared | Held::Alone) || !epoch.may_skip_progress() {
            return None;
        }
        let lock = win.lock_at(place)?;
        epoch.locks.set(place, Held::No, win.size());
        // Releases of the lock: whoever takes it next finds the data of the operations.
        if held == Held::Shared {
            lock.stop_sharing()
        } else {
            lock.release()
        }
        Some(())
    }

    #[inline(always)]
    fn count_fetch(&self, win: &Win, bytes: usize) {
        let instruments = win.instruments();
        instruments.fetches.incr();
        instruments.fetch_bytes.add(bytes as u64);
    }
}

impl Win {
    /// Counts an operation as started, as `Win::begin` does.
    #[inline(always)]
    fn start_one(&self, guard: &mut Guard<'_>) {
        let epoch = self.epoch.get_mut(guard);
        epoch.started += u64::from(epoch.open);
    }

    /// The memory that an operation on contiguous bytes accesses, and the offset there, where all processes have mapped
    /// all memory and this one is in an epoch for its owner.
    #[inline(always)]
    fn place_mapped(
        &self,
        guard: &mut Guard<'_>,
        rank: i32,
        displacement: isize,
        bytes: usize,
    ) -> Option<(&MappedMemory, usize)> {
        let mapped = self.mapped(rank)?;
        let offset = mapped.offset(displacement, bytes)?;
        self.epoch.get(guard).allows(rank as u32).then_some((mapped, offset))
    }
}
