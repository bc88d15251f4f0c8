//! How long a message for a service may be that a peer offers.

use std::sync::{Arc, Mutex};

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_core::{Guard, Handle, ProcessLock};
use mpi_errors::Result;
use mpi_fabric::{Endpoint, RecordHead, RegionKey};
use mpi_t::HeapMemory;

use super::LONGEST_FOR_SERVICE;
use crate::wire::{self, Offer};
use crate::{CommMeters, Completion, ContextSpec, Engine, Service, ServiceMessage};

/// Keeps the lengths of its messages.
#[derive(Default)]
struct Lengths(Mutex<Vec<usize>>);

impl Service for Lengths {
    fn message(&self, _: &Engine, _: &mut Guard<'_>, message: ServiceMessage<'_>) {
        self.0.lock().expect("no panic").push(message.data.len());
    }

    fn completed(&self, _: &Engine, _: &mut Guard<'_>, _: Handle, _: Completion) {}
}

/// Rank 0 makes progress after rank 1 has offered a message of so many bytes for a service. Returns the result, and whether it has memory for the message.
fn offered(bytes: u64) -> (Result<()>, bool) {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    let engine = Engine::new(own, Arc::new(ProcessLock::new(false)), &HeapMemory);
    let (instruments, world_ranks) = (CommMeters::detached(2), Arc::from([0, 1]));
    let (both_groups, session, pins) = (None, None, Default::default());
    let spec = ContextSpec { id: 0, rank: 0, world_ranks, both_groups, session, pins, instruments };
    engine.add_context(&mut engine.lock(), spec);
    let service = Arc::new(Lengths::default());
    engine.add_service(&mut engine.lock(), 0, service.clone());
    // In too many pieces for one region: the message would come in fragments, of which none comes.
    let offer = Offer { bytes, region: RegionKey::from_words([0; 2]), ways: 0, pipelined: false };
    let flags = wire::FOR_SERVICE;
    let head = RecordHead { kind: wire::OFFER, flags, context: 0, tag: 1, a: 1, b: 1 << 32 };
    peer.push(0, &head, &offer.encode()).expect("room");
    let result = engine.progress(&mut engine.lock());
    let kept = !engine.state.get(&engine.lock()).core.services.incoming.is_empty();
    assert!(service.0.lock().expect("no panic").is_empty(), "its data have not come");
    (result, kept)
}

#[test]
fn a_message_for_a_service_gets_memory_up_to_the_length_that_requests_have_and_a_longer_one_is_refused() {
    let (result, kept) = offered(LONGEST_FOR_SERVICE);
    assert!(result.is_ok() && kept, "{result:?}");
    for bytes in [LONGEST_FOR_SERVICE + 1, 1 << 32, 1 << 46, u64::MAX] {
        let (result, kept) = offered(bytes);
        let error = result.expect_err("too long");
        assert_eq!(error.class(), MPI_ERR_INTERN);
        let sentence = "process 1 of the job sent a message for a service that is longer than any of this library";
        assert!(error.to_string().contains(sentence) && !kept, "{error}");
    }
}
