//! Every algorithm with 4,096 ranks (fewer where each sends to all) over the simulated network: the steps of a call, and the
//! messages and bytes of each rank, stay within the textbook bounds.
//!
//! A step is the latency of one message: it is set so high that nothing else counts. A message that its receiver
//! copies takes four: the offer, the request, the data, and its end.

use std::sync::Arc;

use mpi_coll::{Buffers, CollCall, CollOp, CollSettings, Collectives, Op, Reduction};
use mpi_comm::{Comm, CommSpec, register};
use mpi_core::ProcessLock;
use mpi_core::abi::MPI_SUM;
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::simulated::{Clock, Link, RankTraffic, Topology, run};
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

const RANKS: u32 = 4096;
/// Where every rank sends to every other one, and for data that its receiver copies.
const RANKS_OF_DIRECT: u32 = 256;
const LATENCY_NS: u64 = 50_000_000;
const COPIED: u64 = 4;
/// Bytes of an offer.
const OFFER: u64 = 24;
/// Where data go around a ring, one step for each rank.
const RANKS_OF_RING: u32 = 64;
const FLAT: i32 = 1;
const TREE: i32 = 2;

struct Rank {
    coll: Collectives,
    world: Comm,
    clock: Clock,
}

/// What a call cost: the steps from the last rank's begin to the last rank's end, and the most that one rank did.
#[derive(Debug)]
struct Cost {
    steps: u64,
    messages: u64,
    bytes: u64,
}

impl Cost {
    /// Fails if the call cost more than so many steps, and messages and bytes of a rank, or nothing.
    fn is_within(&self, name: &str, (steps, messages, bytes): (u64, u64, u64)) {
        assert!(self.steps <= steps && self.messages <= messages && self.bytes <= bytes, "{name}: {self:?}");
        assert!(self.messages > 0 && (self.bytes > 0 || bytes == 0), "{name} sent nothing: {self:?}");
    }
}

type Call = (&'static str, fn(&Rank) -> Result<()>);

/// Makes the calls, one after the other, and gives the cost of each by its name.
fn costs(ranks: u32, choose: fn(&CollSettings), calls: &'static [Call]) -> impl Fn(&str) -> Cost {
    let link = Link { latency_ns: LATENCY_NS, bytes_per_us: 1_000_000 };
    let topology = Topology::new(ranks).within_hosts(link).between_hosts(link);
    let outcome = run(&topology, |rank| {
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        coll.settings().shape.set(TREE);
        coll.settings().ring_from.set(1 << 30);
        choose(coll.settings());
        let spec = CommSpec::world(engine.rank(), engine.size());
        let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(ranks));
        let rank = Rank { coll, world, clock: rank.clock };
        calls.iter().map(|(_, call)| measured(&rank, call)).collect::<Result<Vec<_>>>()
    });
    let ranks = outcome.expect("memory and threads for the ranks").results;
    let ranks: Vec<_> = ranks.into_iter().map(|rank| rank.expect("no fault")).collect();
    let cost = move |call: usize| {
        let last = |at: fn(&Measured) -> u64| ranks.iter().map(|rank| at(&rank[call])).max().expect("ranks");
        Cost {
            steps: (last(|it| it.end_ns) - last(|it| it.begin_ns)).div_ceil(LATENCY_NS + LATENCY_NS / 4),
            messages: last(|it| it.sent.records),
            bytes: last(|it| it.sent.bytes),
        }
    };
    move |name| cost(calls.iter().position(|(call, _)| *call == name).expect("a call of the list"))
}

/// One call of one rank.
struct Measured {
    begin_ns: u64,
    end_ns: u64,
    sent: RankTraffic,
}

fn measured(rank: &Rank, call: &fn(&Rank) -> Result<()>) -> Result<Measured> {
    let (begin_ns, before) = (rank.clock.now_ns(), rank.clock.traffic());
    call(rank)?;
    let after = rank.clock.traffic();
    let sent = RankTraffic { records: after.records - before.records, bytes: after.bytes - before.bytes };
    Ok(Measured { begin_ns, end_ns: rank.clock.now_ns(), sent })
}

fn log2_up(ranks: u32) -> u64 {
    u64::from(ranks.next_power_of_two().ilog2())
}

/// A sum of `COUNT` numbers, of which each rank contributes its rank; checked where the result is.
fn sum<const COUNT: usize>(rank: &Rank, everywhere: bool) -> Result<()> {
    let size = u64::from(rank.world.size());
    let (own, mut sums) = (vec![u64::from(rank.world.rank()); COUNT], vec![0u64; COUNT]);
    let op = Op::predefined(MPI_SUM).expect("a predefined operation");
    let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: COUNT as u64 };
    let send = Some(SendBuf::from_slice(&own));
    if everywhere {
        rank.coll.allreduce(&rank.world, send, RecvBuf::from_slice(&mut sums), &what)?;
    } else {
        let recv = (rank.world.rank() == 0).then(|| RecvBuf::from_slice(&mut sums));
        rank.coll.reduce(&rank.world, send, recv, &what, 0)?;
    }
    if everywhere || rank.world.rank() == 0 {
        assert_eq!(sums, vec![size * (size - 1) / 2; COUNT]);
    }
    Ok(())
}

