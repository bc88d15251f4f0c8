//! Transfers whose sender is a bare endpoint, which follows the protocol as slowly, or as incorrectly, as the tested
//! rule requires.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpi_core::ProcessLock;
use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::RecvBuf;
use mpi_fabric::{Endpoint, Payload, RecordHead, RegionKey, Sink};
use mpi_t::HeapMemory;

use crate::copy_ways::chunk_bytes;
use crate::wire::{self, Offer, Share};
use crate::{CommMeters, ContextSpec, Engine};
use crate::{chunk_claims, registration};

const BYTES: usize = 32 << 20;

/// The kinds of the records that arrived.
#[derive(Default)]
struct Kinds(Vec<u8>);

impl Sink for Kinds {
    fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
        self.0.push(head.kind);
    }
}

fn engine(endpoint: Endpoint) -> Engine {
    let engine = Engine::new(endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory);
    let instruments = CommMeters::detached(2);
    engine.add_context(
        &mut engine.lock(),
        ContextSpec {
            id: 0,
            rank: 0,
            world_ranks: Arc::from([0, 1]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        },
    );
    engine
}

/// Offers a region of [`BYTES`] and claims one chunk of the transfer; false when the receiver was faster and copied all
/// of them.
fn offer_and_claim_one_chunk(peer: &mut Endpoint, region: RegionKey, round: u64) -> bool {
    let offer = Offer { bytes: BYTES as u64, region, ways: 0, pipelined: false };
    let head = RecordHead { kind: wire::OFFER, flags: 0, context: 0, tag: 1, a: 1, b: 77 };
    peer.push(0, &head, &offer.encode()).expect("an empty ring has room");
    let mut seen = Kinds::default();
    loop {
        // The first transfer of a process takes its slot 0, and so does each that begins when all others are over.
        let claimed = peer.transfer_slot(0, 0).claimed;
        let word = claimed.load(Ordering::Acquire);
        let (now, next) = (word >> 32, word & 0xffff_ffff);
        if now == round
            && next < 256
            && claimed.compare_exchange(word, word + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return true;
        }
        peer.poll(&mut seen).expect("the engine sends sound records");
        if seen.0.contains(&wire::DONE) {
            return false;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_receive_that_fails_returns_only_when_no_peer_copies_into_its_buffer() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    if !peer.can_copy(0) {
        return; // the kernel allows no remote copies here, so no peer ever copies into a buffer
    }
    let (copied, returned) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let receiver = std::thread::spawn({
        let (copied, returned) = (copied.clone(), returned.clone());
        move || {
            let engine = engine(own);
            let mut data = vec![0; BYTES];
            let fault = loop {
                match engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut data)) {
                    Ok(_) => {}
                    Err(fault) => break fault,
                }
            };
            returned.store(true, Ordering::SeqCst);
            assert_eq!(mpi_errors::Error::from(fault).class(), MPI_ERR_INTERN);
            assert!(copied.load(Ordering::SeqCst), "the buffer came back while a peer was copying into it");
            // The slot serves the next transfer.
            assert!(engine.state.get(&engine.lock()).core.copies.list.is_empty());
        }
    });
    let data = vec![1; BYTES];
    let (region, _registration) = registration::for_reading(&peer, 0, &data);
    let claimed = (1..1000).any(|round| offer_and_claim_one_chunk(&mut peer, region, round));
    assert!(claimed, "the receiver was faster a thousand times");
    peer.push(0, &RecordHead { kind: 200, ..RecordHead::default() }, &[]).expect("room");
    // A receiver that does not wait returns in this time; one that waits is held up by it alone.
    let begun = Instant::now();
    while !returned.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_millis(300) {
        std::thread::yield_now();
    }
    copied.store(true, Ordering::SeqCst);
    peer.transfer_slot(0, 0).done.fetch_add(1, Ordering::Release);
    receiver.join().expect("the receiver saw what it should");
}

#[test]
fn a_receive_that_fails_returns_when_the_peer_that_was_copying_has_ended() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    if !peer.can_copy(0) {
        return; // as above
    }
    let receiver = std::thread::spawn(move || {
        let engine = engine(own);
        let mut data = vec![0; BYTES];
        while engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut data)).is_ok() {}
    });
    let data = vec![1; BYTES];
    let (region, _registration) = registration::for_reading(&peer, 0, &data);
    assert!((1..1000).any(|round| offer_and_claim_one_chunk(&mut peer, region, round)));
    peer.push(0, &RecordHead { kind: 200, ..RecordHead::default() }, &[]).expect("room");
    drop(peer);
    receiver.join().expect("no panic");
}

