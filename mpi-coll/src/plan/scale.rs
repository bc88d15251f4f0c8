//! The steps of each algorithm with 4,096 ranks, matched message by message in virtual time, without an engine and without data.
//!
//! All ranks make their steps with the code of the algorithms; a rank waits at a boundary for the messages that it receives up to there.
//! Each message that is sent is received, with the same length, and none is left. Where a message takes one unit of time and nothing else
//! takes any, the time is the number of steps. Two models with latencies, bandwidths, and cores that ranks share give times in nanoseconds.
//! Algorithms that share memory send no messages: `shared_memory` has their turns and bytes.
//! Not here: the same rows through the engine, which is slower (`tests/scale`); protocols of long messages, which the steps do not show.

use mpi_comm::Hosts;

use super::tests::bounds::{self, AHEAD, Bound};
use super::*;
use crate::call::Amounts;
use crate::memory::Layout;
use crate::shape::{Combining, Neighbours, Root, Shape};
use crate::steps::without_data::{self, WithoutData};
use crate::steps::{Side, Team};

use virtual_time::{COPY, Lengths, Lists, Model, PEER, RECEIVE, SEND, Times, WAIT, run};

mod shared_memory;
mod virtual_time;

const ROOT: u32 = 3;

/// Without optimisation 4,096 ranks take minutes: `cargo xtask test unit` runs these tests with it, too.
const RANKS: u32 = if cfg!(debug_assertions) { 1024 } else { bounds::RANKS };

/// The steps of one rank that concern others.
struct List<'l> {
    lengths: &'l mut Lengths,
    /// The first rank of the local group, and of the group that messages go to.
    groups: [u32; 2],
    steps: Vec<u32>,
    messages: u64,
    bytes: u64,
}

impl List<'_> {
    fn add(&mut self, what: u32, side: Side, peer: u32, bytes: u64) {
        let peer = peer + self.groups[usize::from(side == Side::Peers)];
        assert!(peer <= PEER);
        self.steps.push(what | self.lengths.intern(bytes) | peer);
    }
}

impl without_data::Lengths for List<'_> {
    fn send(&mut self, side: Side, dest: u32, bytes: u64) {
        self.add(SEND, side, dest, bytes);
        self.messages += 1;
        self.bytes += bytes;
    }

    fn receive(&mut self, side: Side, source: u32, bytes: u64) {
        self.add(RECEIVE, side, source, bytes);
    }

    fn work(&mut self, bytes: u64) {
        self.steps.push(COPY | self.lengths.intern(bytes));
    }

    fn boundary(&mut self) {
        self.steps.push(WAIT);
    }
}

/// Times in nanoseconds: each rank has a core and a link of its own.
const A_RANK_ON_EACH_HOST: Model =
    Model { ranks_per_host: 1, cores: 1, latencies: [1500; 2], message_overhead: 100, copy_rate: 10, link_rate: 12 };
/// 64 ranks on each host share 16 cores and a link.
const SHARED_HOSTS: Model = Model {
    ranks_per_host: 64,
    cores: 16,
    latencies: [300, 1500],
    message_overhead: 100,
    copy_rate: 10,
    link_rate: 12,
};

/// The send and receive buffers of a rank among `size`; `to`, `from`: numbers of blocks.
fn layouts(which: CollOp, block: u64, (to, from): (u32, u32), faces: bool, at_root: bool) -> [Layout; 2] {
    use CollOp::*;
    let (one, none) = (|| Layout::Whole { bytes: block, blocks: 1 }, || Layout::Absent);
    let whole = |blocks: u32| Layout::Whole { bytes: block * u64::from(blocks), blocks };
    let each = |blocks: u32| Layout::Each((0..blocks).map(|_| block).collect());
    let when = |there: bool, layout: Layout| if there { layout } else { Layout::Absent };
    match which {
        Barrier => [none(), none()],
        Bcast => [none(), when(faces || at_root, one())],
        Reduce => [when(faces, one()), when(at_root, one())],
        Allreduce | Scan | Exscan => [one(), one()],
        ReduceScatter | ReduceScatterBlock => [Layout::Whole { bytes: block * u64::from(to), blocks: 1 }, one()],
        Gather => [when(faces, one()), when(at_root, whole(from))],
        Gatherv => [when(faces, one()), when(at_root, each(from))],
        Scatter => [when(at_root, whole(to)), when(faces, one())],
        Scatterv => [when(at_root, each(to)), when(faces, one())],
        Allgather | NeighborAllgather => [one(), whole(from)],
        Allgatherv | NeighborAllgatherv => [one(), each(from)],
        Alltoall | NeighborAlltoall => [whole(to), whole(from)],
        Alltoallv | Alltoallw | NeighborAlltoallv | NeighborAlltoallw => [each(to), each(from)],
    }
}

