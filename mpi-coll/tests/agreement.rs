//! Calls that do not match, compared before they begin.

mod common;

use common::run;
use mpi_coll::{Op, Reduction};
use mpi_core::abi::{MPI_ERR_OTHER, MPI_INT, MPI_MAX, MPI_SUM, MPI_UNSIGNED};
use mpi_datatype::{RecvBuf, SendBuf, predefined};
use mpi_errors::Result;

fn reduction(op: usize, handle: usize) -> Reduction<'static> {
    let (op, datatype) = (Op::predefined(op).expect("an operation"), predefined(handle).expect("a type"));
    Reduction { op, datatype, handle, count: 1 }
}

/// Every rank must get an error that has these words, and the communicator must still work.
fn all_fail(rank: &common::Rank, result: Result<()>, words: &[&str]) {
    let error = result.expect_err("the calls do not match");
    assert_eq!(error.class(), MPI_ERR_OTHER);
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
    rank.coll.barrier(&rank.world).expect("the communicator still works");
}

#[test]
fn calls_that_do_not_match_fail_everywhere_and_name_the_rank() {
    for size in [2, 3, 5] {
        run(size, false, |rank| {
            rank.coll.settings().check.set(true);
            let (me, last) = (rank.rank(), rank.size() - 1);
            let odd = me == last;
            let mut data = [7u32];
            let root = if odd { 1 } else { 0 };
            let result = rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), root);
            all_fail(rank, result, &["MPI_Bcast of 4 bytes with root 0", &format!("rank {last} calls"), "with root 1"]);
            assert_eq!(data, [7], "nothing was moved");

            let mut long = [0u32; 2];
            let buffer = RecvBuf::from_slice(&mut long[..if odd { 2 } else { 1 }]);
            let result = rank.coll.bcast(&rank.world, buffer, 0);
            all_fail(rank, result, &["of 4 bytes", "of 8 bytes"]);

            let result = match odd {
                true => rank.coll.barrier(&rank.world),
                false => rank.coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), 0),
            };
            all_fail(rank, result, &["MPI_Barrier", "MPI_Bcast"]);

            for (one, other) in
                [((MPI_SUM, MPI_INT), (MPI_MAX, MPI_INT)), ((MPI_SUM, MPI_INT), (MPI_SUM, MPI_UNSIGNED))]
            {
                let (op, handle) = if odd { other } else { one };
                let what = reduction(op, handle);
                let result = rank.coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut data), &what);
                all_fail(rank, result, &["MPI_Allreduce", "MPI_SUM", "MPI_INT"]);
            }
        });
    }
}

#[test]
fn calls_that_match_are_carried_out() {
    for size in [1, 2, 4, 7] {
        run(size, false, |rank| {
            let coll = &rank.coll;
            coll.settings().check.set(true);
            let (me, size) = (rank.rank(), rank.size());
            coll.barrier(&rank.world).expect("barrier");
            let mut data = [if me == 0 { 5u32 } else { 0 }];
            coll.bcast(&rank.world, RecvBuf::from_slice(&mut data), 0).expect("bcast");
            assert_eq!(data, [5]);
            let what = reduction(MPI_SUM, MPI_UNSIGNED);
            coll.allreduce(&rank.world, None, RecvBuf::from_slice(&mut data), &what).expect("allreduce");
            assert_eq!(data, [5 * size]);
            let own = [me];
            let mut all = vec![0u32; if me == 0 { size as usize } else { 0 }];
            let recv = (me == 0).then(|| RecvBuf::from_slice(&mut all));
            coll.gather(&rank.world, Some(SendBuf::from_slice(&own)), recv, 0).expect("gather");
            let mut back = [u32::MAX];
            let send = (me == 0).then(|| SendBuf::from_slice(&all));
            coll.scatter(&rank.world, send, Some(RecvBuf::from_slice(&mut back)), 0).expect("scatter");
            assert_eq!(back, [me]);
            let mut all = vec![0u32; size as usize];
            let send = Some(SendBuf::from_slice(&own));
            coll.allgather(&rank.world, send, RecvBuf::from_slice(&mut all)).expect("allgather");
            assert!(all.iter().zip(0..).all(|(got, rank)| *got == rank));
            coll.alltoall(&rank.world, None, RecvBuf::from_slice(&mut all)).expect("alltoall");
            assert_eq!(all, vec![me; size as usize]);
        });
    }
}