#[test]
fn a_blocking_receive_gets_the_long_message_that_is_offered_together_with_one_for_a_service() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    let engine = engine(own);
    let data = vec![9; 1 << 20];
    let (region, _registration) = registration::for_reading(&peer, 0, &data);
    let head = RecordHead { kind: wire::SERVICE, flags: 0, context: 0, tag: 2, a: 1, b: 0 };
    peer.push(0, &head, &[1; 8]).expect("room");
    let offer = Offer { bytes: data.len() as u64, region, ways: 0, pipelined: false };
    peer.push(0, &RecordHead { kind: wire::OFFER, tag: 1, b: 77, ..head }, &offer.encode()).expect("room");
    let mut got = vec![0; data.len()];
    // The receive's own poll finds both records.
    let status = engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut got)).expect("received");
    assert_eq!((status.bytes(), got == data), (data.len() as u64, true));
}

/// The receiver's token of the request for fragments that arrived.
#[derive(Default)]
struct Stream(Option<u64>);

impl Sink for Stream {
    fn record(&mut self, _: u32, head: &RecordHead, payload: Payload<'_>) {
        if head.kind == wire::STREAM {
            assert_eq!((head.b, payload.len()), (77, 24));
            self.0 = Some(payload.word(0));
        }
    }
}

#[test]
fn an_offer_of_shared_memory_that_the_receiver_cannot_map_is_received_in_fragments() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    let segment = |descriptor: u64| 1 << 63 | descriptor << 32;
    let places = [(0, segment(0)), (0, segment(1000)), (u64::MAX, segment(0x7fff_ffff)), (1 << 40, 5), (0, u64::MAX)];
    let data: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let receiver = std::thread::spawn({
        let expected = data.clone();
        move || {
            let engine = engine(own);
            for _ in places {
                let mut got = vec![0; expected.len()];
                let status =
                    engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut got)).expect("the data come in parts");
                assert_eq!((status.bytes(), got == expected), (expected.len() as u64, true));
            }
            assert_eq!(engine.instruments().shared_received.get(), 0);
        }
    });
    for (offset, number) in places {
        let region = RegionKey::from_words([offset, number]);
        let offer = Offer { bytes: data.len() as u64, region, ways: wire::SHARED, pipelined: false };
        let head = RecordHead { kind: wire::OFFER, flags: wire::SHARED, context: 0, tag: 1, a: 1, b: 77 };
        peer.push(0, &head, &offer.encode()).expect("room");
        let mut stream = Stream::default();
        while stream.0.is_none() {
            peer.poll(&mut stream).expect("the engine sends sound records");
            std::thread::yield_now();
        }
        let token = stream.0.expect("seen above");
        for (part, at) in data.chunks(4000).zip((0u64..).step_by(4000)) {
            let head = RecordHead { kind: wire::FRAGMENT, flags: 0, context: 0, tag: 0, a: at, b: token };
            while peer.push(0, &head, part).is_err() {
                peer.poll(&mut stream).expect("the engine sends sound records");
                std::thread::yield_now();
            }
        }
    }
    receiver.join().expect("the receiver saw what it should");
}

/// What a sender sees of a transfer: the slot that the receiver has opened, and its request for fragments.
#[derive(Default)]
struct Requested {
    share: Option<Share>,
    /// The receiver's token, the bytes wanted, and from where on.
    stream: Option<[u64; 3]>,
}

impl Sink for Requested {
    fn record(&mut self, _: u32, head: &RecordHead, payload: Payload<'_>) {
        match head.kind {
            wire::SHARE => self.share = Share::decode([0, 1, 2, 3].map(|i| payload.word(i)), head.flags),
            wire::STREAM => self.stream = Some([0, 1, 2].map(|i| payload.word(i))),
            _ => {}
        }
    }
}

/// Claims a chunk of a transfer that the receiver has opened, as its sender does; `None` if all are claimed.
fn claim_one(peer: &Endpoint, share: Share) -> Option<u64> {
    chunk_claims::claim(peer.transfer_slot(0, share.slot), share.round, share.bytes.div_ceil(chunk_bytes(share.bytes)))
}