/// The processes of a call, and the choice of its algorithm.
#[derive(Clone, Copy)]
struct Callers<'h> {
    ranks: u32,
    /// Whether they are two groups of the same size.
    inter: bool,
    hosts: Option<&'h Hosts>,
    /// Most bytes of a publication in shared memory; 0: there is none.
    longest: u64,
    settings: &'static CollSettings,
}

impl Callers<'_> {
    fn group(&self) -> u32 {
        if self.inter { self.ranks / 2 } else { self.ranks }
    }

    /// Calls `make` with the shape of a rank of all, in a call with so many bytes in each block.
    fn with_shape<R>(&self, bound: &Bound, world: u32, make: impl FnOnce(&Shape<'_>) -> R) -> R {
        let Callers { inter, hosts, longest, settings, .. } = *self;
        let (which, block, size) = (bound.op, bound.block as u64, self.group());
        let scattered = matches!(which, CollOp::ReduceScatter | CollOp::ReduceScatterBlock);
        let counts = vec![block / 8; if scattered { size as usize } else { 0 }];
        let count = if scattered { block / 8 * u64::from(size) } else { block / 8 };
        let (rank, group) = (world % size, world / size);
        let (root, at_root) = match (inter && group == 0, rank == ROOT % size) {
            (true, true) => (Root::Here, true),
            (true, false) => (Root::Elsewhere, false),
            (false, is_root) => (Root::Rank(ROOT % size), is_root && !inter),
        };
        let sources = AHEAD.map(|ahead| Some((rank + size - ahead % size) % size));
        let destinations = AHEAD.map(|ahead| Some((rank + ahead) % size));
        let of_neighbours = which.is_of_neighbours();
        let blocks = if of_neighbours { AHEAD.len() as u32 } else { size };
        let [send, recv] = layouts(which, block, (blocks, blocks), matches!(root, Root::Rank(_)), at_root);
        let what = Combining { size: 8, plain: 8, count, commutative: true, native: true, direct: true };
        let bytes = (send.bytes_if_present(), recv.bytes_if_present());
        let amounts = Amounts::of(which, size, bytes, (what.bytes(), what.bytes()));
        let plan = Plan::new(which, size, false, settings, longest);
        let plan = hosts.map_or(plan, |hosts| plan.with_hosts(which, settings, hosts));
        let shape = Shape {
            which,
            team: Team { rank, size },
            peers: size,
            inter,
            root,
            plan: if inter { plan.between_groups() } else { plan },
            bytes: amounts.plan,
            matching: amounts.matching,
            send,
            recv,
            counts: &counts,
            reduction: Some(what),
            neighbours: match of_neighbours {
                true => Neighbours { sources: &sources, destinations: &destinations, in_pairs: false },
                false => Neighbours::default(),
            },
            hosts,
        };
        let algorithm = shape.plan.algorithm(which, shape.bytes);
        assert_eq!(bounds::ALGORITHMS[algorithm as usize], bound.algorithm, "{bound:?}");
        make(&shape)
    }

    /// The steps of all ranks, and the most messages and bytes of one.
    fn steps(&self, bound: &Bound) -> (Lists, (u64, u64)) {
        let group = self.group();
        let groups = |world: u32| match self.inter {
            true => [world / group * group, (1 - world / group) * group],
            false => [0; 2],
        };
        let (mut lengths, mut most) = (Lengths::default(), (0, 0));
        let lists = (0..self.ranks).map(|world| {
            let list = List { lengths: &mut lengths, groups: groups(world), steps: Vec::new(), messages: 0, bytes: 0 };
            let mut sink = WithoutData(list);
            self.with_shape(bound, world, |shape| shape.steps(&mut sink)).expect("no step fails");
            let list = sink.0;
            most = (most.0.max(list.messages), most.1.max(list.bytes));
            list.steps
        });
        let lists = lists.collect();
        (Lists { lengths, lists }, most)
    }
}

/// Fails if a call does not cost what its row says, or its time is not that of its steps and of what its ranks, cores and links do.
fn check(ranks: u32, inter: bool, rows: &[Bound], choose: fn(&CollSettings)) {
    check_on(ranks, inter, None, rows, choose);
}

/// As [`check`], of a communicator with these hosts.
fn check_on(ranks: u32, inter: bool, hosts: Option<&Hosts>, rows: &[Bound], choose: fn(&CollSettings)) {
    let settings = trees();
    choose(settings);
    let mut last: Option<(Lists, u64)> = None;
    for row in rows {
        let (lists, most) = Callers { ranks, inter, hosts, longest: 0, settings }.steps(row);
        // Operations that differ only in how blocks are described have the same steps.
        let (lists, steps) = last.take_if(|(last, _)| *last == lists).unwrap_or_else(|| {
            let steps = run(&Model::STEPS, &lists).end;
            check_time(&SHARED_HOSTS, &lists, steps, row);
            // Where all ranks send to all others this takes long, and the same with fewer ranks has been checked.
            if lists.lists.iter().map(Vec::len).sum::<usize>() < 1 << 22 {
                check_time(&A_RANK_ON_EACH_HOST, &lists, steps, row);
            }
            (lists, steps)
        });
        assert_eq!((steps, most.0, most.1), (row.steps, row.messages, row.bytes), "{row:?} of {ranks} ranks");
        last = Some((lists, steps));
    }
}

