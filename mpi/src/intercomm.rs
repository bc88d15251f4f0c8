//! Intercommunicators: two groups of processes that send messages to each other (MPI-5.0, 7.6).
//!
//! Invariant: an [`Intercomm`] borrows its [`World`], so its communicator is freed before MPI is finalized.
//! Not here: the handshake of the groups (`mpi_comm`), the messages (`peer`).

use std::fmt;
use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::abi::MPI_ERR_GROUP;
use mpi_core::{Handle, functions};

use crate::call::CallName;
use crate::peer::Among;
use crate::{Error, Peer, Result, Single, ThreadUse, World};

const TWO_GROUPS: CallName = CallName::new("World::two_groups", functions::MPI_INTERCOMM_CREATE);

/// Two groups of processes: a process sends to and receives from those of the other group, the remote one. Dropping it
/// frees its communicator, which no other process waits for.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // The last process serves the others.
/// let is_server = world.rank() + 1 == world.size();
/// let both = world.two_groups(is_server)?;
/// if is_server {
///     for _ in 0..both.remote_size() {
///         let (question, from) = both.any().receive::<u64>(0)?;
///         both.process(from.source).send(&[question[0] * question[0]], 1)?;
///     }
/// } else {
///     both.process(0).send(&[u64::from(both.rank())], 0)?;
///     let (answer, _) = both.process(0).receive::<u64>(1)?;
///     assert_eq!(answer[0], u64::from(both.rank()).pow(2));
/// }
/// # Ok(())
/// # }
/// ```
pub struct Intercomm<'w, M: ThreadUse = Single> {
    world: &'w World<M>,
    comm: Arc<Comm>,
}

impl<M: ThreadUse> World<M> {
    /// Divides all processes into two groups, in the order of their ranks: those that pass true and those that pass
    /// false. All processes call it, and wait for each other. Errors: `MPI_ERR_GROUP`, in all processes, when all pass
    /// the same.
    pub fn two_groups(&self, second: bool) -> Result<Intercomm<'_, M>> {
        let sides = self.all_gather(&[i32::from(second)])?;
        self.call(TWO_GROUPS, |call| {
            let other = sides.iter().position(|side| (*side != 0) != second);
            let leader = other.ok_or_else(|| {
                let rule = "all processes are in one group; both groups need one at least";
                Error::new(MPI_ERR_GROUP, rule).arg("second", &second)
            })?;
            drop(call.enter(leader as i32, 0, 0));
            let process = call.process;
            let part = process.comm_split(self.handle(), i32::from(second), 0)?;
            let made = process.intercomm_create(part, 0, || Ok((self.handle(), leader as u32, 0)));
            process.comm_free(part)?;
            Ok(Intercomm { world: self, comm: self.created(made?)? })
        })
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// This process's rank in its own group.
    pub fn rank(&self) -> u32 {
        self.comm.rank()
    }

    /// The number of processes in this process's group.
    pub fn size(&self) -> u32 {
        self.comm.size()
    }

    /// The number of processes in the other group.
    pub fn remote_size(&self) -> u32 {
        self.comm.peers()
    }

    /// The ranks in the world of the processes in the other group, by their ranks there.
    pub fn remote_ranks(&self) -> &[u32] {
        self.comm.remote().map_or(&[], |remote| remote.group().world_ranks())
    }

    /// The communicator's handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.comm.handle()
    }

    /// The process with this rank in the other group, to send to and receive from. Its calls fail when there is no such
    /// process. Messages are apart from those of the world.
    pub fn process(&self, rank: u32) -> Peer<'_, M> {
        Peer::new(self.world, self.among(), Some(rank))
    }

    /// Any process of the other group, to receive from.
    pub fn any(&self) -> Peer<'_, M> {
        Peer::new(self.world, self.among(), None)
    }

    fn among(&self) -> Among {
        Among { context: self.comm.context(), size: self.remote_size(), name: "remote group" }
    }
}

impl<M: ThreadUse> Drop for Intercomm<'_, M> {
    fn drop(&mut self) {
        // The handle is its own, and is live until here.
        let _ = self.world.process.comm_free(self.comm.handle());
    }
}

impl<M: ThreadUse> fmt::Debug for Intercomm<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size, remote) = (self.rank(), self.size(), self.remote_size());
        f.debug_struct("Intercomm").field("rank", &rank).field("size", &size).field("remote_size", &remote).finish()
    }
}
