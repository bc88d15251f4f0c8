//! Rules of the collectives that combine data.

mod common;

use std::sync::Arc;

use common::{Rank, mixed, run, run_all};
use mpi_coll::{Elements, Op, Reduction};
use mpi_core::abi::*;
use mpi_datatype::{Category, Datatype, Element, RecvBuf, SendBuf, predefined};

/// Below and above the limit at which a reduction is split (16 KiB), for elements of 8 bytes.
const COUNTS: [usize; 6] = [0, 1, 3, 100, 2047, 5000];

fn reduction<'a>(op: &'a Op, handle: usize, count: usize) -> Reduction<'a> {
    Reduction { op, datatype: predefined(handle).expect("predefined"), handle, count: count as u64 }
}

fn values(rank: u32, count: usize) -> Vec<u64> {
    (0..count).map(|i| mixed(&[rank as u64, i as u64])).collect()
}

/// The value of each element when rank 0's is combined with rank 1's, that with rank 2's, and so on.
fn naive<T: Copy>(size: u32, count: usize, values: impl Fn(u32, usize) -> Vec<T>, op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut result = values(0, count);
    for rank in 1..size {
        for (left, right) in result.iter_mut().zip(values(rank, count)) {
            *left = op(*left, right);
        }
    }
    result
}

fn allreduce<T: Element>(rank: &Rank, own: &[T], what: &Reduction<'_>) -> Vec<T> {
    let mut result = own.to_vec();
    rank.coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut result), what).expect("allreduce in place");
    let mut again = own.to_vec();
    let send = Some(SendBuf::from_slice(own));
    rank.coll.allreduce(&rank.world, send, RecvBuf::from_slice(&mut again), what).expect("allreduce");
    let bytes = |values: &[T]| SendBuf::from_slice(values).contiguous().map(<[u8]>::to_vec);
    assert_eq!(bytes(&again), bytes(&result));
    result
}

fn reduce<T: Element>(rank: &Rank, own: &[T], what: &Reduction<'_>, root: u32, in_place: bool) -> Option<Vec<T>> {
    let at_root = rank.rank() == root;
    let mut result = own.to_vec();
    if !in_place {
        result.reverse();
    }
    let send = (!at_root || !in_place).then(|| SendBuf::from_slice(own));
    let recv = at_root.then(|| RecvBuf::from_slice(&mut result));
    rank.coll.reduce(&rank.world, send, recv, what, root).expect("reduce");
    at_root.then_some(result)
}

#[test]
fn commutative_reductions_follow_the_naive_reference() {
    run_all(|rank| {
        for count in COUNTS {
            let own = values(rank.rank(), count);
            for (handle, op) in
                [(MPI_SUM, u64::wrapping_add as fn(u64, u64) -> u64), (MPI_MAX, u64::max), (MPI_BXOR, |a, b| a ^ b)]
            {
                let expected = naive(rank.size(), count, values, op);
                let what = reduction(Op::predefined(handle).expect("predefined"), MPI_UINT64_T, count);
                assert_eq!(allreduce(rank, &own, &what), expected, "count {count}");
                for root in [0, rank.size() - 1, rank.size() / 2] {
                    for in_place in [false, true] {
                        let result = reduce(rank, &own, &what, root, in_place);
                        assert!(result.is_none_or(|result| result == expected), "root {root}, count {count}");
                    }
                }
            }
        }
    });
}

/// Composing x -> a x + b is associative and not commutative.
fn compose(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
    [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])]
}

fn maps(rank: u32, count: usize) -> Vec<[f64; 2]> {
    let word = |part: u64| f64::from_bits(mixed(&[rank as u64, part]) | 1);
    (0..count as u64).map(|i| [word(2 * i), word(2 * i + 1)]).collect()
}

fn compose_bits(left: [f64; 2], right: [f64; 2]) -> [f64; 2] {
    compose(left.map(f64::to_bits), right.map(f64::to_bits)).map(f64::from_bits)
}

