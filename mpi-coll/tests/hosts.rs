//! Results of the operations that go by hosts, against what one process computes from the contributions of all: random hosts of
//! different numbers of ranks, random lengths, operands that may and that may not be swapped, with and without `MPI_IN_PLACE`.
//!
//! Ranks are threads, which are said to be on several hosts.

mod common;

use std::sync::Arc;

use common::{Rank, Way, mixed, run_in};
use mpi_coll::{Buffers, CollCall, CollOp, Elements, Op, Reduction};
use mpi_comm::Hosts;
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf, predefined};
use mpi_t::{PvarClass, Registry, Variables};

/// Runs `body` on ranks of hosts with these numbers of ranks.
fn on_hosts(sizes: Vec<u32>, body: impl Fn(&Rank) + Send + Sync + 'static) {
    run_in(sizes.iter().sum(), Way::Shared, move |rank| {
        let words: Vec<u64> = (0..).zip(&sizes).flat_map(|(host, size)| vec![host; *size as usize]).collect();
        rank.world.set_hosts(Hosts::of(&words).expect("several hosts"));
        // What the first call would agree on is given.
        rank.world.set_channels(None);
        body(rank);
    });
}

/// Numbers of ranks of hosts, of which at least one has several.
fn placements() -> Vec<Vec<u32>> {
    let random = |seed: u64| {
        let count = 2 + mixed(&[seed, 1]) % 4;
        let mut sizes: Vec<u32> = (0..count).map(|host| 1 + (mixed(&[seed, 2, host]) % 4) as u32).collect();
        sizes[(mixed(&[seed, 3]) % count) as usize] += 1;
        sizes
    };
    let fixed = [vec![2, 2], vec![1, 2], vec![3, 1], vec![1, 1, 1, 2], vec![4, 4, 4]];
    fixed.into_iter().chain((0..6).map(random)).collect()
}

fn of(rank: u32, what: u64, at: u64) -> u64 {
    mixed(&[u64::from(rank), what, at])
}

fn block(rank: &Rank, which: CollOp, send: Option<&[u64]>, recv: &mut [u64]) {
    let size = rank.size();
    let blocks = if which == CollOp::Alltoall { size } else { 1 };
    let send = send.map_or(Buffers::InPlace, |data| Buffers::Whole { buffer: SendBuf::from_slice(data), blocks });
    let recv = Buffers::Whole { buffer: RecvBuf::from_slice(recv), blocks: size };
    rank.coll.block(&rank.world, CollCall::new(which, send, recv)).expect("no fault");
}

/// Fails unless `call` makes a call of this operation that goes by hosts.
fn by_hosts<T>(rank: &Rank, which: CollOp, call: impl FnOnce() -> T) -> T {
    const HOSTS: i32 = 8;
    let registry = Registry::with_environment([]);
    registry.register(rank.coll.last_algorithms()).expect("new names");
    let variables = Variables::open(&registry).expect("memory");
    let name = format!("coll_{}_algorithm", which.function().trim_start_matches("MPI_").to_lowercase());
    let variable = variables.pvar::<i32>(&name, PvarClass::State).expect("declared");
    let result = call();
    assert_eq!(variable.read().expect("a variable"), HOSTS, "{name}");
    result
}

#[test]
fn blocks_of_alltoall_reach_their_ranks() {
    for sizes in placements() {
        on_hosts(sizes, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            // Up to 256 bytes by hosts, and longer ones.
            for count in [0u64, 1, 2, 5, 31, 32, 33, 100] {
                let blocks = |from: u32, to: u32| (0..count).map(move |at| of(from, u64::from(to) << 8 | count, at));
                let out: Vec<u64> = (0..size).flat_map(|to| blocks(me, to)).collect();
                let expected: Vec<u64> = (0..size).flat_map(|from| blocks(from, me)).collect();
                let mut got = vec![0; out.len()];
                let mut call = || block(rank, CollOp::Alltoall, Some(&out), &mut got);
                if count == 1 {
                    by_hosts(rank, CollOp::Alltoall, call)
                } else {
                    call()
                }
                assert_eq!(got, expected, "{count} numbers for rank {me} of {size}");
                let mut got = out;
                block(rank, CollOp::Alltoall, None, &mut got);
                assert_eq!(got, expected, "{count} numbers for rank {me} of {size}, in place");
            }
        });
    }
}

