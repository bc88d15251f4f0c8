//! Every operation with every algorithm that it can choose, with up to 4,096 ranks over the simulated network: the steps of
//! a call, and the messages and bytes of each rank, stay within the textbook bounds (`bounds`).
//!
//! A step is the latency of one message: it is set so high that nothing else counts.
//! Not here: calls and their data (`calls`); that each algorithm has a bound (the tests of the crate's `plan`).

mod bounds;
mod calls;

use std::sync::Arc;
use std::thread;

use bounds::*;
use calls::Caller;
use mpi_coll::{CollOp, CollSettings, Collectives};
use mpi_comm::topology::{Adjacency, Cartesian, Distributed, Topology as ProcessTopology};
use mpi_comm::{Comm, CommSpec, Group, Hosts, RemoteSpec, register};
use mpi_core::ProcessLock;
use mpi_errors::Result;
use mpi_fabric::Endpoint;
use mpi_fabric::simulated::{Clock, Link, RankTraffic, Topology, run};
use mpi_p2p::{CommMeters, Engine};
use mpi_t::{HeapMemory, PvarClass, Registry, Variables};

const LATENCY_NS: u64 = 50_000_000;
/// All ranks begin the calls at multiples of this time, which no call takes.
const CALL_NS: u64 = 1000 * LATENCY_NS;
const FLAT_SHAPE: i32 = 1;
const TREE_SHAPE: i32 = 2;

/// The communicator of a test.
#[derive(Clone, Copy)]
enum Kind {
    World,
    /// On hosts of so many ranks.
    Hosts(u32),
    /// An intercommunicator of two halves.
    Groups,
    /// A periodic grid of three dimensions of this length.
    Grid(i32),
    /// The distributed graph of `AHEAD`.
    Graph,
}

/// A job, and what its ranks choose by.
struct Job {
    ranks: u32,
    kind: Kind,
    /// Latency of a message within a host.
    within_ns: u64,
    choose: fn(&CollSettings),
}

impl Job {
    fn new(ranks: u32, kind: Kind) -> Job {
        let choose = |settings: &CollSettings| settings.shape.set(TREE_SHAPE);
        Job { ranks, kind, within_ns: LATENCY_NS, choose }
    }

    fn choosing(self, choose: fn(&CollSettings)) -> Job {
        Job { choose, ..self }
    }
}

/// One call of one rank.
struct Measured {
    end_ns: u64,
    sent: RankTraffic,
    /// Number of the algorithm; of rank 0 only.
    algorithm: Option<i32>,
}

/// Fails if a call costs more than its bound, or goes by another algorithm. Returns the messages and bytes between hosts
/// of each call.
fn check(job: &Job, bounds: &[Bound]) -> Vec<(u64, u64)> {
    let link = |latency_ns| Link { latency_ns, bytes_per_us: 1_000_000 };
    let on_host = if let Kind::Hosts(ranks) = job.kind { ranks } else { job.ranks };
    let topology = Topology::new(job.ranks).ranks_per_host(on_host);
    let topology = topology.within_hosts(link(job.within_ns)).between_hosts(link(LATENCY_NS));
    let outcome = run(&topology, |rank| {
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        coll.settings().ring_from.set(1 << 30);
        (job.choose)(coll.settings());
        let comm = communicator(&engine, job);
        let caller = Caller { coll: &coll, comm: &comm, on_side_of_root: engine.rank() < job.ranks / 2 };
        let calls = (1..).zip(bounds);
        calls.map(|(call, bound)| measured(&caller, &rank.clock, call * CALL_NS, bound)).collect::<Result<Vec<_>>>()
    });
    let ranks = outcome.expect("memory and threads for the ranks").results;
    let ranks: Vec<_> = ranks.into_iter().map(|rank| rank.expect("no fault")).collect();
    for (at, bound) in bounds.iter().enumerate() {
        let most = |of: fn(&Measured) -> u64| ranks.iter().map(|rank| of(&rank[at])).max().expect("ranks");
        let took_ns = most(|it| it.end_ns) - (at as u64 + 1) * CALL_NS;
        // What passes within a step takes less than a fifth of it.
        let steps = took_ns.saturating_sub(LATENCY_NS / 5).div_ceil(LATENCY_NS + LATENCY_NS / 100);
        let cost = (steps, most(|it| it.sent.records), most(|it| it.sent.bytes));
        let Bound { steps, messages, bytes, .. } = *bound;
        assert!(cost.0 <= steps && cost.1 <= messages && cost.2 <= bytes, "{bound:?} of {} ranks: {cost:?}", job.ranks);
        // A call that sends less than a message costs less than the bound for another reason than a good algorithm.
        assert!(cost.1 >= messages.min(1) && cost.2 >= bytes.min(1), "{bound:?} sent nothing: {cost:?}");
        let algorithm = ranks[0][at].algorithm.expect("of rank 0");
        assert_eq!(ALGORITHMS.get(algorithm as usize), Some(&bound.algorithm), "{bound:?}");
    }
    let between = |at: usize| {
        let of_rank = |rank: &Vec<Measured>| (rank[at].sent.records_between_hosts, rank[at].sent.bytes_between_hosts);
        ranks.iter().map(of_rank).fold((0, 0), |sum, rank| (sum.0 + rank.0, sum.1 + rank.1))
    };
    (0..bounds.len()).map(between).collect()
}

