//! Windows on shared memory: processes access the memory of others directly (MPI-5.0, 12.2.3).
//!
//! Invariants: a window borrows its communicator, so it is freed before MPI is finalized; what it gives out borrows the
//! window. Processes access elements either in phases, of which all processes agree on the kind, or by atomic operations.
//! Not here: the agreement and the memory (`mpi_win`), windows with operations (`window`).

use std::fmt;
use std::sync::Arc;

use mpi_core::abi::MPI_ERR_RANK;
use mpi_core::{Handle, functions};
use mpi_datatype::Element;
use mpi_win::{AtomicElement, OneSided, ReadParts, Win};

use crate::call::CallName;
use crate::threads::{Single, ThreadUse};
use crate::window::{bytes_of, free, new_win};
use crate::{Communicator, Error, Hints, Result};

const SHARED: CallName = CallName::new("Communicator::shared_window", functions::MPI_WIN_ALLOCATE_SHARED);
const ATOMICS: CallName = CallName::new("Communicator::shared_atomics", functions::MPI_WIN_ALLOCATE_SHARED);
const OWN: CallName = CallName::new("SharedWindow::own", functions::MPI_WIN_FENCE);
const READ: CallName = CallName::new("SharedWindow::read", functions::MPI_WIN_FENCE);
const PART: CallName = CallName::new("SharedAtomics::part", functions::MPI_WIN_SHARED_QUERY);

/// Memory that all processes of a communicator share: each has a part of it, in elements of `T`, zero at first.
///
/// Access goes by phases. [`SharedWindow::own`] begins one in which each process changes its own part, and
/// [`SharedWindow::read`] one in which all processes read all parts, where they lie. What a phase gives out borrows the
/// window, so it is not used any more when the process begins the next phase; and that phase begins when all processes
/// have called. All processes drop the window, and wait for each other. With a world of [`Multiple`](crate::Multiple) it
/// may go to another thread.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let mut shared = world.shared_window::<f64>(1000, &mpi::Hints::new())?;
/// shared.own()?.fill(f64::from(world.rank()));
/// let parts = shared.read()?;
/// let sum: f64 = (0..world.size()).filter_map(|rank| parts.of(rank)).flatten().sum();
/// # Ok(())
/// # }
/// ```
pub struct SharedWindow<'c, T: Element, M: ThreadUse = Single> {
    parts: mpi_win::SharedParts<T>,
    window: SharedHandle<'c, M>,
}

/// Atomic integers that all processes of a communicator share: each has a part, zero at first, and any process accesses
/// any part at any time, with a world of [`Multiple`](crate::Multiple) in any thread. `A` is one of the atomic integers of
/// the standard library.
///
/// All processes drop it, and wait for each other.
///
/// ```no_run
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let tickets = world.shared_atomics::<AtomicU64>(1, &mpi::Hints::new())?;
/// let mine = tickets.part(0)?[0].fetch_add(1, Ordering::Relaxed);
/// println!("rank {} has ticket {mine}", world.rank());
/// # Ok(())
/// # }
/// ```
pub struct SharedAtomics<'c, A: AtomicElement, M: ThreadUse = Single> {
    parts: mpi_win::SharedAtomics<A>,
    window: SharedHandle<'c, M>,
}

