//! Communicators created from groups, without a parent: `MPI_Comm_create_from_group` (MPI-5.0, 7.4.2) and
//! `MPI_Intercomm_create_from_groups` (MPI-5.0, 7.6.2).
//!
//! Invariant: a temporary communicator of a call has no handle, and is unregistered before the call returns.
//! Not here: the agreement on the context id (`mpi-p2p`), the handshake of two groups (`mpi-comm`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use mpi_comm::{
    AgreedLeaders, Comm, CommSpec, ExpectedRemote, Group, PeerLeader, RemoteSide, agree_on_leaders, contexts_of,
    unregister, unregistered,
};
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_GROUP, MPI_ERRORS_RETURN};
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_p2p::{MakeContext, PENDING_CONTEXT};

use crate::objects::pending_comm::PendingComm;
use crate::record::process::Process;

/// A communicator of a call, without a handle; unregistered when it is dropped.
struct Temporary<'p> {
    process: &'p Process,
    comm: Arc<Comm>,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        unregister(&self.process.engine, &mut self.process.engine.lock(), &self.comm);
    }
}

impl Process {
    /// `MPI_Comm_create_from_group`: a communicator of `group`; the string `tag` distinguishes it from others of the
    /// same group; `MPI_COMM_NULL` for the empty group. Collective over the group; waits, with no guard held. The
    /// caller has checked the error handler. Errors: `MPI_ERR_GROUP` when this process is not in it, `MPI_ERR_NO_MEM`,
    /// `MPI_ERR_OTHER`.
    pub fn comm_create_from_group(&self, group: &Group, tag: &[u8], errhandler: Handle) -> Result<Handle> {
        if group.size() == 0 {
            return Ok(Handle(MPI_COMM_NULL));
        }
        let rank = self.rank_in(group)?;
        let mut guard = self.engine.lock();
        let name = format!("communicator {:?}", String::from_utf8_lossy(tag));
        let group = group.clone();
        let spec = CommSpec {
            context: PENDING_CONTEXT,
            group,
            remote: None,
            rank,
            name: String::new(),
            errhandler,
            topology: None,
        };
        let PendingComm { handle, comm, make } = self.pending_comm(&mut guard, spec, &name)?;
        let group = comm.group().clone();
        let request = self.named(&mut guard, &group, digest("a communicator", &group, tag), make);
        match self.place_pending_comm(&mut guard, handle, comm, request) {
            Err(error) => Err(error),
            Ok(request) => match self.engine.wait(guard, request)?.error {
                None => Ok(handle),
                Some(error) => {
                    let _ = self.comm_free(handle);
                    Err(error)
                }
            },
        }
    }

    /// Requests the context id of a communicator of `group`, which needs no parent; `digest` identifies it. The request
    /// is complete once the contexts exist that `make` returns.
    pub(crate) fn named(
        &self,
        guard: &mut Guard<'_>,
        group: &Group,
        digest: [u64; 2],
        make: MakeContext,
    ) -> Result<Handle> {
        let gives_id = self.engine.named_provider(guard, digest, group.world_ranks()) == self.engine.rank();
        let id = gives_id.then(|| self.context_ids.get_mut(guard).take().ok());
        self.engine.named(guard, digest, group.world_ranks(), id, make)
    }

