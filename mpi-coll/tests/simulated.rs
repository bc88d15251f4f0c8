//! Collectives of 1,024 ranks over the simulated network: each algorithm sends exactly the number of messages that it
//! documents.

use std::sync::Arc;

use mpi_coll::{Collectives, Reduction};
use mpi_comm::{Comm, CommSpec, register};
use mpi_core::ProcessLock;
use mpi_core::abi::{MPI_ERR_PROC_ABORTED, MPI_SUM};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::simulated::{Outcome, Topology, run};
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

const RANKS: u64 = 1024;
/// Values of `coll_shape`.
const FLAT: i32 = 1;
const TREE: i32 = 2;

struct Rank {
    coll: Collectives,
    world: Comm,
}

fn simulate<T: Send>(topology: &Topology, body: impl Fn(&Rank) -> T + Sync) -> Outcome<T> {
    let outcome = run(topology, |rank| {
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        // Trees, also where few processes would be reached one by one.
        coll.settings().shape.set(TREE);
        let spec = CommSpec::world(engine.rank(), engine.size());
        let meters = CommMeters::detached(engine.size());
        let world = register(&engine, &mut engine.lock(), spec, meters);
        body(&Rank { coll, world })
    });
    outcome.expect("memory and threads for the ranks")
}

/// Each host of a job may have its own number of ranks and cores.
#[test]
fn hosts_of_which_some_are_crowded_choose_the_same_algorithms() {
    for ranks in [3, 5, 12] {
        let outcome = run(&Topology::new(ranks), |rank| {
            let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
            let crowded = engine.rank().is_multiple_of(2);
            let coll = Collectives::new(engine.clone(), crowded, &HeapMemory);
            let spec = CommSpec::world(engine.rank(), engine.size());
            let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(ranks));
            let (own, mut sum) = ([u64::from(engine.rank())], [0u64]);
            let op = mpi_coll::Op::predefined(MPI_SUM).expect("a predefined operation");
            let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: 1 };
            coll.barrier(&world)?;
            coll.bcast(&world, RecvBuf::from_slice(&mut sum), 0)?;
            coll.allreduce(&world, Some(SendBuf::from_slice(&own)), RecvBuf::from_slice(&mut sum), &what)?;
            coll.barrier(&world).map(|()| sum[0])
        });
        let sums = outcome.expect("no deadlock").results.into_iter().collect::<Result<Vec<u64>>>().expect("no fault");
        assert_eq!(sums, vec![u64::from(ranks * (ranks - 1) / 2); ranks as usize]);
    }
}

fn log2_up(ranks: u64) -> u64 {
    u64::from(ranks.next_power_of_two().ilog2())
}

#[test]
fn a_barrier_of_n_ranks_is_n_log_n_messages() {
    for ranks in [3, 100, RANKS] {
        let outcome = simulate(&Topology::new(ranks as u32), |rank| rank.coll.barrier(&rank.world));
        outcome.results.into_iter().collect::<Result<Vec<_>>>().expect("no fault");
        assert_eq!(outcome.traffic.records, ranks * log2_up(ranks), "{ranks} ranks");
        assert_eq!(outcome.traffic.pairs, ranks * log2_up(ranks), "nothing is kept for pairs that do not communicate");
        // No rank leaves before the last message of its last step could arrive: a latency for each step.
        let first = outcome.clocks_ns.iter().min().expect("ranks");
        assert!(*first >= log2_up(ranks) * 300, "{ranks} ranks, {first} ns");
        let last = outcome.clocks_ns.iter().max().expect("ranks");
        assert!(*last <= log2_up(ranks) * (1500 + 1000), "{ranks} ranks, {last} ns");
    }
}

#[test]
fn a_barrier_holds_all_ranks_until_the_last_has_come() {
    let topology = Topology::new(64);
    let outcome = run(&topology, |rank| {
        if rank.endpoint.rank() == 17 {
            rank.clock.spend_ns(1_000_000);
        }
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        let spec = CommSpec::world(engine.rank(), engine.size());
        let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(64));
        coll.barrier(&world).map(|()| rank.clock.now_ns())
    });
    let left = outcome.expect("ranks").results.into_iter().collect::<Result<Vec<u64>>>().expect("no fault");
    assert!(left.iter().all(|at| *at >= 1_000_000), "{left:?}");
}

