//! Intercommunicators (MPI-5.0, 7.6): creating them from two groups, and the intracommunicator of both groups.
//!
//! Invariant: an error of the leader is an error in all processes of its group.
//! Not here: creating them from groups alone (`from_groups`), duplicates and parts of intercommunicators (`comms`,
//! `idup`), the handshake of the leaders (`mpi-comm`).

use mpi_comm::{Comm, PeerLeader, agree, connect, merged};
use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_COMM;
use mpi_errors::{Error, Result};
use mpi_p2p::CommMeters;

use crate::record::process::Process;

impl Process {
    /// `MPI_Intercomm_create`: an intercommunicator of the processes of `local`, an intracommunicator in which the
    /// leader has this rank, and of another leader's. `peer` is called in the leader alone and returns the way to the
    /// other one. Collective over both groups; waits, with no guard held. Errors: `MPI_ERR_COMM`, also when a process
    /// is in both groups; `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`; in all processes of the local group the class of an error
    /// of `peer`.
    pub fn intercomm_create(
        &self,
        local: Handle,
        leader: u32,
        peer: impl FnOnce() -> Result<(Handle, u32, i32)>,
    ) -> Result<Handle> {
        let local = self.parent(local)?;
        let way = (local.rank == leader).then(|| {
            let (comm, rank, tag) = peer()?;
            Ok((self.parent(comm)?, rank, tag))
        });
        let comm;
        let peer = match way {
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok((found, rank, tag))) => {
                comm = found;
                Some(Ok(PeerLeader { comm: &comm, rank, tag, expected: None, refusal: 0 }))
            }
        };
        self.connected(&local, leader, peer, local.errhandler().get())
    }

    /// `MPI_Intercomm_merge`: an intracommunicator of both groups, first those of the group that passes `high` as
    /// false; [`merged`] has the order if both pass the same. Collective over both groups; waits, with no guard held.
    /// Errors: `MPI_ERR_COMM`; `MPI_ERR_ARG` in all processes when those of one group pass different values;
    /// `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn intercomm_merge(&self, parent: Handle, high: bool) -> Result<Handle> {
        let parent = self.parent(parent)?;
        let Some(remote) = parent.remote() else {
            return Err(Error::new(MPI_ERR_COMM, "an intercommunicator is needed"));
        };
        let agreed = agree(&self.engine, &parent, &self.context_ids, [i32::from(high), 0])?;
        let group = merged(&parent, remote, &agreed)?;
        self.member_comm(&parent, agreed.context, &group)
    }

    /// The instruments of a communicator of so many processes that the library uses for its own messages.
    pub(crate) fn internal_meters(&self, size: u32) -> CommMeters {
        self.internal_meters.of(size.max(self.engine.size()))
    }

    /// The intercommunicator of `local` and the group whose leader is reached through `peer`. As
    /// [`Process::intercomm_create`].
    pub(crate) fn connected(
        &self,
        local: &Comm,
        leader: u32,
        peer: Option<Result<PeerLeader<'_>>>,
        errhandler: Handle,
    ) -> Result<Handle> {
        let made = connect(&self.engine, local, leader, peer, &self.context_ids)?;
        self.connected_with(local, made, errhandler)
    }
}