#[test]
fn blocks_of_allgatherv_reach_all_ranks() {
    for sizes in placements() {
        on_hosts(sizes, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            for round in 0..12u64 {
                // Some are empty; the last rounds are longer than what goes by hosts.
                let most = if round < 9 { 8 } else { 400 };
                let count = |rank: u32| of(rank, round, 1) % most;
                let data = |rank: u32| (0..count(rank)).map(|at| of(rank, round, at)).collect::<Vec<u64>>();
                let own = data(me);
                for in_place in [false, true] {
                    let mut got: Vec<Vec<u64>> = (0..size).map(|rank| vec![0; count(rank) as usize]).collect();
                    if in_place {
                        got[me as usize].clone_from(&own);
                    }
                    let recv = Buffers::Each(got.iter_mut().map(|block| RecvBuf::from_slice(block)).collect());
                    let send = if in_place { Buffers::InPlace } else { Buffers::one(SendBuf::from_slice(&own)) };
                    let call = CollCall::new(CollOp::Allgatherv, send, recv);
                    let call = || rank.coll.block(&rank.world, call).expect("no fault");
                    if round == 1 {
                        by_hosts(rank, CollOp::Allgatherv, call)
                    } else {
                        call()
                    }
                    assert_eq!(got, (0..size).map(data).collect::<Vec<_>>(), "round {round}, rank {me} of {size}");
                }
            }
        });
    }
}

/// Composing x -> a x + b is associative, and not commutative.
fn compose(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
    [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])]
}

fn composition() -> Op {
    let function = |invec: &[u8], inoutvec: &mut [u8], _: &Elements| {
        let (left, _) = invec.as_chunks::<8>();
        let (right, _) = inoutvec.as_chunks_mut::<8>();
        for (left, right) in left.chunks(2).zip(right.chunks_mut(2)) {
            let number = |bytes: &[[u8; 8]]| [u64::from_ne_bytes(bytes[0]), u64::from_ne_bytes(bytes[1])];
            let result = compose(number(left), number(right));
            right.copy_from_slice(&result.map(u64::to_ne_bytes));
        }
    };
    Op::user(Arc::new(function), false)
}

/// The contribution of a rank: pairs of odd numbers, as the bits of those that `MPI_2DOUBLE_PRECISION` has.
fn pairs(rank: u32, count: u64, seed: u64) -> Vec<[u64; 2]> {
    (0..count).map(|at| [of(rank, seed, 2 * at) | 1, of(rank, seed, 2 * at + 1)]).collect()
}

fn floats(pairs: &[[u64; 2]]) -> Vec<[f64; 2]> {
    pairs.iter().map(|pair| pair.map(f64::from_bits)).collect()
}

/// The contributions of some ranks, combined in rank order by one process.
fn serial(
    ranks: std::ops::Range<u32>,
    count: u64,
    seed: u64,
    op: impl Fn([u64; 2], [u64; 2]) -> [u64; 2],
) -> Vec<[u64; 2]> {
    let combine =
        |left: Vec<[u64; 2]>, right: Vec<[u64; 2]>| left.into_iter().zip(right).map(|(l, r)| op(l, r)).collect();
    ranks.map(|rank| pairs(rank, count, seed)).reduce(combine).unwrap_or_default()
}

fn sum(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
    [left[0].wrapping_add(right[0]), left[1].wrapping_add(right[1])]
}

