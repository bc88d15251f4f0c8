//! Connecting two groups: the remote group and the context ids of a new intercommunicator (MPI-5.0, 7.6.2).
//!
//! The leaders exchange their groups through a communicator that both are in, and distribute what they received. Then
//! the processes of both groups agree on the context ids.
//! Invariant: an error of the leader, and groups with a common process, are errors in all processes of the local group.
//! Not here: the exchange itself (`both_groups`), the new communicator (`create`).

use mpi_core::Guarded;
use mpi_core::abi::{MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_INTERN, MPI_ERR_RANK};
use mpi_errors::{Error, Result, processes};
use mpi_p2p::Engine;

use crate::both_groups::{BothGroups, LeaderLink};
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
    /// What the other leader must have passed, if this one was given it.
    pub expected: Option<ExpectedRemote<'a>>,
    /// Class of an error of the local group, which ends the call in both groups; 0 without one.
    pub refusal: i32,
}

/// The groups and leaders that the processes of both groups must have passed alike.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedRemote<'a> {
    /// The processes of the other group, in any order.
    pub group: &'a Group,
    /// World ranks of the leaders of the local group and of the other group.
    pub leaders: [u32; 2],
}

/// The words before the groups.
struct Head {
    /// Size of the group, and the rank of the process that sends this.
    size: u64,
    sender: u64,
    /// World ranks of the leaders of its own group and of the other one, or [`NONE`].
    leaders: [u64; 2],
    /// Class of the error that ends the call, or 0.
    refusal: u64,
}

/// No rank.
const NONE: u64 = u64::MAX;

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
/// given a group that is not the other one, `MPI_ERR_RANK` if it was given another leader; the class of a refusal. In
/// all processes of the local group: the class of the leader's error; `MPI_ERR_OTHER` when no process has context ids
/// left.
pub fn connect(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    peer: Option<Result<PeerLeader<'_>>>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let link = |peer: &PeerLeader<'_>| LeaderLink {
        context: peer.comm.collective_context(),
        rank: peer.rank as i32,
        tag: leader_tag(peer.tag),
    };
    let own_link = peer.as_ref().and_then(|peer| peer.as_ref().ok()).map(link);
    let mut both = BothGroups::unconnected(engine, local, leader, own_link);

    let received = peer.map(|peer| peer.and_then(|peer| handshake(engine, local, leader, link(&peer), &peer)));
    let verdict = both.local().from_first(|| match &received {
        Some(Ok((ranks, leader))) => [0, ranks.len() as u64, u64::from(*leader)],
        Some(Err(error)) => [error.class() as u64, 0, 0],
        None => unreachable!("the first process of the exchange is the leader"),
    })?;
    let [class, size, remote_leader] = verdict;
    let mut ranks = match received {
        Some(received) => received?.0,
        None if class != 0 => return Err(leader_failed(class, leader)),
        None => vec![0; size as usize],
    };
    both.local().distribute(&mut ranks)?;
    both.set_remote(size as u32, remote_leader as u32);

    let remote = Group::of_words(&ranks);
    let common = local.group().intersection(&remote);
    if common.size() > 0 {
        return Err(overlap(local.group(), &common));
    }
    let context = agree_between(engine, &both, [local.group(), &remote], ids)?;
    Ok(Connection { context, remote: remote.derived_from(local.group()) })
}

/// Exchanges the groups with the other leader: the world ranks of its group, and its rank in it. An error of one leader
/// is an error in both.
fn handshake(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    link: LeaderLink,
    peer: &PeerLeader<'_>,
) -> Result<(Vec<u64>, u32)> {
    let leaders = peer.expected.map_or([NONE; 2], |expected| expected.leaders.map(u64::from));
    let refusal = peer.refusal as u64;
    let own = Head { size: u64::from(local.size()), sender: u64::from(leader), leaders, refusal };
    let mut words = [0; 5];
    link.swap(engine, &own.words(), &mut words)?;
    let other = Head::of(words);
    match [own.refusal, other.refusal] {
        [0, 0] => {}
        [0, class] => return Err(Error::new(class as i32, "the call failed in the other group")),
        [class, _] => return Err(Error::new(class as i32, "the call failed in the local group")),
    }
    if other.size == 0 || other.size > u64::from(engine.size()) || other.sender >= other.size {
        return Err(malformed());
    }
    let mut ranks = vec![0; other.size as usize];
    link.swap(engine, &local.group().words(), &mut ranks)?;
    let mut seen = vec![false; engine.size() as usize];
    let first_time = |rank: &u64| seen.get_mut(*rank as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let checked = match ranks.iter().all(first_time) {
        false => Err(malformed()),
        true => peer.expected.map_or(Ok(()), |expected| matching(&expected, &Group::of_words(&ranks), &other)),
    };
    let mut others = [0];
    link.swap(engine, &[checked.as_ref().err().map_or(0, |error| error.class() as u64)], &mut others)?;
    checked?;
    match others {
        [0] => Ok((ranks, other.sender as u32)),
        [class] => Err(Error::new(class as i32, "the call failed in the leader of the other group")),
    }
}

impl Head {
    fn words(&self) -> [u64; 5] {
        [self.size, self.sender, self.leaders[0], self.leaders[1], self.refusal]
    }

    fn of([size, sender, own, other, refusal]: [u64; 5]) -> Head {
        Head { size, sender, leaders: [own, other], refusal }
    }
}

/// Checks the group and the leaders that the other group has passed.
fn matching(expected: &ExpectedRemote<'_>, found: &Group, head: &Head) -> Result<()> {
    if expected.group.compare(found) == GroupRelation::Unequal {
        let rule = format!("the processes of the other group passed a local group of {} other processes", found.size());
        let value = format!("of {}", processes(expected.group.size()));
        return Err(Error::new(MPI_ERR_GROUP, rule).arg("remote_group", &value));
    }
    let [own, remote] = expected.leaders.map(u64::from);
    let rank_of = |world_rank: u32| expected.group.rank_of(world_rank).map_or(-1, i64::from);
    if head.leaders[0] != remote {
        let rule = "the processes of the other group passed another one of them as their leader";
        return Err(Error::new(MPI_ERR_RANK, rule).arg("remote_leader", &rank_of(expected.leaders[1])));
    }
    if head.leaders[1] != own {
        return Err(Error::new(MPI_ERR_RANK, "the leader of the other group passed another leader of this group"));
    }
    Ok(())
}

#[cold]
fn malformed() -> Error {
    Error::new(MPI_ERR_INTERN, "the other leader sent a group that is none of this job")
}

#[cold]
fn leader_failed(class: u64, leader: u32) -> Error {
    let rule = format!(
        "the call failed in the process with rank {leader} of the local group, which exchanges data with the other group"
    );
    Error::new(class as i32, rule)
}

#[cold]
fn overlap(local: &Group, common: &Group) -> Error {
    let rule = format!(
        "{} of them are in the remote group, too (world rank {} is one); the two groups must have no process in common",
        common.size(),
        common.world_ranks()[0]
    );
    Error::new(MPI_ERR_COMM, rule).arg("local_comm", &format_args!("of {}", processes(local.size())))
}
