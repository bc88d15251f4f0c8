//! Windows: memory that the processes of a communicator read and change by one-sided operations (MPI-5.0, chapter 12).
//!
//! Invariants: a window borrows its communicator, so it is freed before MPI is finalized. An epoch borrows the window
//! exclusively, so the program reads and writes its own part between its epochs only. A window over memory of the program
//! owns it, and leaks it where it is not freed.
//! Not here: the operations (`mpi_win`), those on layouts (`window_layout`) and with requests (`window_started`), memory
//! that is attached (`window_attached`), epochs other than those of all processes (`window_epochs`), shared memory
//! (`shared_window`).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mpi_core::abi::{
    MPI_ERR_COUNT, MPI_ERR_INTERN, MPI_ERR_RMA_RANGE, MPI_ERR_SIZE, MPI_NO_OP, MPI_REPLACE, MPI_WIN_FLAVOR_CREATE,
};
use mpi_core::{Handle, functions};
use mpi_datatype::Element;
use mpi_env::Route;
use mpi_win::{EpochAccess, Win};

use crate::call::{Call, CallName};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Error, Hints, Operation, Result};

const WINDOW: CallName = CallName::new("Communicator::window", functions::MPI_WIN_ALLOCATE);
const WINDOW_OVER: CallName = CallName::new("Communicator::window_over", functions::MPI_WIN_CREATE);
const INTO_DATA: CallName = CallName::new("Window::into_data", functions::MPI_WIN_FREE);
const EPOCH: CallName = CallName::new("Window::epoch", functions::MPI_WIN_FENCE);
const PUT: CallName = CallName::new("Epoch::put", functions::MPI_PUT);
const GET: CallName = CallName::new("Epoch::get", functions::MPI_GET);
const ACCUMULATE: CallName = CallName::new("Epoch::accumulate", functions::MPI_ACCUMULATE);
const FETCH: CallName = CallName::new("Epoch::fetch", functions::MPI_GET_ACCUMULATE);
const COMPARE_AND_SWAP: CallName = CallName::new("Epoch::compare_and_swap", functions::MPI_COMPARE_AND_SWAP);
const FREE: CallName = CallName::new("drop of mpi::Window", functions::MPI_WIN_FREE);

/// Memory of each process that all processes of a communicator access, in elements of `T`, zero at first.
///
/// All processes drop it, and wait for each other there.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // A histogram on rank 0 to which all processes add.
/// let bins = if world.rank() == 0 { 10 } else { 0 };
/// let mut histogram = world.window::<u64>(bins)?;
/// let own = [1u64; 10];
/// histogram.epoch(|epoch| epoch.accumulate(0, 0, &own, mpi::Operation::Sum))?;
/// if world.rank() == 0 {
///     let mut all = [0; 10];
///     histogram.read(0, &mut all)?;
///     assert_eq!(all, [u64::from(world.size()); 10]);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Window<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    handle: Handle,
    pub(crate) win: Arc<Win>,
    length: usize,
    /// Freed by [`Window::into_data`].
    freed: bool,
    elements: PhantomData<T>,
}

