//! Messages between ranks that are threads: order, protocols, probes, completion.

mod common;

use std::sync::Arc;

use common::{CONTEXT, Rank, run};
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_BUFFER, MPI_ERR_REQUEST, MPI_ERR_TRUNCATE, MPI_PROC_NULL};
use mpi_core::{Handle, Kind};
use mpi_p2p::{Attached, BufferOwner, Mode};

/// Sizes around every change of protocol: inline, one line, eager limit, single copy, shared copy, many chunks.
const SIZES: [usize; 14] = [0, 1, 8, 32, 33, 63, 64, 1000, 8192, 8193, 40_000, 70_001, 1 << 20, 3_000_001];

fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|n| (n as u8).wrapping_mul(31).wrapping_add(seed).wrapping_add((n >> 8) as u8)).collect()
}

#[test]
fn every_size_arrives_whole_in_every_mode() {
    run(2, |rank| {
        for size in SIZES {
            for mode in [Mode::Standard, Mode::Synchronous, Mode::Ready] {
                if rank.me() == 0 {
                    rank.send(1, 7, &pattern(size, 3), mode);
                } else {
                    let mut data = vec![0; size];
                    let status = rank.recv(0, 7, &mut data).expect("fits");
                    assert_eq!((status.source, status.tag, status.bytes()), (0, 7, size as u64));
                    assert!(data == pattern(size, 3), "{size} bytes, {mode:?}");
                }
            }
        }
    });
}

#[test]
fn messages_of_one_sender_are_received_in_order() {
    run(2, |rank| {
        const COUNT: u64 = 5000;
        if rank.me() == 0 {
            // Sizes alternate between protocols; the order of matching must not.
            (0..COUNT).for_each(|n| {
                let mut data = pattern(if n % 50 == 0 { 20_000 } else { 16 }, 0);
                data[..8].copy_from_slice(&n.to_ne_bytes());
                rank.send(1, 1, &data, Mode::Standard);
            });
        } else {
            let mut data = vec![0; 20_000];
            for n in 0..COUNT {
                let source = if n % 2 == 0 { 0 } else { MPI_ANY_SOURCE };
                let tag = if n % 3 == 0 { 1 } else { MPI_ANY_TAG };
                rank.recv(source, tag, &mut data).expect("fits");
                assert_eq!(data[..8], n.to_ne_bytes());
            }
        }
    });
}

#[test]
fn unexpected_messages_can_be_received_in_any_order() {
    run(2, |rank| {
        const COUNT: i32 = 3000;
        if rank.me() == 0 {
            (0..COUNT).for_each(|tag| rank.send(1, tag, &tag.to_ne_bytes(), Mode::Standard));
            rank.send(1, COUNT, &[], Mode::Standard);
        } else {
            rank.recv(0, COUNT, &mut []).expect("fits");
            for tag in (0..COUNT).rev() {
                let mut data = [0; 4];
                rank.recv(0, tag, &mut data).expect("fits");
                assert_eq!(i32::from_ne_bytes(data), tag);
            }
            assert_eq!(rank.instruments.umq_length.get(), 0);
            assert_eq!(rank.instruments.umq_bytes.get(), 0);
            assert_eq!(rank.instruments.messages_received.get(), COUNT as u64 + 1);
        }
    });
}

#[test]
fn a_message_longer_than_its_buffer_is_truncated_and_reported() {
    run(2, |rank| {
        for size in [32usize, 100_000] {
            if rank.me() == 0 {
                rank.send(1, 5, &pattern(size, 1), Mode::Standard);
            } else {
                let mut data = vec![0; size / 2];
                let error = rank.recv(0, 5, &mut data).expect_err("too short");
                assert_eq!(error.class(), MPI_ERR_TRUNCATE);
                let text = error.to_string();
                assert!(text.contains(&size.to_string()) && text.contains(&(size / 2).to_string()), "{text}");
                assert!(data == pattern(size, 1)[..size / 2]);
            }
        }
        // The engine works as before.
        rank.exchange_with_peer();
    });
}

