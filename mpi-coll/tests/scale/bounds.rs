//! What a call of each operation with each algorithm may cost: the textbook bounds.
//!
//! Invariant: every algorithm that a call can choose has a row (a test of the choice, beside it, compares the two).
//! Not here: how calls are made and measured. This file is also compiled into the crate's own tests.

use super::CollOp;
use super::CollOp::*;

/// The algorithms by number.
pub const ALGORITHMS: [&str; 10] =
    ["Alone", "Pair", "Flat", "Tree", "Split", "Direct", "Ring", "Shared", "Hosts", "Groups"];

/// The most that a call costs.
#[derive(Debug)]
pub struct Bound {
    pub op: CollOp,
    pub algorithm: &'static str,
    /// Bytes of each block, or of the contribution to a reduction that is not scattered.
    pub block: usize,
    /// Latencies of a message from the begin of the call to its end in the last process.
    pub steps: u64,
    /// Messages that one process sends.
    pub messages: u64,
    /// Bytes that one process sends or copies.
    pub bytes: u64,
}

type Most = (u64, u64, u64);

const fn bound(op: CollOp, algorithm: &'static str, block: usize, (steps, messages, bytes): Most) -> Bound {
    Bound { op, algorithm, block, steps, messages, bytes }
}

pub const fn log2_up(ranks: u32) -> u64 {
    ranks.next_power_of_two().ilog2() as u64
}

/// Most ranks.
pub const RANKS: u32 = 4096;
/// Where a process's work or memory grows with the number of ranks.
pub const FEWER: u32 = 512;
/// Where every rank sends to every other one.
pub const RANKS_OF_DIRECT: u32 = 256;
/// Where data go around a ring, a step for each rank.
pub const RANKS_OF_RING: u32 = 64;
/// Ranks of each host, and hosts.
pub const ON_HOST: u32 = 64;
/// Ranks of each group of an intercommunicator.
pub const IN_GROUP: u32 = 64;
/// Ranks that share memory.
pub const SHARING: u32 = 8;
/// A message that its receiver copies takes the offer, the request, the data, and its end, one after the other.
const COPIED: u64 = 4;
/// Bytes of an offer.
const OFFER: u64 = 24;

/// One process sends nothing.
pub const ALONE: &[Bound] = &[
    bound(Barrier, "Alone", 0, (0, 0, 0)),
    bound(Bcast, "Alone", 64, (0, 0, 0)),
    bound(Reduce, "Alone", 64, (0, 0, 0)),
    bound(Allreduce, "Alone", 64, (0, 0, 0)),
    bound(Gather, "Alone", 64, (0, 0, 0)),
    bound(Gatherv, "Alone", 64, (0, 0, 0)),
    bound(Scatter, "Alone", 64, (0, 0, 0)),
    bound(Scatterv, "Alone", 64, (0, 0, 0)),
    bound(Allgather, "Alone", 64, (0, 0, 0)),
    bound(Allgatherv, "Alone", 64, (0, 0, 0)),
    bound(Alltoall, "Alone", 64, (0, 0, 0)),
    bound(Alltoallv, "Alone", 64, (0, 0, 0)),
    bound(Alltoallw, "Alone", 64, (0, 0, 0)),
    bound(ReduceScatter, "Alone", 64, (0, 0, 0)),
    bound(ReduceScatterBlock, "Alone", 64, (0, 0, 0)),
    bound(Scan, "Alone", 64, (0, 0, 0)),
    bound(Exscan, "Alone", 64, (0, 0, 0)),
];

/// Two processes send one message each at most.
pub const PAIRS: &[Bound] = &[
    bound(Barrier, "Pair", 0, (1, 1, 0)),
    bound(Bcast, "Pair", 64, (1, 1, 64)),
    bound(Reduce, "Pair", 64, (1, 1, 64)),
    bound(Allreduce, "Pair", 64, (1, 1, 64)),
    bound(Gather, "Pair", 64, (1, 1, 64)),
    bound(Scatter, "Pair", 64, (1, 1, 64)),
    bound(Allgather, "Pair", 64, (1, 1, 64)),
    bound(Allgatherv, "Pair", 64, (1, 1, 64)),
    bound(Alltoall, "Pair", 64, (1, 1, 64)),
    // Both parts one way, and one the other.
    bound(ReduceScatter, "Pair", 64, (2, 1, 128)),
    bound(ReduceScatterBlock, "Pair", 64, (2, 1, 128)),
    bound(Scan, "Pair", 64, (1, 1, 64)),
    bound(Exscan, "Pair", 64, (1, 1, 64)),
];