/// Starts operations, which are complete when the epoch ends.
pub struct Epoch<'e, 'w, 'b, T: Element, M: ThreadUse = Single> {
    pub(crate) window: &'e Window<'e, T, M>,
    pub(crate) access: &'e mut EpochAccess<'w, 'b>,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Makes a window in which this process has `length` elements; other processes may have other numbers. All processes
    /// call it, and wait for each other. Errors: `MPI_ERR_SIZE` for more than memory can hold, `MPI_ERR_NO_MEM` in all
    /// processes.
    pub fn window<T: Element>(&self, length: usize) -> Result<Window<'_, T, M>> {
        self.window_with_hints(length, &Hints::new())
    }

    /// As [`Communicator::window`], with hints (MPI-5.0, 12.2.1), of which `mpi_minimum_memory_alignment` has an effect.
    /// Errors: as there.
    pub fn window_with_hints<T: Element>(&self, length: usize, hints: &Hints) -> Result<Window<'_, T, M>> {
        self.call(WINDOW, |call| {
            let bytes = bytes_of::<T>(length)?;
            drop(call.enter(-1, 0, length as u64));
            let handle = call.process.win_allocate(self.handle(), bytes, false, hints.info().clone())?;
            self.window_of(handle, length)
        })
    }

    /// Makes a window of the elements of a vector, which the window owns until [`Window::into_data`] gives it back
    /// (`MPI_Win_create`; MPI-5.0, 12.2.1). All processes call it, each with a vector of any length, and wait for each
    /// other. It costs no copy, but accesses by other processes are slower than to a [`Communicator::window`].
    ///
    /// Errors, in all processes: `MPI_ERR_NO_MEM`. The vector is lost then.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// let own = vec![world.rank(); 100];
    /// let mut window = world.window_over(own, &mpi::Hints::new())?;
    /// window.epoch(|epoch| epoch.put(0, world.rank() as usize, &[7]))?;
    /// let own = window.into_data()?.expect("the window was made over a vector");
    /// # Ok(())
    /// # }
    /// ```
    pub fn window_over<T: Element>(&self, data: Vec<T>, hints: &Hints) -> Result<Window<'_, T, M>> {
        self.call(WINDOW_OVER, |call| {
            let length = data.len();
            drop(call.enter(-1, 0, length as u64));
            let handle = call.process.win_create_owning(self.handle(), data, hints.info().clone())?;
            self.window_of(handle, length)
        })
    }

    pub(crate) fn window_of<T: Element>(&self, handle: Handle, length: usize) -> Result<Window<'_, T, M>> {
        let win = new_win(self, handle)?;
        Ok(Window { comm: self, handle, win, length, freed: false, elements: PhantomData })
    }
}

/// The window that a call has just made.
pub(crate) fn new_win<M: ThreadUse>(comm: &Communicator<'_, M>, handle: Handle) -> Result<Arc<Win>> {
    let win = comm.process.win(&comm.process.engine.lock(), handle).cloned();
    win.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a new window does not exist"))
}

/// The bytes of so many elements, and of one. Errors: `MPI_ERR_SIZE`.
pub(crate) fn bytes_of<T>(length: usize) -> Result<(i64, i64)> {
    let bytes = length.checked_mul(size_of::<T>()).and_then(|bytes| i64::try_from(bytes).ok());
    let rule = "no memory has that many elements";
    let bytes = bytes.ok_or_else(|| Error::new(MPI_ERR_SIZE, rule).arg("length", &length))?;
    Ok((bytes, size_of::<T>() as i64))
}

/// Frees a window, which all its processes do.
pub(crate) fn free<M: ThreadUse>(comm: &Communicator<'_, M>, handle: Handle) -> Result<()> {
    comm.call(FREE, |call| {
        drop(call.enter(-1, 0, 0));
        call.process.win_free(handle)
    })
}

