//! Communicators without a context id yet: non-blocking duplicates, and communicators created from groups.
//!
//! Invariant: the handle is reserved first; it names the communicator once the context id is requested.
//! Not here: the choice of the process that sends the id (`mpi-p2p`).

use std::sync::Arc;

use mpi_comm::{Comm, CommSpec, contexts_of, unregistered};
use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_p2p::{CommMeters, MakeContext};

use crate::objects::comms::fact;
use crate::record::process::Process;

/// A communicator without a context yet, and the function that creates the context.
pub(crate) struct PendingComm {
    pub handle: Handle,
    pub comm: Arc<Comm>,
    pub make: MakeContext,
}

impl Process {
    /// Creates the communicator of a spec without a context id (`PENDING_CONTEXT`), and reserves its handle. `name` is
    /// the name of its instruments.
    pub(crate) fn pending_comm(&self, guard: &mut Guard<'_>, spec: CommSpec, name: &str) -> Result<PendingComm> {
        self.retire_left(guard);
        let handle = self.comms.get_mut(guard).reserve();
        let handle = handle.map_err(|_| Error::new(MPI_ERR_NO_MEM, "there are too many communicators"))?;
        let instruments = CommMeters::place_in_job(&self.memory, name, spec.peer_ranks());
        let comm = Arc::new(unregistered(spec, instruments));
        comm.set_handle(handle);
        // A communicator that is freed before its id arrives needs no context.
        let weak = Arc::downgrade(&comm);
        let make = Box::new(move |id| match weak.upgrade() {
            Some(comm) => {
                comm.set_context(id);
                contexts_of(&comm, id)
            }
            None => Vec::new(),
        });
        Ok(PendingComm { handle, comm, make })
    }

    /// Fills the reserved handle with the communicator if the request for its context id was made; otherwise frees the
    /// handle and the instruments.
    pub(crate) fn place_pending_comm(
        &self,
        guard: &mut Guard<'_>,
        handle: Handle,
        comm: Arc<Comm>,
        request: Result<Handle>,
    ) -> Result<Handle> {
        let (instruments, errhandler) = (comm.instruments(), comm.errhandler().get());
        if request.is_ok() {
            self.facts.set(handle, fact(&comm));
            self.update_errhandler_cache(guard, handle);
            self.comms.get_mut(guard).fill(handle, comm);
            self.errhandlers.get_mut(guard).attach_again(errhandler);
            let comm = self.comm(guard, handle).expect("it was put there just now");
            let (rank, size) = (comm.rank(), comm.size());
            self.on_comm_created(guard, handle, rank, size);
        } else {
            self.comms.get_mut(guard).give_back(handle);
            instruments.retire_in_job(&self.memory);
        }
        request
    }
}