fn composition() -> Op {
    let function = |invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
        assert_eq!((elements.handle, inoutvec.len() as u64), (MPI_2DOUBLE_PRECISION, elements.count * 16));
        assert_eq!(inoutvec.as_ptr() as usize % 8, 0, "a C function may rely on alignment");
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

#[test]
fn an_operation_that_does_not_commute_is_applied_in_rank_order() {
    run_all(|rank| {
        let op = composition();
        let bits = |values: Vec<[f64; 2]>| values.into_iter().map(|it| it.map(f64::to_bits)).collect::<Vec<_>>();
        for count in [1, 50, 1023, 3000] {
            let own = maps(rank.rank(), count);
            let expected = bits(naive(rank.size(), count, maps, compose_bits));
            let what = reduction(&op, MPI_2DOUBLE_PRECISION, count);
            assert_eq!(bits(allreduce(rank, &own, &what)), expected, "count {count}");
            for root in 0..rank.size() {
                for in_place in [false, true] {
                    let result = reduce(rank, &own, &what, root, in_place).map(bits);
                    assert!(result.is_none_or(|result| result == expected), "root {root}, count {count}");
                }
            }
        }
    });
}

#[test]
fn minloc_on_pairs_with_gaps_finds_the_first_rank_of_the_least_value() {
    run_all(|rank| {
        let pair = |value: f64, index: i32| {
            let mut bytes = [0xaa; 16];
            bytes[..8].copy_from_slice(&value.to_ne_bytes());
            bytes[8..12].copy_from_slice(&index.to_ne_bytes());
            bytes
        };
        let value = |rank: u32, i: usize| (mixed(&[rank as u64, i as u64]) % 3) as f64;
        let datatype = predefined(MPI_DOUBLE_INT).expect("predefined");
        for count in [1usize, 10, 4000] {
            let own: Vec<u8> = (0..count).flat_map(|i| pair(value(rank.rank(), i), rank.rank() as i32)).collect();
            let mut result = vec![0xaa; count * 16];
            let what = reduction(Op::predefined(MPI_MINLOC).expect("predefined"), MPI_DOUBLE_INT, count);
            let send = SendBuf::over(&own, count as u64, datatype);
            let recv = RecvBuf::over(&mut result, count as u64, datatype).expect("fits");
            rank.coll.allreduce(&rank.world, send, recv, &what).expect("allreduce");
            for (i, got) in result.chunks(16).enumerate() {
                let best = (0..rank.size()).map(|rank| value(rank, i)).fold(f64::INFINITY, f64::min);
                let first = (0..rank.size()).find(|rank| value(*rank, i) == best).expect("some rank has it");
                assert_eq!(got, pair(best, first as i32), "element {i} of {count}");
            }
        }
    });
}

/// Bytes of elements whose sums, products and so on are exact in every type: small numbers.
fn small_elements(datatype: &Datatype, rank: u32, count: usize) -> Option<Vec<u8>> {
    let small = |i: usize| (mixed(&[rank as u64, i as u64, 77]) % 3) as u8;
    let size = datatype.size() as usize;
    match datatype.category() {
        Category::CInteger
        | Category::FortranInteger
        | Category::Logical
        | Category::Byte
        | Category::MultiLanguage => {
            let number = |i| (small(i) as u128).to_le_bytes()[..size].to_vec();
            Some((0..count).flat_map(number).collect())
        }
        Category::Floating | Category::Complex => {
            let parts = if datatype.category() == Category::Complex { 2 } else { 1 };
            let number = |i: usize| match size / parts {
                4 => (small(i) as f32).to_ne_bytes().to_vec(),
                8 => (small(i) as f64).to_ne_bytes().to_vec(),
                _ => Vec::new(),
            };
            let bytes: Vec<u8> = (0..count * parts).flat_map(number).collect();
            (bytes.len() == count * size).then_some(bytes)
        }
        _ => None,
    }
}

/// Complex products have zeros whose sign depends on the order of the factors.
fn positive_zeros(datatype: &Datatype, elements: &mut [u8]) {
    if datatype.category() != Category::Complex {
        return;
    }
    if datatype.size() == 8 {
        let (parts, _) = elements.as_chunks_mut();
        parts.iter_mut().for_each(|part| *part = (f32::from_ne_bytes(*part) + 0.0).to_ne_bytes());
    } else {
        let (parts, _) = elements.as_chunks_mut();
        parts.iter_mut().for_each(|part| *part = (f64::from_ne_bytes(*part) + 0.0).to_ne_bytes());
    }
}

#[test]
fn every_operation_on_every_type_is_the_same_for_all_ranks_and_right() {
    let ops = [MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR];
    for (size, crowded) in [(3, false), (4, true), (6, false)] {
        run(size, crowded, move |rank| {
            let mut tried = 0;
            for (handle, datatype) in predefined::all() {
                for op in ops {
                    let op = Op::predefined(op).expect("predefined");
                    for count in [2usize, 17] {
                        let elements = |rank| small_elements(datatype, rank, count);
                        let (Ok(reducer), Some(own)) = (op.on(datatype, handle), elements(rank.rank())) else {
                            continue;
                        };
                        let mut expected = elements(rank.size() - 1).expect("as for this rank");
                        for other in (0..rank.size() - 1).rev() {
                            reducer.apply(&elements(other).expect("as for this rank"), &mut expected, count as u64);
                        }
                        let mut result = vec![0; own.len()];
                        let what = reduction(op, handle, count);
                        let send = SendBuf::over(&own, count as u64, datatype);
                        let recv = RecvBuf::over(&mut result, count as u64, datatype).expect("fits");
                        rank.coll.allreduce(&rank.world, send, recv, &what).expect("allreduce");
                        positive_zeros(datatype, &mut result);
                        positive_zeros(datatype, &mut expected);
                        assert_eq!(result, expected, "{op:?} on {} elements of {}", count, datatype.name());
                        tried += 1;
                    }
                }
            }
            assert!(tried > 500, "{tried}");
        });
    }
}

#[test]
fn an_undefined_operation_is_refused_before_anything_is_sent() {
    run(2, false, |rank| {
        let op = Op::predefined(MPI_BAND).expect("predefined");
        let mut data = [1.0f64];
        let what = reduction(op, MPI_DOUBLE, 1);
        let result = rank.coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut data), &what);
        assert_eq!(result.expect_err("no bits").class(), MPI_ERR_OP);
        let replace = Op::predefined(MPI_REPLACE).expect("predefined");
        let recv = RecvBuf::from_slice(&mut data);
        let result = rank.coll.reduce(&rank.world, None, Some(recv), &reduction(replace, MPI_DOUBLE, 1), rank.rank());
        assert_eq!(result.expect_err("not for reductions").class(), MPI_ERR_OP);
        rank.coll.barrier(&rank.world).expect("the communicator still works");
    });
}

#[test]
fn ranks_that_compute_the_same_sum_get_the_same_bits() {
    // The sign of the least zero depends on the order of the operands.
    run(6, false, |rank| {
        let own = [if rank.rank() % 2 == 0 { 0.0f64 } else { -0.0 }];
        let result = allreduce(rank, &own, &reduction(Op::predefined(MPI_MIN).expect("predefined"), MPI_DOUBLE, 1));
        let mut all = [0.0f64; 6];
        let send = Some(SendBuf::from_slice(&result));
        rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut all)).expect("allgather");
        assert!(all.iter().all(|value| value.to_bits() == all[0].to_bits()), "{all:?}");
    });
}

#[test]
fn a_reduction_of_different_counts_is_reported_and_no_rank_hangs() {
    for crowded in [false, true] {
        run(4, crowded, |rank| {
            let count = if rank.rank() == 2 { 3 } else { 4 };
            let mut data = vec![1u64; count];
            let what = reduction(Op::predefined(MPI_SUM).expect("predefined"), MPI_UINT64_T, count);
            let result = rank.coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut data), &what);
            if rank.rank() == 2 {
                result.expect_err("another count than the others'");
            }
            rank.coll.barrier(&rank.world).expect("the communicator still works");
        });
    }
}
