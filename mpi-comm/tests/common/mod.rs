//! Ranks of a job that are threads of the test.

use std::sync::{Arc, Barrier};

use mpi_comm::{Comm, CommSpec, register};
use mpi_core::ProcessLock;
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

/// Runs `body` on `size` ranks, which are threads; each leaves when all are done.
pub fn run(size: u32, body: impl Fn(&Engine, &Comm) + Send + Sync) {
    let done = Barrier::new(size as usize);
    std::thread::scope(|scope| {
        for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
            let (body, done) = (&body, &done);
            scope.spawn(move || {
                let engine = Engine::new(endpoint, Arc::new(ProcessLock::new(false)), &HeapMemory);
                let spec = CommSpec::world(engine.rank(), engine.size());
                let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(size));
                body(&engine, &world);
                engine.drain(engine.lock()).expect("no fault");
                // A peer may still copy from this rank.
                done.wait();
            });
        }
    });
}
