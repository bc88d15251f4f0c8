//! Groups: ordered sets of processes, of which communicators are made (MPI-5.0, 7.3 and 7.4.2).
//!
//! Invariant: a group has each process once, and is a value: it outlives the communicator that it was taken from.
//! Not here: what goes on in a communicator (`communicator`), the set operations themselves (`mpi_comm`).

use std::fmt;

use mpi_comm::{Group as Members, GroupRelation, RemoteSide};
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_GROUP, MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERRORS_RETURN};
use mpi_core::{Handle, functions};

use crate::call::{Call, CallName};
use crate::threads::ThreadUse;
use crate::{Communicator, Error, Intercomm, Result, Session};

const CREATE: CallName = CallName::new("Communicator::create", functions::MPI_COMM_CREATE);
const CREATE_GROUP: CallName = CallName::new("Communicator::create_group", functions::MPI_COMM_CREATE_GROUP);
const CONNECT: CallName = CallName::new("Session::connect", functions::MPI_INTERCOMM_CREATE_FROM_GROUPS);
const FROM_GROUP: CallName = CallName::new("Session::communicator_of", functions::MPI_COMM_CREATE_FROM_GROUP);

/// An ordered set of processes. Cheap to clone; immutable, and safe to use from any thread. All its operations are local.
///
/// Two groups are equal when they have the same processes in the same order.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // All processes but the first one, without a call of the first one.
/// let workers = world.group().exclude(&[0])?;
/// if workers.rank().is_some() {
///     let workers = world.create_group(&workers, 0)?;
///     workers.barrier()?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Group {
    members: Members,
    /// Rank in the job of this process.
    own: u32,
}

impl Group {
    /// The number of processes (`MPI_Group_size`).
    pub fn size(&self) -> u32 {
        self.members.size()
    }

    /// This process's rank in it; `None` if it is no member (`MPI_Group_rank`).
    pub fn rank(&self) -> Option<u32> {
        self.members.rank_of(self.own)
    }

    /// The ranks in the world of its processes, in its order.
    pub fn world_ranks(&self) -> &[u32] {
        self.members.world_ranks()
    }

    /// The rank in another group of the process with this rank; `None` if it is no member of that one
    /// (`MPI_Group_translate_ranks`). Errors: `MPI_ERR_RANK` for a rank that no process has.
    pub fn translate(&self, rank: u32, other: &Group) -> Result<Option<u32>> {
        let found = self.world_ranks().get(rank as usize).ok_or_else(|| {
            let rule = format!("the group has {}", mpi_errors::processes(self.size()));
            Error::new(MPI_ERR_RANK, rule).arg("rank", &rank).call("Group::translate")
        })?;
        Ok(other.members.rank_of(*found))
    }

    /// How its processes compare with those of another group (`MPI_Group_compare`).
    pub fn compare(&self, other: &Group) -> GroupRelation {
        self.members.compare(&other.members)
    }

    /// Its processes, then those of the other group that are missing (`MPI_Group_union`).
    pub fn union(&self, other: &Group) -> Group {
        self.with(self.members.union(&other.members))
    }

    /// Its processes that are in the other group too (`MPI_Group_intersection`).
    pub fn intersection(&self, other: &Group) -> Group {
        self.with(self.members.intersection(&other.members))
    }

    /// Its processes that are not in the other group (`MPI_Group_difference`).
    pub fn difference(&self, other: &Group) -> Group {
        self.with(self.members.difference(&other.members))
    }

    /// The processes with these ranks, in this order (`MPI_Group_incl`). Errors: `MPI_ERR_RANK` for a rank that no process
    /// has, or that is there twice.
    pub fn include(&self, ranks: &[u32]) -> Result<Group> {
        let made = self.members.incl(ranks.iter().map(|rank| word(*rank)));
        made.map(|members| self.with(members)).map_err(|error| error.call("Group::include"))
    }

    /// All processes but those with these ranks (`MPI_Group_excl`). Errors: as [`Group::include`].
    pub fn exclude(&self, ranks: &[u32]) -> Result<Group> {
        let made = self.members.excl(ranks.iter().map(|rank| word(*rank)));
        made.map(|members| self.with(members)).map_err(|error| error.call("Group::exclude"))
    }

    fn with(&self, members: Members) -> Group {
        Group { members, own: self.own }
    }
}

/// A rank as the set operations have it: what is too large becomes negative, which is refused.
fn word(rank: u32) -> i32 {
    i32::try_from(rank).unwrap_or(-1)
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.members == other.members
    }
}

