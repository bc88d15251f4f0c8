//! Bridges of processes that are endpoints of one process.

use std::sync::atomic::Ordering;

use crate::layout::block;
use crate::transport::{ProcessId, Way};
use crate::{BridgeKey, Endpoint, EnteredBridge, Payload, PeerPins, RecordHead, Sink};

#[derive(Default)]
struct Received(Vec<(u32, i32, Vec<u8>)>);

impl Sink for Received {
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        self.0.push((from, head.tag, payload.to_vec()));
    }
}

fn identities(of: &[&mut Endpoint]) -> Vec<ProcessId> {
    of.iter().map(|endpoint| endpoint.process(endpoint.rank())).collect()
}

/// Connects processes by a new bridge.
fn connect(of: &mut [&mut Endpoint]) -> Vec<PeerPins> {
    let members = identities(of);
    let longest = of.iter().map(|endpoint| endpoint.ring_bytes()).max().unwrap();
    let offer = of[0].create_bridge(members.len(), longest).unwrap();
    let key = BridgeKey::from_words(offer.key().to_words());
    let entered: Vec<EnteredBridge> = of.iter().map(|endpoint| endpoint.enter_bridge(key, &members).unwrap()).collect();
    let joined: Vec<_> = of
        .iter_mut()
        .zip(entered)
        .map(|(endpoint, entered)| endpoint.join_bridge(entered, &members).unwrap())
        .collect();
    of.iter_mut().zip(joined).map(|(endpoint, joined)| endpoint.begin_bridge(joined)).collect()
}

fn send(from: &mut Endpoint, to: ProcessId, tag: i32, payload: &[u8]) {
    let number = from.number_of(to).expect("connected");
    from.push(number, &RecordHead { tag, ..RecordHead::default() }, payload).expect("room");
}

fn poll(endpoint: &mut Endpoint) -> Vec<(u32, i32, Vec<u8>)> {
    let mut received = Received::default();
    while endpoint.poll(&mut received).unwrap() > 0 {}
    received.0
}

fn of(endpoint: &Endpoint) -> ProcessId {
    endpoint.process(endpoint.rank())
}

#[test]
fn processes_of_different_jobs_exchange_records_in_order() {
    let mut job = Endpoint::threads(2).unwrap();
    let (mut b, mut a, mut alone) = (job.pop().unwrap(), job.pop().unwrap(), Endpoint::world_of_one().unwrap());
    let _pins = connect(&mut [&mut a, &mut b, &mut alone]);
    assert_eq!((a.number_of(of(&alone)), alone.number_of(of(&b)), a.number_of(of(&b))), (Some(2), Some(2), Some(1)));
    assert_eq!((a.way(2), a.way(1), a.id_of(2)), (Way::Bridge, Way::SharedMemory, Some(of(&alone))));
    let long: Vec<u8> = (0..a.max_payload()).map(|i| i as u8).collect();
    for tag in 0..200 {
        send(&mut a, of(&alone), tag, &long[..tag as usize * 9]);
        send(&mut alone, of(&b), tag, &long[..1]);
        let got = poll(&mut alone);
        assert_eq!(got, [(1, tag, long[..tag as usize * 9].to_vec())]);
    }
    send(&mut a, of(&alone), 7, &long);
    send(&mut b, of(&alone), 8, b"b");
    assert_eq!(poll(&mut alone), [(1, 7, long), (2, 8, b"b".to_vec())]);
    assert_eq!(
        poll(&mut b).iter().map(|(from, tag, _)| (*from, *tag)).collect::<Vec<_>>(),
        (0..200).map(|tag| (2, tag)).collect::<Vec<_>>()
    );
    assert!(poll(&mut a).is_empty());
}

#[test]
fn a_full_ring_reports_it_and_takes_records_again() {
    let (mut a, mut b) = (Endpoint::world_of_one().unwrap(), Endpoint::world_of_one().unwrap());
    let _pins = connect(&mut [&mut a, &mut b]);
    let (head, data) = (RecordHead::default(), vec![1; 4000]);
    let mut sent = 0;
    for _ in 0..3 {
        while a.push(1, &head, &data).is_ok() {
            sent += 1;
        }
        assert_eq!(poll(&mut b).len(), sent);
        sent = 0;
    }
}

#[test]
fn numbers_and_bridges_are_used_again_when_nothing_pins_them() {
    let mut server = Endpoint::world_of_one().unwrap();
    for _ in 0..50 {
        let mut client = Endpoint::world_of_one().unwrap();
        let pins = connect(&mut [&mut server, &mut client]);
        assert_eq!((server.number_of(of(&client)), server.connected_peers()), (Some(1), [1, 1]));
        send(&mut client, of(&server), 3, b"x");
        assert_eq!(poll(&mut server), [(1, 3, b"x".to_vec())]);
        let again = pins.clone();
        drop(pins);
        assert!(!server.has_released_peers());
        drop(again);
        assert!(server.has_released_peers());
        server.release_peers();
        assert_eq!((server.connected_peers(), server.number_of(of(&client))), ([0, 0], None));
    }
}

