//! One-sided operations on elements with gaps, and those that replace or only read elements (MPI-5.0, 12.3).
//!
//! Invariant: both layouts of an operation have equally many elements.
//! Not here: operations on elements side by side (`window`).

use mpi_core::abi::{MPI_ERR_COUNT, MPI_REPLACE};
use mpi_core::functions;
use mpi_datatype::Element;
use mpi_win::Target;

use crate::call::CallName;
use crate::threads::ThreadUse;
use crate::window::Epoch;
use crate::{Error, Layout, Operation, Result};

const PUT: CallName = CallName::new("Epoch::put_layout", functions::MPI_PUT);
const GET: CallName = CallName::new("Epoch::get_layout", functions::MPI_GET);
const ACCUMULATE: CallName = CallName::new("Epoch::accumulate_layout", functions::MPI_ACCUMULATE);
const FETCH: CallName = CallName::new("Epoch::fetch_layout", functions::MPI_GET_ACCUMULATE);
const REPLACE: CallName = CallName::new("Epoch::replace", functions::MPI_ACCUMULATE);
const READ: CallName = CallName::new("Epoch::read", functions::MPI_GET_ACCUMULATE);

impl<'b, T: Element, M: ThreadUse> Epoch<'_, '_, 'b, T, M> {
    /// Copies the elements of `data` that `from` selects to those that `to` selects of a process's elements from `first`
    /// on (`MPI_Put`; MPI-5.0, 12.3.1).
    ///
    /// Errors: as [`Epoch::put`]; `MPI_ERR_COUNT` when the layouts have different numbers of elements, `MPI_ERR_BUFFER`
    /// when `data` is too short, `MPI_ERR_TYPE` when elements of `to` overlap.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// use mpi::Layout;
    ///
    /// // A row of this process becomes a column of a matrix of 4 by 4 in rank 0.
    /// let mut matrix = world.window::<f64>(if world.rank() == 0 { 16 } else { 0 })?;
    /// let (row, column) = (Layout::contiguous(4)?, Layout::vector(4, 1, 4)?);
    /// let own = [f64::from(world.rank()); 4];
    /// matrix.epoch(|epoch| epoch.put_layout(0, (world.rank() as usize % 4, &column), (&own, &row)))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn put_layout(
        &mut self,
        rank: u32,
        (first, to): (usize, &Layout<T>),
        (data, from): (&'b [T], &Layout<T>),
    ) -> Result<()> {
        self.start(PUT, rank, first, to.count(), |call, access, place| {
            let data = from.send_from(data)?;
            access.put_buffer(&mut call.enter(place.0, 0, to.count() as u64), data, &target(place, to, from)?)
        })
    }

    /// Copies the elements that `from` selects of a process's elements from `first` on to those of `data` that `to`
    /// selects, which has them when the epoch has ended (`MPI_Get`; MPI-5.0, 12.3.2). Errors: as [`Epoch::put_layout`].
    pub fn get_layout(
        &mut self,
        rank: u32,
        (first, from): (usize, &Layout<T>),
        (data, to): (&'b mut [T], &Layout<T>),
    ) -> Result<()> {
        self.start(GET, rank, first, from.count(), |call, access, place| {
            let data = to.receive_into(data)?;
            access.get_buffer(&mut call.enter(place.0, 0, from.count() as u64), data, &target(place, from, to)?)
        })
    }

    /// Combines the elements of `data` that `from` selects with those that `to` selects of a process's elements from
    /// `first` on, each element at once (`MPI_Accumulate`; MPI-5.0, 12.3.4). Errors: as [`Epoch::put_layout`] and
    /// [`Epoch::accumulate`].
    pub fn accumulate_layout(
        &mut self,
        rank: u32,
        (first, to): (usize, &Layout<T>),
        (data, from): (&'b [T], &Layout<T>),
        operation: Operation,
    ) -> Result<()> {
        self.start(ACCUMULATE, rank, first, to.count(), |call, access, place| {
            let data = from.send_from(data)?;
            let target = target(place, to, from)?;
            let guard = &mut call.enter(place.0, 0, to.count() as u64);
            access.accumulate_buffer(guard, (data, from.datatype()), &target, operation.handle())
        })
    }

    /// As [`Epoch::accumulate_layout`]; the elements of `before` that its layout selects get the elements as they were
    /// (`MPI_Get_accumulate`). Errors: as there, also for `before`.
    pub fn fetch_layout(
        &mut self,
        rank: u32,
        (first, to): (usize, &Layout<T>),
        (data, from): (&'b [T], &Layout<T>),
        (before, into): (&'b mut [T], &Layout<T>),
        operation: Operation,
    ) -> Result<()> {
        self.start(FETCH, rank, first, to.count(), |call, access, place| {
            let (data, before) = (from.send_from(data)?, into.receive_into(before)?);
            target(place, to, into)?;
            let target = target(place, to, from)?;
            let guard = &mut call.enter(place.0, 0, to.count() as u64);
            let (data, before) = ((data, from.datatype()), (before, into.datatype()));
            access.fetch_buffer(guard, data, before, &target, operation.handle())
        })
    }

    /// As [`Epoch::put`], but each element at once, so that accumulations and other replacements of the same elements may
    /// be made in the same epoch (`MPI_Accumulate` with `MPI_REPLACE`). Errors: as there.
    pub fn replace(&mut self, rank: u32, first: usize, data: &'b [T]) -> Result<()> {
        self.start(REPLACE, rank, first, data.len(), |call, access, place| {
            access.accumulate(&mut call.enter(place.0, 0, data.len() as u64), place, data, MPI_REPLACE)
        })
    }

    /// As [`Epoch::get`], but each element at once, so that accumulations to the same elements may be made in the same
    /// epoch (`MPI_Get_accumulate` with `MPI_NO_OP`). Errors: as there.
    pub fn read(&mut self, rank: u32, first: usize, into: &'b mut [T]) -> Result<()> {
        self.start(READ, rank, first, into.len(), |call, access, place| {
            access.read(&mut call.enter(place.0, 0, into.len() as u64), place, into)
        })
    }
}

/// The elements that a layout selects at a place of a process. Errors: `MPI_ERR_COUNT` unless the other layout has as
/// many.
fn target<'l, T: Element>((rank, first): (i32, i64), here: &'l Layout<T>, other: &Layout<T>) -> Result<Target<'l>> {
    if here.count() != other.count() {
        let rule = format!("the layout in the window has {}", mpi_errors::counted(here.count(), "element"));
        let error = Error::new(MPI_ERR_COUNT, rule);
        return Err(error.arg("layout of the data", &mpi_errors::counted(other.count(), "element")));
    }
    Ok(Target { rank, displacement: first, count: 1, datatype: here.datatype(), handle: 0 })
}
