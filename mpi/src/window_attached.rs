//! Windows without memory of their own, to which vectors are attached (MPI-5.0, 12.2.4).
//!
//! Invariant: an attached vector belongs to the window until all processes have detached, so no process accesses memory
//! that the program has again.
//! Not here: operations on windows (`window`), the vectors (`mpi_win`).

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_win::Address;

use crate::call::{Call, CallName};
use crate::threads::ThreadUse;
use crate::window::Window;
use crate::{Communicator, Hints, Result};

const WINDOW: CallName = CallName::new("Communicator::window_without_memory", functions::MPI_WIN_CREATE_DYNAMIC);
const ATTACH: CallName = CallName::new("Window::attach", functions::MPI_WIN_ATTACH);
const DETACH: CallName = CallName::new("Window::detach", functions::MPI_WIN_DETACH);

impl<M: ThreadUse> Communicator<'_, M> {
    /// Makes a window without memory, to which each process attaches vectors later (`MPI_Win_create_dynamic`). All
    /// processes call it, and wait for each other. Errors, in all processes: `MPI_ERR_NO_MEM`.
    ///
    /// Operations take a place of [`Address::element`] as `first`. That no vector is attached there is found by the process
    /// that has the elements: an error `MPI_ERR_RMA_RANGE` of [`Epoch::flush`](crate::Epoch::flush), and without it of the end
    /// of the epoch, which ends the job.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// let mut window = world.window_without_memory::<f64>(&mpi::Hints::new())?;
    /// // Rank 0 finds out how much memory it needs when the window exists already.
    /// let mut address = [mpi::Address::default()];
    /// if world.rank() == 0 {
    ///     address[0] = window.attach(vec![0.0; 1000])?;
    /// }
    /// world.broadcast(&mut address, 0)?;
    /// let own = [1.5];
    /// window.epoch(|epoch| epoch.put(0, address[0].element(world.rank() as usize), &own))?;
    /// let detached = window.detach(if world.rank() == 0 { &address } else { &[] })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn window_without_memory<T: Element>(&self, hints: &Hints) -> Result<Window<'_, T, M>> {
        self.call(WINDOW, |call| {
            drop(call.enter(-1, 0, 0));
            let handle = call.process.win_create_dynamic(self.handle(), hints.info().clone())?;
            self.window_of(handle, 0)
        })
    }
}

impl<T: Element, M: ThreadUse> Window<'_, T, M> {
    /// Attaches a vector to a window of [`Communicator::window_without_memory`], which owns it from now on
    /// (`MPI_Win_attach`): its address, to be sent to other processes. Other processes need not call anything. A window
    /// that is freed frees its vectors.
    ///
    /// Errors: `MPI_ERR_RMA_FLAVOR` for another window, `MPI_ERR_SIZE` for an empty vector. The vector is lost then.
    pub fn attach(&mut self, data: Vec<T>) -> Result<Address<T>> {
        Call::run(self.comm.process, self.win.context(), ATTACH, |call| {
            drop(call.enter(-1, 0, data.len() as u64));
            call.process.one_sided.attach_owned(&self.win, data)
        })
    }

    /// Gives back the vectors at these addresses, of this process, in this order, with what the operations of all processes
    /// have stored in them (`MPI_Win_detach`). All processes of the window call it, those that detach nothing with an
    /// empty list, and wait for each other.
    ///
    /// Errors: `MPI_ERR_BASE` for an address at which no vector of this process is attached, or that is there twice; none
    /// is detached by this process then.
    pub fn detach(&mut self, addresses: &[Address<T>]) -> Result<Vec<Vec<T>>> {
        Call::run(self.comm.process, self.win.context(), DETACH, |call| {
            drop(call.enter(-1, 0, addresses.len() as u64));
            call.process.one_sided.detach_owned(&self.win, addresses)
        })
    }
}
