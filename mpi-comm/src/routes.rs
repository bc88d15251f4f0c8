//! Routes between the processes of two groups: a bridge if some of them cannot reach each other yet (MPI-5.0, 11.8).
//!
//! Processes that come together in one communicator may be of jobs that have never been connected, when each of them is
//! connected with a third. The processes exchange what they lack, and make one bridge for all of them.
//! Invariant: all processes of both groups get their routes, or all get an error and use nothing of the new bridge.
//! Not here: the memory of a bridge (`mpi_fabric`).

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_UNSUPPORTED_OPERATION};
use mpi_errors::{Error, Result};
use mpi_fabric::{BridgeKey, PeerPins, ProcessId};
use mpi_p2p::Engine;

use crate::both_groups::BothGroups;
use crate::group::Group;

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
    let (missing, ring_bytes, mut pins) = {
        let guard = engine.lock();
        let routes: Vec<_> = remote.iter().filter(|id| engine.has_route(&guard, **id)).collect();
        let numbers: Vec<u32> = routes.iter().filter_map(|id| engine.number_of(&guard, **id)).collect();
        (remote.len() - routes.len(), engine.ring_bytes(&guard) as u64, engine.pin(&guard, &numbers))
    };
    let all = both.all([missing as u64, ring_bytes])?;
    if all.iter().flatten().any(|[missing, _]| *missing > 0) {
        let longest = all.iter().flatten().map(|[_, ring_bytes]| *ring_bytes).max().unwrap_or(0);
        pins.merge(&bridge(engine, both, own, remote, longest)?);
    }
    let guard = engine.lock();
    let numbers: Option<Vec<u32>> = remote.iter().map(|id| engine.number_of(&guard, *id)).collect();
    let numbers =
        numbers.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a process of the remote group is not connected"))?;
    Ok(Group::new(numbers).pinned(pins))
}

/// Makes a bridge for the processes of both groups.
fn bridge(
    engine: &Engine,
    both: &BothGroups<'_>,
    own: &[ProcessId],
    remote: &[ProcessId],
    ring_bytes: u64,
) -> Result<PeerPins> {
    // The same order in all processes: first the group whose first process has the lower identity.
    let own_first = own[0] < remote[0];
    let members = if own_first { [own, remote] } else { [remote, own] }.concat();
    let maker = members[0] == engine.process_id(&engine.lock());
    let offer = maker.then(|| engine.create_bridge(&engine.lock(), members.len(), ring_bytes as usize));
    let words = match &offer {
        Some(Ok(offer)) => offer.key().to_words(),
        _ => [0; 2],
    };
    let class = offer.as_ref().and_then(|offer| offer.as_ref().err()).map_or(0, |error| error.class() as u64);
    let all = both.all([class, words[0], words[1]])?;
    let offer = offer.transpose()?;
    let [class, place, number] = all[usize::from(!own_first)][0];
    if class != 0 {
        return Err(failed(class));
    }
    let key = BridgeKey::from_words([place, number]);
    // Each step ends before the lock is taken again for the exchange.
    let entered = on_one_host(engine, own).and_then(|()| engine.enter_bridge(&mut engine.lock(), key, &members));
    let entered = in_all(both, entered)?;
    // All have it open.
    drop(offer);
    let joined = engine.join_bridge(&mut engine.lock(), entered, &members);
    let joined = in_all(both, joined)?;
    Ok(engine.begin_bridge(&mut engine.lock(), joined))
}

/// The processes behind a bridge share memory.
fn on_one_host(engine: &Engine, own: &[ProcessId]) -> Result<()> {
    let guard = engine.lock();
    let numbers: Vec<u32> = own.iter().filter_map(|id| engine.number_of(&guard, *id)).collect();
    match engine.on_one_host(&guard, &numbers) {
        true => Ok(()),
        false => Err(Error::new(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "processes of several hosts cannot be connected with those of another job in this version",
        )),
    }
}

/// The result of a step, if it succeeded in all processes. An error of this process itself comes first.
fn in_all<T>(both: &BothGroups<'_>, own: Result<T>) -> Result<T> {
    let class = own.as_ref().err().map_or(0, |error| error.class() as u64);
    let all = both.all([class])?;
    let value = own?;
    match all.iter().flatten().find(|[class]| *class != 0) {
        None => Ok(value),
        Some([class]) => Err(failed(*class)),
    }
}

#[cold]
fn failed(class: u64) -> Error {
    Error::new(class as i32, "one of the processes cannot be connected with those of the other job, and has the cause")
}