#[test]
fn a_second_bridge_is_used_by_pairs_without_a_route_only() {
    let mut e: Vec<Endpoint> = (0..3).map(|_| Endpoint::world_of_one().unwrap()).collect();
    let [a, b, c] = e.as_mut_slice() else { unreachable!() };
    let first = connect(&mut [&mut *a, &mut *b]);
    send(a, of(b), 1, b"first");
    let second = connect(&mut [&mut *a, &mut *b, &mut *c]);
    send(a, of(b), 2, b"same way");
    send(a, of(c), 3, b"new way");
    let from_a = b.number_of(of(a)).unwrap();
    assert_eq!(poll(b), [(from_a, 1, b"first".to_vec()), (from_a, 2, b"same way".to_vec())]);
    assert_eq!(poll(c).len(), 1);
    drop(second);
    for end in [&mut *a, &mut *b, &mut *c] {
        end.release_peers();
    }
    assert_eq!((a.connected_peers(), c.connected_peers()), ([1, 2], [0, 0]), "the pair still has both mapped");
    send(b, of(a), 4, b"still there");
    assert_eq!(poll(a).len(), 1);
    drop(first);
    a.release_peers();
    assert_eq!(a.connected_peers(), [0, 0]);
    // The other process has not released its end: the pair has to use the new bridge.
    let third = connect(&mut [&mut *a, &mut *b]);
    send(b, of(a), 5, b"new");
    send(a, of(b), 6, b"new");
    assert_eq!((poll(a).len(), poll(b).len()), (1, 1));
    drop(third);
}

#[test]
fn the_end_of_a_peer_is_found_and_records_to_it_are_dropped() {
    let (mut a, mut b) = (Endpoint::world_of_one().unwrap(), Endpoint::world_of_one().unwrap());
    let _pins = connect(&mut [&mut a, &mut b]);
    assert!(a.lost_peers().is_empty() && a.alive(1));
    send(&mut b, of(&a), 9, b"last");
    drop(b);
    assert_eq!((a.lost_peers(), a.alive(1)), (vec![1], false));
    assert_eq!(poll(&mut a).len(), 1, "what was sent before is received");
    for _ in 0..10_000 {
        a.push(1, &RecordHead::default(), &[0; 100]).expect("dropped");
    }
}

#[test]
fn a_peer_that_has_disconnected_is_not_lost_for_the_others_and_records_to_it_are_dropped() {
    let mut e: Vec<Endpoint> = (0..3).map(|_| Endpoint::world_of_one().unwrap()).collect();
    let [a, b, c] = e.as_mut_slice() else { unreachable!() };
    let mut pins = connect(&mut [&mut *a, &mut *b, &mut *c]);
    drop(pins.remove(1));
    b.release_peers();
    assert_eq!(b.connected_peers(), [0, 0]);
    let left = a.number_of(of(b)).unwrap();
    assert!(a.lost_peers().is_empty() && a.alive(left));
    for _ in 0..10_000 {
        a.push(left, &RecordHead::default(), &[0; 100]).expect("dropped");
    }
    send(c, of(a), 2, b"y");
    assert_eq!(poll(a).len(), 1);
}

#[test]
fn a_peer_that_writes_no_record_is_lost_and_no_other() {
    let mut e: Vec<Endpoint> = (0..3).map(|_| Endpoint::world_of_one().unwrap()).collect();
    let [a, b, c] = e.as_mut_slice() else { unreachable!() };
    let _pins = connect(&mut [&mut *a, &mut *b, &mut *c]);
    send(b, of(a), 1, b"x");
    send(c, of(a), 1, b"x");
    assert_eq!(poll(a).len(), 2);
    let bridges = a.bridges_for_test();
    let (job, place) = bridges.memory_for_test();
    let ring = job.layout().first_ring_at(place, 1);
    for at in (128..512).step_by(64) {
        job.mapping().word(ring + at).store(0xdead_0000_0000_0001, Ordering::Relaxed);
    }
    assert!(poll(a).is_empty());
    let lost = a.number_of(of(b)).unwrap();
    assert_eq!(a.lost_peers(), [lost]);
    send(c, of(a), 2, b"y");
    assert_eq!(poll(a).len(), 1);
}

#[test]
fn wrong_members_and_keys_are_refused() {
    let (mut a, b) = (Endpoint::world_of_one().unwrap(), Endpoint::world_of_one().unwrap());
    let members = [of(&a), of(&b)];
    let offer = a.create_bridge(2, a.ring_bytes()).unwrap();
    let key = offer.key();
    let [place, number] = key.to_words();
    for bad in [[place, number ^ 1], [place | 0xffff, number], [0, number], [u64::MAX, number]] {
        assert!(a.enter_bridge(BridgeKey::from_words(bad), &members).is_err(), "{bad:x?}");
    }
    let other = ProcessId { job: 5, rank: 0 };
    assert!(a.enter_bridge(key, &[other, of(&b)]).is_err(), "not a member");
    assert!(a.enter_bridge(key, &[of(&a)]).is_err(), "another number of members");
    let entered = a.enter_bridge(key, &members).unwrap();
    assert!(a.enter_bridge(key, &members).is_err(), "entered twice");
    assert!(a.join_bridge(entered, &members).is_err(), "the other has not entered");

    let offer = a.create_bridge(2, a.ring_bytes()).unwrap();
    for word in [block::MEMBER_JOB, block::MEMBER_RANK, block::MEMBER_PLACE, block::MEMBER_FD] {
        let offer = a.create_bridge(2, a.ring_bytes()).unwrap();
        let entered = a.enter_bridge(offer.key(), &members).unwrap();
        let peers = b.enter_bridge(offer.key(), &members).unwrap();
        let damaged = peers.job.mapping().half(peers.job.layout().block_at(1) + word);
        damaged.store(damaged.load(Ordering::Relaxed) ^ 0x100, Ordering::Relaxed);
        assert!(a.join_bridge(entered, &members).is_err(), "word {word:#x}");
    }
    assert!(a.create_bridge(1025, a.ring_bytes()).is_err());
    drop(offer);
}
