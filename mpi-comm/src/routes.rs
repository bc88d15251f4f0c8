//! Routes between the processes of two groups: a bridge on each host, and the network between hosts, if some of them cannot reach
//! each other yet (MPI-5.0, 11.8).
//!
//! Processes that come together in one communicator may be of jobs that have never been connected, when each of them is
//! connected with a third. The processes exchange what they lack, and make one bridge for all of them on a host.
//! Invariant: all processes of both groups get their routes, or all get an error and use nothing of the new ones.
//! Not here: the memory of a bridge (`mpi_fabric`), the network (`mpi_net`).

mod remote;

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_errors::{Error, Result};
use mpi_fabric::{BridgeKey, PeerPins, ProcessId};
use mpi_p2p::Engine;

use crate::both_groups::{BothGroups, Words};
use crate::group::Group;
use crate::sent_class::error_of;
use remote::by_network;

/// Identities of the members of a group.
pub(crate) fn identities(engine: &Engine, group: &Group) -> Result<Vec<ProcessId>> {
    let guard = engine.lock();
    let ids = group.world_ranks().iter().map(|number| engine.id_of(&guard, *number)).collect::<Option<_>>();
    ids.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a process of the group is not connected any more"))
}

/// The group of these processes, all of which the processes of the local group, `own`, can reach after the call.
/// Collective over both groups; waits. Errors, in all processes: `MPI_ERR_OTHER`, `MPI_ERR_NO_MEM`.
pub(crate) fn route(engine: &Engine, both: &BothGroups<'_>, own: &[ProcessId], remote: &[ProcessId]) -> Result<Group> {
    // Routes that exist now must not end before the communicator holds them.
    let (missing, ring_bytes, host, mut pins) = {
        let guard = &mut engine.lock();
        // Numbers that are no longer used are no routes.
        engine.release_peers(guard);
        let routes: Vec<_> = remote.iter().filter(|id| engine.has_route(guard, **id)).collect();
        let numbers: Vec<u32> = routes.iter().filter_map(|id| engine.number_of(guard, **id)).collect();
        (
            remote.len() - routes.len(),
            engine.ring_bytes(guard) as u64,
            engine.host_key(guard),
            engine.pin(guard, &numbers),
        )
    };
    let own_first = own[0] < remote[0];
    let all = in_order(both.all([missing as u64, ring_bytes, host])?, own_first);
    if all.iter().any(|[missing, ..]| *missing > 0) {
        let longest = all.iter().map(|[_, ring_bytes, _]| *ring_bytes).max().unwrap_or(0);
        let ids = if own_first { [own, remote] } else { [remote, own] }.concat();
        let id = engine.process_id(&engine.lock());
        let place = ids.iter().position(|member| *member == id);
        let place = place.ok_or_else(|| Error::new(MPI_ERR_INTERN, "this process is in no group"))?;
        let hosts = all.iter().map(|[.., host]| *host).collect();
        let members = Members { both, ids, own: place, hosts, own_first };
        pins.merge(&connect_all(engine, &members, longest)?);
    }
    let guard = engine.lock();
    let numbers: Option<Vec<u32>> = remote.iter().map(|id| engine.number_of(&guard, *id)).collect();
    let numbers =
        numbers.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a process of the remote group is not connected"))?;
    Ok(Group::new(numbers).pinned(pins))
}

/// What all processes of both groups have in common while they are connected.
struct Members<'a> {
    both: &'a BothGroups<'a>,
    /// In the same order in all processes: first the group whose first process has the lower identity.
    ids: Vec<ProcessId>,
    /// The place of this process.
    own: usize,
    /// By place: a number that the processes of a host have in common, 0 for one that shares memory with none.
    hosts: Vec<u64>,
    own_first: bool,
}

impl Members<'_> {
    /// The words of all processes by place.
    fn all<const N: usize>(&self, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        Ok(in_order(self.both.all(own)?, self.own_first))
    }

    /// The places of the processes that share memory with this one, itself included.
    fn of_host(&self) -> Vec<usize> {
        let shares = |place: &usize| {
            *place == self.own || (self.hosts[*place] == self.hosts[self.own] && self.hosts[self.own] != 0)
        };
        (0..self.ids.len()).filter(shares).collect()
    }

    /// Whether a network is between two processes of different jobs.
    fn is_remote(&self, [one, other]: [usize; 2]) -> bool {
        self.ids[one].job != self.ids[other].job && (self.hosts[one] != self.hosts[other] || self.hosts[one] == 0)
    }

    /// Whether a network is between any two processes of different jobs.
    fn needs_network(&self) -> bool {
        let all = 0..self.ids.len();
        all.clone().any(|one| all.clone().any(|other| self.is_remote([one, other])))
    }
}

fn in_order<const N: usize>([local, remote]: Words<N>, own_first: bool) -> Vec<[u64; N]> {
    if own_first { [local, remote].concat() } else { [remote, local].concat() }
}

/// Makes a bridge for the processes of both groups on each host, and connects them by the network between hosts.
fn connect_all(engine: &Engine, members: &Members<'_>, ring_bytes: u64) -> Result<PeerPins> {
    let here = members.of_host();
    let ids: Vec<ProcessId> = here.iter().map(|place| members.ids[*place]).collect();
    let mixed = ids.iter().any(|id| id.job != ids[0].job);
    let maker = mixed && here[0] == members.own;
    let offer = maker.then(|| engine.create_bridge(&engine.lock(), ids.len(), ring_bytes as usize));
    let words = match &offer {
        Some(Ok(offer)) => offer.key().to_words(),
        _ => [0; 2],
    };
    let class = offer.as_ref().and_then(|offer| offer.as_ref().err()).map_or(0, |error| error.class() as u64);
    let all = members.all([class, words[0], words[1]])?;
    let offer = offer.transpose()?;
    if let Some([class, ..]) = all.iter().find(|[class, ..]| *class != 0) {
        return Err(failed(*class));
    }
    let [_, place, number] = all[here[0]];
    let key = BridgeKey::from_words([place, number]);
    // Each step ends before the lock is taken again for the exchange.
    let entered = mixed.then(|| engine.enter_bridge(&mut engine.lock(), key, &ids)).transpose();
    let entered = in_all(members, entered)?;
    // All have it open.
    drop(offer);
    let joined = entered.map(|entered| engine.join_bridge(&mut engine.lock(), entered, &ids)).transpose();
    let joined = in_all(members, joined)?;
    let mut remote = if members.needs_network() { Some(by_network(engine, members)?) } else { None };
    let mut guard = engine.lock();
    let mut pins = joined.map_or_else(PeerPins::default, |joined| engine.begin_bridge(&mut guard, joined));
    if let Some((peers, more)) = remote.take() {
        engine.begin_remote(&mut guard, &peers);
        pins.merge(&more);
    }
    Ok(pins)
}

/// The result of a step, if it succeeded in all processes. An error of this process itself comes first.
fn in_all<T>(members: &Members<'_>, own: Result<T>) -> Result<T> {
    let class = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let all = members.all([class])?;
    let value = own?;
    match all.iter().find(|[class]| *class != 0) {
        None => Ok(value),
        Some([class]) => Err(failed(*class)),
    }
}

#[cold]
fn failed(class: u64) -> Error {
    error_of(class, "one of the processes cannot be connected with those of the other job, and has the cause")
}
