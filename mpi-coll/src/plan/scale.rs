//! The steps of each algorithm with 4,096 ranks, matched message by message in virtual time, without an engine and without data.
//!
//! All ranks make their steps with the code of the algorithms. A message arrives a step after it is sent; a rank waits at a boundary for the
//! messages that it receives up to there. Each message that is sent is received, with the same length, and none is left.
//! Not here: the same rows through the engine, which is slower (`tests/scale`); protocols of long messages, which the steps do not show.

use std::collections::{HashMap, VecDeque};

use super::tests::bounds::{self, AHEAD, Bound};
use super::*;
use crate::call::Amounts;
use crate::memory::Layout;
use crate::shape::{Combining, Neighbours, Root, Shape};
use crate::steps::messages_only::{MessagesOnly, Messaging};
use crate::steps::{Side, Team};

const ROOT: u32 = 3;

/// Without optimisation 4,096 ranks take minutes: `cargo xtask test unit` runs these tests with it, too.
const RANKS: u32 = if cfg!(debug_assertions) { 1024 } else { bounds::RANKS };

/// A step in a word: what, the number of its length, and the other rank.
const SEND: u32 = 0;
const RECEIVE: u32 = 1 << 30;
const WAIT: u32 = 2 << 30;
const PEER: u32 = (1 << 12) - 1;
const LENGTH: u32 = 16;

/// The lengths of messages, by number.
#[derive(Default)]
struct Lengths(Vec<u64>);

impl Lengths {
    fn number(&mut self, bytes: u64) -> u32 {
        let known = self.0.iter().position(|length| *length == bytes);
        let number = known.unwrap_or_else(|| {
            self.0.push(bytes);
            self.0.len() - 1
        });
        assert!(number < 1 << LENGTH);
        number as u32
    }
}

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
        self.steps.push(what | self.lengths.number(bytes) << 12 | peer);
    }
}

impl Messaging for List<'_> {
    fn send(&mut self, side: Side, dest: u32, bytes: u64) {
        self.add(SEND, side, dest, bytes);
        self.messages += 1;
        self.bytes += bytes;
    }

    fn receive(&mut self, side: Side, source: u32, bytes: u64) {
        self.add(RECEIVE, side, source, bytes);
    }

    fn boundary(&mut self) {
        self.steps.push(WAIT);
    }
}

/// Messages on their way. One cell for each pair of ranks: 0, or the step of arrival above the number of the length.
struct Messages {
    ranks: usize,
    cells: Vec<u32>,
    /// Those behind the one in the cell.
    more: HashMap<usize, VecDeque<u32>>,
    count: u64,
}

impl Messages {
    fn put(&mut self, (from, to): (u32, u32), message: u32) {
        let at = to as usize * self.ranks + from as usize;
        self.count += 1;
        match self.cells[at] {
            0 => self.cells[at] = message,
            _ => self.more.entry(at).or_default().push_back(message),
        }
    }

    fn take(&mut self, (from, to): (u32, u32)) -> Option<u32> {
        let at = to as usize * self.ranks + from as usize;
        let message = std::mem::take(&mut self.cells[at]);
        if message == 0 {
            return None;
        }
        self.count -= 1;
        if !self.more.is_empty()
            && let Some(next) = self.more.get_mut(&at)
        {
            self.cells[at] = next.pop_front().expect("a message");
            if next.is_empty() {
                self.more.remove(&at);
            }
        }
        Some(message)
    }
}

/// How far a rank is.
#[derive(Clone, Default)]
struct Progress {
    /// The step that it is at, and the first whose message it has not received.
    at: usize,
    taken: usize,
    clock: u32,
    awaits: Option<u32>,
}

