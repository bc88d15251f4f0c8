//! A thread that copies without the lock keeps the buffer of its request, whatever the other process and other threads
//! do meanwhile. The other process is a bare endpoint, which follows the protocol, or breaks it, as the tested rule
//! requires.
#![allow(unsafe_code)] // keeps the buffers of requests, and waits for the requests

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::{JoinHandle, yield_now};
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_OTHER};
use mpi_core::{Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::{Endpoint, Payload, RecordHead, Sink};
use mpi_t::HeapMemory;

use crate::chunk_claims;
use crate::copy_job::BeforeCopy;
use crate::registration;
use crate::request::Work;
use crate::wire::{self, Offer, Share};
use crate::{CommMeters, ContextSpec, Engine, Mode};

const BYTES: usize = 8 << 20;
const CHUNKS: u64 = BYTES as u64 / (128 << 10);

/// What one process does while a thread of the other copies.
struct Copying {
    engine: Arc<Engine>,
    peer: Endpoint,
    hold: Arc<Hold>,
}

/// Where the first copy of a part waits.
#[derive(Default)]
struct Hold {
    begun: AtomicU32,
    released: AtomicBool,
}

impl Hold {
    fn pass(&self) {
        if self.begun.fetch_add(1, SeqCst) == 0 {
            until("the test releases the copy", || self.released.load(SeqCst));
        }
    }
}

fn until(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(60), "a minute passed before {what}");
        yield_now();
    }
}

/// The records that the bare endpoint got: kind and token.
#[derive(Default)]
struct Records(Vec<(u8, u64)>);

impl Sink for Records {
    fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
        self.0.push((head.kind, head.b));
    }
}

