//! Persistent, generalized and ordinary requests complete through the same calls, and together in one list.
#![allow(unsafe_code)] // requests hold buffers that the tests keep until they are over

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use common::{CONTEXT, Rank, run};
use mpi_core::abi::{MPI_ERR_REQUEST, MPI_REQUEST_NULL};
use mpi_core::{Handle, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::{Completion, Engine, Found, Generalized, Mode, StartedRequest};

const SIZES: [usize; 3] = [8, 10_000, 200_000];

fn send_init(rank: &Rank, tag: i32, data: &[u8], mode: Mode) -> Handle {
    // SAFETY: every test frees the request before the data goes away.
    let buffer = unsafe { SendBuf::from_slice(data).detach() };
    rank.engine.send_init(&mut rank.engine.lock(), CONTEXT, 1, tag, buffer, mode).expect("made")
}

fn recv_init(rank: &Rank, tag: i32, data: &mut [u8]) -> Handle {
    // SAFETY: as in `send_init`.
    let buffer = unsafe { RecvBuf::from_slice(data).detach() };
    rank.engine.recv_init(&mut rank.engine.lock(), CONTEXT, 0, tag, buffer).expect("made")
}

fn start(rank: &Rank, request: Handle) {
    rank.engine.start(&mut rank.engine.lock(), request).expect("inactive");
}

/// A generalized request that records what is called; the calls take the process's lock, as a program's may.
struct Recorder {
    engine: Option<&'static Engine>,
    calls: Arc<Mutex<Vec<&'static str>>>,
    bytes: u64,
}

impl Recorder {
    fn called(&self, name: &'static str) {
        if let Some(engine) = self.engine {
            drop(engine.lock());
        }
        self.calls.lock().expect("no panic").push(name);
    }
}

impl Generalized for Recorder {
    fn query(&self, status: &mut Status) -> Result<()> {
        self.called("query");
        status.set_bytes(self.bytes);
        Ok(())
    }

    fn cancel(&self, complete: bool) -> Result<()> {
        self.called(if complete { "cancel complete" } else { "cancel" });
        Ok(())
    }

    fn free(&self) -> Result<()> {
        self.called("free");
        Ok(())
    }
}

/// Starts a generalized request on a rank; its callbacks take the lock of the rank's engine.
fn generalized(rank: &Arc<Rank>, bytes: u64) -> (Handle, Arc<Mutex<Vec<&'static str>>>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    // The engine of a test's rank exists as long as the process.
    let engine: &'static Engine = &Box::leak(Box::new(rank.clone())).engine;
    let callbacks = Arc::new(Recorder { engine: Some(engine), calls: calls.clone(), bytes });
    let request = engine.start_generalized(&mut engine.lock(), callbacks).expect("made");
    (request, calls)
}

#[test]
fn persistent_requests_are_started_many_times_and_complete_beside_ordinary_ones() {
    run(2, |rank| {
        let engine = &rank.engine;
        let mut inboxes: Vec<Vec<u8>> = SIZES.iter().map(|size| vec![0u8; *size]).collect();
        let outboxes: Vec<Vec<u8>> = SIZES.iter().map(|size| vec![0u8; *size]).collect();
        let modes = [Mode::Standard, Mode::Synchronous, Mode::Standard];
        let persistent: Vec<Handle> = (0..SIZES.len())
            .map(|n| match rank.me() {
                0 => send_init(rank, n as i32, &outboxes[n], modes[n]),
                _ => recv_init(rank, n as i32, &mut inboxes[n]),
            })
            .collect();
        for round in 0..6u8 {
            let (data, mut inbox) = ([round; 8], [0u8; 8]);
            persistent.iter().for_each(|request| start(rank, *request));
            let again = engine.start(&mut engine.lock(), persistent[0]).expect_err("it is active");
            assert_eq!(again.class(), MPI_ERR_REQUEST);
            let ordinary = if rank.me() == 0 { rank.isend(1, 50, &data) } else { rank.irecv(0, 50, &mut inbox) };
            let mut list = vec![Handle(MPI_REQUEST_NULL), ordinary];
            list.extend(&persistent);
            let mut kept = Vec::new();
            let mut each = |index: usize, completion: Completion| {
                assert!(completion.error.is_none());
                if index > 1 && rank.me() == 1 {
                    assert_eq!((completion.status.source, completion.status.bytes()), (0, SIZES[index - 2] as u64));
                }
                kept.push((index, completion.keeps_request()));
            };
            match round % 4 {
                0 => engine.wait_all(engine.lock(), &list, &mut each).expect("live"),
                1 => while !engine.test_all(&mut engine.lock(), &list, &mut each).expect("live") {},
                _ => {
                    each(0, Completion::empty());
                    for _ in 1..list.len() {
                        let some = match round % 4 {
                            2 => engine.wait_any(engine.lock(), &list).expect("live"),
                            _ => loop {
                                if let Some(found) = engine.test_any(&mut engine.lock(), &list).expect("live") {
                                    break found;
                                }
                            },
                        };
                        let (index, completion) = some.expect("an active request is left");
                        if !completion.keeps_request() {
                            list[index] = Handle(MPI_REQUEST_NULL);
                        }
                        each(index, completion);
                    }
                }
            }
            kept.sort_unstable();
            assert_eq!(kept, [(0, false), (1, false), (2, true), (3, true), (4, true)], "round {round}");
            // Inactive requests are like null ones.
            assert!(engine.wait_any(engine.lock(), &persistent).expect("live").is_none());
            assert!(engine.wait_some(engine.lock(), &persistent, |_, _| unreachable!()).expect("live").is_none());
            let empty = engine.wait(engine.lock(), persistent[0]).expect("live");
            assert!(empty.keeps_request() && empty.status == Status::EMPTY);
        }
        for request in persistent {
            engine.request_free(&mut engine.lock(), request).expect("live");
            assert!(engine.start(&mut engine.lock(), request).is_err() && engine.wait(engine.lock(), request).is_err());
        }
        assert_eq!(rank.instruments.messages_sent.get(), if rank.me() == 0 { 6 * 4 } else { 0 });
    });
}

#[test]
fn a_persistent_receive_that_is_cancelled_can_be_started_again() {
    run(2, |rank| {
        let engine = &rank.engine;
        let mut inbox = [0u8; 8];
        if rank.me() == 1 {
            let request = recv_init(rank, 3, &mut inbox);
            assert!(engine.cancel(&mut engine.lock(), request).is_err(), "it is inactive");
            start(rank, request);
            engine.cancel(&mut engine.lock(), request).expect("active");
            assert!(engine.wait(engine.lock(), request).expect("live").status.cancelled());
            start(rank, request);
            rank.exchange_with_peer();
            assert!(!engine.wait(engine.lock(), request).expect("live").status.cancelled());
            engine.request_free(&mut engine.lock(), request).expect("live");
            assert_eq!(inbox, [5; 8]);
        } else {
            rank.exchange_with_peer();
            rank.send(1, 3, &[5; 8], Mode::Standard);
        }
    });
}

#[test]
fn a_persistent_send_freed_while_active_still_arrives() {
    run(2, |rank| {
        let data = vec![9u8; 200_000];
        if rank.me() == 0 {
            let request = send_init(rank, 4, &data, Mode::Standard);
            start(rank, request);
            rank.engine.request_free(&mut rank.engine.lock(), request).expect("live");
            rank.engine.drain(rank.engine.lock()).expect("no fault");
        } else {
            let mut inbox = vec![0u8; 200_000];
            rank.recv(0, 4, &mut inbox).expect("fits");
            assert!(inbox == data);
        }
    });
}

#[test]
fn a_generalized_request_completes_in_a_list_with_others_and_its_callbacks_run_without_the_lock() {
    common::run_multiple(1, |rank: Arc<Rank>| {
        let engine = &rank.engine;
        for round in 0..4 {
            let (request, calls) = generalized(&rank, 1000 + round);
            let mut inbox = [0u8; 8];
            let receive = rank.irecv(0, 1, &mut inbox);
            let send = rank.isend(0, 1, &[3; 8]);
            let list = [receive, request, send];
            assert!(!engine.test_all(&mut engine.lock(), &list, |_, _| ()).expect("live"));
            assert!(engine.request_get_status(&mut engine.lock(), request).expect("live").is_none());
            engine.cancel(&mut engine.lock(), request).expect("live");
            engine.complete_generalized(&mut engine.lock(), request).expect("waits to be completed");
            let twice = engine.complete_generalized(&mut engine.lock(), request).expect_err("complete");
            assert_eq!(twice.class(), MPI_ERR_REQUEST);
            let found = engine.request_get_status(&mut engine.lock(), request).expect("live");
            assert!(matches!(found, Some(Found::Complete(status)) if status.bytes() == 1000 + round));
            let mut bytes = [0; 3];
            let mut each = |index: usize, completion: Completion| bytes[index] = completion.status.bytes();
            match round {
                0 => engine.wait_all(engine.lock(), &list, each).expect("live"),
                1 => while !engine.test_all(&mut engine.lock(), &list, &mut each).expect("live") {},
                2 => {
                    let mut done = 0;
                    let mut left = list;
                    while done < list.len() {
                        let mut taken = Vec::new();
                        engine
                            .wait_some(engine.lock(), &left, |index, completion| {
                                taken.push(index);
                                each(index, completion.expect("no place repeats another"));
                            })
                            .expect("live");
                        done += taken.len();
                        taken.iter().for_each(|index| left[*index] = Handle(MPI_REQUEST_NULL));
                    }
                }
                _ => {
                    each(0, engine.wait(engine.lock(), receive).expect("live"));
                    each(1, engine.wait(engine.lock(), request).expect("live"));
                    engine.wait(engine.lock(), send).expect("live");
                }
            }
            assert_eq!((bytes[0], bytes[1]), (8, 1000 + round));
            assert_eq!(*calls.lock().expect("no panic"), ["cancel", "query", "query", "free"]);
            assert!(engine.wait(engine.lock(), request).is_err(), "its handle is stale");
        }
    });
}

#[test]
fn a_generalized_request_that_was_freed_ends_when_it_is_completed() {
    common::run_multiple(1, |rank: Arc<Rank>| {
        let (request, calls) = generalized(&rank, 0);
        let engine = &rank.engine;
        engine.request_free(&mut engine.lock(), request).expect("live");
        assert!(engine.request_free(&mut engine.lock(), request).is_err(), "freed already");
        assert!(calls.lock().expect("no panic").is_empty());
        engine.complete_generalized(&mut engine.lock(), request).expect("waits to be completed");
        assert_eq!(*calls.lock().expect("no panic"), ["free"]);
        assert_eq!(rank.engine.instruments().requests.get(), 0);
    });
}

#[test]
fn a_thread_that_waits_for_a_generalized_request_wakes_when_another_completes_it() {
    common::run_multiple(1, |rank: Arc<Rank>| {
        let (request, _) = generalized(&rank, 7);
        let started = Arc::new(AtomicU32::new(0));
        let waiter = std::thread::spawn({
            let (rank, started) = (rank.clone(), started.clone());
            move || {
                started.store(1, Ordering::SeqCst);
                rank.engine.wait(rank.engine.lock(), request).expect("live").status.bytes()
            }
        });
        while started.load(Ordering::SeqCst) == 0 || rank.sleeps() == 0 {
            std::thread::yield_now();
        }
        rank.engine.complete_generalized(&mut rank.engine.lock(), request).expect("waits");
        assert_eq!(waiter.join().expect("no panic"), 7);
    });
}

#[test]
fn each_start_is_recorded_once_with_the_facts_of_the_request() {
    run(2, |rank| {
        let engine = &rank.engine;
        let recorded = |request: Handle| {
            let facts = Mutex::new(Vec::new());
            let started = engine.start_recorded(&mut engine.lock(), request, |started| {
                facts.lock().expect("no panic").push(started);
            });
            (started.map_err(|error| error.class()), facts.into_inner().expect("no panic"))
        };
        let facts = |peer, tag| vec![StartedRequest { context: CONTEXT, peer, tag }];
        let mut data = vec![3u8; SIZES[2]];
        if rank.me() == 0 {
            let mut requests = Vec::new();
            for (tag, (bytes, mode)) in (1..).zip([
                (8, Mode::Standard),
                (SIZES[1], Mode::Standard),
                (SIZES[2], Mode::Standard),
                (8, Mode::Synchronous),
            ]) {
                requests.push(send_init(rank, tag, &data[..bytes], mode));
                assert_eq!(recorded(requests[tag as usize - 1]), (Ok(()), facts(1, tag)), "{bytes} {mode:?}");
            }
            // SAFETY: the request is freed before the data goes away.
            let buffer = unsafe { SendBuf::from_slice(&data[..8]).detach() };
            let partitioned = engine.psend_init(&mut engine.lock(), CONTEXT, (1, 9), buffer, 1).expect("made");
            assert_eq!(recorded(partitioned), (Ok(()), facts(1, 9)));
            engine.pready(&mut engine.lock(), partitioned, std::iter::once((0, 0))).expect("active");
            requests.push(partitioned);
            // An active request, and one that is none.
            assert_eq!(recorded(partitioned), (Err(MPI_ERR_REQUEST), facts(1, 9)));
            let nothing = StartedRequest { context: 0, peer: -1, tag: 0 };
            assert_eq!(recorded(Handle(1 << 40)), (Err(MPI_ERR_REQUEST), vec![nothing]));
            for request in requests {
                engine.wait(engine.lock(), request).expect("no fault");
                engine.request_free(&mut engine.lock(), request).expect("inactive");
            }
        } else {
            for tag in 1..5 {
                let request = recv_init(rank, tag, &mut data);
                assert_eq!(recorded(request), (Ok(()), facts(0, tag)));
                engine.wait(engine.lock(), request).expect("no fault");
                engine.request_free(&mut engine.lock(), request).expect("inactive");
            }
            // SAFETY: the request is freed before the data goes away.
            let buffer = unsafe { RecvBuf::from_slice(&mut data[..8]).detach() };
            let request = engine.precv_init(&mut engine.lock(), CONTEXT, (0, 9), buffer, 1).expect("made");
            assert_eq!(recorded(request), (Ok(()), facts(0, 9)));
            engine.wait(engine.lock(), request).expect("no fault");
            engine.request_free(&mut engine.lock(), request).expect("inactive");
        }
    });
}
