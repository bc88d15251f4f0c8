//! Long messages are copied with the process lock released: a copy waits here until another thread has completed calls
//! that need the lock. If the copying thread held the lock, that wait would fail.
#![allow(unsafe_code)] // a network of this process, and requests whose buffers the tests keep

mod gated;

use std::sync::Arc;

use gated::{BYTES, Gate, Pair, Rank, pair};
use mpi_core::Handle;
use mpi_core::abi::MPI_ANY_TAG;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_p2p::Mode;

const LONG: i32 = 1;
const OTHER: u32 = gated::OTHER_CONTEXT;

/// Calls that are complete only if this thread gets the lock: a message to this process itself, on another
/// communicator.
fn short_calls(rank: &Rank) {
    let engine = &rank.engine;
    for n in 0..10u8 {
        let mut got = [0; 1];
        engine.send(engine.lock(), OTHER, 0, 5, SendBuf::from_slice(&[n]), Mode::Standard).expect("no fault");
        engine.recv(engine.lock(), OTHER, 0, 5, RecvBuf::from_slice(&mut got)).expect("no fault");
        assert_eq!(got, [n]);
    }
}

/// How the long message is received.
#[derive(Clone, Copy, Debug)]
enum Receive {
    Blocking,
    BlockingPosted,
    Started,
    Persistent,
    Tested,
    Probed,
    Sendrecv,
}

/// Waits until the offer of the long message has arrived.
fn await_offer(rank: &Rank) {
    rank.engine.probe(rank.engine.lock(), 0, 1, LONG).expect("no fault");
}

fn irecv(rank: &Rank, buffer: &mut [u8]) -> Handle {
    // SAFETY: the caller waits for the request before the buffer goes away.
    let buffer = unsafe { RecvBuf::from_slice(buffer).detach() };
    rank.engine.irecv(&mut rank.engine.lock(), 0, 1, LONG, buffer).expect("posted")
}

fn receive(rank: &Rank, how: Receive, buffer: &mut [u8]) {
    let engine = &rank.engine;
    match how {
        Receive::Blocking => {
            await_offer(rank);
            engine.recv(engine.lock(), 0, 1, LONG, RecvBuf::from_slice(buffer)).expect("no fault");
        }
        Receive::BlockingPosted => {
            engine.recv(engine.lock(), 0, 1, LONG, RecvBuf::from_slice(buffer)).expect("no fault");
        }
        Receive::Started => {
            await_offer(rank);
            let request = irecv(rank, buffer);
            engine.wait(engine.lock(), request).expect("no fault");
        }
        Receive::Persistent => {
            await_offer(rank);
            // SAFETY: the request is complete, and freed, before the buffer goes away.
            let buffer = unsafe { RecvBuf::from_slice(buffer).detach() };
            let request = engine.recv_init(&mut engine.lock(), 0, 1, LONG, buffer).expect("made");
            engine.start(&mut engine.lock(), request).expect("inactive");
            engine.wait(engine.lock(), request).expect("no fault");
            engine.request_free(&mut engine.lock(), request).expect("inactive");
        }
        Receive::Tested => {
            let request = irecv(rank, buffer);
            while engine.test(&mut engine.lock(), request).expect("no fault").is_none() {
                std::thread::yield_now();
            }
        }
        Receive::Probed => {
            let (message, _) = engine.mprobe(engine.lock(), 0, 1, MPI_ANY_TAG).expect("no fault");
            engine.mrecv(engine.lock(), message, RecvBuf::from_slice(buffer)).expect("no fault").expect("a message");
        }
        Receive::Sendrecv => {
            let (none, into) = (SendBuf::empty(), RecvBuf::from_slice(buffer));
            engine.sendrecv(engine.lock(), 0, 1, 9, none, 1, LONG, into).expect("no fault");
        }
    }
}

#[test]
fn other_threads_call_while_one_copies_a_long_message() {
    use Receive::{Blocking, BlockingPosted, Persistent, Probed, Sendrecv, Started, Tested};
    for how in [Blocking, BlockingPosted, Started, Persistent, Tested, Probed, Sendrecv] {
        let gate = Gate::new();
        let Pair { receiver, sender } = pair(gate.clone());
        let calls = std::thread::spawn({
            let (gate, receiver) = (gate.clone(), receiver.clone());
            move || {
                gate.await_copy();
                short_calls(&receiver);
                gate.open();
            }
        });
        let send = sender.spawn_send(LONG);
        let mut buffer = vec![0; BYTES];
        receive(&receiver, how, &mut buffer);
        assert!(!gate.has_failed(), "{how:?}: the thread that copied held the lock");
        assert!(buffer.iter().all(|byte| *byte == gated::BYTE), "{how:?}");
        calls.join().expect("no panic");
        send.join().expect("no panic");
    }
}