#[test]
fn eight_ranks_exchange_with_everyone_at_once() {
    run(8, |rank| {
        for size in [16usize, 100_000] {
            let me = rank.me();
            let mut inboxes: Vec<Vec<u8>> = (0..rank.size()).map(|_| vec![0; size]).collect();
            let outbox = pattern(size, me as u8);
            let mut requests: Vec<Handle> = Vec::new();
            for (source, inbox) in inboxes.iter_mut().enumerate() {
                requests.push(rank.irecv(source as i32, 3, inbox));
            }
            for dest in 0..rank.size() {
                requests.push(rank.isend(dest as i32, 3, &outbox));
            }
            let mut done = 0;
            rank.engine
                .wait_all(rank.engine.lock(), &requests, |_, completion| {
                    assert!(completion.error.is_none());
                    done += 1;
                })
                .expect("all requests exist");
            assert_eq!(done, 2 * rank.size() as usize);
            for (source, inbox) in inboxes.iter().enumerate() {
                assert!(*inbox == pattern(size, source as u8));
            }
        }
    });
}

#[test]
fn probes_see_a_message_and_a_matched_probe_takes_it() {
    run(2, |rank| {
        if rank.me() == 0 {
            rank.send(1, 4, &[1, 2, 3], Mode::Standard);
            rank.send(1, 4, &[4, 5], Mode::Standard);
            rank.send(1, 4, &pattern(50_000, 9), Mode::Standard);
        } else {
            let engine = &rank.engine;
            let seen = engine.probe(engine.lock(), CONTEXT, MPI_ANY_SOURCE, 4).expect("known context");
            assert_eq!((seen.source, seen.bytes()), (0, 3));
            let (message, held) = engine.mprobe(engine.lock(), CONTEXT, 0, MPI_ANY_TAG).expect("known context");
            assert_eq!(held.bytes(), 3);
            let mut second = [0; 2];
            rank.recv(0, 4, &mut second).expect("the held one is out of the way");
            assert_eq!(second, [4, 5]);
            let mut first = [0; 3];
            let status = rank.mrecv(message, &mut first).expect("held").expect("fits");
            assert_eq!((first, status.bytes()), ([1, 2, 3], 3));
            assert!(rank.mrecv(message, &mut first).is_none(), "a message is received once");
            let (large, _) = engine.mprobe(engine.lock(), CONTEXT, 0, 4).expect("known context");
            let mut data = vec![0; 50_000];
            rank.mrecv(large, &mut data).expect("held").expect("fits");
            assert!(data == pattern(50_000, 9));
        }
    });
}

#[test]
fn a_cancelled_receive_matches_nothing_and_is_reported_as_cancelled() {
    run(2, |rank| {
        if rank.me() == 1 {
            let mut unused = [9; 4];
            let request = rank.irecv(0, 1, &mut unused);
            rank.engine.cancel(&mut rank.engine.lock(), request).expect("live");
            let completion = rank.engine.wait(rank.engine.lock(), request).expect("live");
            assert!(completion.status.cancelled());
            assert_eq!(rank.instruments.posted_length.get(), 0);
            assert_eq!(unused, [9; 4]);
        }
        rank.exchange_with_peer();
    });
}

#[test]
fn requests_are_given_out_once() {
    run(2, |rank| {
        rank.exchange_with_peer();
        if rank.me() == 0 {
            let request = rank.isend(1, 9, &[1]);
            assert!(rank.engine.wait(rank.engine.lock(), request).is_ok());
            for word in [request, Handle(5), Handle(usize::MAX), Handle::pack(Kind::Request, 1 << 20, 3)] {
                let error = rank.engine.wait(rank.engine.lock(), word).expect_err("stale or forged");
                assert_eq!(error.class(), MPI_ERR_REQUEST);
                assert!(rank.engine.test(&mut rank.engine.lock(), word).is_err());
            }
        } else {
            rank.recv(0, 9, &mut [0]).expect("fits");
        }
    });
}

