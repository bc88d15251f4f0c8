//! Epochs of operations on borrowed data, for programs in Rust (MPI-5.0, 12.5.1).
//!
//! Invariant: the call that ends an epoch is over when [`OneSided::epoch`] and the like return, so no operation uses the
//! data after that. Where it cannot end, the process does.
//! Not here: the operations (`access`, `fetch`), the ends of epochs (`fence`, `passive`, `active`).
#![allow(unsafe_code)] // its operations use data whose borrow it keeps

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use mpi_comm::Group;
use mpi_core::Guard;
use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_RMA_RANGE, MPI_MODE_NOSUCCEED, MPI_NO_OP};
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::elements::Elements;
use crate::target::Target;
use crate::window::Win;

/// Starts operations of one epoch. Elements are counted from the start of the target's memory; the displacement unit of
/// the window is the size of an element.
pub struct EpochAccess<'w, 'b> {
    pub(crate) one_sided: &'w OneSided,
    pub(crate) win: &'w Win,
    /// Data of operations whose start failed, which may be under way in part until the epoch ends.
    pub(crate) kept: Vec<Box<dyn Any>>,
    data: PhantomData<&'b mut [u8]>,
}

/// The handle word of a type that is not predefined.
const NO_WORD: usize = 0;

/// Ends the process unless the epoch has ended.
struct Unended(fn(Error) -> !);

impl OneSided {
    /// Runs `body` in the epoch that the last fence has opened, and closes the epoch with a fence, also when `body`
    /// fails. Collective over the window; waits, with no guard held.
    ///
    /// `fail` ends the process. It is called when `body` panics, and with the error of the fence, after which operations
    /// may still use their data. Errors: those of `body`.
    pub fn epoch<'b, R>(
        &self,
        win: &Win,
        fail: fn(Error) -> !,
        body: impl FnOnce(&mut EpochAccess<'_, 'b>) -> Result<R>,
    ) -> Result<R> {
        self.in_epoch(win, fail, body, || self.fence(win, MPI_MODE_NOSUCCEED))
    }

    /// Runs `body` in an epoch for one rank, whose lock is taken alone or shared (`lock_type`), or for all ranks, whose locks
    /// are shared. Waits, with no guard held. `fail` as in [`OneSided::epoch`]. Errors: those of [`OneSided::lock`], and of
    /// `body`.
    pub fn locked_epoch<'b, R>(
        &self,
        win: &Win,
        rank: Option<(i32, i32)>,
        fail: fn(Error) -> !,
        body: impl FnOnce(&mut EpochAccess<'_, 'b>) -> Result<R>,
    ) -> Result<R> {
        match rank {
            Some((rank, lock_type)) => self.lock(self.engine.lock(), win, lock_type, rank, 0)?,
            None => self.lock_all(self.engine.lock(), win, 0)?,
        }
        self.in_epoch(win, fail, body, || match rank {
            Some((rank, _)) => self.unlock(self.engine.lock(), win, rank),
            None => self.unlock_all(self.engine.lock(), win),
        })
    }

    /// Exposes the memory of this process to the processes of `origins`, and runs `body` in an epoch for those of
    /// `targets`, which expose theirs. Waits for both groups, with no guard held. `fail` as in [`OneSided::epoch`]. Errors:
    /// those of [`OneSided::post`] and [`OneSided::start`], and of `body`.
    pub fn group_epoch<'b, R>(
        &self,
        win: &Win,
        (origins, targets): (&Group, &Group),
        fail: fn(Error) -> !,
        body: impl FnOnce(&mut EpochAccess<'_, 'b>) -> Result<R>,
    ) -> Result<R> {
        self.post(win, origins, 0)?;
        let started = self.start(win, targets, 0);
        let result = started.and_then(|()| self.in_epoch(win, fail, body, || self.complete(win)));
        match self.wait(win) {
            Ok(()) => result,
            Err(error) => fail(error),
        }
    }

    /// Runs `body` in the epoch that has begun, and ends it by `end`.
    fn in_epoch<'b, R>(
        &self,
        win: &Win,
        fail: fn(Error) -> !,
        body: impl FnOnce(&mut EpochAccess<'_, 'b>) -> Result<R>,
        end: impl FnOnce() -> Result<()>,
    ) -> Result<R> {
        // Before `unended`, so that after a panic the process ends before the data are freed.
        let mut access = EpochAccess { one_sided: self, win, kept: Vec::new(), data: PhantomData };
        let unended = Unended(fail);
        let result = body(&mut access);
        if let Err(error) = end() {
            fail(error);
        }
        std::mem::forget(unended);
        result
    }
}