#[test]
fn other_threads_call_while_one_puts_or_gets() {
    for (put, in_runs) in [(false, false), (true, false), (false, true), (true, true)] {
        let gate = Gate::new();
        let Pair { receiver, sender } = pair(gate.clone());
        let memory = vec![gated::BYTE; BYTES].leak();
        let (start, bytes) = (memory.as_mut_ptr().expose_provenance(), memory.len());
        let (key, _registration) = {
            let guard = sender.engine.lock();
            // SAFETY: the memory stays, and only the copies below touch it until they are over.
            unsafe { sender.engine.register(&guard, &[0], start, bytes) }
        };
        let calls = std::thread::spawn({
            let (gate, receiver) = (gate.clone(), receiver.clone());
            move || {
                gate.await_copy();
                short_calls(&receiver);
                gate.open();
            }
        });
        let mut local = vec![7; BYTES];
        let engine = &receiver.engine;
        let guard = &mut engine.lock();
        let half = BYTES as u64 / 2;
        let runs = || vec![(half, half), (0, half)];
        let copied = match (put, in_runs) {
            (true, false) => engine.copy_to(guard, 1, (key, 0), &SendBuf::from_slice(&local)),
            (false, false) => engine.copy_from(guard, 1, (key, 0), &mut RecvBuf::from_slice(&mut local)),
            (true, true) => Some(engine.copy_to_runs(guard, 1, key, runs, &SendBuf::from_slice(&local))),
            (false, true) => Some(engine.copy_from_runs(guard, 1, key, runs, &mut RecvBuf::from_slice(&mut local))),
        };
        copied.expect("contiguous").expect("registered");
        assert!(!gate.has_failed(), "the thread that copied held the lock");
        calls.join().expect("no panic");
        assert!(put || local.iter().all(|byte| *byte == gated::BYTE));
    }
}

#[test]
fn two_threads_copy_parts_of_one_message() {
    // The first copy waits until another one has begun, which only another thread can begin.
    let gate = Gate::new();
    let Pair { receiver, sender } = pair(gate.clone());
    let helper = std::thread::spawn({
        let (gate, receiver) = (gate.clone(), receiver.clone());
        move || {
            gate.await_copy();
            while gate.copies() < 2 {
                receiver.engine.progress(&mut receiver.engine.lock()).expect("no fault");
            }
            gate.open();
        }
    });
    let send = sender.spawn_send(LONG);
    let mut buffer = vec![0; BYTES];
    receive(&receiver, Receive::BlockingPosted, &mut buffer);
    assert!(!gate.has_failed(), "no other thread copied");
    assert!(buffer.iter().all(|byte| *byte == gated::BYTE));
    helper.join().expect("no panic");
    send.join().expect("no panic");
}

#[test]
fn a_thread_that_copies_the_message_of_another_wakes_it() {
    // Waiting threads sleep at once. The first one polls for all, and copies what the others wait for.
    let gate = Gate::new();
    let Pair { receiver, sender } = pair(gate.clone());
    receiver.never_spin();
    let leader = std::thread::spawn({
        let receiver = receiver.clone();
        move || receiver.engine.recv(receiver.engine.lock(), OTHER, 0, 6, RecvBuf::empty()).map(drop).expect("no fault")
    });
    receiver.await_requests(1);
    let waiter = std::thread::spawn({
        let receiver = receiver.clone();
        move || {
            let mut buffer = vec![0; BYTES];
            receive(&receiver, Receive::BlockingPosted, &mut buffer);
            assert!(buffer.iter().all(|byte| *byte == gated::BYTE));
        }
    });
    receiver.await_requests(2);
    let send = sender.spawn_send(LONG);
    gate.await_copy();
    // While the leader copies, a third thread comes to wait for the same leader, and another message wakes it.
    let third = std::thread::spawn({
        let receiver = receiver.clone();
        move || receiver.engine.recv(receiver.engine.lock(), OTHER, 0, 7, RecvBuf::empty()).map(drop).expect("no fault")
    });
    receiver.await_requests(3);
    gate.open();
    waiter.join().expect("no panic");
    send.join().expect("no panic");
    let engine = &receiver.engine;
    for tag in [7, 6] {
        engine.send(engine.lock(), OTHER, 0, tag, SendBuf::empty(), Mode::Standard).expect("no fault");
    }
    third.join().expect("no panic");
    leader.join().expect("no panic");
    assert!(!gate.has_failed());
}

#[test]
fn a_receive_whose_sender_is_lost_during_the_copy_is_an_error() {
    let gate = Gate::new();
    let Pair { receiver, sender } = pair(gate.clone());
    let receive = std::thread::spawn({
        let receiver: Arc<Rank> = receiver.clone();
        move || {
            let mut buffer = vec![0; BYTES];
            let engine = &receiver.engine;
            let result = engine.recv(engine.lock(), 0, 1, LONG, RecvBuf::from_slice(&mut buffer));
            mpi_errors::Error::from(result.expect_err("half of the message is missing")).class()
        }
    });
    let (request, data) = sender.isend(LONG);
    gate.await_copy();
    gate.lose_regions();
    gate.open();
    assert_eq!(receive.join().expect("no panic"), mpi_core::abi::MPI_ERR_OTHER);
    // The receiver has reported the end of the transfer.
    sender.engine.wait(sender.engine.lock(), request).expect("no fault");
    drop(data);
}

