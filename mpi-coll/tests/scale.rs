//! Algorithms with 4,096 ranks (256 where each sends to all) over the simulated network: the steps of a call, and the messages and bytes of each
//! rank, stay within the textbook bounds.
//!
//! A step is the latency of one message: it is set so high that nothing else counts. A message that its receiver
//! copies takes four: the offer, the request, the data, and its end.

use std::sync::Arc;

use mpi_coll::{Collectives, Op, Reduction};
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

type Call = (&'static str, fn(&Rank) -> Result<()>);

/// Makes the calls, one after the other, and gives the cost of each by its name.
fn costs(ranks: u32, calls: &'static [Call]) -> impl Fn(&str) -> Cost {
    let link = Link { latency_ns: LATENCY_NS, bytes_per_us: 1_000_000 };
    let topology = Topology::new(ranks).within_hosts(link).between_hosts(link);
    let outcome = run(&topology, |rank| {
        let engine = Arc::new(Engine::new(rank.endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory));
        let coll = Collectives::new(engine.clone(), false, &HeapMemory);
        coll.settings().shape.set(TREE);
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

#[test]
fn trees_take_log2_n_steps_and_as_many_messages_of_a_rank() {
    let cost = costs(
        RANKS,
        &[
            ("barrier", |rank| rank.coll.barrier(&rank.world)),
            ("bcast", bcast::<64>),
            ("reduce", |rank| sum::<4>(rank, false)),
            ("allreduce", |rank| sum::<4>(rank, true)),
            ("allgather", allgather::<1>),
            ("gather", gather),
            ("scatter", scatter),
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
    ] {
        let cost = cost(name);
        assert!(cost.steps <= steps && cost.messages <= messages && cost.bytes <= bytes, "{name}: {cost:?}");
        assert!(cost.messages > 0, "{name} sent nothing: {cost:?}");
    }
}

#[test]
fn long_direct_and_split_algorithms_move_each_byte_once_or_twice() {
    const COUNT: usize = 64 * RANKS_OF_DIRECT as usize;
    let cost = costs(
        RANKS_OF_DIRECT,
        &[
            ("long bcast", bcast::<20_000>),
            ("alltoall", alltoall),
            ("allgather", allgather::<64>),
            ("reduce", |rank| sum::<COUNT>(rank, false)),
            ("allreduce", |rank| sum::<COUNT>(rank, true)),
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
    ] {
        let cost = cost(name);
        assert!(cost.steps <= steps && cost.messages <= messages && cost.bytes <= bytes, "{name}: {cost:?}");
        assert!(cost.bytes > 0, "{name} sent nothing: {cost:?}");
    }
}