impl Drop for Unended {
    fn drop(&mut self) {
        // A panic in here would be the second one, which aborts the process.
        (self.0)(Error::new(MPI_ERR_OTHER, "the program panicked during an epoch of one-sided communication"))
    }
}

impl<'b> EpochAccess<'_, 'b> {
    /// Completes the operations on a rank's memory here and there, in an epoch of locks. Waits, with no guard held. Errors:
    /// as [`OneSided::flush`].
    pub fn flush(&mut self, rank: i32) -> Result<()> {
        self.one_sided.flush(self.one_sided.engine.lock(), self.win, rank)
    }

    /// Copies `data` to the elements from `first` on of a rank. Errors: as [`OneSided::put`].
    pub fn put<T: Element>(&mut self, guard: &mut Guard<'_>, rank: i32, first: i64, data: &'b [T]) -> Result<()> {
        // SAFETY: `epoch` returns only when the operation is complete, and `'b` ends later.
        let buffer = unsafe { SendBuf::from_slice(data).detach() };
        self.one_sided.put(guard, self.win, buffer, &target::<T>(rank, first, data.len()))
    }

    /// Copies the elements from `first` on of a rank to `into`. Errors: as [`OneSided::get`].
    pub fn get<T: Element>(&mut self, guard: &mut Guard<'_>, rank: i32, first: i64, into: &'b mut [T]) -> Result<()> {
        let count = into.len();
        // SAFETY: as in `put`.
        let buffer = unsafe { RecvBuf::from_slice(into).detach() };
        self.one_sided.get(guard, self.win, buffer, &target::<T>(rank, first, count))
    }

    /// Combines `data` with the elements from `first` on of a rank by the predefined operation with this word. Errors:
    /// as [`OneSided::accumulate`].
    pub fn accumulate<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        data: &'b [T],
        op: usize,
    ) -> Result<()> {
        // SAFETY: as in `put`.
        let buffer = unsafe { SendBuf::from_slice(data).detach() };
        let target = target::<T>(rank, first, data.len());
        self.one_sided.accumulate(guard, self.win, buffer, (target.datatype, target.handle), &target, op)
    }

    /// As [`EpochAccess::accumulate`]; `before` gets the elements as they were. Errors: as [`OneSided::get_accumulate`].
    pub fn fetch<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        data: &'b [T],
        before: &'b mut [T],
        op: usize,
    ) -> Result<()> {
        let target = target::<T>(rank, first, data.len());
        // SAFETY: as in `put`.
        let (data, before) = unsafe { (SendBuf::from_slice(data).detach(), RecvBuf::from_slice(before).detach()) };
        let of_all = (target.datatype, target.handle);
        self.one_sided.get_accumulate(guard, self.win, data, of_all, before, of_all, &target, op)
    }

    /// As [`EpochAccess::put`], of any data to any elements.
    pub fn put_buffer(&mut self, guard: &mut Guard<'_>, data: SendBuf<'b>, target: &Target<'_>) -> Result<()> {
        // SAFETY: as in `put`.
        let data = unsafe { data.detach() };
        self.one_sided.put(guard, self.win, data, target)
    }

    /// As [`EpochAccess::get`], of any elements to any memory.
    pub fn get_buffer(&mut self, guard: &mut Guard<'_>, into: RecvBuf<'b>, target: &Target<'_>) -> Result<()> {
        // SAFETY: as in `put`.
        let into = unsafe { into.detach() };
        self.one_sided.get(guard, self.win, into, target)
    }

    /// As [`EpochAccess::accumulate`], of any data of this type to any elements.
    pub fn accumulate_buffer(
        &mut self,
        guard: &mut Guard<'_>,
        (data, datatype): (SendBuf<'b>, &Datatype),
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        // SAFETY: as in `put`.
        let data = unsafe { data.detach() };
        self.one_sided.accumulate(guard, self.win, data, (datatype, NO_WORD), target, op)
    }

    /// As [`EpochAccess::fetch`], of any data and memory of these types and any elements.
    pub fn fetch_buffer(
        &mut self,
        guard: &mut Guard<'_>,
        (data, of_data): (SendBuf<'b>, &Datatype),
        (before, of_before): (RecvBuf<'b>, &Datatype),
        target: &Target<'_>,
        op: usize,
    ) -> Result<()> {
        // SAFETY: as in `put`.
        let (data, before) = unsafe { (data.detach(), before.detach()) };
        let (of_data, of_before) = ((of_data, NO_WORD), (of_before, NO_WORD));
        self.one_sided.get_accumulate(guard, self.win, data, of_data, before, of_before, target, op)
    }

    /// Copies the elements from `first` on of a rank to `into`, each at once. Errors: as
    /// [`OneSided::get_accumulate`].
    pub fn read<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        into: &'b mut [T],
    ) -> Result<()> {
        let target = target::<T>(rank, first, into.len());
        // SAFETY: as in `put`.
        let into = unsafe { RecvBuf::from_slice(into).detach() };
        let of_all = (target.datatype, target.handle);
        self.one_sided.get_accumulate(guard, self.win, SendBuf::empty(), of_all, into, of_all, &target, MPI_NO_OP)
    }

    /// Stores `value` in an element of a rank if it is equal to `expected`; `before` gets the element as it was. Errors:
    /// as [`OneSided::compare_and_swap`].
    pub fn compare_and_swap<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, element): (i32, i64),
        (expected, value): (T, T),
        before: &'b mut T,
    ) -> Result<()> {
        let (expected, value) = ([expected], [value]);
        // SAFETY: as in `put`; the other two are copied before the call returns.
        let before = unsafe { RecvBuf::from_slice(std::slice::from_mut(before)).detach() };
        let (expected, value) = (SendBuf::from_slice(&expected), SendBuf::from_slice(&value));
        self.one_sided.compare_and_swap(guard, self.win, &value, &expected, before, &target::<T>(rank, element, 1))
    }
}

