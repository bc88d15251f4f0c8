//! Making and freeing communicators by handle (MPI-4.1, 7.4).
//!
//! Invariant: a communicator is in the table from when all its members agreed on it until it is freed, its error
//! handler counted as attached all the while.

use std::sync::Arc;

use mpi_comm::{Comm, CommSpec, agree_on_context, register, unregister};
use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_COMM, MPI_ERR_OTHER};
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_p2p::CommInstruments;

use crate::process::Process;

impl Process {
    /// A communicator of the same processes with a context of its own (`MPI_Comm_dup`). Collective; waits.
    ///
    /// Errors: `MPI_ERR_OTHER` when there is no context id or handle left.
    pub fn comm_dup(&self, parent: &Arc<Comm>) -> Result<Handle> {
        let context = agree_on_context(&self.engine, parent, &self.context_ids)?;
        let spec = CommSpec::duplicate(parent, context);
        let mut guard = self.engine.lock();
        let instruments = CommInstruments::place_for(&*self.memory, &spec.name);
        self.errhandlers.get_mut(&mut guard).attach_again(spec.errhandler);
        let comm = Arc::new(register(&self.engine, &mut guard, spec, instruments));
        let handle = self
            .comms
            .get_mut(&mut guard)
            .insert(comm.clone())
            .map_err(|_| Error::new(MPI_ERR_OTHER, "this process has all the communicators it can have"))?;
        comm.set_handle(handle);
        Ok(handle)
    }

    /// Gives a communicator up (`MPI_Comm_free`); operations under way complete.
    ///
    /// Errors: `MPI_ERR_COMM` for the predefined ones and for what is no communicator.
    pub fn comm_free(&self, guard: &mut Guard<'_>, handle: Handle) -> Result<()> {
        if matches!(handle.0, MPI_COMM_WORLD | MPI_COMM_SELF) {
            return Err(Error::new(MPI_ERR_COMM, "a predefined communicator cannot be freed"));
        }
        let Some(comm) = self.comms.get_mut(guard).remove(handle) else {
            return Err(Error::new(MPI_ERR_COMM, "it is no communicator of this process"));
        };
        self.errhandlers.get_mut(guard).detach(comm.errhandler());
        unregister(&self.engine, guard, &comm);
        if self.engine.check_context(guard, comm.context).is_err() {
            // No receive is left that could still count.
            mpi_t::retire(&*self.memory, comm.instruments());
        }
        Ok(())
    }
}
