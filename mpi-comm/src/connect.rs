//! Connecting two groups: the remote group and the context ids of a new intercommunicator (MPI-5.0, 7.6.2 and 11.8).
//!
//! The leaders exchange their groups through a communicator that both are in, or by a way of their own, and distribute
//! what they received. Processes of several jobs that have no route to each other make one (`routes`). Then the processes
//! of both groups agree on the context ids.
//! Invariant: an error of the leader, and groups with a common process, are errors in all processes of the local group.
//! Not here: the exchange itself (`both_groups`), the new communicator (`create`).

use std::collections::HashSet;

use mpi_core::Guarded;
use mpi_core::abi::{MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_INTERN, MPI_ERR_RANK};
use mpi_errors::{Error, Result, processes};
use mpi_fabric::ProcessId;
use mpi_p2p::Engine;

use crate::both_groups::{BothGroups, LeaderLink, WordExchange};
use crate::comm::Comm;
use crate::context::ContextIds;
use crate::context_agreement::agree_between;
use crate::group::{Group, GroupRelation};
use crate::routes::{identities, route};
use crate::sent_class::error_of;
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
/// Most processes of a group; more are a damaged message.
const MOST_PROCESSES: u64 = 1 << 20;

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
    connect_by(engine, local, leader, peer.map(|peer| peer.map(Way::to)), ids)
}

/// As [`connect`], with a group of processes of any job, which has no communicator in common with this one: the leaders
/// exchange words by `way`, significant at the leader.
///
/// Errors, besides those of [`connect`]: that of `way` in all processes of the local group; `MPI_ERR_OTHER` and
/// `MPI_ERR_NO_MEM` in all processes of both groups, if memory cannot be shared between them.
pub fn connect_jobs(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    way: Option<Result<&dyn WordExchange>>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let way = way.map(|way| way.map(|way| Way { link: LeaderLink::Words(way), expected: None, refusal: 0 }));
    connect_by(engine, local, leader, way, ids)
}

/// The way to the other leader, and what is expected there.
#[derive(Clone, Copy)]
struct Way<'a> {
    link: LeaderLink<'a>,
    expected: Option<ExpectedRemote<'a>>,
    refusal: i32,
}

