//! Receives in an engine whose table of requests is full.

#![allow(unsafe_code)] // a request holds a buffer that the test keeps

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_core::{Kind, ProcessLock, Table};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::Endpoint;
use mpi_t::HeapMemory;

use crate::{CommMeters, ContextSpec, Engine, Mode};

#[test]
fn imrecv_without_room_for_a_request_leaves_the_message_to_be_received() {
    let engine = Engine::new(Endpoint::world_of_one().expect("memory"), Arc::new(ProcessLock::new(false)), &HeapMemory);
    let spec = ContextSpec {
        id: 0,
        rank: 0,
        world_ranks: Arc::from([0]),
        both_groups: None,
        session: None,
        pins: Default::default(),
        instruments: CommMeters::detached(1),
    };
    engine.add_context(&mut engine.lock(), spec);
    for data in [vec![1u8; 8], vec![2u8; 100_000]] {
        // SAFETY: the data outlives the request, which is waited for below.
        let buffer = unsafe { SendBuf::from_slice(&data).detach() };
        let send = engine.isend(&mut engine.lock(), 0, 0, 1, buffer, Mode::Standard).expect("started");
        let (message, _) = engine.mprobe(engine.lock(), 0, 0, 1).expect("no fault");
        let mut guard = engine.lock();
        let full = Table::with_limit(Kind::Request, 0);
        let requests = std::mem::replace(&mut engine.state.get_mut(&mut guard).core.requests, full);
        let error = engine.imrecv(&mut guard, message, RecvBuf::empty()).expect_err("the table is full");
        assert_eq!(error.class(), MPI_ERR_INTERN);
        engine.state.get_mut(&mut guard).core.requests = requests;
        drop(guard);
        let mut inbox = vec![0u8; data.len()];
        let received = engine.mrecv(engine.lock(), message, RecvBuf::from_slice(&mut inbox)).map_err(drop);
        assert!(received.expect("no fault").is_some() && inbox == data, "the failed call did not take the message");
        assert!(engine.wait(engine.lock(), send).is_ok());
    }
}