const LOG: u64 = log2_up(RANKS);
const OTHERS: u64 = RANKS as u64 - 1;

/// As many steps as bits of the number of ranks.
pub const TREES: &[Bound] = &[
    bound(Barrier, "Tree", 0, (LOG, LOG, 0)),
    bound(Bcast, "Tree", 64, (LOG, LOG, 64 * LOG)),
    bound(Reduce, "Tree", 32, (LOG, 1, 32)),
    bound(Allreduce, "Tree", 32, (LOG, LOG, 32 * LOG)),
    bound(Allgather, "Tree", 1, (LOG, LOG, OTHERS)),
    bound(Scan, "Tree", 16, (LOG, LOG, 16 * LOG)),
    bound(Exscan, "Tree", 16, (LOG, LOG, 16 * LOG)),
];

/// Through one process; the bytes are those of the root, or of rank 0.
pub const FLAT: &[Bound] = &[
    bound(Barrier, "Flat", 0, (2, OTHERS, 0)),
    bound(Bcast, "Flat", 64, (1, OTHERS, 64 * OTHERS)),
    bound(Reduce, "Flat", 32, (1, 1, 32)),
    bound(Allreduce, "Flat", 32, (2, OTHERS, 32 * OTHERS)),
    bound(Gather, "Flat", 4, (1, 1, 4)),
    bound(Gatherv, "Flat", 4, (1, 1, 4)),
    bound(Scatter, "Flat", 4, (1, OTHERS, 4 * OTHERS)),
    bound(Scatterv, "Flat", 4, (1, OTHERS, 4 * OTHERS)),
    bound(Allgather, "Flat", 1, (2, OTHERS, RANKS as u64 * OTHERS)),
];

/// A tree to rank 0, which sends each rank its part; blocks of which half moves in each step.
pub const fn trees_with_parts(ranks: u32) -> [Bound; 3] {
    let (log, others) = (log2_up(ranks), ranks as u64 - 1);
    [
        bound(ReduceScatter, "Tree", 8, (log + 1, others, 8 * ranks as u64)),
        bound(ReduceScatterBlock, "Tree", 8, (log + 1, others, 8 * ranks as u64)),
        bound(Alltoall, "Tree", 8, (log, log, 8 * (ranks as u64 / 2) * log)),
    ]
}

/// As [`trees_with_parts`], through the engine.
pub const TREES_OF_FEWER: &[Bound] = &trees_with_parts(FEWER);

/// The same with all contributions to rank 0.
pub const fn flat_with_parts(ranks: u32) -> [Bound; 2] {
    let others = ranks as u64 - 1;
    [
        bound(ReduceScatter, "Flat", 8, (2, others, 8 * ranks as u64)),
        bound(ReduceScatterBlock, "Flat", 8, (2, others, 8 * ranks as u64)),
    ]
}

/// As [`flat_with_parts`], through the engine.
pub const FLAT_OF_FEWER: &[Bound] = &flat_with_parts(FEWER);

const DIRECT_LOG: u64 = log2_up(RANKS_OF_DIRECT);
/// Bytes of a part, and of a contribution, of a reduction that is split.
const PART: usize = 512;

/// Every process with every other one: each byte moves once. A result in all processes moves twice.
pub const fn direct(ranks: u32) -> [Bound; 9] {
    let (others, whole) = (ranks as u64 - 1, PART * ranks as usize);
    [
        bound(Alltoall, "Direct", 8, (1, others, 8 * others)),
        bound(Alltoallv, "Direct", 8, (1, others, 8 * others)),
        bound(Alltoallw, "Direct", 8, (1, others, 8 * others)),
        bound(Allgather, "Direct", 64, (1, others, 64 * others)),
        bound(Allgatherv, "Direct", 64, (1, others, 64 * others)),
        // Its contributions to all parts but its own, then its own part: (n - 1)/n and 1/n of the whole.
        bound(Reduce, "Split", whole, (2, others + 1, whole as u64)),
        // The same, and its own part to all others: 2 (n - 1)/n of the whole.
        bound(Allreduce, "Split", whole, (2, 2 * others, 2 * PART as u64 * others)),
        bound(ReduceScatter, "Split", PART, (1, others, PART as u64 * others)),
        bound(ReduceScatterBlock, "Split", PART, (1, others, PART as u64 * others)),
    ]
}

