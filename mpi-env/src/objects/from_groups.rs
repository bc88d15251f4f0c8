//! Communicators created from groups, without a parent: `MPI_Comm_create_from_group` (MPI-5.0, 7.4.2) and
//! `MPI_Intercomm_create_from_groups` (MPI-5.0, 7.6.2).
//!
//! Invariant: a temporary communicator of a call has no handle, and is unregistered before the call returns.
//! Not here: the agreement on the context id (`mpi-p2p`), the meeting of two groups (`mpi-comm`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use mpi_comm::{Comm, CommSpec, Group, PeerLeader, contexts_of, unregister, unregistered};
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_GROUP, MPI_ERRORS_RETURN};
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_p2p::{MakeContext, UNSETTLED};

use crate::objects::unsettled::Unsettled;
use crate::record::process::Process;

/// The remote group as the leader of the local group passes it to [`Process::intercomm_create_from_groups`].
#[derive(Debug)]
pub struct RemoteSide {
    /// The group.
    pub group: Group,
    /// The rank of its leader, a rank of the group.
    pub leader: u32,
}

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
        let name = format!("communicator \"{}\"", String::from_utf8_lossy(tag));
        let group = group.clone();
        let spec =
            CommSpec { context: UNSETTLED, group, remote: None, rank, name: String::new(), errhandler, topology: None };
        let Unsettled { handle, comm, make } = self.unsettled(&mut guard, spec, &name)?;
        let group = comm.group().clone();
        let request = self.named(&mut guard, &group, digest("a communicator", &group, tag), make);
        match self.place_unsettled(&mut guard, handle, comm, request) {
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
    /// this rank, and of another group; the string `tag` distinguishes calls of the same groups. The remote group is
    /// significant at the leader, where it is an error if the leader's arguments were wrong. Collective over both
    /// groups; waits, with no guard held. The caller has checked the error handler. Errors: `MPI_ERR_GROUP` when the
    /// groups have a common process or the remote group is not what its processes pass as their local one; else as
    /// [`Process::intercomm_create`].
    pub fn intercomm_create_from_groups(
        &self,
        local: &Group,
        leader: u32,
        remote: impl FnOnce() -> Result<RemoteSide>,
        tag: &[u8],
        errhandler: Handle,
    ) -> Result<Handle> {
        let own = self.rank_in(local)?;
        let own_group = self.temporary(local, digest("the local group of an intercommunicator", local, tag))?;
        let way = (own == leader).then(|| {
            let RemoteSide { group, leader: other } = remote()?;
            let common = local.intersection(&group).size();
            if common > 0 {
                return Err(overlap(&group, common));
            }
            let mut leaders = [self.rank(), group.world_ranks()[other as usize]];
            leaders.sort_unstable();
            let other = u32::from(leaders[0] == self.rank());
            let leaders = Group::new(leaders);
            let leaders = self.temporary(&leaders, digest("the leaders of an intercommunicator", &leaders, tag))?;
            Ok((leaders, other, group))
        });
        let (leaders, group);
        let peer = match way {
            None => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok((found, rank, remote))) => {
                (leaders, group) = (found, remote);
                Some(Ok(PeerLeader { comm: &leaders.comm, rank, tag: 0, group: Some(&group) }))
            }
        };
        self.connected(&own_group.comm, leader, peer, errhandler)
    }

    /// This process's rank in a group. Errors: `MPI_ERR_GROUP`.
    pub(crate) fn rank_in(&self, group: &Group) -> Result<u32> {
        group.rank_of(self.rank()).ok_or_else(|| {
            let rule = format!("process {} of the job is not in that group of {}", self.rank(), group.size());
            Error::new(MPI_ERR_GROUP, rule).arg("group", &"of other processes")
        })
    }

    /// A communicator without a handle of a group in which this process is, under a digest that all its processes have.
    fn temporary(&self, group: &Group, digest: [u64; 2]) -> Result<Temporary<'_>> {
        let (rank, name) = (self.rank_in(group)?, String::new());
        let errhandler = Handle(MPI_ERRORS_RETURN);
        let (context, group) = (UNSETTLED, group.clone());
        let spec = CommSpec { context, group, remote: None, rank, name, errhandler, topology: None };
        let comm = Arc::new(unregistered(spec, self.unseen()));
        let settled = comm.clone();
        let make = Box::new(move |id| {
            settled.settle(id);
            contexts_of(&settled, id)
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

#[cold]
fn overlap(remote: &Group, common: u32) -> Error {
    let rule = format!("{common} of them are in the local group, too; the two groups must have no process in common");
    Error::new(MPI_ERR_GROUP, rule).arg("remote_group", &format_args!("of {} processes", remote.size()))
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