/// Sends fragments up to the end of the message.
fn send_fragments(peer: &mut Endpoint, data: &[u8], [token, wanted, from]: [u64; 3]) {
    let mut at = from;
    while at < wanted {
        let part = &data[at as usize..wanted.min(at + 16_000) as usize];
        let head = RecordHead { kind: wire::FRAGMENT, flags: 0, context: 0, tag: 0, a: at, b: token };
        match peer.push(0, &head, part) {
            Ok(()) => at += part.len() as u64,
            Err(_) => std::thread::yield_now(),
        }
    }
}

#[test]
fn a_sender_that_waits_sends_in_fragments_what_nobody_has_begun_to_copy() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    if !peer.can_copy(0) {
        return; // nobody opens a slot
    }
    let data: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    let all_seen = Arc::new(AtomicBool::new(false));
    let receiver = std::thread::spawn({
        let (expected, all_seen) = (data.clone(), all_seen.clone());
        move || {
            let engine = engine(own);
            while !all_seen.load(Ordering::SeqCst) {
                let mut got = vec![0; BYTES];
                let status = engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut got)).expect("no fault");
                assert!(status.bytes() == BYTES as u64 && got == expected);
            }
            assert!(engine.state.get(&engine.lock()).core.copies.list.is_empty());
            assert!(engine.instruments().bytes_in_fragments.get() > 0);
        }
    });
    let (region, _registration) = registration::for_reading(&peer, 0, &data);
    let answer = |place| RecordHead { kind: wire::REST_IN_FRAGMENTS, flags: 0, context: 0, tag: 0, a: place, b: 0 };
    // Of a transfer that does not exist.
    peer.push(0, &answer(7 << 32 | 3), &[]).expect("an empty ring has room");
    for _ in 0..1000 {
        let mut seen = Requested::default();
        let offer = Offer { bytes: BYTES as u64, region, ways: 0, pipelined: false };
        peer.push(0, &RecordHead { kind: wire::OFFER, flags: 0, context: 0, tag: 1, a: 1, b: 77 }, &offer.encode())
            .expect("room");
        while seen.share.is_none() {
            peer.poll(&mut seen).expect("the engine sends sound records");
        }
        let share = seen.share.expect("just seen");
        let Some(index) = claim_one(&peer, share) else { continue };
        peer.push(0, &answer(share.place()), &[]).expect("room");
        // Closed: no more claims.
        while claim_one(&peer, share).is_some_and(|late| {
            copy_chunk(&peer, share, &data, late);
            true
        }) {}
        let before = Instant::now();
        while before.elapsed() < Duration::from_millis(20) {
            peer.poll(&mut seen).expect("the engine sends sound records");
            assert!(seen.stream.is_none(), "the rest was requested while a chunk before it was not there");
        }
        copy_chunk(&peer, share, &data, index);
        let chunks = BYTES as u64 / chunk_bytes(share.bytes);
        while seen.stream.is_none() && chunk_claims::completed(peer.transfer_slot(0, share.slot)).0 < chunks {
            peer.poll(&mut seen).expect("the engine sends sound records");
        }
        if let Some(stream) = seen.stream {
            assert!(stream[1] == BYTES as u64 && stream[2].is_multiple_of(chunk_bytes(share.bytes)) && stream[2] > 0);
            all_seen.store(true, Ordering::SeqCst);
            send_fragments(&mut peer, &data, stream);
            break;
        }
    }
    assert!(all_seen.load(Ordering::SeqCst), "the receiver was faster a thousand times");
    receiver.join().expect("the receiver saw what it should");
}

/// Copies a claimed chunk to the receiver and counts it.
fn copy_chunk(peer: &Endpoint, share: Share, data: &[u8], index: u64) {
    let chunk = chunk_bytes(share.bytes);
    let range = (index * chunk) as usize..((index + 1) * chunk).min(share.bytes) as usize;
    peer.copier(0).expect("checked above").write(share.region, index * chunk, &data[range]).expect("copied");
    chunk_claims::complete(peer.transfer_slot(0, share.slot));
}