/// A long message goes down the tree by offers, which the steps of the algorithm do not show.
pub const LONG_TREES: &[Bound] =
    &[bound(Bcast, "Tree", 20_000, (COPIED * DIRECT_LOG, 2 * DIRECT_LOG, 20_000 + 2 * OFFER * DIRECT_LOG))];

/// As [`direct`], through the engine.
pub const DIRECT: &[Bound] = &direct(RANKS_OF_DIRECT);

/// A step for each rank; each byte moves as often as from all to all.
pub const fn rings(ranks: u32) -> [Bound; 10] {
    let (log, others, whole) = (log2_up(ranks), ranks as u64 - 1, PART * ranks as usize);
    [
        bound(Allgather, "Ring", 200, (others, others, 200 * others)),
        bound(Allgatherv, "Ring", 200, (others, others, 200 * others)),
        // The root sends all parts but its own once in the tree, and every rank all but one in the ring.
        bound(Bcast, "Split", 200 * ranks as usize, (log + others, log + others, 2 * 200 * others)),
        bound(Alltoall, "Ring", 8, (others, others, 8 * others)),
        bound(Alltoallv, "Ring", 8, (others, others, 8 * others)),
        bound(Alltoallw, "Ring", 8, (others, others, 8 * others)),
        bound(ReduceScatter, "Ring", PART, (others, others, PART as u64 * others)),
        bound(ReduceScatterBlock, "Ring", PART, (others, others, PART as u64 * others)),
        // Then each part to the root.
        bound(Reduce, "Ring", whole, (others + 1, others + 1, whole as u64)),
        bound(Allreduce, "Ring", whole, (2 * others, 2 * others, 2 * PART as u64 * others)),
    ]
}

/// As [`rings`], through the engine.
pub const RINGS: &[Bound] = &rings(RANKS_OF_RING);

const HOST_LOG: u64 = log2_up(ON_HOST);
const HOSTS_LOG: u64 = log2_up(RANKS / ON_HOST);
const IN_HOST: u64 = ON_HOST as u64;
const OTHER_HOSTS: u64 = (RANKS / ON_HOST) as u64 - 1;
const BOTH_LOGS: u64 = HOST_LOG + HOSTS_LOG;

/// Within each host, and between one process of each, which sends most.
pub const HOSTS: &[Bound] = &[
    bound(Barrier, "Hosts", 0, (HOSTS_LOG + 2, HOSTS_LOG + IN_HOST - 1, 0)),
    bound(Bcast, "Hosts", 64, (BOTH_LOGS, BOTH_LOGS, 64 * BOTH_LOGS)),
    bound(Reduce, "Hosts", 32, (BOTH_LOGS, 1, 32)),
    bound(Allreduce, "Hosts", 32, (BOTH_LOGS + HOST_LOG, BOTH_LOGS, 32 * BOTH_LOGS)),
    bound(Gather, "Hosts", 4, (2, 1, 4 * IN_HOST)),
    bound(Scatter, "Hosts", 4, (2, OTHER_HOSTS + IN_HOST - 1, 4 * OTHERS)),
    bound(
        Allgather,
        "Hosts",
        1,
        (2 + HOST_LOG, OTHER_HOSTS + HOST_LOG, IN_HOST * OTHER_HOSTS + RANKS as u64 * HOST_LOG),
    ),
    bound(
        Allgatherv,
        "Hosts",
        1,
        (2 + HOST_LOG, OTHER_HOSTS + HOST_LOG, IN_HOST * OTHER_HOSTS + RANKS as u64 * HOST_LOG),
    ),
    // The first rank of a host sends most in its scan, and the last one between hosts and then in the broadcast.
    bound(Scan, "Hosts", 16, (BOTH_LOGS + HOST_LOG, BOTH_LOGS, 16 * BOTH_LOGS)),
    bound(Exscan, "Hosts", 16, (BOTH_LOGS + HOST_LOG, BOTH_LOGS, 16 * BOTH_LOGS)),
];