/// The window itself, which is freed when it is dropped.
struct SharedHandle<'c, M: ThreadUse> {
    comm: &'c Communicator<'c, M>,
    handle: Handle,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Makes memory that its processes share, of which this process has `length` elements; others may have other numbers
    /// (`MPI_Win_allocate_shared`). With the hint `alloc_shared_noncontig`, `true` in rank 0, each part begins at a page.
    /// All processes call it, and wait for each other.
    ///
    /// Errors, in all processes: `MPI_ERR_NO_MEM`; `MPI_ERR_RMA_SHARED` when they cannot share memory, `MPI_ERR_NOT_SAME`
    /// when their elements have different sizes, or some call [`Communicator::shared_atomics`]; in this one:
    /// `MPI_ERR_SIZE` for more than memory can hold.
    pub fn shared_window<T: Element>(&self, length: usize, hints: &Hints) -> Result<SharedWindow<'_, T, M>> {
        let (window, parts) =
            self.share(SHARED, length, bytes_of::<T>(length), hints, |one_sided, win| one_sided.shared_parts(win))?;
        Ok(SharedWindow { parts, window })
    }

    /// Makes atomic integers that its processes share, of which this process has `length`. As
    /// [`Communicator::shared_window`].
    pub fn shared_atomics<A: AtomicElement>(&self, length: usize, hints: &Hints) -> Result<SharedAtomics<'_, A, M>> {
        let (window, parts) =
            self.share(ATOMICS, length, bytes_of::<A>(length), hints, |one_sided, win| one_sided.shared_atomics(win))?;
        Ok(SharedAtomics { parts, window })
    }

    fn share<P>(
        &self,
        name: CallName,
        length: usize,
        bytes: Result<(i64, i64)>,
        hints: &Hints,
        parts: impl FnOnce(&OneSided, Arc<Win>) -> Result<P>,
    ) -> Result<(SharedHandle<'_, M>, P)> {
        let (window, parts) = self.call(name, |call| {
            let bytes = bytes?;
            drop(call.enter(-1, 0, length as u64));
            let handle = call.process.win_allocate(self.handle(), bytes, true, hints.info().clone())?;
            let window = SharedHandle { comm: self, handle };
            Ok((window, parts(&call.process.one_sided, new_win(self, handle)?)))
        })?;
        // Where the processes differ, all of them free the window.
        Ok((window, parts.map_err(|error| error.call(name.rust))?))
    }
}

impl<T: Element, M: ThreadUse> SharedWindow<'_, T, M> {
    /// Begins a phase in which each process has exclusive access to its own part: this process's elements. All processes
    /// call it, and wait for each other. Errors, in all processes: `MPI_ERR_RMA_SYNC` when some call
    /// [`SharedWindow::read`].
    pub fn own(&mut self) -> Result<&mut [T]> {
        let (comm, parts) = (self.window.comm, &mut self.parts);
        comm.call(OWN, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.one_sided.own_part(parts)
        })
    }

    /// Begins a phase in which all processes read all parts. All processes call it, and wait for each other. Errors, in
    /// all processes: `MPI_ERR_RMA_SYNC` when some call [`SharedWindow::own`].
    pub fn read(&mut self) -> Result<ReadParts<'_, T>> {
        let (comm, parts) = (self.window.comm, &mut self.parts);
        comm.call(READ, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.one_sided.read_parts(parts)
        })
    }

    /// The number of elements of each process, by rank.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.lengths().collect()
    }

    /// The handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.window.handle
    }
}

impl<A: AtomicElement, M: ThreadUse> SharedAtomics<'_, A, M> {
    /// The part of a process (`MPI_Win_shared_query`). Errors: `MPI_ERR_RANK`.
    pub fn part(&self, rank: u32) -> Result<&[A]> {
        self.parts.of(rank).ok_or_else(|| {
            let rule = format!("the communicator has {}", mpi_errors::processes(self.window.comm.size()));
            Error::new(MPI_ERR_RANK, rule).arg("rank", &rank).call(PART.rust)
        })
    }

    /// The handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.window.handle
    }
}

impl<M: ThreadUse> Drop for SharedHandle<'_, M> {
    fn drop(&mut self) {
        // After a panic the job ends, so waiting for the others is useless.
        if !std::thread::panicking() {
            let _ = free(self.comm, self.handle);
        }
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for SharedWindow<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedWindow").field("handle", &self.window.handle).finish()
    }
}

impl<A: AtomicElement, M: ThreadUse> fmt::Debug for SharedAtomics<'_, A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedAtomics").field("handle", &self.window.handle).finish()
    }
}