impl<'a> Way<'a> {
    fn to(peer: PeerLeader<'a>) -> Way<'a> {
        let PeerLeader { comm, rank, tag, expected, refusal } = peer;
        let (context, rank, tag) = (comm.collective_context(), rank as i32, leader_tag(tag));
        Way { link: LeaderLink::Messages { context, rank, tag }, expected, refusal }
    }
}

fn connect_by(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    way: Option<Result<Way<'_>>>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let own_link = way.as_ref().and_then(|way| way.as_ref().ok()).map(|way| way.link);
    let mut both = BothGroups::unconnected(engine, local, leader, own_link);
    let own = identities(engine, local.group())?;

    let received = way.map(|way| way.and_then(|way| handshake(engine, &own, leader, &way)));
    if let Some(Ok(_)) = &received {
        both.begin();
    }
    let connected = join(engine, local, leader, &mut both, &own, received, ids);
    connected.inspect_err(|_| both.end_after_error())
}

/// What follows when the leaders have exchanged their groups, in the leader with the remote group and the rank of its
/// leader.
fn join(
    engine: &Engine,
    local: &Comm,
    leader: u32,
    both: &mut BothGroups<'_>,
    own: &[ProcessId],
    received: Option<Result<(Vec<ProcessId>, u32)>>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let verdict = both.local().from_first(|| match &received {
        Some(Ok((ids, leader))) => [0, ids.len() as u64, u64::from(*leader)],
        Some(Err(error)) => [error.class() as u64, 0, 0],
        None => unreachable!("the first process of the exchange is the leader"),
    })?;
    let [class, size, remote_leader] = verdict;
    let mut words = match received {
        Some(received) => words_of(&received?.0),
        None if class != 0 => return Err(leader_failed(class, leader)),
        None => vec![0; 2 * size as usize],
    };
    both.local().distribute(&mut words)?;
    both.set_remote(size as u32, remote_leader as u32);

    let remote = ids_of(&words);
    let common = remote.iter().filter(|id| own.contains(id)).count();
    if common > 0 {
        let one = own.iter().position(|id| remote.contains(id)).unwrap_or_default();
        return Err(overlap(local.group(), common, one));
    }
    let remote = route(engine, both, own, &remote)?;
    let context = agree_between(engine, both, [local.group(), &remote], ids)?;
    Ok(Connection { context, remote: remote.derived_from(local.group()) })
}

/// Exchanges the groups with the other leader: the processes of its group, and its rank in it. An error of one leader is
/// an error in both.
fn handshake(engine: &Engine, own_ids: &[ProcessId], leader: u32, way: &Way<'_>) -> Result<(Vec<ProcessId>, u32)> {
    let Way { link, expected, refusal } = way;
    let leaders = expected.map_or([NONE; 2], |expected| expected.leaders.map(u64::from));
    let own = Head { size: own_ids.len() as u64, sender: u64::from(leader), leaders, refusal: *refusal as u64 };
    let mut words = [0; 5];
    link.swap(engine, &own.words(), &mut words)?;
    let other = Head::of(words);
    match [own.refusal, other.refusal] {
        [0, 0] => {}
        [0, class] => return Err(error_of(class, "the call failed in the other group")),
        [class, _] => return Err(error_of(class, "the call failed in the local group")),
    }
    if other.size == 0 || other.size > MOST_PROCESSES || other.sender >= other.size {
        return Err(malformed());
    }
    let mut words = vec![0; 2 * other.size as usize];
    link.swap(engine, &words_of(own_ids), &mut words)?;
    let (ids, own_job) = (ids_of(&words), engine.process_id(&engine.lock()).job);
    let mut seen = HashSet::new();
    let is_process = |id: &ProcessId| id.job != 0 && (id.job != own_job || id.rank < engine.size());
    let checked = match ids.iter().all(|id| is_process(id) && seen.insert(*id)) {
        false => Err(malformed()),
        true => expected.map_or(Ok(()), |expected| matching(engine, &expected, &ids, &other)),
    };
    let mut others = [0];
    link.swap(engine, &[checked.as_ref().err().map_or(0, |error| error.class() as u64)], &mut others)?;
    checked?;
    match others {
        [0] => Ok((ids, other.sender as u32)),
        [class] => Err(error_of(class, "the call failed in the leader of the other group")),
    }
}

/// Identities as the words of a message.
fn words_of(ids: &[ProcessId]) -> Vec<u64> {
    ids.iter().flat_map(|id| [id.job, u64::from(id.rank)]).collect()
}

fn ids_of(words: &[u64]) -> Vec<ProcessId> {
    words.as_chunks().0.iter().map(|&[job, rank]| ProcessId { job, rank: rank as u32 }).collect()
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
fn matching(engine: &Engine, expected: &ExpectedRemote<'_>, found: &[ProcessId], head: &Head) -> Result<()> {
    let guard = engine.lock();
    let numbers: Option<Vec<u32>> = found.iter().map(|id| engine.number_of(&guard, *id)).collect();
    if numbers.is_none_or(|numbers| expected.group.compare(&Group::new(numbers)) == GroupRelation::Unequal) {
        let rule = format!("the processes of the other group passed a local group of {} other processes", found.len());
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
    Error::new(MPI_ERR_INTERN, "the other leader sent a group that is none")
}

#[cold]
fn leader_failed(class: u64, leader: u32) -> Error {
    let rule = format!(
        "the call failed in the process with rank {leader} of the local group, which exchanges data with the other group"
    );
    error_of(class, rule)
}

#[cold]
fn overlap(local: &Group, common: usize, one: usize) -> Error {
    let rule = format!(
        "{common} of them are in the remote group, too (rank {one} of local_comm is the first); the two groups must have no \
         process in common"
    );
    Error::new(MPI_ERR_COMM, rule).arg("local_comm", &format_args!("of {}", processes(local.size())))
}
