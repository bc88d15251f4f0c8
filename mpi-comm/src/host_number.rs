//! The number of a process's host among those of a communicator, as `MPI_Comm_split_type` needs it.
//!
//! Invariant: of the processes of a communicator and its remote group, those that share memory have one number, and no others have it.
//! Not here: which processes share memory (`mpi-fabric`).

use mpi_fabric::ProcessId;
use mpi_p2p::Engine;

use crate::comm::Comm;

/// The number: in one job the lowest rank of the host, else the place of the lowest process that shares memory among all
/// processes, of which both groups of an intercommunicator have the same order.
pub fn host_number(engine: &Engine, comm: &Comm) -> u32 {
    let guard = &engine.lock();
    let remote = comm.remote().map_or(&[][..], |remote| remote.group().world_ranks());
    let members = || comm.group().world_ranks().iter().chain(remote).copied();
    if members().all(|number| number < engine.size()) {
        return engine.first_of_host(guard);
    }
    let near = |number: u32| number == engine.rank() || engine.on_one_host(guard, &[number]);
    let mut all: Vec<(ProcessId, bool)> =
        members().filter_map(|number| Some((engine.id_of(guard, number)?, near(number)))).collect();
    all.sort_unstable();
    all.iter().position(|(_, near)| *near).unwrap_or_default() as u32
}
