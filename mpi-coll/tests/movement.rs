//! Rules of the collectives that move data.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use common::{Rank, mixed, run, run_all};
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf, predefined};

/// Blocks below and above every limit at which algorithms change.
const COUNTS: [usize; 7] = [0, 1, 5, 300, 1024, 1025, 20_000];

#[test]
fn no_rank_leaves_a_barrier_before_all_have_entered() {
    for size in common::SIZES {
        for crowded in [false, true] {
            let entered = Arc::new(AtomicU32::new(0));
            run(size, crowded, move |rank| {
                for round in 1..=20 {
                    entered.fetch_add(1, SeqCst);
                    rank.coll.barrier(&rank.world).expect("barrier");
                    assert!(entered.load(SeqCst) >= round * rank.size());
                }
                assert_eq!(rank.coll.instruments().barrier_calls.get(), 20);
            });
        }
    }
}

#[test]
fn a_broadcast_reaches_everybody_from_every_root() {
    run_all(|rank| {
        for (call, root) in (0..rank.size()).enumerate() {
            for count in COUNTS {
                let sent: Vec<u32> = (0..count).map(|i| mixed(&[call as u64, root as u64, i as u64]) as u32).collect();
                let mut data = if rank.rank() == root { sent.clone() } else { vec![0; count] };
                rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), root).expect("bcast");
                assert_eq!(data, sent, "root {root}, count {count}");
            }
        }
    });
}

#[test]
fn a_broadcast_leaves_gaps_alone() {
    run(5, false, |rank| {
        let short_int = predefined(MPI_SHORT_INT).expect("predefined");
        for count in [1usize, 100, 10_000] {
            let mut memory = vec![rank.rank() as u8; count * 8];
            let buffer = RecvBuf::over(&mut memory, count as u64, short_int).expect("fits");
            rank.coll.bcast(&rank.world, buffer, 3).expect("bcast");
            for (at, byte) in memory.iter().enumerate() {
                let gap = (2..4).contains(&(at % 8));
                assert_eq!(*byte, if gap { rank.rank() as u8 } else { 3 }, "byte {at}");
            }
        }
    });
}

#[test]
fn shorter_receivers_report_truncation_and_longer_ones_a_mismatch() {
    for crowded in [false, true] {
        run(6, crowded, |rank| {
            for root in 0..rank.size() {
                let odd = (root + 1) % rank.size();
                for wrong in [3, 5] {
                    let mut data = vec![0u64; if rank.rank() == odd { wrong } else { 4 }];
                    let result = rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), root);
                    if rank.rank() == odd {
                        let class = if wrong < 4 { MPI_ERR_TRUNCATE } else { MPI_ERR_OTHER };
                        assert_eq!(result.expect_err("counts differ").class(), class);
                    }
                }
                rank.coll.barrier(&rank.world).expect("the communicator still works");
            }
        });
    }
}

fn block(rank: u32, count: usize) -> Vec<u16> {
    (0..count).map(|i| mixed(&[rank as u64, i as u64]) as u16).collect()
}

fn blocks(rank: &Rank, count: usize) -> Vec<u16> {
    (0..rank.size()).flat_map(|from| block(from, count)).collect()
}

#[test]
fn a_gather_puts_blocks_in_rank_order() {
    run_all(|rank| {
        for root in 0..rank.size() {
            for count in COUNTS {
                let own = block(rank.rank(), count);
                let mut all = vec![0u16; if rank.rank() == root { count * rank.size() as usize } else { 0 }];
                let at_root = rank.rank() == root;
                let send = SendBuf::from_slice(&own);
                let recv = at_root.then(|| RecvBuf::from_slice(&mut all));
                rank.coll.gather(&rank.world, Some(send), recv, root).expect("gather");
                assert!(!at_root || all == blocks(rank, count), "root {root}, count {count}");
                // In place: the root's own block is already in its place.
                if at_root {
                    all.fill(0);
                    all[root as usize * count..][..count].copy_from_slice(&own);
                }
                let send = (!at_root).then(|| SendBuf::from_slice(&own));
                let recv = at_root.then(|| RecvBuf::from_slice(&mut all));
                rank.coll.gather(&rank.world, send, recv, root).expect("gather in place");
                assert!(!at_root || all == blocks(rank, count), "in place: root {root}, count {count}");
            }
        }
    });
}