/// Offers `data` to a receiver that copies nothing, and returns the slot that it opens.
fn offer_to_idle_receiver(peer: &mut Endpoint, region: RegionKey, bytes: u64, seen: &mut Requested) -> Share {
    let offer = Offer { bytes, region, ways: 0, pipelined: false };
    peer.push(0, &RecordHead { kind: wire::OFFER, flags: 0, context: 0, tag: 1, a: 1, b: 77 }, &offer.encode())
        .expect("room");
    while seen.share.is_none() {
        peer.poll(seen).expect("the engine sends sound records");
        std::thread::yield_now();
    }
    let share = seen.share.take().expect("just seen");
    assert!(share.sender_alone && !share.listed && share.bytes == bytes);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(20) {
        peer.poll(seen).expect("the engine sends sound records");
    }
    let slot = peer.transfer_slot(0, share.slot);
    assert_eq!(
        (slot.claimed.load(Ordering::Relaxed), slot.done.load(Ordering::Relaxed)),
        (share.place() & !0xffff_ffff, 0)
    );
    share
}

#[test]
fn a_receiver_that_is_set_to_copy_nothing_waits_for_the_chunks_of_the_sender_or_for_fragments() {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    if !peer.can_copy(0) {
        return; // nobody opens a slot
    }
    let data: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let receiver = std::thread::spawn({
        let expected = data.clone();
        move || {
            let engine = engine(own);
            engine.settings().single_copy_by.set(crate::cvars::BY_SENDER);
            for _ in 0..2 {
                let mut got = vec![0; expected.len()];
                let status = engine.recv(engine.lock(), 0, 1, 1, RecvBuf::from_slice(&mut got)).expect("no fault");
                assert_eq!((status.bytes(), got == expected), (expected.len() as u64, true));
            }
            assert!(engine.state.get(&engine.lock()).core.copies.list.is_empty());
            let instruments = engine.instruments();
            assert_eq!((instruments.bytes_copied.get(), instruments.bytes_in_fragments.get()), (0, 100_000));
        }
    });
    let (region, _registration) = registration::for_reading(&peer, 0, &data);
    let mut seen = Requested::default();
    let share = offer_to_idle_receiver(&mut peer, region, data.len() as u64, &mut seen);
    while let Some(index) = claim_one(&peer, share) {
        copy_chunk(&peer, share, &data, index);
    }
    // The second message in fragments, all of it.
    let share = offer_to_idle_receiver(&mut peer, region, data.len() as u64, &mut seen);
    let answer = RecordHead { kind: wire::REST_IN_FRAGMENTS, a: share.place(), ..RecordHead::default() };
    peer.push(0, &answer, &[]).expect("room");
    while seen.stream.is_none() {
        peer.poll(&mut seen).expect("the engine sends sound records");
        std::thread::yield_now();
    }
    let stream = seen.stream.expect("seen above");
    assert_eq!((stream[1], stream[2]), (data.len() as u64, 0));
    send_fragments(&mut peer, &data, stream);
    receiver.join().expect("the receiver saw what it should");
}

#[test]
fn a_request_to_copy_with_flags_that_no_receiver_sets_is_a_fault() {
    for (flags, sound) in [(wire::SENDER_ALONE, true), (wire::WRITES, false), (1, false), (128, false)] {
        let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
        let (engine, data, mut buffer) = (engine(own), vec![3; 100_000], vec![0; 100_000]);
        engine.settings().cell_limit.set(0);
        let (region, _registration) = registration::for_writing(&peer, 0, &mut buffer);
        let sender = std::thread::spawn(move || {
            engine.send(engine.lock(), 0, 1, 1, mpi_datatype::SendBuf::from_slice(&data), crate::Mode::Synchronous)
        });
        let mut seen = Offered::default();
        while seen.0.is_none() {
            peer.poll(&mut seen).expect("the engine sends sound records");
            std::thread::yield_now();
        }
        let share = Share { region, listed: false, sender_alone: true, bytes: 100_000, slot: 0, round: 1 };
        chunk_claims::open(peer.transfer_slot(1, 0), 1);
        let token = seen.0.expect("seen above");
        let head = RecordHead { kind: wire::SHARE, flags, context: 0, tag: 0, a: 0, b: token };
        peer.push(0, &head, &share.encode()).expect("room");
        peer.push(0, &RecordHead { kind: wire::DONE, flags: 0, ..head }, &[]).expect("room");
        let sent = sender.join().expect("no panic");
        assert_eq!(sent.map_err(|error| error.class()), if sound { Ok(()) } else { Err(MPI_ERR_INTERN) }, "{flags}");
    }
}

/// The sender's token of the offer that arrived.
#[derive(Default)]
struct Offered(Option<u64>);

impl Sink for Offered {
    fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
        if head.kind == wire::OFFER {
            self.0 = Some(head.b);
        }
    }
}
