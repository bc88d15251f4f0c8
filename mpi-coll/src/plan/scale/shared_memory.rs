//! What processes publish and read where they share memory, without data: the turns and bytes of each, against the textbook's bound.
//!
//! All ranks make their steps with the code of the algorithms. Each read is of bytes that its source publishes in that turn.
//! Not here: the memory and its protocol (`mpi-fabric`); short ways, which publish and read the same (`shared::short`).

use super::*;

/// A read of another rank's publication.
struct Read {
    source: u32,
    at: u64,
    bytes: u64,
}

/// A turn of one rank.
#[derive(Default)]
struct Turn {
    /// Bytes of the room, once there is one; those that were put; whether it is published.
    room: Option<u64>,
    put: u64,
    published: bool,
    reads: Vec<Read>,
}

/// The turns of one rank.
struct Turns(Vec<Turn>);

impl Turns {
    fn last(&mut self) -> &mut Turn {
        self.0.last_mut().expect("a first turn")
    }
}

impl without_data::Lengths for Turns {
    fn reserve(&mut self, bytes: u64) {
        assert_eq!(self.last().room.replace(bytes), None, "two publications in a turn");
    }

    fn put(&mut self, at: u64, bytes: u64) {
        let turn = self.last();
        assert!(!turn.published && turn.room.is_some_and(|room| at + bytes <= room));
        turn.put += bytes;
    }

    fn publish(&mut self) {
        let turn = self.last();
        assert_eq!(turn.room, Some(turn.put), "what is published is written");
        turn.published = true;
    }

    fn read(&mut self, source: u32, at: u64, bytes: u64) {
        self.last().reads.push(Read { source, at, bytes });
    }

    fn end_turn(&mut self) {
        self.0.push(Turn::default());
    }
}

/// Most turns of one rank, and most bytes that one publishes, and that one reads of others.
type Most = (u64, u64, u64);

/// What a call of these ranks costs.
fn cost(callers: &Callers<'_>, row: &Bound) -> Most {
    let ranks: Vec<Turns> = (0..callers.ranks)
        .map(|rank| {
            let mut sink = WithoutData(Turns(vec![Turn::default()]));
            callers.with_shape(row, rank, |shape| shape.steps(&mut sink)).expect("no step fails");
            sink.0
        })
        .collect();
    let (mut most, turns) = ((0, 0, 0), ranks[0].0.len());
    for (rank, own) in ranks.iter().enumerate() {
        assert_eq!(own.0.len(), turns, "turns of rank {rank} and of rank 0: {row:?}");
        let (mut published, mut read) = (0, 0);
        for (number, turn) in own.0.iter().enumerate() {
            assert_eq!(turn.room.is_some(), turn.published);
            assert!(turn.put <= callers.longest, "{} bytes in a turn: {row:?}", turn.put);
            published += turn.put;
            for Read { source, at, bytes } in &turn.reads {
                let theirs = &ranks[*source as usize].0[number];
                assert!(theirs.published, "rank {rank} waits for rank {source} in turn {number}: {row:?}");
                assert!(at + bytes <= theirs.put, "bytes {at}+{bytes} of {}: {row:?}", theirs.put);
                // A process may read its own publication in its place in the order.
                read += if *source as usize == rank { 0 } else { *bytes };
            }
        }
        most = (most.0.max(own.0.len() as u64), most.1.max(published), most.2.max(read));
    }
    most
}

fn row(op: CollOp, block: u64) -> Bound {
    Bound { op, algorithm: "Shared", block: block as usize, steps: 0, messages: 0, bytes: 0 }
}

/// Ranks that share memory: the most are 64 (`coll_shared_processes`).
const SHARING: [u32; 6] = [2, 3, 8, 16, 33, 64];
/// Bytes of a publication at most.
const CHUNK: u64 = 1 << 16;

fn check(rows: impl Fn(u64) -> Vec<(CollOp, u64, Most)>) {
    let settings = CollSettings::new();
    settings.shared_chunk.set(CHUNK);
    for ranks in SHARING {
        let callers = Callers { ranks, inter: false, hosts: None, longest: CHUNK, settings };
        for (op, block, most) in rows(ranks.into()) {
            assert_eq!(cost(&callers, &row(op, block)), most, "{op:?} of {block} bytes, {ranks} ranks");
        }
    }
}

/// Each process publishes its data once and reads the others' once, in one turn; a barrier of many is a tree of turns.
#[test]
fn short_data_are_published_once_and_read_once() {
    check(|n| {
        let (others, barrier) = (n - 1, if n <= 16 { 1 } else { bounds::log2_up(n as u32) });
        vec![
            (CollOp::Barrier, 0, (barrier, 0, 0)),
            (CollOp::Bcast, 1000, (1, 1000, 1000)),
            (CollOp::Reduce, 1024, (1, 1024, 1024 * others)),
            (CollOp::Allreduce, 1024, (1, 1024, 1024 * others)),
            (CollOp::Gather, 1000, (1, 1000, 1000 * others)),
            (CollOp::Scatter, 1000, (1, 1000 * others, 1000)),
            (CollOp::Allgather, 1000, (1, 1000, 1000 * others)),
            (CollOp::Alltoall, 1000, (1, 1000 * others, 1000 * others)),
        ]
    });
}

/// Long data take a turn for each chunk. A reduction is divided: a process reads (n - 1)/n of the vector in contributions, and the
/// same in results if it gets them, and publishes as much of its contribution and 1/n of the result.
#[test]
fn long_data_take_a_turn_for_each_chunk_and_reductions_are_divided() {
    // Eight chunks, each of which can be divided among so many.
    let whole = |n: u64| 8 * (CHUNK / (8 * n) * 8 * n);
    for n in SHARING.map(u64::from) {
        let settings = CollSettings::new();
        settings.shared_chunk.set(whole(n) / 8);
        let callers = Callers { ranks: n as u32, inter: false, hosts: None, longest: CHUNK, settings };
        let cost = |op, block| cost(&callers, &row(op, block));
        let (bytes, others) = (whole(n), n - 1);
        let part = bytes / n * others;
        assert_eq!(cost(CollOp::Bcast, bytes), (8, bytes, bytes));
        assert_eq!(cost(CollOp::Gather, bytes), (8, bytes, bytes * others));
        assert_eq!(cost(CollOp::Allgather, bytes), (8, bytes, bytes * others));
        // A block for each of the others in each publication.
        let block = 8 * (whole(n) / 8 / others);
        assert_eq!(cost(CollOp::Scatter, block), (8, block * others, block));
        assert_eq!(cost(CollOp::Alltoall, block), (8, block * others, block * others));
        // The results of the last chunk take a turn of their own.
        assert_eq!(cost(CollOp::Allreduce, bytes), (9, bytes, 2 * part), "{n} ranks");
        let reduce = if n == 2 { (8, bytes, bytes) } else { (9, bytes, 2 * part) };
        assert_eq!(cost(CollOp::Reduce, bytes), reduce, "{n} ranks");
    }
}