/// Settings with which algorithms are trees.
fn trees() -> &'static CollSettings {
    let settings = CollSettings::new();
    settings.shape.set(TREE);
    settings.ring_from.set(1 << 30);
    settings
}

/// No call can be faster than its steps one after the other, the work of a rank, that of the cores of a host, or that of its link. No
/// call of these rows takes longer than the sum of the four, because in each of them all hosts work at the same times; an algorithm in
/// which one host waits for the work of another could take longer.
fn check_time(model: &Model, lists: &Lists, steps: u64, row: &Bound) {
    let Times { end, rank_busy, cores_busy, link_busy } = run(model, lists);
    let step = |latency: u64| steps * (latency + 2 * model.message_overhead);
    let [within, between] = model.latencies;
    let (shortest, cores_busy) = (step(within.min(between)), cores_busy.div_ceil(u64::from(model.cores)));
    assert!(end >= shortest.max(rank_busy).max(cores_busy).max(link_busy), "{end} ns is too short: {row:?} {model:?}");
    let longest = step(within.max(between)) + rank_busy + cores_busy + link_busy;
    assert!(end <= longest, "{end} ns of at most {longest}: {row:?} {model:?}");
}

fn around_a_ring(settings: &CollSettings) {
    settings.ring_from.set(3);
    settings.bcast_split_limit.set(1);
    settings.alltoall_limit.set(0);
    settings.allgather_limit.set(0);
}

#[test]
fn trees_and_flat_forms_cost_what_their_rows_say() {
    check(bounds::RANKS, false, bounds::TREES, |_| {});
    check(bounds::RANKS, false, bounds::FLAT, |settings| settings.shape.set(FLAT));
    for ranks in [bounds::FEWER, RANKS] {
        check(ranks, false, &bounds::trees_with_parts(ranks), |settings| {
            settings.ring_from.set(3);
            settings.split_limit.set(1 << 30);
        });
        check(ranks, false, &bounds::flat_with_parts(ranks), |settings| {
            settings.shape.set(FLAT);
            settings.split_limit.set(1 << 30);
        });
    }
}

#[test]
fn direct_and_split_algorithms_cost_what_their_rows_say() {
    for ranks in [bounds::RANKS_OF_DIRECT, RANKS] {
        check(ranks, false, &bounds::direct(ranks), |_| {});
    }
}

#[test]
fn calls_by_hosts_cost_what_their_rows_say() {
    for (ranks, rows) in [(bounds::RANKS, bounds::HOSTS), (bounds::FEWER, bounds::HOSTS_OF_FEWER)] {
        let words: Vec<u64> = (0..ranks).map(|rank| u64::from(rank / bounds::ON_HOST)).collect();
        let hosts = Hosts::of(&words).expect("several hosts");
        check_on(ranks, false, Some(&hosts), rows, |settings| settings.shape.set(AUTO));
    }
}

#[test]
fn rings_cost_what_their_rows_say() {
    for ranks in [bounds::RANKS_OF_RING, RANKS] {
        check(ranks, false, &bounds::rings(ranks), around_a_ring);
    }
}

#[test]
fn groups_and_graphs_cost_what_their_rows_say() {
    for group in [bounds::IN_GROUP, RANKS / 2] {
        check(2 * group, true, &bounds::groups(group), |settings| settings.split_limit.set(1 << 30));
    }
    check(bounds::FEWER, false, bounds::GRAPH, |_| {});
    check(RANKS, false, bounds::GRAPH, |_| {});
}

/// Where the number of ranks is no power of two, a tree has no more steps than with the next one; an allreduce has one more, because
/// ranks give their contributions to others first, and get the result from them, until a power of two is left.
#[test]
fn trees_of_other_numbers_of_ranks_have_as_many_steps_as_bits() {
    for ranks in [3, 5, 6, 7, 9, 33, 100, 1000, RANKS - 1] {
        let log = bounds::log2_up(ranks);
        for row in bounds::TREES {
            let (lists, (messages, _)) =
                Callers { ranks, inter: false, hosts: None, longest: 0, settings: trees() }.steps(row);
            let end = run(&Model::STEPS, &lists).end;
            let most = if row.op == CollOp::Allreduce { log + 1 } else { log };
            assert!(end <= most && messages <= most, "{end} steps, {messages} messages: {row:?} of {ranks} ranks");
            // After each step a rank has the data of at most twice as many ranks as before.
            let of_all = matches!(row.op, CollOp::Barrier | CollOp::Allgather);
            assert!(!of_all || end == log, "{end} steps: {row:?} of {ranks} ranks");
        }
    }
}
