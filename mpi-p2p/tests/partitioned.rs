//! Partitioned messages: any shapes on the two sides, any order of partitions, several threads, and what is refused.
#![allow(unsafe_code)] // requests hold buffers that the tests keep until they are over

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{CONTEXT, Rank, run, run_multiple};
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_REQUEST, MPI_ERR_TRUNCATE, MPI_PROC_NULL};
use mpi_core::{Handle, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

fn psend(rank: &Rank, to: (i32, i32), data: &[u8], partitions: u32) -> Handle {
    // SAFETY: every test frees the request before the data goes away.
    let buffer = unsafe { SendBuf::from_slice(data).detach() };
    rank.engine.psend_init(&mut rank.engine.lock(), CONTEXT, to, buffer, partitions).expect("made")
}

fn precv(rank: &Rank, from: (i32, i32), data: &mut [u8], partitions: u32) -> Handle {
    // SAFETY: as in `psend`.
    let buffer = unsafe { RecvBuf::from_slice(data).detach() };
    rank.engine.precv_init(&mut rank.engine.lock(), CONTEXT, from, buffer, partitions).expect("made")
}

fn start(rank: &Rank, request: Handle) {
    rank.engine.start(&mut rank.engine.lock(), request).expect("inactive");
}

fn ready(rank: &Rank, request: Handle, low: i32, high: i32) -> Result<()> {
    rank.engine.pready(&mut rank.engine.lock(), request, std::iter::once((low, high)))
}

fn wait(rank: &Rank, request: Handle) -> (Status, Option<i32>) {
    let completion = rank.engine.wait(rank.engine.lock(), request).expect("live");
    assert!(completion.keeps_request());
    (completion.status, completion.error.map(|error| error.class()))
}

fn free(rank: &Rank, request: Handle) {
    rank.engine.request_free(&mut rank.engine.lock(), request).expect("inactive");
}

fn byte(at: usize, round: usize) -> u8 {
    (at * 7 + at / 251 + round * 31) as u8
}

#[test]
fn every_shape_on_either_side_moves_every_byte_once() {
    // Partitions of the sender and of the receiver, and bytes of the whole message.
    let shapes = [
        (1, 1, 8),
        (4, 4, 64),
        (6, 4, 1200),
        (3, 7, 21 * 5000),
        (1, 5, 500_000),
        (64, 1, 640_000),
        (4, 2, 0),
        (0, 0, 0),
    ];
    run(2, move |rank| {
        for (tag, (sends, receives, bytes)) in shapes.into_iter().enumerate() {
            let tag = tag as i32;
            let mut data = vec![0u8; bytes];
            if rank.me() == 0 {
                let request = psend(rank, (1, tag), &data, sends);
                for round in 0..4 {
                    data.iter_mut().enumerate().for_each(|(at, into)| *into = byte(at, round));
                    start(rank, request);
                    for turn in 0..sends as i32 {
                        // In the first rounds forwards and backwards, then from the middle outwards.
                        let partition = match round {
                            0 => turn,
                            1 => sends as i32 - 1 - turn,
                            _ => (turn + sends as i32 / 2) % sends as i32,
                        };
                        ready(rank, request, partition, partition).expect("not ready");
                    }
                    assert_eq!(wait(rank, request).1, None);
                }
                free(rank, request);
            } else {
                let request = precv(rank, (0, tag), &mut data, receives);
                for round in 0..4 {
                    start(rank, request);
                    if round % 2 == 0 {
                        for partition in 0..receives as i32 {
                            while !rank.engine.parrived(request, partition, || ()).expect("a receive") {
                                std::thread::yield_now();
                            }
                        }
                    }
                    let (status, error) = wait(rank, request);
                    assert_eq!((status.source, status.tag, status.bytes(), error), (0, tag, bytes as u64, None));
                    assert!(data.iter().enumerate().all(|(at, is)| *is == byte(at, round)), "{tag} {round}");
                    data.fill(0);
                    for partition in 0..receives as i32 {
                        assert!(rank.engine.parrived(request, partition, || ()).expect("inactive"));
                    }
                }
                free(rank, request);
            }
        }
        assert_eq!(rank.engine.instruments().requests.get(), 0);
    });
}

#[test]
fn a_partition_arrives_before_the_others_are_ready() {
    run(2, |rank| {
        let mut data = vec![5u8; 40];
        if rank.me() == 0 {
            let request = psend(rank, (1, 0), &data, 4);
            start(rank, request);
            ready(rank, request, 2, 2).expect("not ready");
            // The receiver has seen it.
            rank.exchange_with_peer();
            ready(rank, request, 0, 1).expect("not ready");
            ready(rank, request, 3, 3).expect("not ready");
            wait(rank, request);
            free(rank, request);
        } else {
            data.fill(0);
            let request = precv(rank, (0, 0), &mut data, 2);
            start(rank, request);
            let before = rank.engine.parrived(request, 1, || ()).expect("a receive");
            assert!(!before, "half of it is not ready");
            rank.exchange_with_peer();
            for partition in [0, 1] {
                while !rank.engine.parrived(request, partition, || ()).expect("a receive") {
                    std::thread::yield_now();
                }
            }
            wait(rank, request);
            assert_eq!(data, vec![5u8; 40]);
            free(rank, request);
        }
    });
}

#[test]
fn pairs_are_matched_in_the_order_of_initialisation_not_of_the_first_start() {
    run(2, |rank| {
        let mut data = [[1u8; 8], [2; 8], [3; 8]];
        if rank.me() == 0 {
            let requests = data.each_ref().map(|data| psend(rank, (1, 9), data, 2));
            for which in [2, 0, 1] {
                start(rank, requests[which]);
                ready(rank, requests[which], 0, 1).expect("not ready");
            }
            requests.iter().for_each(|request| assert_eq!(wait(rank, *request).1, None));
            requests.iter().for_each(|request| free(rank, *request));
        } else {
            data = [[0; 8]; 3];
            let requests = data.each_mut().map(|data| precv(rank, (0, 9), data, 1));
            for which in [1, 2, 0] {
                start(rank, requests[which]);
            }
            requests.iter().for_each(|request| assert_eq!(wait(rank, *request).1, None));
            requests.iter().for_each(|request| free(rank, *request));
            assert_eq!(data, [[1; 8], [2; 8], [3; 8]]);
        }
    });
}

#[test]
fn messages_of_another_size_end_whole_or_truncated() {
    run(2, |rank| {
        for (tag, (sent, room)) in
            [(100usize, 40usize), (40, 100), (0, 16), (16, 0), (200_000, 90_000)].into_iter().enumerate()
        {
            let tag = tag as i32;
            for _ in 0..2 {
                let mut data = vec![7u8; if rank.me() == 0 { sent } else { room }];
                if rank.me() == 0 {
                    let request = psend(rank, (1, tag), &data, 4);
                    for _ in 0..2 {
                        start(rank, request);
                        ready(rank, request, 0, 3).expect("not ready");
                        assert_eq!(wait(rank, request).1, None);
                    }
                    free(rank, request);
                } else {
                    data.fill(0);
                    let request = precv(rank, (0, tag), &mut data, 2);
                    for _ in 0..2 {
                        start(rank, request);
                        let (status, error) = wait(rank, request);
                        assert_eq!(status.bytes(), sent.min(room) as u64);
                        assert_eq!(error, (sent > room).then_some(MPI_ERR_TRUNCATE));
                        assert!(data[..sent.min(room)].iter().all(|is| *is == 7));
                        assert!(data[sent.min(room)..].iter().all(|is| *is == 0));
                        assert!(rank.engine.parrived(request, 1, || ()).expect("inactive"));
                    }
                    free(rank, request);
                }
            }
        }
    });
}

#[test]
fn a_grant_that_is_found_by_the_call_that_makes_the_last_partition_ready_is_used_once() {
    run(1, |rank| {
        for (tag, bytes) in [(1, 0), (2, 8), (3, 300_000)] {
            let (data, mut inbox) = (vec![4u8; bytes], vec![0u8; bytes]);
            let (send, receive) = (psend(rank, (0, tag), &data, 1), precv(rank, (0, tag), &mut inbox, 1));
            for _ in 0..3 {
                start(rank, send);
                // The grant is in the ring, and the next call polls.
                start(rank, receive);
                ready(rank, send, 0, 0).expect("not ready");
                assert_eq!(wait(rank, send).1, None);
                assert_eq!(wait(rank, receive).0.bytes(), bytes as u64);
            }
            assert_eq!(inbox, data);
            free(rank, send);
            free(rank, receive);
        }
    });
}

#[test]
fn refused_calls_change_nothing() {
    run(1, |rank| {
        let engine = &rank.engine;
        let (data, mut inbox) = ([1u8; 8], [0u8; 8]);
        let (send, receive) = (psend(rank, (0, 0), &data, 4), precv(rank, (0, 0), &mut inbox, 2));
        let class = |result: Result<()>| result.expect_err("refused").class();
        assert_eq!(class(ready(rank, send, 0, 0)), MPI_ERR_REQUEST, "it is inactive");
        assert_eq!(class(ready(rank, receive, 0, 0)), MPI_ERR_REQUEST);
        assert_eq!(class(ready(rank, Handle(1 << 40), 0, 0)), MPI_ERR_REQUEST);
        assert_eq!(class(engine.cancel(&mut engine.lock(), send)), MPI_ERR_REQUEST);
        for (request, partition, expected) in
            [(receive, 2, MPI_ERR_ARG), (receive, -1, MPI_ERR_ARG), (send, 0, MPI_ERR_REQUEST)]
        {
            assert_eq!(engine.parrived(request, partition, || ()).expect_err("refused").class(), expected);
        }
        start(rank, send);
        assert_eq!(class(engine.start(&mut engine.lock(), send)), MPI_ERR_REQUEST);
        for (low, high) in [(-1, 0), (0, 4), (4, 4), (2, 1), (i32::MAX, i32::MAX)] {
            assert_eq!(class(ready(rank, send, low, high)), MPI_ERR_ARG, "{low} {high}");
        }
        ready(rank, send, 1, 1).expect("not ready");
        assert_eq!(class(ready(rank, send, 0, 3)), MPI_ERR_ARG, "one of them is ready");
        let list = [(3, 3), (0, 0), (3, 3)];
        assert_eq!(class(engine.pready(&mut engine.lock(), send, list.into_iter())), MPI_ERR_ARG, "one is named twice");
        assert_eq!(class(engine.request_free(&mut engine.lock(), send)), MPI_ERR_REQUEST);
        // None of the refused calls has marked one.
        engine.pready(&mut engine.lock(), send, [(3, 3), (0, 0), (2, 2)].into_iter()).expect("not ready");
        start(rank, receive);
        wait(rank, receive);
        wait(rank, send);
        assert_eq!(inbox, [1; 8]);
        free(rank, send);
        free(rank, receive);
        assert_eq!(engine.parrived(receive, 0, || ()).expect_err("freed").class(), MPI_ERR_REQUEST);
        let nowhere = (psend(rank, (MPI_PROC_NULL, 0), &data, 2), precv(rank, (MPI_PROC_NULL, 0), &mut inbox, 2));
        start(rank, nowhere.0);
        start(rank, nowhere.1);
        assert!(engine.parrived(nowhere.1, 1, || ()).expect("a receive"));
        assert_eq!(wait(rank, nowhere.1).0, Status::PROC_NULL);
        ready(rank, nowhere.0, 0, 1).expect("not ready");
        wait(rank, nowhere.0);
        free(rank, nowhere.0);
        free(rank, nowhere.1);
    });
}

#[test]
fn requests_freed_while_active_end_by_themselves() {
    run(2, |rank| {
        let mut data = vec![3u8; 300_000];
        if rank.me() == 0 {
            let request = psend(rank, (1, 0), &data, 3);
            start(rank, request);
            ready(rank, request, 0, 2).expect("not ready");
            rank.engine.request_free(&mut rank.engine.lock(), request).expect("all are ready");
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            rank.exchange_with_peer();
        } else {
            data.fill(0);
            let request = precv(rank, (0, 0), &mut data, 5);
            start(rank, request);
            rank.engine.request_free(&mut rank.engine.lock(), request).expect("live");
            rank.exchange_with_peer();
            assert!(data.iter().all(|is| *is == 3));
        }
        assert_eq!(rank.engine.instruments().requests.get(), 0);
    });
}

#[test]
fn threads_mark_partitions_ready_and_look_for_them_at_once() {
    const PARTITIONS: u32 = 96;
    const EACH: usize = 700;
    run_multiple(2, |rank: Arc<Rank>| {
        let mut data = vec![0u8; PARTITIONS as usize * EACH];
        let request = match rank.me() {
            0 => psend(&rank, (1, 0), &data, PARTITIONS),
            _ => precv(&rank, (0, 0), &mut data, PARTITIONS / 2),
        };
        for round in 0..10usize {
            if rank.me() == 0 {
                data.iter_mut().enumerate().for_each(|(at, into)| *into = byte(at, round));
                start(&rank, request);
                std::thread::scope(|scope| {
                    for thread in 0..3 {
                        let rank = &rank;
                        scope.spawn(move || {
                            for partition in (thread..PARTITIONS as i32).step_by(3) {
                                ready(rank, request, partition, partition).expect("not ready");
                            }
                        });
                    }
                });
            } else {
                start(&rank, request);
                let seen = AtomicU32::new(0);
                std::thread::scope(|scope| {
                    for thread in 0..2 {
                        let (rank, seen, data) = (&rank, &seen, &data);
                        scope.spawn(move || {
                            for partition in (thread..PARTITIONS as usize / 2).step_by(2) {
                                while !rank.engine.parrived(request, partition as i32, || ()).expect("a receive") {
                                    std::hint::spin_loop();
                                }
                                let range = partition * 2 * EACH..(partition + 1) * 2 * EACH;
                                // SAFETY: the partition is there, so nothing writes it; read past the compiler's view.
                                let is = |at: usize| unsafe { std::ptr::read_volatile(&data[at]) };
                                assert!(range.clone().all(|at| is(at) == byte(at, round)), "{partition} {round}");
                                seen.fetch_add(1, Ordering::Relaxed);
                            }
                        });
                    }
                });
                assert_eq!(seen.load(Ordering::Relaxed), PARTITIONS / 2);
            }
            wait(&rank, request);
        }
        free(&rank, request);
    });
}

#[test]
fn variables_count_partitions_that_are_ready_wait_and_arrive() {
    run(1, |rank| {
        let (counts, _) = rank.engine.partition_metrics();
        let (data, mut inbox) = ([3u8; 12], [0u8; 12]);
        let (send, receive) = (psend(rank, (0, 1), &data, 3), precv(rank, (0, 1), &mut inbox, 3));
        start(rank, send);
        ready(rank, send, 0, 1).expect("not ready");
        assert_eq!((counts.ready.get(), counts.early.get(), counts.waiting.get()), (2, 2, 1));
        start(rank, receive);
        assert!(!rank.engine.parrived(receive, 2, || ()).expect("a receive"), "it is not ready");
        assert_eq!((counts.waiting.get(), counts.failed_tests.get()), (0, 1));
        ready(rank, send, 2, 2).expect("not ready");
        assert_eq!((counts.ready.get(), counts.early.get()), (3, 2));
        wait(rank, receive);
        wait(rank, send);
        assert_eq!((counts.sent.get(), counts.received.get(), inbox), (1, 1, data));
        assert!((2..=3).contains(&counts.arrivals.get()), "{}", counts.arrivals.get());
        free(rank, send);
        free(rank, receive);

        // Nothing is counted for operations with no process but the partitions themselves.
        let nowhere = psend(rank, (MPI_PROC_NULL, 1), &data, 3);
        start(rank, nowhere);
        ready(rank, nowhere, 0, 2).expect("not ready");
        wait(rank, nowhere);
        assert_eq!((counts.ready.get(), counts.early.get(), counts.sent.get()), (6, 2, 1));
        free(rank, nowhere);
    });
}
