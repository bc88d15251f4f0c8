//! Blocking calls at the lengths up to which one publication of each process is enough, and their mistakes.

mod common;

use common::{Rank, Way, mixed, run_in};
use mpi_coll::op::Op;
use mpi_coll::{Buffers, CollCall, CollOp, Reduction, Root};
use mpi_core::abi::*;
use mpi_datatype::{Element, RecvBuf, SendBuf};

/// Most bytes of one publication.
const CHUNK: usize = 64 << 10;

/// Lengths of blocks in words of 4 bytes: of a line's room, of sums that all processes compute, of one publication of a
/// block, and of one with a block for every other process.
fn lengths(size: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 3, 11, 12, 13, 511, 512, 513];
    for limit in [CHUNK / 4, CHUNK / 4 / (size - 1).max(1)] {
        lengths.extend([limit - 1, limit, limit + 1]);
    }
    lengths.dedup();
    lengths
}

fn block(parts: [usize; 3], length: usize) -> Vec<u32> {
    (0..length).map(|at| mixed(&[parts[0] as u64, parts[1] as u64, parts[2] as u64, at as u64]) as u32).collect()
}

/// Runs a test with 1 to 9 processes, in which all go short ways, and in which they go by steps: those of `coll_check`, and
/// those of parts of 1 KiB.
fn both_ways(body: impl Fn(&Rank, usize) + Send + Sync + Clone + 'static) {
    for size in 1..=9 {
        for (check, chunk) in [(false, CHUNK), (true, CHUNK), (false, 1024)] {
            let body = body.clone();
            run_in(size, Way::Shared, move |rank| {
                rank.coll.settings().check.set(check);
                rank.coll.settings().shared_chunk.set(chunk as u64);
                let all = lengths(rank.size() as usize);
                // Comparisons take time, and so do many parts.
                let some = if check {
                    &all[all.len() - 4..]
                } else if chunk < CHUNK {
                    &all[..9]
                } else {
                    &all
                };
                some.iter().for_each(|length| body(rank, *length));
            });
        }
    }
}

#[test]
fn blocks_reach_their_places() {
    both_ways(|rank, length| {
        let (me, size) = (rank.rank() as usize, rank.size() as usize);
        let all: Vec<u32> = (0..size).flat_map(|from| block([from, 0, 7], length)).collect();
        let mine = block([me, 0, 7], length);
        // Long ones take time, so not all roots have them.
        for root in if length > 600 { vec![size - 1] } else { (0..size).collect() } {
            for in_place in [false, true] {
                let at_root = me == root;
                let mut into = if at_root { vec![0u32; size * length] } else { Vec::new() };
                if at_root && in_place {
                    into[me * length..][..length].copy_from_slice(&mine);
                }
                let send = (!at_root || !in_place).then(|| SendBuf::from_slice(&mine));
                let recv = at_root.then(|| RecvBuf::from_slice(&mut into));
                rank.coll.gather(&rank.world, send, recv, root as u32).expect("gather");
                assert!(!at_root || into == all, "gather to {root} of {length}");

                let mut own = vec![0u32; length];
                let send = at_root.then(|| SendBuf::from_slice(&all));
                let recv = (!at_root || !in_place).then(|| RecvBuf::from_slice(&mut own));
                rank.coll.scatter(&rank.world, send, recv, root as u32).expect("scatter");
                assert!(own == mine || at_root && in_place, "scatter from {root} of {length}");
            }
        }
        for in_place in [false, true] {
            let mut into = vec![0u32; size * length];
            if in_place {
                into[me * length..][..length].copy_from_slice(&mine);
            }
            let send = (!in_place).then(|| SendBuf::from_slice(&mine));
            rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut into)).expect("allgather");
            assert!(into == all, "allgather of {length}");

            let out: Vec<u32> = (0..size).flat_map(|to| block([me, to, 8], length)).collect();
            let expected: Vec<u32> = (0..size).flat_map(|from| block([from, me, 8], length)).collect();
            let mut into = if in_place { out.clone() } else { vec![0; size * length] };
            let send = (!in_place).then(|| SendBuf::from_slice(&out));
            rank.coll.alltoall(&rank.world, send, RecvBuf::from_slice(&mut into)).expect("alltoall");
            assert!(into == expected, "alltoall of {length}");
        }
    });
}