pub(crate) fn target<T: Element>(rank: i32, displacement: i64, count: usize) -> Target<'static> {
    Target { rank, displacement, count: count as u64, datatype: T::datatype(), handle: T::HANDLE }
}

impl Win {
    /// Copies elements of this process's memory, from `first` on, to `into`; the guard keeps the operations of this
    /// process apart. Errors: `MPI_ERR_RMA_RANGE`; `MPI_ERR_RMA_SYNC` when the parts were given out as elements.
    pub fn read_own<T: Element>(&self, _guard: &mut Guard<'_>, first: u64, into: &mut [T]) -> Result<()> {
        self.check_operable()?;
        let place = self.own_place::<T>(first, into.len());
        let found = place.and_then(|(offset, elements)| self.memory.elements(offset, &elements));
        let found = found.ok_or_else(|| self.out_of_own::<T>(first, into.len()))?;
        RecvBuf::from_slice(into).copy_from(&found);
        Ok(())
    }

    /// Copies `data` to this process's memory, from element `first` on. Errors: as [`Win::read_own`].
    pub fn write_own<T: Element>(&self, _guard: &mut Guard<'_>, first: u64, data: &[T]) -> Result<()> {
        self.check_operable()?;
        let place = self.own_place::<T>(first, data.len());
        let found = place.and_then(|(offset, elements)| self.memory.elements_mut(offset, &elements));
        let mut found = found.ok_or_else(|| self.out_of_own::<T>(first, data.len()))?;
        found.copy_from(&SendBuf::from_slice(data));
        Ok(())
    }

    fn own_place<T: Element>(&self, first: u64, count: usize) -> Option<(u64, Elements<'static>)> {
        // A place in attached memory is an address.
        let unit = if self.memory.attached().is_some() { 1 } else { size_of::<T>() as u64 };
        let offset = first.checked_mul(unit)?;
        Some((offset, Elements::copied("T", T::HANDLE, count as u64, T::datatype()).ok()?))
    }

    #[cold]
    fn out_of_own<T: Element>(&self, first: u64, count: usize) -> Error {
        if self.memory.attached().is_some() {
            let rule = format!("no attached memory has {} there", mpi_errors::counted(count, "element"));
            return Error::new(MPI_ERR_RMA_RANGE, rule).arg("first", &format_args!("{first:#x}"));
        }
        let there = self.memory.bytes() / size_of::<T>().max(1) as u64;
        let there = mpi_errors::counted(there, "element");
        let rule = format!("the memory of this process has {there}, not {count} from element {first} on");
        Error::new(MPI_ERR_RMA_RANGE, rule).arg("first", &first)
    }
}

impl fmt::Debug for EpochAccess<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EpochAccess").field("window", &self.win.described()).finish()
    }
}
