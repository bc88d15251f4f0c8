//! Reproducible sums (control variable `coll_reproducible_sums`): the bits of a result depend on the numbers alone, not
//! on which rank contributes which, on the number of ranks, or on the algorithm.

mod common;

use std::sync::{Arc, Mutex};

use common::{Rank, mixed, run};
use mpi_coll::{Buffers, CollCall, CollOp, Op, Reduction};
use mpi_core::abi::{MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE, MPI_FLOAT, MPI_SUM};
use mpi_datatype::{RecvBuf, SendBuf, predefined};

const ELEMENTS: usize = 40;

/// Number `which` of element `at`: of sizes so different that most sums depend on their order.
fn number(which: u64, at: usize) -> f64 {
    let random = mixed(&[which, at as u64]);
    let size = (random >> 8) % 120;
    let fraction = (mixed(&[random, 1]) >> 11) as f64;
    let sign = if random & 1 == 0 { 1.0 } else { -1.0 };
    sign * fraction * 2f64.powi(size as i32 - 100)
}

/// The contribution of a rank: the number that the permutation gives it, or zeros.
fn contribution(rank: &Rank, numbers: u64, turn: u64) -> Vec<f64> {
    let size = u64::from(rank.size());
    let place = (u64::from(rank.rank()) * permuting(size, turn) + turn) % size;
    (0..ELEMENTS).map(|at| if place < numbers { number(place, at) } else { 0.0 }).collect()
}

/// A factor that permutes the ranks.
fn permuting(size: u64, turn: u64) -> u64 {
    let coprime =
        |factor: &u64| (2..=size).all(|divisor| !size.is_multiple_of(divisor) || !factor.is_multiple_of(divisor));
    (1 + turn..).find(coprime).expect("one of size numbers in a row")
}

fn reduction(handle: usize, count: u64) -> Reduction<'static> {
    let op = Op::predefined(MPI_SUM).expect("an operation");
    Reduction { op, datatype: predefined(handle).expect("a type"), handle, count }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn allreduce(rank: &Rank, own: &[f64]) -> Vec<u64> {
    let mut result = vec![0.0; own.len()];
    let what = reduction(MPI_DOUBLE, own.len() as u64);
    let send = Some(SendBuf::from_slice(own));
    rank.coll.allreduce(&rank.world, send, RecvBuf::from_slice(&mut result), &what).expect("a sum");
    bits(&result)
}

/// Runs the sums of the same five numbers with many sizes, permutations and algorithms; returns how many results
/// there are, by their bits.
fn different_results(reproducible: bool) -> usize {
    let results: Arc<Mutex<Vec<Vec<u64>>>> = Arc::default();
    for size in 5..=9 {
        for crowded in [false, true] {
            let results = results.clone();
            run(size, crowded, move |rank| {
                rank.coll.settings().reproducible_sums.set(reproducible);
                for turn in 0..4 {
                    // Whole, and split among the ranks.
                    for limit in [1 << 40, 1] {
                        rank.coll.settings().split_limit.set(limit);
                        let result = allreduce(rank, &contribution(rank, 5, turn));
                        let mut all = results.lock().expect("no panic");
                        if !all.contains(&result) {
                            all.push(result);
                        }
                    }
                }
            });
        }
    }
    let all = results.lock().expect("no panic");
    all.len()
}

#[test]
fn ranks_orders_and_algorithms_do_not_change_a_bit_and_do_without_the_variable() {
    assert_eq!(different_results(true), 1);
    assert!(different_results(false) > 1, "the numbers do not depend on their order: the test shows nothing");
}

#[test]
fn all_reductions_of_any_number_of_ranks_give_the_same_bits() {
    for size in 1..=9 {
        for crowded in [false, true] {
            run(size, crowded, move |rank| {
                rank.coll.settings().reproducible_sums.set(true);
                for turn in 0..3 {
                    forms_agree(rank, turn);
                }
            });
        }
    }
}

