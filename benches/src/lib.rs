//! Shared parts of the criterion benches: an engine in a world of one, whose messages go to itself.
//!
//! Not here: the side-by-side programs (`c/`, run by `cargo xtask bench`).

use std::sync::Arc;

use mpi_core::{ProcessLock, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, ContextSpec, Engine, Mode};
use mpi_t::HeapMemory;

const CONTEXT: u32 = 0;

/// One process that sends to itself.
pub struct Alone {
    engine: Engine,
}

impl Alone {
    /// A world of one below `MPI_THREAD_MULTIPLE`, or at it.
    ///
    /// # Panics
    ///
    /// When there is no memory for it.
    pub fn new(multiple: bool) -> Alone {
        let endpoint = Endpoint::world_of_one().expect("memory for one rank");
        let engine = Engine::new(endpoint, Arc::new(ProcessLock::new(multiple)), &HeapMemory);
        let instruments = CommMeters::detached(1);
        let spec = ContextSpec {
            id: CONTEXT,
            rank: 0,
            world_ranks: Arc::new([0]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        };
        engine.add_context(&mut engine.lock(), spec);
        Alone { engine }
    }

    /// Sends a short message for which no receive is posted yet.
    ///
    /// # Panics
    ///
    /// When the engine reports an error.
    pub fn send(&self, tag: i32, data: &[u8]) {
        let buffer = SendBuf::from_slice(data);
        self.engine.send(self.engine.lock(), CONTEXT, 0, tag, buffer, Mode::Standard).expect("a short message");
    }

    /// Receives a message that has arrived.
    ///
    /// # Panics
    ///
    /// When the engine reports an error.
    pub fn receive(&self, tag: i32, data: &mut [u8]) -> Status {
        self.engine
            .recv(self.engine.lock(), CONTEXT, 0, tag, RecvBuf::from_slice(data))
            .expect("a message that is there")
    }
}