fn measured(caller: &Caller<'_>, clock: &Clock, begin_ns: u64, bound: &Bound) -> Result<Measured> {
    let now = clock.now_ns();
    assert!(now < begin_ns, "a call before {bound:?} takes too long");
    clock.spend_ns(begin_ns - now);
    let before = clock.traffic();
    let mut made = Ok(());
    let watched = caller.comm.rank() == 0;
    let algorithm = watched.then(|| algorithm_of(caller.coll, bound.op, || made = caller.call(bound.op, bound.block)));
    if !watched {
        made = caller.call(bound.op, bound.block);
    }
    let sent = clock.traffic().since(before);
    made.map(|()| Measured { end_ns: clock.now_ns(), sent, algorithm })
}

/// The number of the algorithm that a call chose.
fn algorithm_of(coll: &Collectives, op: CollOp, call: impl FnOnce()) -> i32 {
    let registry = Registry::with_environment([]);
    registry.register(coll.last_algorithms()).expect("new names");
    let variables = Variables::open(&registry).expect("memory");
    let word = op.function().trim_start_matches("MPI_").to_lowercase();
    let variable = variables.pvar::<i32>(&format!("coll_{word}_algorithm"), PvarClass::State).expect("declared");
    call();
    variable.read().expect("a variable")
}

fn communicator(engine: &Engine, job: &Job) -> Comm {
    let (me, ranks, half) = (engine.rank(), job.ranks, job.ranks / 2);
    let world = CommSpec::world(me, ranks);
    let spec = match job.kind {
        Kind::World | Kind::Hosts(_) => world,
        Kind::Groups => {
            let sides = [Group::new(Vec::from_iter(0..half)), Group::new(Vec::from_iter(half..ranks))];
            let [local, remote] = if me < half {
                sides
            } else {
                let [one, two] = sides;
                [two, one]
            };
            let remote = Some(RemoteSpec { group: remote, internal_meters: CommMeters::detached(half) });
            CommSpec { group: local, remote, rank: me % half, ..world }
        }
        Kind::Grid(length) => {
            let grid = Cartesian::new(&[length; 3], &[1; 3], ranks).expect("a grid of all ranks");
            CommSpec { topology: Some(Arc::new(ProcessTopology::Cartesian(grid))), ..world }
        }
        Kind::Graph => {
            let [from, to] = [ranks - 1, 1].map(|step| {
                AHEAD.map(|ahead| ((u64::from(me) + u64::from(ahead) * u64::from(step)) % u64::from(ranks)) as i32)
            });
            let side = |names, ranks_of: [i32; AHEAD.len()]| {
                Adjacency::new(names, &ranks_of, None, ranks).expect("ranks of the job")
            };
            let sources = side(["sources", "sourceweights"], from);
            let graph = Distributed::new(sources, side(["destinations", "destweights"], to), false);
            CommSpec { topology: Some(Arc::new(ProcessTopology::Distributed(graph))), ..world }
        }
    };
    let comm = register(engine, &mut engine.lock(), spec, CommMeters::detached(ranks));
    if let Kind::Hosts(on_host) = job.kind {
        let words: Vec<u64> = (0..ranks).map(|rank| u64::from(rank / on_host)).collect();
        comm.set_hosts(Hosts::of(&words).expect("several hosts"));
    }
    // What the first call would agree on is given.
    comm.set_channels(None);
    comm
}