fn forms_agree(rank: &Rank, turn: u64) {
    let (size, me) = (rank.size() as usize, rank.rank() as usize);
    let own = contribution(rank, u64::from(rank.size()), turn);
    let what = reduction(MPI_DOUBLE, ELEMENTS as u64);
    let all = allreduce(rank, &own);

    let root = (turn as u32) % rank.size();
    let mut result = vec![0.0; ELEMENTS];
    let recv = (rank.rank() == root).then(|| RecvBuf::from_slice(&mut result));
    rank.coll.reduce(&rank.world, Some(SendBuf::from_slice(&own)), recv, &what, root).expect("a sum");
    assert!(rank.rank() != root || bits(&result) == all, "reduce");

    // In place.
    let mut result = own.clone();
    rank.coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut result), &what).expect("a sum");
    assert_eq!(bits(&result), all);

    let block = |which, send: &[f64], recv: &mut [f64], counts: &[u64]| {
        let (send, recv) = (Buffers::one(SendBuf::from_slice(send)), Buffers::one(RecvBuf::from_slice(recv)));
        let call = CollCall::new(which, send, recv).reducing(&what).scattered(counts);
        rank.coll.block(&rank.world, call).expect("a sum");
    };
    // Parts of any length, the first one empty.
    let mut counts = vec![0u64; size];
    counts[size - 1] = ELEMENTS as u64;
    if size > 2 {
        (counts[1], counts[size - 1]) = (7, ELEMENTS as u64 - 7);
    }
    let before: u64 = counts[..me].iter().sum();
    let mut part = vec![0.0; counts[me] as usize];
    block(CollOp::ReduceScatter, &own, &mut part, &counts);
    assert_eq!(bits(&part), all[before as usize..][..part.len()]);

    // The scans of all ranks up to the last one are the whole sum; others are those of fewer numbers in other orders.
    let mut prefix = vec![0.0; ELEMENTS];
    block(CollOp::Scan, &own, &mut prefix, &[]);
    assert!(me + 1 < size || bits(&prefix) == all, "scan");
    let mut before = vec![0.0; ELEMENTS];
    block(CollOp::Exscan, &own, &mut before, &[]);
    let mut up_to = vec![0.0; size * ELEMENTS];
    let send = Some(SendBuf::from_slice(&prefix));
    rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut up_to)).expect("an allgather");
    if me > 0 {
        assert_eq!(bits(&before), bits(&up_to[(me - 1) * ELEMENTS..][..ELEMENTS]), "exscan");
    }
}

#[test]
fn single_precision_and_complex_numbers_too() {
    for size in [3, 4, 7] {
        run(size, false, |rank| {
            rank.coll.settings().reproducible_sums.set(true);
            let turns: Vec<_> = (0..3)
                .map(|turn| {
                    let own = contribution(rank, 3, turn);
                    let single: Vec<f32> = own.iter().map(|number| *number as f32).collect();
                    let mut sums = vec![0f32; ELEMENTS];
                    let (send, recv) = (Some(SendBuf::from_slice(&single)), RecvBuf::from_slice(&mut sums));
                    let what = reduction(MPI_FLOAT, ELEMENTS as u64);
                    rank.coll.allreduce(&rank.world, send, recv, &what).expect("a sum");
                    let mut complex = vec![0f64; ELEMENTS];
                    let what = reduction(MPI_C_DOUBLE_COMPLEX, ELEMENTS as u64 / 2);
                    let datatype = what.datatype;
                    let send = SendBuf::in_slice(&own, ELEMENTS as u64 / 2, datatype).expect("pairs");
                    let recv = RecvBuf::in_slice(&mut complex, ELEMENTS as u64 / 2, datatype).expect("pairs");
                    rank.coll.allreduce(&rank.world, Some(send), recv, &what).expect("a sum");
                    let sums: Vec<u32> = sums.iter().map(|number| number.to_bits()).collect();
                    (sums, bits(&complex), allreduce(rank, &own))
                })
                .collect();
            assert!(turns.iter().all(|turn| *turn == turns[0]));
            assert_eq!(turns[0].1, turns[0].2, "real and imaginary parts are sums of their own");
        });
    }
}

#[test]
fn calls_that_do_not_block_and_persistent_ones_sum_alike() {
    run(5, false, |rank| {
        rank.coll.settings().reproducible_sums.set(true);
        let own: &'static [f64] = Vec::leak(contribution(rank, 5, 1));
        let whole = allreduce(rank, own);
        let result: &'static mut [f64] = Vec::leak(vec![0.0; ELEMENTS]);
        let address = result.as_ptr();
        let what = reduction(MPI_DOUBLE, ELEMENTS as u64);
        let (send, recv) = (Buffers::one(SendBuf::from_slice(own)), Buffers::one(RecvBuf::from_slice(result)));
        let call = CollCall::new(CollOp::Allreduce, send, recv).reducing(&what);
        let request = rank.coll.start(&mut rank.engine.lock(), &rank.world, call).expect("a start");
        let done = rank.engine.wait(rank.engine.lock(), request).expect("no fault");
        assert!(done.error.is_none(), "{:?}", done.error);
        // SAFETY: the operation is complete, and the memory is never freed.
        #[allow(unsafe_code)]
        let result = unsafe { std::slice::from_raw_parts(address, ELEMENTS) };
        assert_eq!(bits(result), whole);
    });
}
