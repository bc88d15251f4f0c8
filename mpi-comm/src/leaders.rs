//! The agreement of a group on its leader and on the remote group (`MPI_Intercomm_create_from_groups`, MPI-5.0, 7.6.2).
//!
//! Invariant: an error of any process of the group is an error in all of them, and all know whether the other group can
//! be reached to receive it.
//! Not here: the handshake with the other group (`connect`).

use mpi_core::abi::{MPI_ERR_GROUP, MPI_ERR_RANK};
use mpi_errors::{Error, Result, processes};
use mpi_p2p::Engine;

use crate::comm::Comm;
use crate::exchange::Exchange;
use crate::group::Group;
use crate::sent_class::error_of;
use crate::tags;

/// No rank.
const NONE: u64 = u64::MAX;

/// The arguments about the remote group, as the leader has them.
#[derive(Debug)]
pub struct RemoteSide {
    /// The group; empty if there shall be no communicator.
    pub group: Group,
    /// The rank of its leader, a rank of the group; an error if the argument is none.
    pub leader: Result<u32>,
}

/// What all processes of a group have of the two groups that an intercommunicator is created from.
#[derive(Debug)]
pub struct AgreedLeaders {
    /// The remote group, not empty and without a process of the local group.
    pub remote: Group,
    /// World ranks of the leaders of the local group and of the remote group; the latter is significant without an
    /// error.
    pub leaders: [u32; 2],
    /// The first error of the group's processes: this process's own if it has one.
    pub error: Option<Error>,
}

/// Agrees on the leader and the remote group among the processes of `local`: those pass the leader's rank, or an error
/// in `own`, and the leader the remote group. Collective over `local`; waits, with no guard held. `None`: the remote
/// group is empty.
///
/// Errors, in all processes: the class of an error of one of them, if the remote group is not known; `MPI_ERR_RANK` if
/// no process is the leader that it names; `MPI_ERR_GROUP` if the groups have a common process.
pub fn agree_on_leaders(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    own: Result<()>,
    remote: impl FnOnce() -> Result<RemoteSide>,
) -> Result<Option<AgreedLeaders>> {
    let exchange = Exchange::among_all(engine, local, tags::LEADERS);
    let class = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let all = exchange.all([class, u64::from(leader)])?;
    let mut error = own.err().or_else(|| {
        let failed = all.iter().position(|[class, _]| *class != 0)?;
        Some(failed_in(failed, all[failed][0]))
    });
    // Without a leader the first process passes its remote group, so that the other group receives the error.
    let first = all.iter().zip(0..).position(|([_, leader], rank)| *leader == rank).unwrap_or(0);
    if error.is_none() && all.iter().any(|[_, leader]| *leader != first as u64) {
        error = Some(different(leader));
    }

    let exchange = exchange.starting_at(first);
    let side = (local.rank() == first as u32).then(|| remote().and_then(|side| disjoint(local.group(), side)));
    let [class, size, remote_leader] = exchange.from_first(|| match &side {
        Some(Ok(RemoteSide { group, leader: Ok(leader) })) => [0, u64::from(group.size()), u64::from(*leader)],
        Some(Ok(RemoteSide { group, leader: Err(error) })) => [error.class() as u64, u64::from(group.size()), NONE],
        Some(Err(error)) => [error.class() as u64, 0, NONE],
        None => unreachable!("the first process of the exchange is the leader"),
    })?;
    let (mut ranks, at_leader) = match side {
        Some(Ok(RemoteSide { group, leader })) => (group.words(), leader.err()),
        Some(Err(error)) => (Vec::new(), Some(error)),
        None => (vec![0; size as usize], (class != 0).then(|| failed_in(first, class))),
    };
    exchange.distribute(&mut ranks)?;
    let error = error.or(at_leader);
    if ranks.is_empty() {
        return error.map_or(Ok(None), Err);
    }
    let remote = Group::of_words(&ranks);
    let remote_leader = remote.world_ranks().get(remote_leader as usize).copied().unwrap_or(u32::MAX);
    Ok(Some(AgreedLeaders { leaders: [local.group().world_ranks()[first], remote_leader], remote, error }))
}

fn disjoint(local: &Group, side: RemoteSide) -> Result<RemoteSide> {
    match local.intersection(&side.group).size() {
        0 => Ok(side),
        _ if let Err(error) = side.leader => Err(error),
        common => {
            let rule =
                format!("{common} of them are in the local group, too; the two groups must have no process in common");
            let value = format!("of {}", processes(side.group.size()));
            Err(Error::new(MPI_ERR_GROUP, rule).arg("remote_group", &value))
        }
    }
}

#[cold]
fn failed_in(rank: usize, class: u64) -> Error {
    let rule = format!("the call failed in the process with rank {rank} of the local group, which has the cause");
    error_of(class, rule)
}

#[cold]
fn different(leader: u32) -> Error {
    let rule = "the processes of the local group pass different leaders";
    Error::new(MPI_ERR_RANK, rule).arg("local_leader", &leader)
}