/// Hosts of fewer ranks, where a rank's contribution grows with their number.
const FEWER_OTHER_HOSTS: u64 = (FEWER / ON_HOST) as u64 - 1;

/// Reductions: a tree within each host, the part of each host between them, and the part of each rank within each host.
pub const HOSTS_OF_FEWER: &[Bound] = &[
    of_parts(ReduceScatter),
    of_parts(ReduceScatterBlock),
    // To each host a block from each of this one's ranks for each of its own, then to each rank here those of all ranks.
    bound(Alltoall, "Hosts", 1, (3, OF_FIRST, IN_HOST * IN_HOST * FEWER_OTHER_HOSTS + (IN_HOST - 1) * FEWER as u64)),
];

/// Messages of the first rank of a host to other hosts, and to the ranks of its own.
const OF_FIRST: u64 = FEWER_OTHER_HOSTS + IN_HOST - 1;

const fn of_parts(op: CollOp) -> Bound {
    // A leaf of the tree sends all parts, the first rank those of the other hosts and ranks.
    bound(op, "Hosts", 8, (HOST_LOG + 2, OF_FIRST, 8 * FEWER as u64))
}

/// As [`CROSSING`], of [`HOSTS_OF_FEWER`]: one message each way of each pair of hosts.
const PAIRS_OF_HOSTS: u64 = (FEWER_OTHER_HOSTS + 1) * FEWER_OTHER_HOSTS;
pub const CROSSING_OF_FEWER: [(u64, u64); 3] = [
    (PAIRS_OF_HOSTS, PAIRS_OF_HOSTS * 8 * IN_HOST),
    (PAIRS_OF_HOSTS, PAIRS_OF_HOSTS * 8 * IN_HOST),
    (PAIRS_OF_HOSTS, PAIRS_OF_HOSTS * IN_HOST * IN_HOST),
];

const ALL_HOSTS: u64 = OTHER_HOSTS + 1;

/// The messages that cross from host to host in a call of [`HOSTS`], and their bytes: of all ranks together. A tree of hosts has
/// an edge for each host but one, doubling a message of each host in each step, and all with all one of each pair.
pub const CROSSING: &[(CollOp, u64, u64)] = &[
    (Barrier, ALL_HOSTS * HOSTS_LOG, 0),
    (Bcast, OTHER_HOSTS, 64 * OTHER_HOSTS),
    (Reduce, OTHER_HOSTS, 32 * OTHER_HOSTS),
    (Allreduce, ALL_HOSTS * HOSTS_LOG, 32 * ALL_HOSTS * HOSTS_LOG),
    (Gather, OTHER_HOSTS, 4 * IN_HOST * OTHER_HOSTS),
    (Scatter, OTHER_HOSTS, 4 * IN_HOST * OTHER_HOSTS),
    (Allgather, ALL_HOSTS * OTHER_HOSTS, IN_HOST * ALL_HOSTS * OTHER_HOSTS),
    (Allgatherv, ALL_HOSTS * OTHER_HOSTS, IN_HOST * ALL_HOSTS * OTHER_HOSTS),
    // In each step all hosts send but those that are so many places from the end: 1 + 2 + 4 ... less.
    (Scan, ALL_HOSTS * HOSTS_LOG - OTHER_HOSTS, 16 * (ALL_HOSTS * HOSTS_LOG - OTHER_HOSTS)),
    (Exscan, ALL_HOSTS * HOSTS_LOG - OTHER_HOSTS, 16 * (ALL_HOSTS * HOSTS_LOG - OTHER_HOSTS)),
];

/// The steps between hosts alone: those of one process of each host.
pub const BETWEEN_HOSTS: &[Bound] = &[
    bound(Barrier, "Hosts", 0, (HOSTS_LOG, HOSTS_LOG + IN_HOST - 1, 0)),
    bound(Bcast, "Hosts", 64, (HOSTS_LOG, BOTH_LOGS, 64 * BOTH_LOGS)),
    bound(Reduce, "Hosts", 32, (HOSTS_LOG, 1, 32)),
    bound(Allreduce, "Hosts", 32, (HOSTS_LOG, BOTH_LOGS, 32 * BOTH_LOGS)),
    bound(Gather, "Hosts", 4, (1, 1, 4 * IN_HOST)),
    bound(Scatter, "Hosts", 4, (1, OTHER_HOSTS + IN_HOST - 1, 4 * OTHERS)),
];