/// Calls a reduction whose parts have these numbers of pairs; returns the first `result` pairs of the receive buffer.
fn reduced(
    rank: &Rank,
    which: CollOp,
    commutative: bool,
    in_place: bool,
    (own, counts): (&[[u64; 2]], &[u64]),
    result: usize,
) -> Vec<[u64; 2]> {
    let mut recv = match in_place {
        true => own.to_vec(),
        false => vec![[7; 2]; result],
    };
    let op = composition();
    let bits = |floats: &[[f64; 2]]| floats.iter().map(|pair| pair.map(f64::to_bits)).collect::<Vec<_>>();
    let count = own.len() as u64;
    let got = if commutative {
        let op = Op::predefined(MPI_SUM).expect("predefined");
        let datatype = predefined(MPI_UINT64_T).expect("predefined");
        let counts: Vec<u64> = counts.iter().map(|count| 2 * count).collect();
        let what = Reduction { op, datatype, handle: MPI_UINT64_T, count: 2 * count };
        let send = if in_place { Buffers::InPlace } else { Buffers::one(SendBuf::from_slice(own.as_flattened())) };
        let buffer = Buffers::one(RecvBuf::from_slice(recv.as_flattened_mut()));
        let call = CollCall::new(which, send, buffer).reducing(&what).scattered(&counts);
        rank.coll.block(&rank.world, call).expect("no fault");
        recv
    } else {
        let datatype = predefined(MPI_2DOUBLE_PRECISION).expect("predefined");
        let what = Reduction { op: &op, datatype, handle: MPI_2DOUBLE_PRECISION, count };
        let (own, mut floats) = (floats(own), floats(&recv));
        let send = if in_place { Buffers::InPlace } else { Buffers::one(SendBuf::from_slice(&own)) };
        let call = CollCall::new(which, send, Buffers::one(RecvBuf::from_slice(&mut floats)));
        rank.coll.block(&rank.world, call.reducing(&what).scattered(counts)).expect("no fault");
        bits(&floats)
    };
    got[..result].to_vec()
}

#[test]
fn scans_combine_the_contributions_up_to_each_rank_in_their_order() {
    for sizes in placements() {
        on_hosts(sizes, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            for (commutative, in_place) in [(true, false), (true, true), (false, false), (false, true)] {
                for (seed, count) in [(1, 1u64), (2, 7), (3, 60), (4, 1100)] {
                    let own = pairs(me, count, seed);
                    let model = |ranks| serial(ranks, count, seed, if commutative { sum } else { compose });
                    let case =
                        format!("{count} pairs, rank {me} of {size}, commutative {commutative}, in place {in_place}");
                    let call = |which| {
                        by_hosts(rank, which, || {
                            reduced(rank, which, commutative, in_place, (&own, &[]), count as usize)
                        })
                    };
                    assert_eq!(call(CollOp::Scan), model(0..me + 1), "scan: {case}");
                    let untouched = if in_place { own.clone() } else { vec![[7; 2]; count as usize] };
                    let expected = if me == 0 { untouched } else { model(0..me) };
                    assert_eq!(call(CollOp::Exscan), expected, "exscan: {case}");
                }
            }
        });
    }
}

#[test]
fn parts_of_a_reduction_combine_all_contributions_in_their_order() {
    for sizes in placements() {
        on_hosts(sizes, |rank| {
            let (me, size) = (rank.rank(), rank.size());
            for (commutative, in_place) in [(true, false), (true, true), (false, false), (false, true)] {
                // Some parts are empty; the last ones are longer than what goes by hosts.
                for (seed, most) in [(1, 2u64), (2, 9), (3, 60), (4, 400)] {
                    let counts: Vec<u64> = (0..size).map(|rank| of(rank, seed, 0) % most).collect();
                    let equal = vec![most; size as usize];
                    for (which, counts) in [(CollOp::ReduceScatter, &counts), (CollOp::ReduceScatterBlock, &equal)] {
                        let all: u64 = counts.iter().sum();
                        let own = pairs(me, all, seed);
                        let model = serial(0..size, all, seed, if commutative { sum } else { compose });
                        let (first, count) =
                            (counts[..me as usize].iter().sum::<u64>() as usize, counts[me as usize] as usize);
                        let call = || reduced(rank, which, commutative, in_place, (&own, counts), count);
                        let short = seed == 1 && which == CollOp::ReduceScatterBlock;
                        let got = if short { by_hosts(rank, which, call) } else { call() };
                        assert_eq!(
                            got,
                            model[first..first + count],
                            "{which:?} of {counts:?}, rank {me}, commutative {commutative}, in place {in_place}"
                        );
                    }
                }
            }
        });
    }
}