impl<T: Element, M: ThreadUse> Window<'_, T, M> {
    /// The number of elements of this process.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether this process has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Its name; empty unless [`Window::set_name`] gave it one.
    pub fn name(&self) -> String {
        self.win.name()
    }

    /// Names it, for reports and tools (`MPI_Win_set_name`; MPI-5.0, 7.8). Bytes beyond `MPI_MAX_OBJECT_NAME - 1` are
    /// dropped.
    pub fn set_name(&self, name: &str) {
        self.win.set_name(name);
    }

    /// Frees the window, and gives back the vector that it owned, with what the operations of all processes have stored
    /// in it; `None` for a window that owned none. All processes call it or drop their windows, and wait for each other.
    /// Errors: those of the communication; the vector is leaked then.
    pub fn into_data(mut self) -> Result<Option<Vec<T>>> {
        self.freed = true;
        let (comm, handle, owns) = (self.comm, self.handle, self.owns());
        // The window has no other user when it is freed.
        drop(self);
        comm.call(INTO_DATA, |call| {
            drop(call.enter(-1, 0, 0));
            let data = call.process.win_free_owning(handle)?;
            match data {
                None if owns => Err(Error::new(MPI_ERR_INTERN, "another call uses the window")),
                data => Ok(data),
            }
        })
    }

    fn owns(&self) -> bool {
        self.win.attributes().flavor == MPI_WIN_FLAVOR_CREATE
    }

    /// Sets hints (`MPI_Win_set_info`; MPI-5.0, 12.2.7). All processes of the window call it; none waits.
    pub fn set_hints(&self, hints: &Hints) {
        self.win.set_hints(hints.info());
    }

    /// All hints that windows support, with their values in this one (`MPI_Win_get_info`).
    pub fn hints(&self) -> Hints {
        self.win.hints().into()
    }

    /// Copies elements of this process, from `first` on, to `into`. Errors: `MPI_ERR_RMA_RANGE`.
    pub fn read(&self, first: usize, into: &mut [T]) -> Result<()> {
        let read = self.win.read_own(&mut self.comm.process.engine.lock(), first as u64, into);
        read.map_err(|error| error.call("Window::read"))
    }

    /// Copies `data` to this process's elements, from `first` on. Errors: `MPI_ERR_RMA_RANGE`.
    pub fn write(&mut self, first: usize, data: &[T]) -> Result<()> {
        let written = self.win.write_own(&mut self.comm.process.engine.lock(), first as u64, data);
        written.map_err(|error| error.call("Window::write"))
    }

    /// Runs `body`, which starts operations on any process's elements, between two fences: all operations of all
    /// processes are complete when it returns, and what was written before it is visible to them. All processes call
    /// it, and wait for each other.
    ///
    /// Errors: those of `body`, whose operations are complete all the same. An error of a fence, and a panic of
    /// `body`, end the job.
    pub fn epoch<'b>(&mut self, body: impl FnOnce(&mut Epoch<'_, '_, 'b, T, M>) -> Result<()>) -> Result<()> {
        let (window, process) = (&*self, self.comm.process);
        let opened = Call::run(process, self.win.context(), EPOCH, |call| {
            drop(call.enter(-1, 0, 0));
            process.one_sided.fence(&self.win, 0)
        });
        opened.unwrap_or_else(|error| end(error));
        Call::run(process, self.win.context(), EPOCH, |call| {
            process.one_sided.epoch(&self.win, end, |access| {
                let result = body(&mut Epoch { window, access });
                // The flight recorder shows the fence, not the program's work.
                drop(call.enter(-1, 0, 0));
                result
            })
        })
    }
}

/// Ends the job, because operations may still use memory of the program.
pub(crate) fn end(error: Error) -> ! {
    match mpi_env::running() {
        Ok(process) => process.fatal(&error.call(EPOCH.rust), Route::default()),
        Err(_) => mpi_env::fatal_without_process(&error),
    }
}

impl<'b, T: Element, M: ThreadUse> Epoch<'_, '_, 'b, T, M> {
    /// Copies `data` to the elements of a process, from `first` on. Errors: `MPI_ERR_RANK`, `MPI_ERR_RMA_RANGE`.
    pub fn put(&mut self, rank: u32, first: usize, data: &'b [T]) -> Result<()> {
        self.start(PUT, rank, first, data.len(), |call, access, (rank, first)| {
            access.put(&mut call.enter(rank, 0, data.len() as u64), rank, first, data)
        })
    }

    /// Copies the elements of a process, from `first` on, to `into`, which has them when the epoch has ended. Errors: as
    /// [`Epoch::put`].
    pub fn get(&mut self, rank: u32, first: usize, into: &'b mut [T]) -> Result<()> {
        self.start(GET, rank, first, into.len(), |call, access, (rank, first)| {
            access.get(&mut call.enter(rank, 0, into.len() as u64), rank, first, into)
        })
    }