impl Eq for Group {}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.world_ranks()).finish()
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Its processes (`MPI_Comm_group`).
    pub fn group(&self) -> Group {
        Group { members: self.comm.group().clone(), own: self.process.rank() }
    }

    /// Makes a communicator of the processes of a group, in its order; `None` in all others. All processes of this
    /// communicator call it, with equal groups or, for several communicators at once, with groups that have no process in
    /// common, and wait for each other. Errors: `MPI_ERR_GROUP` for a group with other processes than this communicator's,
    /// and as [`Communicator::duplicate`].
    pub fn create(&self, group: &Group) -> Result<Option<Communicator<'_, M>>> {
        self.call(CREATE, |call| {
            drop(call.enter(-1, 0, u64::from(group.size())));
            self.made_for_members(call.process.comm_create(self.handle(), &group.members)?)
        })
    }

    /// As [`Communicator::create`], but only the processes of the group call it. `tag` distinguishes it from other calls of
    /// other threads at the same time. Errors: `MPI_ERR_GROUP` also when this process is no member; `MPI_ERR_TAG`.
    pub fn create_group(&self, group: &Group, tag: i32) -> Result<Communicator<'_, M>> {
        self.call(CREATE_GROUP, |call| {
            if tag < 0 {
                return Err(Error::new(MPI_ERR_TAG, "a tag must not be negative").arg("tag", &tag));
            }
            if group.rank().is_none() {
                return Err(no_member(group));
            }
            drop(call.enter(-1, tag, u64::from(group.size())));
            self.made(call.process.comm_create_group(self.handle(), &group.members, tag)?, "communicator")
        })
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// The processes of this process's group.
    pub fn group(&self) -> Group {
        self.both.group()
    }

    /// The processes of the other group (`MPI_Comm_remote_group`).
    pub fn remote_group(&self) -> Group {
        let own = self.both.group();
        match self.both.comm.remote() {
            Some(remote) => own.with(remote.group().clone()),
            None => own.with(Members::new([])),
        }
    }
}

impl<M: ThreadUse> Session<M> {
    /// The processes of a set (`MPI_Group_from_session_pset`). Errors: `MPI_ERR_ARG` for an unknown set.
    pub fn group(&self, set: &str) -> Result<Group> {
        let members = self.process.pset(set).ok_or_else(|| {
            let rule = format!("a session has the sets {}", self.sets().join(" and "));
            Error::new(MPI_ERR_ARG, rule).arg("set", &set).call("Session::group")
        })?;
        Ok(Group { members: members.of_session(self.handle()), own: self.process.rank() })
    }

    /// Makes a communicator of the processes of a group of this session (`MPI_Comm_create_from_group`). All of them call
    /// it, with the same `tag`, as for [`Session::communicator`]. Errors: `MPI_ERR_GROUP` when this process is no member;
    /// `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn communicator_of(&self, group: &Group, tag: &str) -> Result<Communicator<'_, M>> {
        Call::run(self.process, 0, FROM_GROUP, |call| {
            if group.rank().is_none() {
                return Err(no_member(group));
            }
            drop(call.enter(-1, 0, u64::from(group.size())));
            let members = group.members.clone().of_session(self.handle());
            let handle = call.process.comm_create_from_group(&members, tag.as_bytes(), Handle(MPI_ERRORS_RETURN))?;
            Communicator::made_in(self.process, handle, "communicator")
        })
    }
}

impl<M: ThreadUse> Session<M> {
    /// Makes an intercommunicator of two groups of this session that have no process in common
    /// (`MPI_Intercomm_create_from_groups`). All processes of both call it, with the same `tag`, and wait for each other:
    /// `local` is the own group, and `leader` a rank in it; `remote` is the other group, and `remote_leader` the rank that
    /// its processes pass as `leader`. Errors: `MPI_ERR_GROUP` when this process is not in `local`, for an empty group, for
    /// groups with a common process, and when the processes pass different groups; `MPI_ERR_RANK` for a leader that does
    /// not exist or that processes do not agree on; `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn connect(
        &self,
        (local, leader): (&Group, u32),
        (remote, remote_leader): (&Group, u32),
        tag: &str,
    ) -> Result<Intercomm<'_, M>> {
        Call::run(self.process, 0, CONNECT, |call| {
            if local.rank().is_none() {
                return Err(no_member(local));
            }
            if remote.size() == 0 {
                return Err(Error::new(MPI_ERR_GROUP, "both groups need a process").arg("remote", &"an empty group"));
            }
            drop(call.enter(leader as i32, 0, 0));
            let rank = |name: &'static str, rank: u32, group: &Group| {
                let rule = || format!("the group has {}", mpi_errors::processes(group.size()));
                let known = Some(rank).filter(|rank| *rank < group.size());
                known.ok_or_else(|| Error::new(MPI_ERR_RANK, rule()).arg(name, &rank))
            };
            // A wrong rank takes part in the agreement, so that the other processes do not wait for ever.
            let (leader, own) = match rank("leader", leader, local) {
                Ok(leader) => (leader, Ok(())),
                Err(error) => (u32::MAX, Err(error)),
            };
            let members = |group: &Group| group.members.clone().of_session(self.handle());
            let other =
                || Ok(RemoteSide { group: members(remote), leader: rank("remote_leader", remote_leader, remote) });
            let (errhandler, local) = (Handle(MPI_ERRORS_RETURN), members(local));
            let process = call.process;
            let handle =
                process.intercomm_create_from_groups(&local, leader, own, other, tag.as_bytes(), errhandler)?;
            Ok(Intercomm { both: Communicator::made_in(process, handle, "intercommunicator")? })
        })
    }
}

#[cold]
fn no_member(group: &Group) -> Error {
    let of = mpi_errors::processes(group.size());
    Error::new(MPI_ERR_GROUP, "this process is not in it").arg("group", &format_args!("of {of}"))
}