/// Sends one message in two partitions; `meanwhile` runs in another thread of the sender while a partition is copied.
fn send_partitions(gate: &Gate, meanwhile: impl FnOnce(&Gate, &Rank) + Send + 'static) {
    let Pair { receiver, sender } = pair(gate.clone());
    let calls = std::thread::spawn({
        let (gate, sender) = (gate.clone(), sender.clone());
        move || meanwhile(&gate, &sender)
    });
    let receive = std::thread::spawn({
        let receiver = receiver.clone();
        move || {
            let (engine, mut buffer) = (&receiver.engine, vec![0; BYTES]);
            // SAFETY: the request is complete, and freed, before the buffer goes away.
            let into = unsafe { RecvBuf::from_slice(&mut buffer).detach() };
            let request = engine.precv_init(&mut engine.lock(), 0, (1, LONG), into, 2).expect("made");
            engine.start(&mut engine.lock(), request).expect("inactive");
            engine.wait(engine.lock(), request).expect("no fault");
            engine.request_free(&mut engine.lock(), request).expect("inactive");
            assert!(buffer.iter().all(|byte| *byte == gated::BYTE));
        }
    });
    let (engine, data) = (&sender.engine, vec![gated::BYTE; BYTES]);
    // SAFETY: as above.
    let of_data = unsafe { SendBuf::from_slice(&data).detach() };
    let request = engine.psend_init(&mut engine.lock(), 0, (0, LONG), of_data, 2).expect("made");
    engine.start(&mut engine.lock(), request).expect("inactive");
    for partition in 0..2 {
        let ready = std::iter::once((partition, partition));
        engine.pready(&mut engine.lock(), request, ready).expect("not ready before");
    }
    engine.wait(engine.lock(), request).expect("no fault");
    engine.request_free(&mut engine.lock(), request).expect("inactive");
    receive.join().expect("no panic");
    calls.join().expect("no panic");
}

#[test]
fn other_threads_call_while_one_copies_a_partition() {
    let gate = Gate::new();
    send_partitions(&gate, |gate, sender| {
        gate.await_copy();
        short_calls(sender);
        gate.open();
    });
    assert!(!gate.has_failed(), "the thread that copied held the lock");
}

#[test]
fn partitions_that_cannot_be_copied_go_through_the_ring() {
    let gate = Gate::new();
    gate.lose_regions();
    gate.open();
    send_partitions(&gate, |gate, _| gate.await_copy());
}

#[test]
fn a_long_buffered_send_leaves_its_buffer_free_in_each_form() {
    let gate = Gate::new();
    gate.open();
    let Pair { receiver, sender } = pair(gate);
    let (engine, attached) = (&sender.engine, mpi_p2p::Attached { address: 4096, bytes: Some(4 * BYTES as u64) });
    engine.buffer_attach(&mut engine.lock(), mpi_p2p::BufferOwner::Process, attached).expect("none is attached");
    let mut data = vec![gated::BYTE; BYTES];
    // SAFETY: the buffer is free again after each call, and the request is freed before the data go away.
    let of_data = |data: &[u8]| unsafe { SendBuf::from_slice(data).detach() };
    engine.send(engine.lock(), 0, 0, LONG, of_data(&data), Mode::Buffered).expect("room");
    let request = engine.isend(&mut engine.lock(), 0, 0, LONG, of_data(&data), Mode::Buffered).expect("room");
    let persistent = engine.send_init(&mut engine.lock(), 0, 0, LONG, of_data(&data), Mode::Buffered).expect("made");
    engine.start(&mut engine.lock(), persistent).expect("room");
    assert!(engine.start(&mut engine.lock(), persistent).is_err(), "it is active");
    data.fill(0);
    let more = engine.send(engine.lock(), 0, 0, LONG, of_data(&data), Mode::Buffered);
    assert_eq!(more.expect_err("three messages and their overhead are there").class(), mpi_core::abi::MPI_ERR_BUFFER);
    for request in [request, persistent] {
        engine.wait(engine.lock(), request).expect("complete");
    }
    let received = std::thread::spawn(move || {
        for _ in 0..3 {
            let mut buffer = vec![0; BYTES];
            receive(&receiver, Receive::BlockingPosted, &mut buffer);
            assert!(buffer.iter().all(|byte| *byte == gated::BYTE));
        }
    });
    engine.buffer_detach(engine.lock(), mpi_p2p::BufferOwner::Process).expect("no fault").expect("attached");
    engine.request_free(&mut engine.lock(), persistent).expect("inactive");
    received.join().expect("no panic");
}