/// From process to process of the two groups; what is combined, or the same for all, among the local group, between the
/// ranks 0, and among the local group again.
pub const fn groups(ranks: u32) -> [Bound; 15] {
    let (group, log) = (ranks as u64, log2_up(ranks));
    [
        bound(Barrier, "Groups", 0, (2 * log + 1, 2 * log + 1, 0)),
        bound(Bcast, "Groups", 64, (log + 1, log, 64 * log)),
        bound(Reduce, "Groups", 32, (log + 1, 1, 32)),
        bound(Allreduce, "Groups", 32, (2 * log + 1, log + 1, 32 * (log + 1))),
        bound(Gather, "Groups", 8, (1, 1, 8)),
        bound(Gatherv, "Groups", 8, (1, 1, 8)),
        bound(Scatter, "Groups", 8, (1, group, 8 * group)),
        bound(Scatterv, "Groups", 8, (1, group, 8 * group)),
        bound(Allgather, "Groups", 8, (1, group, 8 * group)),
        bound(Allgatherv, "Groups", 8, (1, group, 8 * group)),
        bound(Alltoall, "Groups", 8, (1, group, 8 * group)),
        bound(Alltoallv, "Groups", 8, (1, group, 8 * group)),
        bound(Alltoallw, "Groups", 8, (1, group, 8 * group)),
        // The whole to the other rank 0, then each part.
        bound(ReduceScatter, "Groups", 8, (log + 2, group, 8 * (2 * group - 1))),
        bound(ReduceScatterBlock, "Groups", 8, (log + 2, group, 8 * (2 * group - 1))),
    ]
}

/// As [`groups`], through the engine.
pub const GROUPS: &[Bound] = &groups(IN_GROUP);

/// Neighbours of a process in a grid of three dimensions.
pub const IN_GRID: u64 = 6;
/// Neighbours that a process of the graph sends to: those whose ranks are higher by these.
pub const AHEAD: [u32; 4] = [1, 2, 5, 100];
const DEGREE: u64 = AHEAD.len() as u64;

/// One message to each neighbour, all at once.
pub const GRID: &[Bound] = &[
    bound(NeighborAllgather, "Direct", 64, (1, IN_GRID, 64 * IN_GRID)),
    bound(NeighborAllgatherv, "Direct", 64, (1, IN_GRID, 64 * IN_GRID)),
    bound(NeighborAlltoall, "Direct", 64, (1, IN_GRID, 64 * IN_GRID)),
    bound(NeighborAlltoallv, "Direct", 64, (1, IN_GRID, 64 * IN_GRID)),
    bound(NeighborAlltoallw, "Direct", 64, (1, IN_GRID, 64 * IN_GRID)),
];

/// The same in a distributed graph.
pub const GRAPH: &[Bound] = &[
    bound(NeighborAllgather, "Direct", 64, (1, DEGREE, 64 * DEGREE)),
    bound(NeighborAllgatherv, "Direct", 64, (1, DEGREE, 64 * DEGREE)),
    bound(NeighborAlltoall, "Direct", 64, (1, DEGREE, 64 * DEGREE)),
    bound(NeighborAlltoallv, "Direct", 64, (1, DEGREE, 64 * DEGREE)),
    bound(NeighborAlltoallw, "Direct", 64, (1, DEGREE, 64 * DEGREE)),
];

/// No message goes where memory is shared.
pub const SHARED: &[Bound] = &[
    bound(Barrier, "Shared", 0, (0, 0, 0)),
    bound(Bcast, "Shared", 20_000, (0, 0, 0)),
    bound(Reduce, "Shared", 20_000, (0, 0, 0)),
    bound(Allreduce, "Shared", 20_000, (0, 0, 0)),
    bound(Gather, "Shared", 2000, (0, 0, 0)),
    bound(Scatter, "Shared", 2000, (0, 0, 0)),
    bound(Allgather, "Shared", 2000, (0, 0, 0)),
    bound(Alltoall, "Shared", 2000, (0, 0, 0)),
];
