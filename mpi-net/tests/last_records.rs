//! What a process sends last arrives although the process ends, also with providers that send by the process itself.
#![allow(clippy::unwrap_used)] // a failed step panics

mod common;

use std::time::{Duration, Instant};

use mpi_fabric::{Payload, RecordHead, Sink, Transport};
use mpi_net::Network;

#[derive(Default)]
struct Inbox(Vec<u64>);

impl Sink for Inbox {
    fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
        self.0.push(head.b);
    }
}

fn push(network: &mut Network, word: u64, peer: &mut Network, inbox: &mut Inbox) {
    let head = RecordHead { b: word, ..RecordHead::default() };
    let end = Instant::now() + Duration::from_secs(30);
    while network.push(1, &head, &[1; 8]).is_err() {
        assert!(Instant::now() < end, "record {word} is not taken");
        network.poll(&mut Inbox::default()).unwrap();
        peer.poll(inbox).unwrap();
    }
}

#[test]
fn the_last_records_of_a_process_that_ends_arrive() {
    for provider in ["tcp", "tcp;ofi_rxm", "sockets", "udp;ofi_rxd"] {
        let Some([mut from, mut to]) = common::pair(provider) else { continue };
        let (mut inbox, end) = (Inbox::default(), Instant::now() + Duration::from_secs(30));
        push(&mut from, 0, &mut to, &mut inbox);
        while inbox.0.is_empty() {
            assert!(Instant::now() < end, "{provider}: the first record does not arrive");
            from.poll(&mut Inbox::default()).unwrap();
            to.poll(&mut inbox).unwrap();
        }
        push(&mut from, 1, &mut to, &mut inbox);
        push(&mut from, 2, &mut to, &mut inbox);
        from.settle();
        while !from.is_drained() {
            assert!(Instant::now() < end, "{provider}: the last records do not leave");
            from.poll(&mut Inbox::default()).unwrap();
            to.poll(&mut inbox).unwrap();
        }
        drop(from);
        while inbox.0.len() < 3 {
            assert!(Instant::now() < end, "{provider}: the last records are lost");
            to.poll(&mut inbox).unwrap();
        }
        assert_eq!(inbox.0, [0, 1, 2], "{provider}");
    }
}