/// The steps until the last rank is at its end.
fn latest(lists: &[Vec<u32>]) -> u64 {
    let ranks = lists.len();
    let mut messages = Messages { ranks, cells: vec![0; ranks * ranks], more: HashMap::new(), count: 0 };
    let mut progress = vec![Progress::default(); ranks];
    let mut ready: VecDeque<u32> = (0..ranks as u32).collect();
    while let Some(rank) = ready.pop_front() {
        let (list, mut own) = (&lists[rank as usize], std::mem::take(&mut progress[rank as usize]));
        'steps: loop {
            let step = list.get(own.at).copied().unwrap_or(WAIT);
            let peer = step & PEER;
            if step < RECEIVE {
                assert_ne!(peer, rank);
                messages.put((rank, peer), (own.clock + 2) << LENGTH | step >> 12);
                if progress[peer as usize].awaits == Some(rank) {
                    progress[peer as usize].awaits = None;
                    ready.push_back(peer);
                }
            } else if step >= WAIT {
                for step in &list[own.taken..own.at] {
                    if *step >= RECEIVE && *step < WAIT {
                        let source = step & PEER;
                        let Some(message) = messages.take((source, rank)) else {
                            own.awaits = Some(source);
                            break 'steps;
                        };
                        assert_eq!(
                            message & ((1 << LENGTH) - 1),
                            (step & !RECEIVE) >> 12,
                            "length of {source} to {rank}"
                        );
                        own.clock = own.clock.max((message >> LENGTH) - 1);
                    }
                    own.taken += 1;
                }
                if own.at == list.len() {
                    break;
                }
            }
            own.at += 1;
        }
        progress[rank as usize] = own;
    }
    for (rank, own) in progress.iter().enumerate() {
        assert_eq!((own.awaits, own.taken), (None, lists[rank].len()), "rank {rank} waits");
    }
    assert_eq!(messages.count, 0, "messages that nobody receives");
    progress.iter().map(|own| u64::from(own.clock)).max().expect("ranks")
}

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

/// The steps, and the most messages and bytes of a rank, of a call of `ranks` processes, which are two groups if `inter`.
fn cost(ranks: u32, inter: bool, bound: &Bound, settings: &CollSettings) -> (u64, u64, u64) {
    let (which, block) = (bound.op, bound.block as u64);
    let size = if inter { ranks / 2 } else { ranks };
    let scattered = matches!(which, CollOp::ReduceScatter | CollOp::ReduceScatterBlock);
    let counts = vec![block / 8; if scattered { size as usize } else { 0 }];
    let count = if scattered { block / 8 * u64::from(size) } else { block / 8 };
    let (mut lengths, mut most) = (Lengths::default(), (0, 0));
    let lists = (0..ranks).map(|world| {
        let (rank, group) = (world % size, world / size);
        let (root, at_root) = match (inter && group == 0, rank == ROOT) {
            (true, true) => (Root::Here, true),
            (true, false) => (Root::Elsewhere, false),
            (false, is_root) => (Root::Rank(ROOT), is_root && !inter),
        };
        let sources = AHEAD.map(|ahead| Some((rank + size - ahead % size) % size));
        let destinations = AHEAD.map(|ahead| Some((rank + ahead) % size));
        let of_neighbours = which.is_of_neighbours();
        let blocks = if of_neighbours { AHEAD.len() as u32 } else { size };
        let [send, recv] = layouts(which, block, (blocks, blocks), matches!(root, Root::Rank(_)), at_root);
        let what = Combining { size: 8, plain: 8, count, commutative: true, native: true, direct: true };
        let bytes = (send.bytes_if_present(), recv.bytes_if_present());
        let amounts = Amounts::of(which, size, bytes, (what.bytes(), what.bytes()));
        let plan = Plan::new(which, size, false, settings, 0);
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
            hosts: None,
        };
        let algorithm = shape.plan.algorithm(which, shape.bytes);
        assert_eq!(bounds::ALGORITHMS[algorithm as usize], bound.algorithm, "{bound:?}");
        let groups = if inter { [group * size, (1 - group) * size] } else { [0; 2] };
        let list = List { lengths: &mut lengths, groups, steps: Vec::new(), messages: 0, bytes: 0 };
        let mut sink = MessagesOnly(list);
        shape.steps(&mut sink).expect("no step fails");
        let list = sink.0;
        most = (most.0.max(list.messages), most.1.max(list.bytes));
        list.steps
    });
    let lists: Vec<_> = lists.collect();
    (latest(&lists), most.0, most.1)
}

/// Fails if a call does not cost what its row says.
fn check(ranks: u32, inter: bool, rows: &[Bound], choose: fn(&CollSettings)) {
    let settings = CollSettings::new();
    settings.shape.set(TREE);
    settings.ring_from.set(1 << 30);
    choose(settings);
    for row in rows {
        let cost = cost(ranks, inter, row, settings);
        assert_eq!(cost, (row.steps, row.messages, row.bytes), "{row:?} of {ranks} ranks");
    }
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
