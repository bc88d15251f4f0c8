//! Non-blocking duplicates: `MPI_Comm_idup` (MPI-5.0, 7.4.2).
//!
//! `MPI_Comm_idup` creates the handle, the group, the topology, the error handler and the instruments at once, so that
//! the caller can copy attributes and the tool interface can bind to the duplicate. One of the processes sends the
//! context id; the call that receives it while it makes progress creates the context. Using the duplicate earlier is an
//! error.
//! Not here: the choice of the process that sends the id (`mpi-p2p`), communicators without a context (`pending_comm`).

use mpi_comm::{CommSpec, spans_jobs};
use mpi_core::Handle;
use mpi_errors::Result;
use mpi_p2p::PENDING_CONTEXT;

use crate::objects::pending_comm::PendingComm;
use crate::record::process::Process;

impl Process {
    /// `MPI_Comm_idup`: the handle of the duplicate, usable once the request is complete, and the request. Collective;
    /// does not wait. Errors: `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn comm_idup(&self, parent: Handle) -> Result<(Handle, Handle)> {
        let parent = self.parent(parent)?;
        let guard = &mut self.engine.lock();
        let name = format!("a duplicate of communicator {}", parent.context() / 2);
        let PendingComm { handle, comm, make } =
            self.pending_comm(guard, CommSpec::duplicate(&parent, PENDING_CONTEXT), &name)?;
        let gives_id = self.engine.duplicate_provider(guard, parent.context()) == Some(self.engine.rank());
        let spans_jobs = spans_jobs(&parent);
        let id = gives_id.then(|| {
            let ids = self.context_ids.get_mut(guard);
            match (spans_jobs, parent.remote()) {
                (true, _) => ids.take_of_block(parent.context()).ok(),
                (false, Some(_)) => ids.take_pair().ok(),
                (false, None) => ids.take().ok(),
            }
        });
        let request = self.engine.duplicate(guard, parent.context(), id, make);
        Ok((handle, self.place_pending_comm(guard, handle, comm, request)?))
    }
}