    /// `MPI_Intercomm_create_from_groups`: an intercommunicator of `local`, in which this process is and the leader has
    /// this rank, and of another group; the string `tag` distinguishes calls of the same groups. `MPI_COMM_NULL` if the
    /// leader's remote group is empty. The remote group is significant at the leader; `own` is an error of the other
    /// arguments of this process. Collective over both groups; waits, with no guard held. The caller has checked the
    /// error handler.
    ///
    /// The processes of each group agree on their arguments first. Then the processes with the lowest world rank of
    /// each group exchange the groups, so that a wrong leader is an error in both groups.
    ///
    /// Errors: `own`, and its class in all processes of both groups; `MPI_ERR_RANK` when processes name different
    /// leaders; `MPI_ERR_GROUP` when the groups have a common process or the remote group is not what its processes
    /// pass as their local one; else as [`Process::intercomm_create`]. If the leader has no remote group, or one that
    /// is not disjoint, the other group does not receive the error.
    pub fn intercomm_create_from_groups(
        &self,
        local: &Group,
        leader: u32,
        own: Result<()>,
        remote: impl FnOnce() -> Result<RemoteSide>,
        tag: &[u8],
        errhandler: Handle,
    ) -> Result<Handle> {
        let rank = self.rank_in(local)?;
        let own_group = self.temporary(local, digest("the local group of an intercommunicator", local, tag))?;
        let Some(AgreedLeaders { remote, leaders, error }) =
            agree_on_leaders(&self.engine, &own_group.comm, leader, own, remote)?
        else {
            return Ok(Handle(MPI_COMM_NULL));
        };
        let lowest = |group: &Group| group.world_ranks().iter().copied().min().expect("a group of some");
        let first = local.rank_of(lowest(local)).expect("one of the group");
        let connected_first = (rank == first).then(|| {
            let mut pair = [lowest(local), lowest(&remote)];
            pair.sort_unstable();
            let other = u32::from(pair[0] == self.rank());
            let pair = Group::new(pair);
            Ok((self.temporary(&pair, digest("two groups of an intercommunicator", &pair, tag))?, other))
        });
        let refusal = error.as_ref().map_or(0, Error::class);
        let expected = Some(ExpectedRemote { group: &remote, leaders });
        let peer = connected_first.as_ref().map(|pair| match pair {
            Ok((pair, rank)) => Ok(PeerLeader { comm: &pair.comm, rank: *rank, tag: 0, expected, refusal }),
            Err(error) => Err(Error::clone(error)),
        });
        let made = self.connected(&own_group.comm, first, peer, errhandler);
        // The agreed error describes the cause; the other one only that the call has failed.
        made.map_err(|failed| error.unwrap_or(failed))
    }

    /// This process's rank in a group. Errors: `MPI_ERR_GROUP`.
    pub(crate) fn rank_in(&self, group: &Group) -> Result<u32> {
        if group.world_ranks().iter().any(|number| *number >= self.engine.size()) {
            let rule = "the group has processes of other jobs, which no process set names";
            return Err(Error::new(MPI_ERR_GROUP, rule).arg("group", &"of several jobs"));
        }
        group.rank_of(self.rank()).ok_or_else(|| {
            let rule = format!("process {} of the job is not in that group of {}", self.rank(), group.size());
            Error::new(MPI_ERR_GROUP, rule).arg("group", &"of other processes")
        })
    }

    /// A communicator without a handle of a group in which this process is, under a digest that all its processes have.
    fn temporary(&self, group: &Group, digest: [u64; 2]) -> Result<Temporary<'_>> {
        let (rank, name) = (self.rank_in(group)?, String::new());
        let errhandler = Handle(MPI_ERRORS_RETURN);
        let (context, group) = (PENDING_CONTEXT, group.clone());
        let spec = CommSpec { context, group, remote: None, rank, name, errhandler, topology: None };
        let comm_size = spec.group.size();
        let comm = Arc::new(unregistered(spec, self.internal_meters(comm_size)));
        let pending = comm.clone();
        let make = Box::new(move |id| {
            pending.set_context(id);
            contexts_of(&pending, id)
        });
        let mut guard = self.engine.lock();
        let request = self.named(&mut guard, comm.group(), digest, make)?;
        match self.engine.wait(guard, request)?.error {
            None => Ok(Temporary { process: self, comm }),
            Some(error) => Err(error),
        }
    }
}

/// A hash of a purpose, a group and a string tag, equal in all processes, because they run the same library. With 128
/// bits, a collision between two concurrent calls is not to be expected.
pub(crate) fn digest(purpose: &str, group: &Group, tag: &[u8]) -> [u64; 2] {
    [0u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, purpose, tag, group.world_ranks()).hash(&mut hasher);
        hasher.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_distinguishes_texts_groups_and_orders() {
        let all = [(&[0, 1][..], "a"), (&[1, 0], "a"), (&[0, 1], "b"), (&[0], "a"), (&[0, 1], "")];
        let digests = all.map(|(group, tag)| digest("", &Group::new(group), tag.as_bytes()));
        for (place, one) in digests.iter().enumerate() {
            assert!(one[0] != one[1] && !digests[..place].contains(one));
        }
        assert_eq!(digests[0], digest("", &Group::new([0, 1]), b"a"));
        assert_ne!(digests[0], digest("other", &Group::new([0, 1]), b"a"));
    }
}