#[test]
fn contributions_are_combined_at_every_root() {
    both_ways(|rank, length| {
        let (me, size) = (rank.rank() as usize, rank.size() as usize);
        let sum = Op::predefined(MPI_SUM).expect("a predefined operation");
        let what = Reduction { op: sum, datatype: u32::datatype(), handle: u32::HANDLE, count: length as u64 };
        let mine = block([me, 0, 9], length);
        let expected: Vec<u32> =
            (0..length).map(|at| (0..size).fold(0, |sum, from| block_word(from, at).wrapping_add(sum))).collect();
        for root in if length > 600 { vec![0] } else { (0..size).collect() } {
            for in_place in [false, true] {
                let at_root = me == root;
                let mut into = if at_root && in_place { mine.clone() } else { vec![0u32; length] };
                let send = (!at_root || !in_place).then(|| SendBuf::from_slice(&mine));
                let recv = at_root.then(|| RecvBuf::from_slice(&mut into));
                rank.coll.reduce(&rank.world, send, recv, &what, root as u32).expect("reduce");
                assert!(!at_root || into == expected, "reduce to {root} of {length}");
            }
        }
        for in_place in [false, true] {
            let mut into = if in_place { mine.clone() } else { vec![0u32; length] };
            let send = (!in_place).then(|| SendBuf::from_slice(&mine));
            rank.coll.allreduce(&rank.world, send, RecvBuf::from_slice(&mut into), &what).expect("allreduce");
            assert!(into == expected, "allreduce of {length}");
        }
    });
}

fn block_word(from: usize, at: usize) -> u32 {
    mixed(&[from as u64, 0, 9, at as u64]) as u32
}

#[test]
fn a_float_sum_has_the_same_bits_by_the_short_way_and_by_steps() {
    for size in 2..=9 {
        run_in(size, Way::Shared, |rank| {
            let op = Op::predefined(MPI_SUM).expect("a predefined operation");
            for root in 0..rank.size() {
                let mine = [1.0 / f64::from(3 + rank.rank()), 1e16 * f64::from(rank.rank()), -1e16];
                let results = [false, true].map(|check| {
                    rank.coll.settings().check.set(check);
                    let mut into = [0f64; 3];
                    let what = Reduction { op, datatype: f64::datatype(), handle: f64::HANDLE, count: 3 };
                    let recv = (rank.rank() == root).then(|| RecvBuf::from_slice(&mut into));
                    let send = Some(SendBuf::from_slice(&mine));
                    rank.coll.reduce(&rank.world, send, recv, &what, root).expect("reduce");
                    into.map(f64::to_bits)
                });
                assert_eq!(results[0], results[1], "root {root}");
            }
        });
    }
}

#[test]
fn each_process_may_combine_long_contributions_by_the_short_way_or_by_steps() {
    for size in 2..=5 {
        run_in(size, Way::Shared, |rank| {
            let op = Op::predefined(MPI_SUM).expect("a predefined operation");
            for (chunk, length) in
                [(4 << 10, 513usize), (4 << 10, 5000), (8 << 10, 20_001), (CHUNK, 8192), (CHUNK, 8193)]
            {
                rank.coll.settings().shared_chunk.set(chunk as u64);
                let what = Reduction { op, datatype: f64::datatype(), handle: f64::HANDLE, count: length as u64 };
                let mine: Vec<f64> = (0..length).map(|at| 1e16 / f64::from(3 + rank.rank() + at as u32)).collect();
                // Nobody by steps, all, and those of even ranks.
                let results = [0, 1, 2].map(|way| {
                    let by_steps = way == 1 || way == 2 && rank.rank().is_multiple_of(2);
                    [false, true].map(|in_place| {
                        let mut into = if in_place { mine.clone() } else { vec![0f64; length] };
                        let (send, recv) =
                            ((!in_place).then(|| SendBuf::from_slice(&mine)), RecvBuf::from_slice(&mut into));
                        let result = match by_steps {
                            true => {
                                let send = send.map_or(Buffers::InPlace, Buffers::one);
                                let call = CollCall::new(CollOp::Allreduce, send, Buffers::one(recv)).reducing(&what);
                                rank.coll.block(&rank.world, call)
                            }
                            false => rank.coll.allreduce(&rank.world, send, recv, &what),
                        };
                        result.expect("allreduce");
                        into.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
                    })
                });
                let [[first, second], others @ ..] = results;
                assert_eq!(first, second, "in place");
                assert!(others.iter().flatten().all(|result| *result == first), "{length} in chunks of {chunk}");
            }
        });
    }
}

