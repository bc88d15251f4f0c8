//! Processes of different jobs that connect and disconnect, each with an endpoint in this process.
#![allow(clippy::unwrap_used)] // a failed step panics

use mpi_fabric::ProcessId;

use super::*;

struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: u32, _: &RecordHead, _: Payload<'_>) {}

    fn lost(&mut self, _: u32) {}
}

/// A process of a job of its own; `None` without libfabric.
fn network() -> Option<Network> {
    let opened = Network::open(
        NetSettings::new(),
        &Options { rank: 0, size: 1, secret: 1, job: None, meters: Meters::default() },
    );
    opened.inspect_err(|why| eprintln!("skipped: {why}")).ok()
}

/// Connects two processes under number 1 each, which the first one watches.
fn connect(connection: u64, ends: [&mut Network; 2]) {
    let addresses = [ends[1].address(), ends[0].address()];
    for (own, (end, address)) in (0..).zip(ends.into_iter().zip(addresses)) {
        let id = ProcessId { job: 2, rank: 0 };
        Transport::connect(end, 1, &RemotePeer { id, connection, secret: 9, own, theirs: 1 - own, address }).unwrap();
        end.begin(1, own == 0);
    }
}

#[test]
fn the_address_of_a_peer_that_disconnects_is_used_no_more() {
    let Some(mut own) = network() else { return };
    let mut numbers = Vec::new();
    for connection in 1..=3 {
        let mut other = network().unwrap();
        connect(connection, [&mut own, &mut other]);
        numbers.push(own.shared.lock().peers[1].address);
        assert!(own.disconnect(1) && other.disconnect(1));
        let mut inner = own.shared.lock();
        inner.remove_retired(Instant::now());
        assert_eq!(inner.retired.len(), 1, "what was sent may still be on its way");
        inner.remove_retired(Instant::now() + LINGER);
        assert!(inner.retired.is_empty());
    }
    assert!(numbers.iter().all(|number| *number == numbers[0]), "the provider's table grows: {numbers:?}");
}

#[test]
fn a_packet_without_credit_for_a_peer_that_has_disconnected_is_dropped() {
    let Some(mut own) = network() else { return };
    let mut other = network().unwrap();
    connect(1, [&mut own, &mut other]);
    // The other process takes nothing, so that no credit comes back.
    let head = RecordHead { kind: 1, ..RecordHead::default() };
    let end = Instant::now() + Duration::from_secs(30);
    while own.shared.lock().peers[1].credits > 0 || own.shared.lock().peers[1].open.is_none() {
        assert!(Instant::now() < end, "the packets do not leave");
        let _ = own.push(1, &head, &[1; SHORT]);
        own.poll(&mut Nowhere).unwrap();
        // Its provider makes the connection.
        other.shared.lock().progress();
    }
    assert!(!own.disconnect(1), "the peer may still take it");
    assert!(other.disconnect(1));
    while !own.disconnect(1) {
        assert!(Instant::now() < end, "the number stays in use");
        own.poll(&mut Nowhere).unwrap();
    }
}
