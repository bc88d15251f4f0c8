//! What is kept of grants that no send will use.
#![allow(unsafe_code)] // empty buffers of requests

use std::sync::Arc;

use mpi_core::ProcessLock;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::{Endpoint, RecordHead};
use mpi_t::HeapMemory;

use crate::{CommMeters, ContextSpec, Engine, wire};

/// An engine with rank 0 of a communicator, and the endpoint of rank 1.
fn engine() -> (Engine, Endpoint) {
    let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let (peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
    let engine = Engine::new(own, Arc::new(ProcessLock::new(false)), &HeapMemory);
    let (instruments, world_ranks) = (CommMeters::detached(2), Arc::from([0, 1]));
    let spec = ContextSpec {
        id: 0,
        rank: 0,
        world_ranks,
        both_groups: None,
        session: None,
        pins: Default::default(),
        instruments,
    };
    engine.add_context(&mut engine.lock(), spec);
    (engine, peer)
}

/// The receive of rank 1 with this number is started.
fn grant(engine: &Engine, peer: &mut Endpoint, number: u64) {
    let head = RecordHead { kind: wire::PARTITIONS_GRANTED, flags: 0, context: 0, tag: 5, a: 1 | number << 32, b: 8 };
    peer.push(0, &head, &[0; 24]).expect("room");
    engine.progress(&mut engine.lock()).expect("a sound record");
}

fn early_grants(engine: &Engine) -> usize {
    engine.state.get(&engine.lock()).core.partitions.early_grants()
}

#[test]
fn a_grant_for_a_freed_send_is_not_kept_whether_its_communicator_is_freed_or_not() {
    let (engine, mut peer) = engine();
    // A request that outlives the others keeps the context.
    let other = engine.recv_init(&mut engine.lock(), 0, 1, 1, RecvBuf::empty()).expect("made");
    let init = || engine.psend_init(&mut engine.lock(), 0, (1, 5), SendBuf::empty(), 1).expect("made");
    let sends = [init(), init()];
    engine.request_free(&mut engine.lock(), sends[0]).expect("inactive");
    grant(&engine, &mut peer, 0);
    assert_eq!(early_grants(&engine), 0);
    grant(&engine, &mut peer, 2);
    assert_eq!(early_grants(&engine), 1, "for the send that comes next");

    engine.remove_context(&mut engine.lock(), 0);
    engine.request_free(&mut engine.lock(), sends[1]).expect("inactive");
    for number in 0..4 {
        grant(&engine, &mut peer, number);
    }
    assert_eq!(early_grants(&engine), 0, "a freed communicator makes no send");
    engine.request_free(&mut engine.lock(), other).expect("inactive");
}

#[test]
fn a_send_that_outlives_its_communicator_gets_its_grants() {
    let (engine, mut peer) = engine();
    let send = engine.psend_init(&mut engine.lock(), 0, (1, 5), SendBuf::empty(), 1).expect("made");
    engine.remove_context(&mut engine.lock(), 0);
    engine.start(&mut engine.lock(), send).expect("inactive");
    engine.pready(&mut engine.lock(), send, std::iter::once((0, 0))).expect("active");
    assert!(engine.test(&mut engine.lock(), send).expect("live").is_none(), "nothing is granted");
    grant(&engine, &mut peer, 0);
    assert!(engine.test(&mut engine.lock(), send).expect("live").is_some());
    engine.request_free(&mut engine.lock(), send).expect("inactive");
}