#[test]
fn a_scatter_hands_out_blocks_in_rank_order() {
    run_all(|rank| {
        for root in 0..rank.size() {
            for count in COUNTS {
                let all = blocks(rank, count);
                let at_root = rank.rank() == root;
                let send = || at_root.then(|| SendBuf::from_slice(&all));
                let mut own = vec![0u16; count];
                let recv = Some(RecvBuf::from_slice(&mut own));
                rank.coll.scatter(&rank.world, send(), recv, root).expect("scatter");
                assert_eq!(own, block(rank.rank(), count), "root {root}");
                own.fill(7);
                let recv = (!at_root).then(|| RecvBuf::from_slice(&mut own));
                rank.coll.scatter(&rank.world, send(), recv, root).expect("scatter in place");
                assert_eq!(own, if at_root { vec![7; count] } else { block(rank.rank(), count) });
            }
        }
    });
}

#[test]
fn an_allgather_gives_all_blocks_to_everybody() {
    run_all(|rank| {
        for count in COUNTS {
            let own = block(rank.rank(), count);
            let mut all = vec![0u16; count * rank.size() as usize];
            let send = Some(SendBuf::from_slice(&own));
            rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut all)).expect("allgather");
            assert_eq!(all, blocks(rank, count), "count {count}");
            all.fill(0);
            all[rank.rank() as usize * count..][..count].copy_from_slice(&own);
            rank.coll.allgather(&rank.world, None, RecvBuf::from_slice(&mut all)).expect("allgather in place");
            assert_eq!(all, blocks(rank, count), "in place: count {count}");
        }
    });
}

#[test]
fn an_alltoall_transposes_blocks() {
    run_all(|rank| {
        let cell = |from: u32, to: u32, count: usize| {
            (0..count).map(move |i| mixed(&[from as u64, to as u64, i as u64]) as u32)
        };
        for count in [0, 1, 7, 1024, 1025, 3000] {
            let me = rank.rank();
            let out: Vec<u32> = (0..rank.size()).flat_map(|to| cell(me, to, count)).collect();
            let expected: Vec<u32> = (0..rank.size()).flat_map(|from| cell(from, me, count)).collect();
            let mut into = vec![0u32; out.len()];
            let send = Some(SendBuf::from_slice(&out));
            rank.coll.alltoall(&rank.world, send, RecvBuf::from_slice(&mut into)).expect("alltoall");
            assert_eq!(into, expected, "count {count}");
            let mut both = out.clone();
            rank.coll.alltoall(&rank.world, None, RecvBuf::from_slice(&mut both)).expect("alltoall in place");
            assert_eq!(both, expected, "in place: count {count}");
        }
    });
}

#[test]
fn many_ranks_work_too() {
    run(64, true, |rank| {
        let mut all = vec![0u32; 64];
        for round in 0..3 {
            let own = [rank.rank() + round];
            let send = Some(SendBuf::from_slice(&own));
            rank.coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut all)).expect("allgather");
            assert!(all.iter().enumerate().all(|(at, value)| *value == at as u32 + round));
            let out = all.clone();
            let send = Some(SendBuf::from_slice(&out));
            rank.coll.alltoall(&rank.world, send, RecvBuf::from_slice(&mut all)).expect("alltoall");
            assert!(all.iter().all(|value| *value == rank.rank() + round));
        }
    });
}

#[test]
fn instruments_count_calls_and_bytes_as_in_the_arguments() {
    run(3, false, |rank| {
        let mut data = [0u32; 10];
        rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), 1).expect("bcast");
        rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data[..0]), 1).expect("bcast");
        let own = [1u64; 2];
        let mut all = [0u64; 6];
        rank.coll.allgather(&rank.world, Some(SendBuf::from_slice(&own)), RecvBuf::from_slice(&mut all)).expect("all");
        let it = rank.coll.instruments();
        assert_eq!((it.bcast_calls.get(), it.bcast_bytes.get()), (2, 40));
        assert_eq!((it.allgather_calls.get(), it.allgather_bytes.get()), (1, 16));
        assert_eq!(it.barrier_calls.get(), 0);
    });
}
