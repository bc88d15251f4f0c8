//! Duplicates that do not wait: `MPI_Comm_idup` (MPI-5.0, 7.4.2).
//!
//! Handle, group, error handler and instruments are there at once, so that attributes can be copied and the tool
//! interface can bind to the duplicate; its context comes when rank 0 has told the id, inside whatever call moves
//! messages then. Until that, to use the duplicate is an error.
//! Not here: how the id is told (`mpi-p2p`).

use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_errors::{Error, Result};
use mpi_p2p::{CommInstruments, ContextSpec, UNSETTLED};

use crate::process::Process;

impl Process {
    /// `MPI_Comm_idup`: the handle of the duplicate, good once the request is complete, and the request. Collective;
    /// does not wait. Errors: `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn comm_idup(&self, parent: Handle) -> Result<(Handle, Handle)> {
        let parent = self.parent(parent)?;
        let guard = &mut self.engine.lock();
        self.retire_left(guard);
        let handle = self.comms.get_mut(guard).reserve();
        let handle = handle.map_err(|_| Error::new(MPI_ERR_NO_MEM, "there are too many communicators"))?;
        let name = format!("a duplicate of communicator {}", parent.context() / 2);
        let instruments = CommInstruments::place_for(&*self.memory, &name);
        let (rank, group, errhandler) = (parent.rank, parent.group().clone(), parent.errhandler().get());
        let comm = Arc::new(Comm::new(UNSETTLED, rank, group, "", errhandler, instruments));
        comm.set_handle(handle);

        let id = (rank == 0).then(|| self.context_ids.get_mut(guard).take().ok());
        // A duplicate that is freed before its id comes needs no context.
        let weak = Arc::downgrade(&comm);
        let make = Box::new(move |id| {
            let comm = weak.upgrade()?;
            comm.settle(id);
            Some(ContextSpec { id, rank, world_ranks: comm.group().world_ranks().clone(), instruments })
        });
        match self.engine.duplicate(guard, parent.context(), id, make) {
            Ok(request) => {
                self.comms.get_mut(guard).fill(handle, comm);
                self.errhandlers.get_mut(guard).attach_again(errhandler);
                self.tell_comm_made(guard, handle, rank, parent.size());
                Ok((handle, request))
            }
            Err(error) => {
                self.comms.get_mut(guard).give_back(handle);
                mpi_t::retire(&*self.memory, instruments);
                Err(error)
            }
        }
    }
}
