//! Intercommunicators: two groups of processes that send messages to each other (MPI-5.0, 7.6).
//!
//! Invariant: an intercommunicator borrows the communicator that it was made from, so it is freed before MPI is
//! finalized. Not here: the handshake of the groups (`mpi_comm`), the messages (`peer`), collective calls (`between`).

use std::fmt;

use mpi_comm::Comparison;
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_COMM, MPI_ERR_GROUP};
use mpi_core::{Handle, functions};

use crate::call::CallName;
use crate::{Communicator, Error, Peer, Result, Single, ThreadUse};

const TWO_GROUPS: CallName = CallName::new("Communicator::two_groups", functions::MPI_INTERCOMM_CREATE);
const CONNECT: CallName = CallName::new("Communicator::connect", functions::MPI_INTERCOMM_CREATE);
const SPLIT: CallName = CallName::new("Intercomm::split", functions::MPI_COMM_SPLIT);
const MERGE: CallName = CallName::new("Intercomm::merge", functions::MPI_INTERCOMM_MERGE);

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
pub struct Intercomm<'c, M: ThreadUse = Single> {
    pub(crate) both: Communicator<'c, M>,
}

impl<M: ThreadUse> Communicator<'_, M> {
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
            Ok(Intercomm { both: self.made(made?, "intercommunicator")? })
        })
    }

    /// Makes an intercommunicator of the processes of this communicator and those of another one that has no process in
    /// common with it. In both, the process of rank `leader` passes the leader of the other one as a process of a
    /// communicator that both leaders are in; the other processes pass `None`. All processes of both communicators call it,
    /// with equal tags, and wait for each other (`MPI_Intercomm_create`).
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// let half = world.split(Some(world.rank() % 2), 0)?.expect("all processes pass a color");
    /// let other_leader = world.process(1 - world.rank() % 2);
    /// let both = half.connect(0, (half.rank() == 0).then_some(&other_leader), 0)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Errors: `MPI_ERR_RANK` for a leader that does not exist; in all processes of this communicator: `MPI_ERR_COMM` when
    /// the leader passes no process, or when a process is in both communicators; `MPI_ERR_RANK`, `MPI_ERR_TAG`,
    /// `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn connect(&self, leader: u32, other: Option<&Peer<'_, M>>, tag: i32) -> Result<Intercomm<'_, M>> {
        self.call(CONNECT, |call| {
            self.process(leader).destination(0)?;
            drop(call.enter(leader as i32, tag, 0));
            let made = call.process.intercomm_create(self.handle(), leader, || {
                let rule = "this process is the leader, which has to pass the leader of the other group";
                let other = other.ok_or_else(|| Error::new(MPI_ERR_COMM, rule).arg("other", &"None"))?;
                Ok((other.comm.handle(), other.destination(tag)? as u32, tag))
            })?;
            Ok(Intercomm { both: self.made(made, "intercommunicator")? })
        })
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// This process's rank in its own group.
    pub fn rank(&self) -> u32 {
        self.both.rank()
    }

    /// The number of processes in this process's group.
    pub fn size(&self) -> u32 {
        self.both.size()
    }

    /// The number of processes in the other group.
    pub fn remote_size(&self) -> u32 {
        self.both.comm.peers()
    }

    /// The ranks in the world of the processes in the other group, by their ranks there.
    pub fn remote_ranks(&self) -> &[u32] {
        self.both.comm.remote().map_or(&[], |remote| remote.group().world_ranks())
    }

    /// The communicator's handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.both.handle()
    }

    /// Its name, empty unless [`Intercomm::set_name`] gave it one.
    pub fn name(&self) -> String {
        self.both.name()
    }

    /// Names it, for reports and tools.
    pub fn set_name(&self, name: &str) {
        self.both.set_name(name);
    }

    /// How its groups compare with those of another intercommunicator.
    pub fn compare(&self, other: &Intercomm<'_, M>) -> Comparison {
        self.both.compare(&other.both)
    }

    /// Makes an intercommunicator of the processes of both groups that pass the same color, ordered in each group as by
    /// [`Communicator::split`]; `None` in a process that passes no color, and where no process of the other group passes
    /// the same. All processes of both groups call it, and wait for each other. Errors: as [`Communicator::split`].
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Intercomm<'_, M>>> {
        self.both.call(SPLIT, |call| {
            let handle = self.both.split_handle(call, color, key)?;
            let made = (handle.0 != MPI_COMM_NULL).then(|| self.both.made(handle, "intercommunicator"));
            Ok(made.transpose()?.map(|both| Intercomm { both }))
        })
    }

    /// The process with this rank in the other group, to send to and receive from. Its calls fail when there is no such
    /// process. Messages are apart from those of the world.
    pub fn process(&self, rank: u32) -> Peer<'_, M> {
        self.both.process(rank)
    }

    /// Any process of the other group, to receive from.
    pub fn any(&self) -> Peer<'_, M> {
        self.both.any()
    }

    /// Makes a communicator of both groups. The group whose processes pass `high` has the higher ranks; where both
    /// groups pass the same, the library chooses. All processes of both groups call it, with equal `high` in each group,
    /// and wait for each other. Errors: `MPI_ERR_ARG` when the processes of one group differ, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn merge(&self, high: bool) -> Result<Communicator<'_, M>> {
        self.both.call(MERGE, |call| {
            drop(call.enter(-1, 0, 0));
            self.both.made(call.process.intercomm_merge(self.handle(), high)?, "communicator")
        })
    }
}

impl<M: ThreadUse> fmt::Debug for Intercomm<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size, remote) = (self.rank(), self.size(), self.remote_size());
        f.debug_struct("Intercomm").field("rank", &rank).field("size", &size).field("remote_size", &remote).finish()
    }
}
