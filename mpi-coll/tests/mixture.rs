//! Rules of collectives in any order, beside messages of the program, and in several threads at once.

mod common;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{Rank, mixed, run};
use mpi_coll::{Collectives, Op, Reduction};
use mpi_comm::{Comm, CommSpec, Group, register};
use mpi_core::abi::*;
use mpi_core::{Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf, predefined};
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine, Mode};
use mpi_t::HeapMemory;

fn sum(count: usize) -> Reduction<'static> {
    Reduction {
        op: Op::predefined(MPI_SUM).expect("predefined"),
        datatype: predefined(MPI_UINT64_T).expect("predefined"),
        handle: MPI_UINT64_T,
        count: count as u64,
    }
}

/// One collective, chosen by `choice`; every process checks what it got.
fn one_collective(coll: &Collectives, comm: &Comm, choice: u64) {
    let (rank, size) = (comm.rank as u64, comm.size() as u64);
    let count = [1usize, 3, 700, 1500, 6000][(choice >> 8) as usize % 5];
    let root = (choice >> 16) % size;
    let value = |rank: u64| mixed(&[choice, rank]);
    let total = (0..size).fold(0u64, |total, rank| total.wrapping_add(value(rank)));
    let own = vec![value(rank); count];
    let mut all = vec![0u64; count * size as usize];
    match choice % 6 {
        0 => coll.barrier(comm).expect("barrier"),
        1 => {
            let mut data = if rank == root { own } else { vec![0; count] };
            coll.bcast(comm, RecvBuf::from_slice(&mut data), root as u32).expect("bcast");
            assert!(data.iter().all(|it| *it == value(root)));
        }
        2 => {
            let mut data = own;
            coll.allreduce(comm, None, RecvBuf::from_slice(&mut data), &sum(count)).expect("allreduce");
            assert!(data.iter().all(|it| *it == total));
        }
        3 => {
            let mut data = vec![0; count];
            let recv = Some(RecvBuf::from_slice(&mut data));
            coll.reduce(comm, Some(SendBuf::from_slice(&own)), recv, &sum(count), root as u32).expect("reduce");
            assert!(rank != root || data.iter().all(|it| *it == total));
        }
        4 => {
            let send = Some(SendBuf::from_slice(&own));
            coll.allgather(comm, send, RecvBuf::from_slice(&mut all)).expect("allgather");
            assert!(all.chunks(count).zip(0..).all(|(block, rank)| block.iter().all(|it| *it == value(rank))));
        }
        _ => {
            let out: Vec<u64> = (0..size).flat_map(|to| vec![value(rank) ^ to; count]).collect();
            let send = Some(SendBuf::from_slice(&out));
            coll.alltoall(comm, send, RecvBuf::from_slice(&mut all)).expect("alltoall");
            let right = |(block, from): (&[u64], u64)| block.iter().all(|it| *it == value(from) ^ rank);
            assert!(all.chunks(count).zip(0..).all(right));
        }
    }
}

#[test]
fn any_order_of_collectives_works() {
    for (size, crowded) in [(2, false), (3, true), (4, false), (5, false), (7, true)] {
        run(size, crowded, |rank: &Rank| {
            for step in 0..150 {
                one_collective(&rank.coll, &rank.world, mixed(&[step, 1]));
            }
        });
    }
}

#[test]
fn no_eager_limit_makes_a_collective_hang() {
    for (size, crowded) in [(2, false), (4, true), (5, false)] {
        for mixed_limits in [false, true] {
            run(size, crowded, move |rank: &Rank| {
                let limit = if mixed_limits && rank.rank() % 2 == 1 { 8192 } else { 0 };
                rank.engine.settings().eager_limit.set(limit);
                for step in 0..60 {
                    one_collective(&rank.coll, &rank.world, mixed(&[step, 3]));
                }
            });
        }
    }
}

#[test]
fn messages_of_the_program_do_not_disturb_collectives() {
    run(4, false, |rank: &Rank| {
        let engine = &rank.engine;
        let (next, context) = ((rank.rank() as i32 + 1) % 4, rank.world.context());
        for step in 0..60u64 {
            // Tags as collectives have them, left unreceived until after the collective.
            let data = vec![step; if step % 7 == 0 { 3000 } else { 2 }];
            let tag = (step % 9) as i32;
            let send = SendBuf::from_slice(&data);
            if data.len() == 2 {
                engine.send(engine.lock(), context, next, tag, send, Mode::Standard).expect("sent");
                one_collective(&rank.coll, &rank.world, mixed(&[step, 2]));
                let mut got = [0u64; 2];
                let into = RecvBuf::from_slice(&mut got);
                engine.recv(engine.lock(), context, MPI_ANY_SOURCE, MPI_ANY_TAG, into).expect("received");
                assert_eq!(got, [step; 2]);
            } else {
                one_collective(&rank.coll, &rank.world, mixed(&[step, 2]));
            }
        }
    });
}

#[test]
fn threads_are_in_collectives_of_their_own_communicators_at_once() {
    const SIZE: u32 = 3;
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(SIZE).expect("memory for a few ranks") {
        let report = report.clone();
        std::thread::spawn(move || {
            let engine = Arc::new(Engine::new(endpoint, Arc::new(ProcessLock::new(true)), &HeapMemory));
            let coll = Collectives::new(engine.clone(), false, &HeapMemory);
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let spec = CommSpec {
                        remote: None,
                        context: 4 + 2 * thread,
                        group: Group::world(SIZE),
                        rank: engine.rank(),
                        name: String::new(),
                        errhandler: Handle(MPI_ERRORS_RETURN),
                        topology: None,
                    };
                    let comm = register(&engine, &mut engine.lock(), spec, CommMeters::detached(SIZE));
                    let coll = coll.clone();
                    std::thread::spawn(move || {
                        (0..60).for_each(|step| one_collective(&coll, &comm, mixed(&[step, thread as u64])));
                        coll.synchronize(&comm).expect("no fault");
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
            engine.drain(engine.lock()).expect("no fault");
            report.send((engine, coll)).expect("the test waits");
        });
    }
    drop(report);
    let limit = Duration::from_secs(240);
    let all: Vec<_> = (0..SIZE).map(|_| reports.recv_timeout(limit).expect("a rank panicked, or hangs")).collect();
    assert_eq!(all.len(), SIZE as usize);
}
