//! Ranks as threads of one process, each with its own engine, under a watchdog.
#![allow(unsafe_code)] // tests keep the buffers of requests valid and wait for the requests

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mpi_core::{Handle, ProcessLock, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::{Endpoint, FabricInstruments, FabricSettings};
use mpi_p2p::{CommMeters, ContextSpec, Engine, Mode};
use mpi_t::HeapMemory;

pub const CONTEXT: u32 = 0;

#[allow(dead_code)] // not every test file needs all of it
pub struct Rank {
    pub engine: Engine,
    pub instruments: CommMeters,
    fabric: &'static FabricInstruments,
    pub fabric_settings: &'static FabricSettings,
}

/// Data of a message, different for each seed.
#[allow(dead_code)] // not every test file needs it
pub fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|n| (n.wrapping_mul(31).wrapping_add(seed) ^ (n >> 8)) as u8).collect()
}

/// Runs `body` on `size` ranks; fails when they take longer than a minute.
#[allow(dead_code)] // not every test file needs it
pub fn run(size: u32, body: impl Fn(&Rank) + Send + Sync + 'static) {
    launch(size, false, move |rank| body(&rank));
}

/// As [`run`], at `MPI_THREAD_MULTIPLE`.
#[allow(dead_code)] // not every test file needs it
pub fn run_multiple(size: u32, body: impl Fn(Arc<Rank>) + Send + Sync + 'static) {
    launch(size, true, body);
}

fn launch(size: u32, multiple: bool, body: impl Fn(Arc<Rank>) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let world: Arc<[u32]> = (0..size).collect();
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, world, report) = (body.clone(), world.clone(), report.clone());
        std::thread::spawn(move || {
            let (fabric, fabric_settings) = (endpoint.instruments(), endpoint.settings());
            let lock = Arc::new(ProcessLock::new(multiple));
            let engine = Engine::new(endpoint, lock, &HeapMemory);
            let instruments = CommMeters::detached(size);
            let spec = ContextSpec {
                id: CONTEXT,
                rank: engine.rank(),
                world_ranks: world,
                both_groups: None,
                session: None,
                pins: Default::default(),
                instruments,
            };
            engine.add_context(&mut engine.lock(), spec);
            let rank = Arc::new(Rank { engine, instruments, fabric, fabric_settings });
            body(rank.clone());
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            report.send(rank).expect("the test waits");
        });
    }
    drop(report);
    // Ranks stay alive until all are done: a peer may still copy from them.
    let ranks: Vec<_> = (0..size)
        .map(|_| reports.recv_timeout(Duration::from_secs(60)).expect("a rank panicked, or hangs for a minute"))
        .collect();
    assert_eq!(ranks.len(), size as usize);
}

#[allow(dead_code)] // not every test file needs all of it
impl Rank {
    pub fn me(&self) -> i32 {
        self.engine.rank() as i32
    }

    pub fn sleeps(&self) -> u64 {
        self.fabric.sleeps.get()
    }

    /// How often a sleeping thread of this rank was woken.
    pub fn wakeups(&self) -> u64 {
        self.fabric.wakeups_received.get()
    }

    pub fn size(&self) -> u32 {
        self.engine.size()
    }

    pub fn try_send(&self, dest: i32, tag: i32, data: &[u8], mode: Mode) -> Result<()> {
        self.engine.send(self.engine.lock(), CONTEXT, dest, tag, SendBuf::from_slice(data), mode)
    }

    pub fn send(&self, dest: i32, tag: i32, data: &[u8], mode: Mode) {
        self.try_send(dest, tag, data, mode).expect("sent");
    }

    pub fn recv(&self, source: i32, tag: i32, data: &mut [u8]) -> Result<Status> {
        Ok(self.engine.recv(self.engine.lock(), CONTEXT, source, tag, RecvBuf::from_slice(data))?)
    }

    pub fn mrecv(&self, message: Handle, data: &mut [u8]) -> Option<Result<Status, Error>> {
        self.engine.mrecv(self.engine.lock(), message, RecvBuf::from_slice(data)).map_err(Error::from).transpose()
    }

    pub fn isend(&self, dest: i32, tag: i32, data: &[u8]) -> Handle {
        // SAFETY: every test waits for the request before the data goes away.
        let buffer = unsafe { SendBuf::from_slice(data).detach() };
        self.engine.isend(&mut self.engine.lock(), CONTEXT, dest, tag, buffer, Mode::Standard).expect("started")
    }

    pub fn irecv(&self, source: i32, tag: i32, data: &mut [u8]) -> Handle {
        // SAFETY: every test waits for the request before the data goes away.
        let buffer = unsafe { RecvBuf::from_slice(data).detach() };
        self.engine.irecv(&mut self.engine.lock(), CONTEXT, source, tag, buffer).expect("posted")
    }

    /// Sends to and receives from the other of two ranks.
    pub fn exchange_with_peer(&self) {
        let peer = 1 - self.me();
        let mut inbox = [0];
        let engine = &self.engine;
        let sent = [self.me() as u8];
        let (out, into) = (SendBuf::from_slice(&sent), RecvBuf::from_slice(&mut inbox));
        engine.sendrecv(engine.lock(), CONTEXT, peer, 99, out, peer, 99, into).expect("exchanged");
        assert_eq!(inbox, [peer as u8]);
    }
}