fn bcast<const BYTES: usize>(rank: &Rank) -> Result<()> {
    let mut data = vec![if rank.world.rank() == 3 { 7u8 } else { 0 }; BYTES];
    rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), 3)?;
    assert!(data.iter().all(|byte| *byte == 7));
    Ok(())
}

/// One byte of each rank.
fn allgather<const BLOCK: usize>(rank: &Rank) -> Result<()> {
    let own = [rank.world.rank() as u8; BLOCK];
    let mut all = vec![0u8; BLOCK * rank.world.size() as usize];
    rank.coll.allgather(&rank.world, Some(SendBuf::from_slice(&own)), RecvBuf::from_slice(&mut all))?;
    assert!(all.chunks(BLOCK).enumerate().all(|(from, block)| block.iter().all(|byte| *byte == from as u8)));
    Ok(())
}

fn gather(rank: &Rank) -> Result<()> {
    let own = [rank.world.rank()];
    let mut all = vec![0u32; if rank.world.rank() == 5 { rank.world.size() as usize } else { 0 }];
    let recv = (rank.world.rank() == 5).then(|| RecvBuf::from_slice(&mut all));
    rank.coll.gather(&rank.world, Some(SendBuf::from_slice(&own)), recv, 5)?;
    assert!(all.iter().enumerate().all(|(at, from)| at as u32 == *from));
    Ok(())
}

fn scatter(rank: &Rank) -> Result<()> {
    let all: Vec<u32> = if rank.world.rank() == 5 { (0..rank.world.size()).collect() } else { Vec::new() };
    let send = (rank.world.rank() == 5).then(|| SendBuf::from_slice(&all));
    let mut own = [0u32];
    rank.coll.scatter(&rank.world, send, Some(RecvBuf::from_slice(&mut own)), 5)?;
    assert_eq!(own, [rank.world.rank()]);
    Ok(())
}

fn alltoall(rank: &Rank) -> Result<()> {
    let (rank_number, size) = (rank.world.rank(), rank.world.size());
    let out: Vec<u64> = (0..size).map(|to| u64::from(rank_number) << 32 | u64::from(to)).collect();
    let mut into = vec![0u64; size as usize];
    rank.coll.alltoall(&rank.world, Some(SendBuf::from_slice(&out)), RecvBuf::from_slice(&mut into))?;
    assert!(into.iter().enumerate().all(|(from, word)| *word == (from as u64) << 32 | u64::from(rank_number)));
    Ok(())
}

/// A call of a reduction whose ranks contribute `COUNT` numbers each: their rank.
fn reducing<const COUNT: usize>(rank: &Rank, which: CollOp, received: usize, counts: &[u64]) -> Result<Vec<u64>> {
    let (own, mut result) = (vec![u64::from(rank.world.rank()); COUNT], vec![0u64; received]);
    let op = Op::predefined(MPI_SUM).expect("a predefined operation");
    let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: COUNT as u64 };
    let (send, recv) = (Buffers::one(SendBuf::from_slice(&own)), Buffers::one(RecvBuf::from_slice(&mut result)));
    rank.coll.block(&rank.world, CollCall::new(which, send, recv).reducing(&what).scattered(counts))?;
    Ok(result)
}

fn scan(rank: &Rank, which: CollOp) -> Result<()> {
    let me = u64::from(rank.world.rank());
    let result = reducing::<2>(rank, which, 2, &[])?;
    let expected = if which == CollOp::Scan { me * (me + 1) / 2 } else { me * me.saturating_sub(1) / 2 };
    assert_eq!(result, [expected; 2]);
    Ok(())
}

/// Each rank gets as many numbers.
fn reduce_scatter<const COUNT: usize>(rank: &Rank) -> Result<()> {
    let size = u64::from(rank.world.size());
    let counts = vec![COUNT as u64 / size; size as usize];
    let result = reducing::<COUNT>(rank, CollOp::ReduceScatter, counts[0] as usize, &counts)?;
    assert_eq!(result, vec![size * (size - 1) / 2; counts[0] as usize]);
    Ok(())
}

#[test]
fn trees_take_log2_n_steps_and_as_many_messages_of_a_rank() {
    let cost = costs(
        RANKS,
        |_| {},
        &[
            ("barrier", |rank| rank.coll.barrier(&rank.world)),
            ("bcast", bcast::<64>),
            ("reduce", |rank| sum::<4>(rank, false)),
            ("allreduce", |rank| sum::<4>(rank, true)),
            ("allgather", allgather::<1>),
            ("gather", gather),
            ("scatter", scatter),
            ("scan", |rank| scan(rank, CollOp::Scan)),
            ("exscan", |rank| scan(rank, CollOp::Exscan)),
        ],
    );
    let (log, n) = (log2_up(RANKS), u64::from(RANKS));
    // Name, steps, messages and bytes of a rank, at most.
    for (name, steps, messages, bytes) in [
        ("barrier", log, log, 0),
        ("bcast", log, log, 64 * log),
        ("reduce", log, 1, 32),
        ("allreduce", log, log, 32 * log),
        ("allgather", log, log, n - 1),
        ("gather", 1, 1, 4),
        ("scatter", 1, n - 1, 4 * (n - 1)),
        ("scan", log, log, 16 * log),
        ("exscan", log, log, 16 * log),
    ] {
        cost(name).is_within(name, (steps, messages, bytes));
    }
}