#[test]
fn counts_that_do_not_match_are_errors_where_they_are_read() {
    for size in [2, 3, 5] {
        run_in(size, Way::Shared, |rank| {
            let (me, size) = (rank.rank() as usize, rank.size() as usize);
            for (wrong, class) in [(3usize, MPI_ERR_OTHER), (5, MPI_ERR_TRUNCATE)] {
                let odd = 1;
                let length = if me == odd { wrong } else { 4 };
                let own = vec![1u32; length];

                let mut into = vec![0u32; 4 * size];
                let recv = (me == 0).then(|| RecvBuf::from_slice(&mut into));
                let result = rank.coll.gather(&rank.world, Some(SendBuf::from_slice(&own)), recv, 0);
                assert_eq!(result.err().map(|error| error.class()), (me == 0).then_some(class));

                let mut into = vec![0u32; length * size];
                let send = Some(SendBuf::from_slice(&own));
                let result = rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut into));
                let found = if me == odd { class_of_opposite(class) } else { class };
                assert_eq!(result.expect_err("counts differ").class(), found);

                let out = vec![1u32; length * size];
                let mut into = vec![0u32; length * size];
                let send = Some(SendBuf::from_slice(&out));
                let result = rank.coll.alltoall(&rank.world, send, RecvBuf::from_slice(&mut into));
                assert_eq!(result.expect_err("counts differ").class(), found);

                let all = vec![1u32; 4 * size];
                let mut into = vec![0u32; length];
                let send = (me == 0).then(|| SendBuf::from_slice(&all));
                let result = rank.coll.scatter(&rank.world, send, Some(RecvBuf::from_slice(&mut into)), 0);
                let expected = (me == odd).then_some(class_of_opposite(class));
                assert_eq!(result.err().map(|error| error.class()), expected);
                rank.coll.barrier(&rank.world).expect("the communicator still works");
            }
        });
    }
}

fn class_of_opposite(class: i32) -> i32 {
    if class == MPI_ERR_OTHER { MPI_ERR_TRUNCATE } else { MPI_ERR_OTHER }
}

#[test]
fn another_operation_is_an_error_that_names_both() {
    run_in(2, Way::Shared, |rank| {
        let own = [1u32];
        let mut into = [0u32; 2];
        let result = match rank.rank() {
            0 => rank.coll.allgather(&rank.world, Some(SendBuf::from_slice(&own)), RecvBuf::from_slice(&mut into)),
            _ => rank.coll.alltoall(&rank.world, Some(SendBuf::from_slice(&[1, 2])), RecvBuf::from_slice(&mut into)),
        };
        let error = result.expect_err("calls differ");
        assert_eq!(error.class(), MPI_ERR_OTHER);
        let text = error.to_string();
        assert!(text.contains("MPI_Allgather") && text.contains("MPI_Alltoall"), "{text}");
        rank.coll.barrier(&rank.world).expect("the communicator still works");
    });
}

#[test]
fn own_data_that_do_not_fit_are_an_error_after_the_call() {
    run_in(2, Way::Shared, |rank| {
        let own = [1u32; 2];
        let mut into = [0u32; 2];
        let buffers = (Buffers::one(SendBuf::from_slice(&own)), RecvBuf::from_slice(&mut into));
        let recv = Buffers::Whole { buffer: buffers.1, blocks: 2 };
        let call = CollCall::new(CollOp::Allgather, buffers.0, recv).rooted(Root::Rank(0));
        assert_eq!(rank.coll.block(&rank.world, call).expect_err("too long").class(), MPI_ERR_TRUNCATE);
        rank.coll.barrier(&rank.world).expect("the communicator still works");
    });
}

#[test]
fn short_calls_are_counted_once() {
    run_in(2, Way::Shared, |rank| {
        let own = [1u32];
        let mut into = [0u32; 2];
        for _ in 0..5 {
            let send = Some(SendBuf::from_slice(&own));
            rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut into)).expect("allgather");
        }
        let instruments = rank.coll.instruments();
        assert_eq!((instruments.allgather_calls.get(), instruments.allgather_bytes.get()), (5, 20));
    });
}