    /// Combines `data` with the elements of a process, from `first` on, each element at once. Errors: as [`Epoch::put`],
    /// and `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn accumulate(&mut self, rank: u32, first: usize, data: &'b [T], operation: Operation) -> Result<()> {
        self.start(ACCUMULATE, rank, first, data.len(), |call, access, place| {
            let guard = &mut call.enter(place.0, 0, data.len() as u64);
            access.accumulate(guard, place, data, operation.handle())
        })
    }

    /// As [`Epoch::accumulate`]; `before` gets the elements as they were. Errors: also `MPI_ERR_COUNT` when the slices
    /// differ in length.
    pub fn fetch(
        &mut self,
        rank: u32,
        first: usize,
        data: &'b [T],
        before: &'b mut [T],
        operation: Operation,
    ) -> Result<()> {
        self.fetch_as(rank, first, data, before, operation.handle())
    }

    /// Replaces elements of a process, from `first` on, each at once; `before` gets them as they were. Errors: as
    /// [`Epoch::fetch`].
    pub fn swap(&mut self, rank: u32, first: usize, data: &'b [T], before: &'b mut [T]) -> Result<()> {
        self.fetch_as(rank, first, data, before, MPI_REPLACE)
    }

    /// Stores `value` in an element of a process if it is equal to `expected`, at once; `before` gets the element as it
    /// was. Errors: as [`Epoch::put`], and `MPI_ERR_TYPE` for elements that are no whole numbers.
    pub fn compare_and_swap(
        &mut self,
        rank: u32,
        element: usize,
        expected: T,
        value: T,
        before: &'b mut T,
    ) -> Result<()> {
        self.start(COMPARE_AND_SWAP, rank, element, 1, |call, access, place| {
            access.compare_and_swap(&mut call.enter(place.0, 0, 1), place, (expected, value), before)
        })
    }

    fn fetch_as(&mut self, rank: u32, first: usize, data: &'b [T], before: &'b mut [T], op: usize) -> Result<()> {
        debug_assert_ne!(op, MPI_NO_OP, "it has no data");
        self.start(FETCH, rank, first, data.len(), |call, access, place| {
            if data.len() != before.len() {
                let other = mpi_errors::counted(before.len(), "element");
                let rule = format!("before has {other}; both slices must be equally long");
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &data.len()));
            }
            access.fetch(&mut call.enter(place.0, 0, data.len() as u64), place, data, before, op)
        })
    }

    /// Runs a call with a target in the library's form. A rank or place that is too large becomes negative, which the
    /// library refuses.
    pub(crate) fn start(
        &mut self,
        name: CallName,
        rank: u32,
        first: usize,
        count: usize,
        run: impl FnOnce(&mut Call, &mut EpochAccess<'_, 'b>, (i32, i64)) -> Result<()>,
    ) -> Result<()> {
        let access = &mut *self.access;
        Call::run(self.window.comm.process, self.window.win.context(), name, |call| {
            let place = i64::try_from(first).map_err(|_| {
                let rule = format!("no memory has {} there", mpi_errors::counted(count, "element"));
                Error::new(MPI_ERR_RMA_RANGE, rule).arg("first", &first)
            })?;
            // No process has a rank of 2^31 or more; MPI_PROC_NULL is not a rank of this interface.
            run(call, access, (i32::try_from(rank).unwrap_or(i32::MAX), place))
        })
    }
}

impl<T: Element, M: ThreadUse> Drop for Window<'_, T, M> {
    fn drop(&mut self) {
        // After a panic the job ends, so waiting for the others is useless.
        if !self.freed && !std::thread::panicking() {
            let _ = free(self.comm, self.handle);
        }
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for Window<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("name", &self.win.name()).field("len", &self.length).finish()
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for Epoch<'_, '_, '_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Epoch").field("window", &self.window).finish()
    }
}
