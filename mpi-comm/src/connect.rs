//! Connecting two groups: the remote group and the context ids of a new intercommunicator (MPI-5.0, 7.6.2).
//!
//! The leaders exchange their groups through a communicator that both are in, and distribute what they received. Then
//! the processes of both groups agree on the context ids.
//! Invariant: an error of the leader, and groups with a common process, are errors in all processes of the local group.
//! Not here: the exchange itself (`both_groups`), the new communicator (`create`).

use mpi_core::Guarded;
use mpi_core::abi::{MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_INTERN};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::both_groups::{BothGroups, Meeting};
use crate::comm::Comm;
use crate::context::ContextIds;
use crate::context_agreement::agree_between;
use crate::group::{Group, GroupRelation};
use crate::tags::leader_tag;

/// The other group's leader, as this group's leader addresses it.
#[derive(Debug, Clone, Copy)]
pub struct PeerLeader<'a> {
    /// A communicator that both leaders are in; of an intercommunicator, one leader is in each group.
    pub comm: &'a Comm,
    /// The other leader's rank: below the communicator's [`Comm::peers`].
    pub rank: u32,
    /// The tag of this connection, the same in both leaders.
    pub tag: i32,
    /// The processes of the other group, in any order, if the leader was given them.
    pub group: Option<&'a Group>,
}

/// The facts of a new intercommunicator, beside its local group.
#[derive(Debug)]
pub struct Connection {
    /// Its context id; the following one is that of the local group's communicator.
    pub context: u32,
    /// The remote group.
    pub remote: Group,
}

/// Connects the processes of `local`, whose leader has this rank, with another group. Collective over both groups;
/// waits.
/// `peer` is significant at the leader, where it is an error if the leader's arguments were wrong; `None` is right in
/// the others. Several connections of one communicator are made one after the other; those of different communicators
/// whose leaders use the same peer communicator at once differ in their tags.
///
/// Errors, in all processes of both groups: `MPI_ERR_COMM` if a process is in both; `MPI_ERR_GROUP` if a leader was
/// given a group that is not the other one. In all processes of the local group: the class of the leader's
/// error; `MPI_ERR_OTHER` when no process has context ids left.
pub fn connect(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    peer: Option<Result<PeerLeader<'_>>>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let way = |peer: &PeerLeader<'_>| Meeting {
        context: peer.comm.collective_context(),
        rank: peer.rank as i32,
        tag: leader_tag(peer.tag),
    };
    let meeting = peer.as_ref().and_then(|peer| peer.as_ref().ok()).map(way);
    let mut both = BothGroups::apart(engine, local, leader, meeting);

    let met = peer.map(|peer| peer.and_then(|peer| meet(engine, local, leader, way(&peer), peer.group)));
    let verdict = both.local().from_first(|| match &met {
        Some(Ok((ranks, leader))) => [0, ranks.len() as u64, u64::from(*leader)],
        Some(Err(error)) => [error.class() as u64, 0, 0],
        None => unreachable!("the first process of the exchange is the leader"),
    })?;
    let [class, size, remote_leader] = verdict;
    let mut ranks = match met {
        Some(met) => met?.0,
        None if class != 0 => return Err(leader_failed(class, leader)),
        None => vec![0; size as usize],
    };
    both.local().distribute(&mut ranks)?;
    both.meet(size as u32, remote_leader as u32);

    let remote = group_of(&ranks);
    let common = local.group().intersection(&remote);
    if common.size() > 0 {
        return Err(overlap(local.group(), &common));
    }
    let context = agree_between(engine, &both, [local.group(), &remote], ids)?;
    Ok(Connection { context, remote: remote.derived_from(local.group()) })
}

/// Exchanges the groups with the other leader: the world ranks of its group, and its rank in it. An error of one leader
/// is an error in both.
fn meet(engine: &Engine, local: &Comm, leader: u32, way: Meeting, expected: Option<&Group>) -> Result<(Vec<u64>, u32)> {
    let mut head = [0; 2];
    way.swap(engine, &[u64::from(local.size()), u64::from(leader)], &mut head)?;
    let [size, leader] = head;
    if size == 0 || size > u64::from(engine.size()) || leader >= size {
        return Err(malformed());
    }
    let own: Vec<u64> = local.group().world_ranks().iter().map(|rank| u64::from(*rank)).collect();
    let mut ranks = vec![0; size as usize];
    way.swap(engine, &own, &mut ranks)?;
    let mut seen = vec![false; engine.size() as usize];
    let first_time = |rank: &u64| seen.get_mut(*rank as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let checked = match ranks.iter().all(first_time) {
        false => Err(malformed()),
        true => expected.map_or(Ok(()), |expected| equal(expected, &group_of(&ranks))),
    };
    let mut others = [0];
    way.swap(engine, &[checked.as_ref().err().map_or(0, |error| error.class() as u64)], &mut others)?;
    checked?;
    match others {
        [0] => Ok((ranks, leader as u32)),
        [class] => Err(Error::new(class as i32, "the call failed in the leader of the other group")),
    }
}

fn group_of(world_ranks: &[u64]) -> Group {
    Group::new(world_ranks.iter().map(|rank| *rank as u32).collect::<Vec<_>>())
}

fn equal(expected: &Group, found: &Group) -> Result<()> {
    if expected.compare(found) != GroupRelation::Unequal {
        return Ok(());
    }
    let rule = format!("the processes of the other group passed a local group of {} other processes", found.size());
    Err(Error::new(MPI_ERR_GROUP, rule).arg("remote_group", &format_args!("of {} processes", expected.size())))
}

#[cold]
fn malformed() -> Error {
    Error::new(MPI_ERR_INTERN, "the other leader sent a group that is none of this job")
}

#[cold]
fn leader_failed(class: u64, leader: u32) -> Error {
    let rule = "the call failed in that process, where the arguments about the other group are significant";
    Error::new(class as i32, rule).arg("local_leader", &leader)
}

#[cold]
fn overlap(local: &Group, common: &Group) -> Error {
    let rule = format!(
        "{} of them are in the remote group, too (world rank {} is one); the two groups must have no process in common",
        common.size(),
        common.world_ranks()[0]
    );
    Error::new(MPI_ERR_COMM, rule).arg("local_comm", &format_args!("of {} processes", local.size()))
}