#[test]
fn nothing_is_sent_to_or_received_from_the_null_process() {
    run(1, |rank| {
        rank.send(MPI_PROC_NULL, 0, &[1], Mode::Synchronous);
        let status = rank.recv(MPI_PROC_NULL, 0, &mut [7]).expect("nothing happens");
        assert_eq!((status.source, status.tag, status.bytes()), (MPI_PROC_NULL, MPI_ANY_TAG, 0));
    });
}

#[test]
fn a_rank_can_send_to_itself() {
    run(1, |rank| {
        for size in SIZES {
            let data = pattern(size, 2);
            let mut inbox = vec![0; size];
            let receive = rank.irecv(0, 2, &mut inbox);
            let send = rank.isend(0, 2, &data);
            rank.engine.wait_all(rank.engine.lock(), &[receive, send], |_, _| ()).expect("live");
            assert!(inbox == data);
        }
    });
}

#[test]
fn buffered_sends_complete_at_once_within_the_attached_buffer() {
    // Longer messages than go whole in cells.
    run(2, |rank| {
        let engine = &rank.engine;
        if rank.me() == 0 {
            let refused = rank.try_send(1, 6, &pattern(400_000, 0), Mode::Buffered).expect_err("no buffer");
            assert_eq!(refused.class(), MPI_ERR_BUFFER);
            let buffer = Attached { address: 0x1000, bytes: Some(1_000_000) };
            engine.buffer_attach(&mut engine.lock(), BufferOwner::Process, buffer).expect("the first");
            assert!(engine.buffer_attach(&mut engine.lock(), BufferOwner::Process, buffer).is_err());
            rank.send(1, 6, &pattern(400_000, 1), Mode::Buffered);
            rank.send(1, 6, &pattern(400_000, 2), Mode::Buffered);
            assert!(rank.try_send(1, 6, &pattern(400_000, 3), Mode::Buffered).is_err(), "no room for a third");
            rank.send(1, 8, &[], Mode::Standard);
            assert_eq!(engine.buffer_detach(engine.lock(), BufferOwner::Process).expect("drained"), Some(buffer));
        } else {
            rank.recv(0, 8, &mut []).expect("fits");
            for seed in [1, 2] {
                let mut data = vec![0; 400_000];
                rank.recv(0, 6, &mut data).expect("fits");
                assert!(data == pattern(400_000, seed));
            }
        }
    });
}