impl Copying {
    fn new() -> Copying {
        let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let (peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
        let engine = Arc::new(Engine::new(own, Arc::new(ProcessLock::new(true)), &HeapMemory));
        let instruments = CommMeters::detached(2);
        let spec = ContextSpec {
            id: 0,
            rank: 0,
            world_ranks: Arc::from([0, 1]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        };
        engine.add_context(&mut engine.lock(), spec);
        let hold = Arc::new(Hold::default());
        let before = {
            let hold = hold.clone();
            BeforeCopy(Arc::new(move || hold.pass()))
        };
        engine.state.get_mut(&mut engine.lock()).core.copies.before = Some(before);
        Copying { engine, peer, hold }
    }

    fn push(&mut self, kind: u8, a: u64, token: u64, payload: &[u8]) {
        let head = RecordHead { kind, flags: 0, context: 0, tag: 1, a, b: token };
        self.peer.push(0, &head, payload).expect("room");
    }

    /// Waits for a record of this kind; its token.
    fn await_record(&mut self, kind: u8) -> u64 {
        let (mut seen, mut token) = (Records::default(), None);
        until("a record came", || {
            self.peer.poll(&mut seen).expect("the engine sends sound records");
            token = seen.0.iter().find(|(seen, _)| *seen == kind).map(|(_, token)| *token);
            token.is_some()
        });
        token.expect("found")
    }

    /// A thread of the engine's process, in a call that makes progress until it copies; it ends when that call does.
    fn spawn_copier(&self) -> JoinHandle<()> {
        let (engine, hold) = (self.engine.clone(), self.hold.clone());
        let copier = std::thread::spawn({
            let hold = hold.clone();
            move || {
                until("the thread has copied", || {
                    engine.progress(&mut engine.lock()).expect("no fault");
                    hold.begun.load(SeqCst) > 0
                })
            }
        });
        until("the copy began", || hold.begun.load(SeqCst) > 0);
        copier
    }

    /// The number of copiers of a send, and whether its end has come; `None` when it is not offered any more.
    fn pins(&self, request: Handle) -> Option<(u32, bool)> {
        let guard = self.engine.lock();
        match &self.engine.state.get(&guard).core.requests.get(request)?.work {
            Work::Offered { copiers, over, .. } => Some((*copiers, *over)),
            _ => None,
        }
    }

    fn is_complete(&self, request: Handle) -> bool {
        self.engine.test(&mut self.engine.lock(), request).expect("it is still there").is_some()
    }
}

/// A send of the engine's process, of which one of its threads copies a chunk.
struct Send {
    copying: Copying,
    request: Handle,
    token: u64,
    copier: JoinHandle<()>,
    /// The data, and the receiver's buffer.
    memory: (Vec<u8>, Vec<u8>),
    registration: mpi_fabric::Registration,
}

impl Send {
    fn begin() -> Send {
        let mut copying = Copying::new();
        let (data, mut buffer) = (vec![3; BYTES], vec![0; BYTES]);
        // SAFETY: the data stays until the request is complete or revoked.
        let of_data = unsafe { SendBuf::from_slice(&data).detach() };
        let engine = copying.engine.clone();
        let request = engine.isend(&mut engine.lock(), 0, 1, 1, of_data, Mode::Standard).expect("started");
        let token = copying.await_record(wire::OFFER);
        let (region, registration) = registration::for_writing(&copying.peer, 0, &mut buffer);
        chunk_claims::open(copying.peer.transfer_slot(1, 0), 1);
        let share = Share { region, listed: false, sender_alone: false, bytes: BYTES as u64, slot: 0, round: 1 };
        copying.push(wire::SHARE, 0, token, &share.encode());
        let copier = copying.spawn_copier();
        Send { copying, request, token, copier, memory: (data, buffer), registration }
    }

    /// Polls until the end that was pushed has arrived; the request must not be complete then.
    fn await_end(&self) {
        until("the end arrived", || {
            assert!(!self.copying.is_complete(self.request), "a thread still copies from the data");
            self.copying.pins(self.request).is_some_and(|(_, over)| over)
        });
    }

    /// Lets the copier go on and waits for it.
    fn release(self) -> (Copying, Handle, (Vec<u8>, Vec<u8>)) {
        self.copying.hold.released.store(true, SeqCst);
        self.copier.join().expect("no panic");
        drop(self.registration);
        (self.copying, self.request, self.memory)
    }
}

#[test]
fn a_send_whose_end_is_reported_early_completes_when_its_copier_has_finished() {
    let mut send = Send::begin();
    send.copying.push(wire::DONE, 0, send.token, &[]);
    send.await_end();
    let (copying, request, (data, buffer)) = send.release();
    assert!(copying.is_complete(request));
    // The held chunk is the first one.
    assert_eq!(buffer[..128 << 10], data[..128 << 10]);
}

#[test]
fn a_cancelled_send_completes_when_its_copier_has_finished() {
    let mut send = Send::begin();
    let engine = send.copying.engine.clone();
    engine.cancel(&mut engine.lock(), send.request).expect("live");
    assert_eq!(send.copying.await_record(wire::CANCEL), send.token);
    // An answer that no receiver gives that has requested to copy.
    send.copying.push(wire::CANCELLED, 1, send.token, &[]);
    send.await_end();
    let (copying, request, _memory) = send.release();
    let completion = engine.test(&mut engine.lock(), request).expect("still there").expect("complete");
    assert!(completion.status.cancelled());
    assert!(copying.engine.state.get(&engine.lock()).core.copies.list.is_empty());
}

#[test]
fn a_send_that_was_freed_goes_away_when_its_copier_has_finished() {
    let mut send = Send::begin();
    let engine = send.copying.engine.clone();
    engine.request_free(&mut engine.lock(), send.request).expect("live");
    send.copying.push(wire::DONE, 0, send.token, &[]);
    until("the end arrived", || {
        engine.progress(&mut engine.lock()).expect("no fault");
        send.copying.pins(send.request).is_none_or(|(_, over)| over)
    });
    assert!(send.copying.pins(send.request).is_some_and(|(copiers, _)| copiers > 0), "the copier pins the request");
    let (copying, request, _memory) = send.release();
    assert_eq!(copying.pins(request), None);
    engine.drain(engine.lock()).expect("nothing is left");
}

#[test]
fn a_request_for_fragments_of_data_that_is_being_copied_is_a_fault() {
    let mut send = Send::begin();
    let wanted: [u8; 24] = wire::join([1, BYTES as u64, 0]);
    send.copying.push(wire::STREAM, 0, send.token, &wanted);
    let engine = send.copying.engine.clone();
    let mut fault = None;
    until("the record arrived", || {
        fault = engine.progress(&mut engine.lock()).err();
        fault.is_some()
    });
    assert_eq!(fault.expect("just seen").class(), MPI_ERR_INTERN);
    assert!(send.copying.pins(send.request).is_some());
    let (copying, request, _memory) = send.release();
    copying.engine.revoke(&[request]);
}

/// Revokes a request in a thread of its own, and checks that the revoke returns only after the copy was released.
fn spawn_revoke(copying: &Copying, request: Handle) -> JoinHandle<()> {
    let (engine, hold) = (copying.engine.clone(), copying.hold.clone());
    std::thread::spawn(move || {
        engine.revoke(&[request]);
        assert!(hold.released.load(SeqCst), "the buffer came back while a thread copied");
    })
}

/// Waits until the revoke has detached the request.
fn await_detached(copying: &Copying, request: Handle) {
    until("the request was revoked", || {
        let guard = copying.engine.lock();
        copying.engine.state.get(&guard).core.requests.get(request).is_none_or(|request| request.is_detached())
    });
}

#[test]
fn a_revoke_of_a_send_returns_when_the_copier_has_finished() {
    let send = Send::begin();
    let revoke = spawn_revoke(&send.copying, send.request);
    await_detached(&send.copying, send.request);
    let (copying, request, _memory) = send.release();
    revoke.join().expect("the revoke waited");
    assert!(copying.engine.state.get(&copying.engine.lock()).core.requests.get(request).is_none());
}

/// The data of a message and the buffer of its receive.
type Buffers = (Vec<u8>, Vec<u8>);

/// A receive of the engine's process, of whose message one of its threads copies a chunk.
fn begin_receive() -> (Copying, Handle, JoinHandle<()>, Buffers, mpi_fabric::Registration) {
    let mut copying = Copying::new();
    let (data, mut buffer) = (vec![3; BYTES], vec![0; BYTES]);
    // SAFETY: the buffer stays until the request is complete or revoked.
    let into = unsafe { RecvBuf::from_slice(&mut buffer).detach() };
    let engine = copying.engine.clone();
    let request = engine.irecv(&mut engine.lock(), 0, 1, 1, into).expect("posted");
    let (region, registration) = registration::for_reading(&copying.peer, 0, &data);
    copying.push(wire::OFFER, 1, 77, &Offer { bytes: BYTES as u64, region, ways: 0, pipelined: false }.encode());
    let copier = copying.spawn_copier();
    (copying, request, copier, (data, buffer), registration)
}

#[test]
fn a_revoke_of_a_receive_returns_when_the_copier_has_finished() {
    let (copying, request, copier, _memory, _registration) = begin_receive();
    let revoke = spawn_revoke(&copying, request);
    await_detached(&copying, request);
    copying.hold.released.store(true, SeqCst);
    revoke.join().expect("the revoke waited");
    copier.join().expect("no panic");
    let guard = copying.engine.lock();
    let core = &copying.engine.state.get(&guard).core;
    assert!(core.requests.get(request).is_none() && core.copies.list.is_empty());
    assert_eq!(core.slots.free.len(), 256, "the slot serves the next transfer");
}

#[test]
fn a_revoke_waits_for_the_own_copier_when_the_other_process_has_ended() {
    let (Copying { engine, peer, hold }, request, copier, _memory, _registration) = begin_receive();
    // The other process has claimed a chunk, and ends before it counts it.
    assert!(chunk_claims::claim(peer.transfer_slot(0, 0), 1, CHUNKS).is_some());
    drop(peer);
    let revoke = std::thread::spawn({
        let (engine, hold) = (engine.clone(), hold.clone());
        move || {
            engine.revoke(&[request]);
            assert!(hold.released.load(SeqCst), "the buffer came back while a thread copied");
        }
    });
    until("the request was revoked", || {
        engine.state.get(&engine.lock()).core.requests.get(request).is_none_or(|request| request.is_detached())
    });
    hold.released.store(true, SeqCst);
    revoke.join().expect("the revoke waited");
    copier.join().expect("no panic");
}

#[test]
fn a_receive_whose_sender_ends_during_the_copy_is_an_error() {
    let (Copying { engine, peer, hold }, request, copier, memory, registration) = begin_receive();
    drop((registration, peer));
    hold.released.store(true, SeqCst);
    copier.join().expect("no panic");
    let completion = engine.wait(engine.lock(), request).expect("no fault of the engine");
    assert_eq!(completion.error.expect("chunks are missing").class(), MPI_ERR_OTHER);
    drop(memory);
}

#[test]
fn two_threads_and_the_sender_copy_chunks_of_one_message() {
    let (mut copying, request, copier, (data, buffer), _registration) = begin_receive();
    // The sender copies one chunk; another thread of the receiver all others but the one that is held.
    let index = chunk_claims::claim(copying.peer.transfer_slot(0, 0), 1, CHUNKS).expect("chunks are left");
    until("all other chunks were copied", || {
        copying.engine.progress(&mut copying.engine.lock()).expect("no fault");
        copying.hold.begun.load(SeqCst) as u64 == CHUNKS - 1
    });
    assert!(!copying.is_complete(request), "two chunks are missing");
    copying.hold.released.store(true, SeqCst);
    copier.join().expect("no panic");
    assert!(!copying.is_complete(request), "the sender's chunk is missing");
    chunk_claims::complete(copying.peer.transfer_slot(0, 0));
    assert!(copying.is_complete(request));
    assert_eq!(copying.await_record(wire::DONE), 77);
    let own = (index as usize) * (128 << 10)..(index as usize + 1) * (128 << 10);
    let copied = buffer.iter().enumerate().filter(|(at, _)| !own.contains(at));
    assert!(copied.zip(data.iter().skip(128 << 10)).all(|((_, got), sent)| got == sent));
    assert!(buffer[own].iter().all(|byte| *byte == 0), "the bare endpoint copied nothing");
}

#[test]
fn a_count_of_claims_that_goes_back_is_a_fault_and_lets_no_two_threads_copy_one_chunk() {
    let (copying, request, copier, _memory, _registration) = begin_receive();
    // The first chunk is held. The other process makes it claimable again.
    let claimed = copying.peer.transfer_slot(0, 0).claimed;
    until("the count of claims was set back", || {
        let word = claimed.load(SeqCst);
        claimed.compare_exchange(word, word & !0xffff_ffff, SeqCst, SeqCst).is_ok()
    });
    let engine = copying.engine.clone();
    let mut fault = None;
    until("the damage was found", || {
        fault = engine.progress(&mut engine.lock()).err();
        fault.is_some()
    });
    assert_eq!(fault.expect("just seen").class(), MPI_ERR_INTERN);
    assert_eq!(copying.hold.begun.load(SeqCst), 1, "no other copy began");
    copying.hold.released.store(true, SeqCst);
    copier.join().expect("no panic");
    engine.revoke(&[request]);
}

#[test]
fn the_lock_is_released_for_long_copies_only_and_only_among_threads() {
    for (multiple, bytes, releases) in [(true, 16 << 10, 0), (true, 1 << 20, 3), (false, 1 << 20, 0)] {
        let endpoint = Endpoint::world_of_one().expect("memory for a rank");
        let engine = Engine::new(endpoint, Arc::new(ProcessLock::new(multiple)), &HeapMemory);
        let instruments = CommMeters::detached(1);
        let spec = ContextSpec {
            id: 0,
            rank: 0,
            world_ranks: Arc::from([0]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        };
        engine.add_context(&mut engine.lock(), spec);
        let attached = crate::Attached { address: 4096, bytes: None };
        engine.buffer_attach(&mut engine.lock(), crate::BufferOwner::Process, attached).expect("none is attached");
        let data = vec![5u8; bytes];
        // SAFETY: the data stay until all requests are complete and freed.
        let of_data = || unsafe { SendBuf::from_slice(&data).detach() };
        let guard = &mut engine.lock();
        engine.start_buffered(guard, 0, 0, 1, of_data()).expect("room");
        let sent = engine.isend(guard, 0, 0, 1, of_data(), Mode::Buffered).expect("room");
        let persistent = engine.send_init(guard, 0, 0, 1, of_data(), Mode::Buffered).expect("made");
        engine.start(guard, persistent).expect("inactive");
        assert_eq!(engine.state.get(guard).core.copies.releases, releases, "{multiple}, {bytes} bytes");
        for request in [sent, persistent] {
            assert!(engine.test(guard, request).expect("there").is_some());
        }
        engine.request_free(guard, persistent).expect("inactive");
    }
}