#[test]
fn long_direct_and_split_algorithms_move_each_byte_once_or_twice() {
    const COUNT: usize = 64 * RANKS_OF_DIRECT as usize;
    let cost = costs(
        RANKS_OF_DIRECT,
        |_| {},
        &[
            ("long bcast", bcast::<20_000>),
            ("alltoall", alltoall),
            ("allgather", allgather::<64>),
            ("reduce", |rank| sum::<COUNT>(rank, false)),
            ("allreduce", |rank| sum::<COUNT>(rank, true)),
            ("reduce_scatter", reduce_scatter::<COUNT>),
            ("short reduce_scatter", reduce_scatter::<{ RANKS_OF_DIRECT as usize }>),
        ],
    );
    let (log, n, whole) = (log2_up(RANKS_OF_DIRECT), u64::from(RANKS_OF_DIRECT), 8 * COUNT as u64);
    for (name, steps, messages, bytes) in [
        ("long bcast", COPIED * log, 2 * log, 20_000 + 2 * OFFER * log),
        ("alltoall", 1, n - 1, 8 * (n - 1)),
        ("allgather", 1, n - 1, 64 * (n - 1)),
        // Its contributions to all parts but its own, then its own part: (n - 1)/n and 1/n of the whole.
        ("reduce", 2, n, whole),
        // The same, and its own part to all others: 2 (n - 1)/n of the whole.
        ("allreduce", 2, 2 * (n - 1), 2 * whole * (n - 1) / n),
        ("reduce_scatter", 1, n - 1, whole * (n - 1) / n),
        // A tree to rank 0, which sends each rank its part.
        ("short reduce_scatter", log + 1, n, 8 * n + 8 * (n - 1)),
    ] {
        cost(name).is_within(name, (steps, messages, bytes));
    }
}

#[test]
fn what_goes_through_one_process_takes_two_steps() {
    let cost = costs(
        RANKS,
        |settings| settings.shape.set(FLAT),
        &[
            ("barrier", |rank| rank.coll.barrier(&rank.world)),
            ("bcast", bcast::<64>),
            ("reduce", |rank| sum::<4>(rank, false)),
            ("allreduce", |rank| sum::<4>(rank, true)),
            ("allgather", allgather::<1>),
        ],
    );
    let n = u64::from(RANKS);
    // The bytes are those of rank 0, which sends to all others.
    for (name, steps, messages, bytes) in [
        ("barrier", 2, n - 1, 0),
        ("bcast", 1, n - 1, 64 * (n - 1)),
        ("reduce", 1, 1, 32),
        ("allreduce", 2, n - 1, 32 * (n - 1)),
        ("allgather", 2, n - 1, n * (n - 1)),
    ] {
        cost(name).is_within(name, (steps, messages, bytes));
    }
}

#[test]
fn exchanges_of_short_blocks_take_log2_n_steps() {
    const RANKS: u32 = 1024;
    let cost = costs(RANKS, |settings| settings.ring_from.set(3), &[("alltoall", alltoall)]);
    let (log, n) = (log2_up(RANKS), u64::from(RANKS));
    // Half of the blocks in each step.
    cost("alltoall").is_within("alltoall", (log, log, 8 * (n / 2) * log));
}

#[test]
fn rings_take_a_step_for_each_rank_and_move_each_byte_as_often_as_all_with_all() {
    const COUNT: usize = 64 * RANKS_OF_RING as usize;
    let cost = costs(
        RANKS_OF_RING,
        |settings| {
            settings.ring_from.set(3);
            settings.bcast_split_limit.set(1);
            settings.alltoall_limit.set(0);
        },
        &[
            ("allgather", allgather::<200>),
            ("bcast", bcast::<{ 64 * 200 }>),
            ("alltoall", alltoall),
            ("reduce_scatter", reduce_scatter::<COUNT>),
            ("allreduce", |rank| sum::<COUNT>(rank, true)),
        ],
    );
    let (log, n, whole) = (log2_up(RANKS_OF_RING), u64::from(RANKS_OF_RING), 8 * COUNT as u64);
    for (name, steps, messages, bytes) in [
        ("allgather", n - 1, n - 1, 200 * (n - 1)),
        // The root sends all parts but its own once in the tree, and every rank all but one in the ring.
        ("bcast", log + n - 1, log + n - 1, 2 * 200 * (n - 1)),
        ("alltoall", n - 1, n - 1, 8 * (n - 1)),
        ("reduce_scatter", n - 1, n - 1, whole * (n - 1) / n),
        ("allreduce", 2 * (n - 1), 2 * (n - 1), 2 * whole * (n - 1) / n),
    ] {
        cost(name).is_within(name, (steps, messages, bytes));
    }
}