#[test]
fn four_threads_of_each_rank_communicate_at_once() {
    common::run_multiple(2, |rank: Arc<Rank>| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let rank = rank.clone();
                std::thread::spawn(move || {
                    for round in 0..300usize {
                        let size = [8, 9000, 100_000][round % 3];
                        if rank.me() == 0 {
                            rank.send(1, thread, &pattern(size, round as u8), Mode::Standard);
                            rank.recv(1, thread, &mut [0]).expect("fits");
                        } else {
                            let mut data = vec![0; size];
                            rank.recv(0, thread, &mut data).expect("fits");
                            assert!(data == pattern(size, round as u8));
                            rank.send(0, thread, &[1], Mode::Standard);
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

#[test]
fn a_freed_send_still_arrives() {
    run(2, |rank| {
        for size in [10usize, 100_000] {
            if rank.me() == 0 {
                let data = pattern(size, 5);
                let request = rank.isend(1, 1, &data);
                rank.engine.request_free(&mut rank.engine.lock(), request).expect("live");
                rank.engine.drain(rank.engine.lock()).expect("no fault");
            } else {
                let mut data = vec![0; size];
                rank.recv(0, 1, &mut data).expect("fits");
                assert!(data == pattern(size, 5));
            }
        }
    });
}

#[test]
fn a_freed_request_has_a_stale_handle() {
    run(2, |rank| {
        let data = pattern(100_000, 1);
        if rank.me() == 0 {
            let request = rank.isend(1, 1, &data);
            rank.engine.request_free(&mut rank.engine.lock(), request).expect("live");
            let again = rank.engine.request_free(&mut rank.engine.lock(), request).expect_err("freed before");
            assert_eq!(again.class(), MPI_ERR_REQUEST);
            assert!(rank.engine.wait(rank.engine.lock(), request).is_err());
            rank.engine.drain(rank.engine.lock()).expect("no fault");
        } else {
            let mut inbox = vec![0; 100_000];
            rank.recv(0, 1, &mut inbox).expect("fits");
            assert!(inbox == data);
        }
    });
}

#[test]
fn a_thread_that_sleeps_for_a_receive_wakes_when_another_cancels_it() {
    common::run_multiple(1, |rank: Arc<Rank>| {
        let mut inbox = [0];
        let request = rank.irecv(0, 1, &mut inbox);
        let waiter = {
            let rank = rank.clone();
            std::thread::spawn(move || rank.engine.wait(rank.engine.lock(), request).expect("live").status.cancelled())
        };
        // The engine counts the wait once it is over, the doorbell the sleep when it begins.
        while rank.sleeps() == 0 {
            std::thread::yield_now();
        }
        rank.engine.cancel(&mut rank.engine.lock(), request).expect("live");
        assert!(waiter.join().expect("no panic"));
    });
}

#[test]
fn large_messages_pass_through_rings_that_small_ones_fill() {
    run(3, |rank| {
        const SMALL: usize = 4000;
        const LARGE: usize = 150_000;
        let peers: Vec<i32> = (0..3).collect();
        for round in 0..20 {
            let mut large = vec![vec![0; LARGE]; 30];
            let mut small = vec![[0; 8]; SMALL * 3];
            let (out_large, out_small) = (pattern(LARGE, round), pattern(8, round));
            let mut pending = Vec::new();
            for (n, data) in large.iter_mut().enumerate() {
                pending.push(rank.irecv(peers[n % 3], 1, data));
            }
            for n in 0..SMALL * 3 {
                pending.push(rank.isend(peers[n % 3], 2, &out_small));
            }
            for n in 0..30 {
                pending.push(rank.isend(peers[n % 3], 1, &out_large));
            }
            for (n, data) in small.iter_mut().enumerate() {
                pending.push(rank.irecv(peers[n % 3], 2, data));
            }
            rank.engine
                .wait_all(rank.engine.lock(), &pending, |_, completion| assert!(completion.error.is_none()))
                .expect("live");
            assert!(large.iter().all(|data| *data == out_large) && small.iter().all(|data| data[..] == out_small));
        }
    });
}

#[test]
fn an_unmatched_send_can_be_cancelled_and_a_matched_one_not() {
    run(2, |rank| {
        let engine = &rank.engine;
        for length in [8, 500_000] {
            let data = pattern(length, 1);
            if rank.me() == 0 {
                let (first, second) = (rank.isend(1, 1, &data), rank.isend(1, 2, &data));
                rank.exchange_with_peer();
                engine.cancel(&mut engine.lock(), first).expect("live");
                engine.cancel(&mut engine.lock(), second).expect("live");
                let cancelled = |request| engine.wait(engine.lock(), request).expect("live").status.cancelled();
                assert!(!cancelled(first) && cancelled(second));
                rank.exchange_with_peer();
            } else {
                let mut inbox = vec![0; length];
                let receive = rank.irecv(0, 1, &mut inbox);
                rank.exchange_with_peer();
                engine.wait(engine.lock(), receive).expect("live");
                assert!(inbox == data);
                rank.exchange_with_peer();
                assert_eq!(engine.iprobe(&mut engine.lock(), CONTEXT, 0, 2).expect("fine"), None);
                assert_eq!(rank.instruments.umq_length.get(), 0);
            }
            // Nothing more is sent to rank 1 before its next poll.
            match rank.me() {
                0 => assert!(rank.recv(1, 50, &mut []).is_ok()),
                _ => rank.send(0, 50, &[], Mode::Standard),
            }
        }
    });
}