#[test]
fn one_or_two_ranks_send_a_message_at_most() {
    check(&Job::new(1, Kind::World), ALONE);
    check(&Job::new(2, Kind::World), PAIRS);
}

#[test]
fn trees_take_log2_n_steps_and_as_many_messages_of_a_rank() {
    check(&Job::new(RANKS, Kind::World), TREES);
    check(
        &Job::new(FEWER, Kind::World).choosing(|settings| {
            settings.shape.set(TREE_SHAPE);
            settings.ring_from.set(3);
        }),
        TREES_OF_FEWER,
    );
}

#[test]
fn what_goes_through_one_process_takes_two_steps() {
    let flat = |settings: &CollSettings| settings.shape.set(FLAT_SHAPE);
    check(&Job::new(RANKS, Kind::World).choosing(flat), FLAT);
    check(&Job::new(FEWER, Kind::World).choosing(flat), FLAT_OF_FEWER);
}

#[test]
fn long_direct_and_split_algorithms_move_each_byte_once_or_twice() {
    check(&Job::new(RANKS_OF_DIRECT, Kind::World), LONG_TREES);
    check(&Job::new(RANKS_OF_DIRECT, Kind::World), DIRECT);
}

#[test]
fn rings_take_a_step_for_each_rank_and_move_each_byte_as_often_as_all_with_all() {
    check(
        &Job::new(RANKS_OF_RING, Kind::World).choosing(|settings| {
            settings.shape.set(TREE_SHAPE);
            settings.ring_from.set(3);
            settings.bcast_split_limit.set(1);
            settings.alltoall_limit.set(0);
            settings.allgather_limit.set(0);
        }),
        RINGS,
    );
}

#[test]
fn several_hosts_take_the_steps_of_one_process_of_each_between_them() {
    let hosts = || Job::new(RANKS, Kind::Hosts(ON_HOST)).choosing(|_| {});
    let between = check(&hosts(), HOSTS);
    for (bound, sent) in HOSTS.iter().zip(between) {
        let (_, messages, bytes) = CROSSING.iter().find(|(op, ..)| *op == bound.op).expect("of each operation");
        assert_eq!(sent, (*messages, *bytes), "messages and bytes between hosts: {bound:?}");
    }
    let fewer = Job::new(FEWER, Kind::Hosts(ON_HOST)).choosing(|_| {});
    assert_eq!(check(&fewer, HOSTS_OF_FEWER), CROSSING_OF_FEWER);
    // Within a host a message takes a thousandth of what it takes between hosts.
    check(&Job { within_ns: LATENCY_NS / 1000, ..hosts() }, BETWEEN_HOSTS);
}

#[test]
fn groups_send_from_process_to_process_or_between_ranks_0() {
    check(&Job::new(2 * IN_GROUP, Kind::Groups), GROUPS);
}

#[test]
fn neighbours_get_one_message_each_at_once() {
    check(&Job::new(RANKS, Kind::Grid(16)), GRID);
    check(&Job::new(FEWER, Kind::Graph), GRAPH);
}

#[test]
fn nothing_is_sent_where_memory_is_shared() {
    let endpoints = Endpoint::threads(SHARING).expect("memory for a few ranks");
    thread::scope(|scope| {
        for endpoint in endpoints {
            scope.spawn(move || {
                let engine = Arc::new(Engine::new(endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
                let coll = Collectives::new(engine.clone(), false, &HeapMemory);
                let spec = CommSpec::world(engine.rank(), SHARING);
                let comm = register(&engine, &mut engine.lock(), spec, CommMeters::detached(SHARING));
                // The first call opens the memory, by messages.
                coll.barrier(&comm).expect("no fault");
                let caller = Caller { coll: &coll, comm: &comm, on_side_of_root: true };
                let sent = || engine.instruments().eager_sent.get() + engine.instruments().rendezvous_sent.get();
                for bound in SHARED {
                    let before = sent();
                    let call = || caller.call(bound.op, bound.block).expect("no fault");
                    let algorithm = algorithm_of(&coll, bound.op, call);
                    assert_eq!(sent(), before, "{bound:?}");
                    assert_eq!(ALGORITHMS.get(algorithm as usize), Some(&bound.algorithm), "{bound:?}");
                }
                // Messages are counted where there are some.
                let before = sent();
                caller.call(CollOp::Alltoallv, 8).expect("no fault");
                assert_eq!(sent() - before, u64::from(SHARING) - 1);
                coll.synchronize(&comm).expect("no fault");
            });
        }
    });
}