/// Virtual time of a barrier of 64 ranks on one host with so many cores, of which each message takes one for a while.
fn barrier_ns(cores: u32, shape: i32) -> u64 {
    let outcome = run(&Topology::new(64).cores_per_host(cores), |rank| {
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        coll.settings().shape.set(shape);
        let world = register(&engine, &mut engine.lock(), CommSpec::world(engine.rank(), 64), CommMeters::detached(64));
        // What the first call would agree on is given.
        world.set_channels(None);
        coll.barrier(&world)
    });
    let outcome = outcome.expect("ranks");
    outcome.results.into_iter().collect::<Result<Vec<()>>>().expect("no fault");
    outcome.clocks_ns.into_iter().max().expect("ranks")
}

#[test]
fn few_messages_are_faster_where_ranks_share_cores_and_few_steps_where_they_do_not() {
    let (flat, tree) = (barrier_ns(1, FLAT), barrier_ns(1, TREE));
    assert!(flat < tree, "one core: {flat} ns through one process, {tree} ns in steps");
    let (flat, tree) = (barrier_ns(64, FLAT), barrier_ns(64, TREE));
    assert!(tree < flat, "64 cores: {flat} ns through one process, {tree} ns in steps");
}

#[test]
fn a_broadcast_to_n_ranks_is_n_minus_1_messages() {
    for (ranks, root) in [(5, 3), (RANKS, 0), (RANKS, 777)] {
        let outcome = simulate(&Topology::new(ranks as u32), |rank| {
            let mut values = [if rank.world.rank() == root { 42i32 } else { 0 }; 16];
            rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut values), root).map(|()| values)
        });
        for values in outcome.results {
            assert_eq!(values.expect("no fault"), [42; 16]);
        }
        assert_eq!((outcome.traffic.records, outcome.traffic.record_bytes), (ranks - 1, (ranks - 1) * 64));
        let last = outcome.clocks_ns.iter().max().expect("ranks");
        assert!(*last <= log2_up(ranks) * (1500 + 3000), "{ranks} ranks, {last} ns");
    }
}

#[test]
fn a_long_broadcast_is_one_copy_for_each_rank_but_the_root() {
    const BYTES: usize = 100_000;
    let outcome = simulate(&Topology::new(256), |rank| {
        let mut data = vec![if rank.world.rank() == 0 { 7u8 } else { 0 }; BYTES];
        rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), 0).map(|()| data.iter().all(|byte| *byte == 7))
    });
    assert!(outcome.results.into_iter().all(|result| result.expect("no fault")));
    let traffic = outcome.traffic;
    // An offer and its end for each copy.
    assert_eq!((traffic.records, traffic.copies, traffic.copied_bytes), (2 * 255, 255, 255 * BYTES as u64));
}

#[test]
fn an_allreduce_of_n_ranks_is_n_log_n_messages() {
    for ranks in [64, RANKS] {
        let outcome = simulate(&Topology::new(ranks as u32), |rank| {
            let own = [u64::from(rank.world.rank()), 1];
            let mut sums = [0u64; 2];
            let op = mpi_coll::Op::predefined(MPI_SUM).expect("a predefined operation");
            let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: 2 };
            let (send, recv) = (SendBuf::from_slice(&own), RecvBuf::from_slice(&mut sums));
            rank.coll.allreduce(&rank.world, Some(send), recv, &what).map(|()| sums)
        });
        for sums in outcome.results {
            assert_eq!(sums.expect("no fault"), [ranks * (ranks - 1) / 2, ranks]);
        }
        assert_eq!(outcome.traffic.records, ranks * log2_up(ranks), "{ranks} ranks");
        let last = outcome.clocks_ns.iter().max().expect("ranks");
        assert!(*last <= log2_up(ranks) * (1500 + 1000), "{ranks} ranks, {last} ns");
    }
}

#[test]
fn a_rank_that_is_lost_gives_an_error_in_barriers_and_broadcasts_and_no_hang() {
    let lossy = || Topology::new(RANKS as u32).lose(500, 2_000);
    let barriers = simulate(&lossy(), |rank| (0..100).try_for_each(|_| rank.coll.barrier(&rank.world)));
    for result in barriers.results {
        assert_eq!(result.expect_err("a rank is missing").class(), MPI_ERR_PROC_ABORTED);
    }
    let broadcasts = simulate(&lossy(), |rank| {
        let mut values = [0u64; 4];
        (0..100).try_for_each(|round| rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut values), round * 10))
    });
    let failed = broadcasts.results.iter().filter(|result| result.is_err()).count();
    assert!(failed > 900, "{failed} of {RANKS} ranks saw the loss");
}
