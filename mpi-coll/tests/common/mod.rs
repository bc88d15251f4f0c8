//! Ranks as threads of one process, each with its own collectives over `MPI_COMM_WORLD`, under a watchdog.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mpi_coll::Collectives;
use mpi_comm::{Comm, CommSpec, register};
use mpi_core::ProcessLock;
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;

/// Numbers of processes to try: powers of two, odd ones, primes.
#[allow(dead_code)] // not every test file needs it
pub const SIZES: [u32; 8] = [1, 2, 3, 4, 5, 7, 8, 12];

/// Far more than any test needs, also on a machine under load.
const TIME_LIMIT: Duration = Duration::from_secs(240);

pub struct Rank {
    pub engine: Arc<Engine>,
    pub coll: Collectives,
    pub world: Comm,
}

#[allow(dead_code)] // not every test file needs all of it
impl Rank {
    pub fn rank(&self) -> u32 {
        self.world.rank
    }

    pub fn size(&self) -> u32 {
        self.world.size()
    }
}

/// Runs `body` on `size` ranks, through one rank (`crowded`) or in trees; fails when they take longer than
/// [`TIME_LIMIT`].
#[allow(dead_code)] // not every test file needs it
pub fn run(size: u32, crowded: bool, body: impl Fn(&Rank) + Send + Sync + 'static) {
    run_in(size, if crowded { Way::Flat } else { Way::Tree }, body);
}

/// The algorithms that the ranks choose.
#[allow(dead_code)] // not every test file needs all of them
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    /// Through one rank.
    Flat,
    /// In trees, also where a few processes would be reached one by one.
    Tree,
    /// As `Tree`, and those of many processes: rings, and exchanges in pairs or log2(n) steps.
    Ring,
    /// Through shared memory where an operation can go that way.
    Shared,
}

/// As [`run`], with these algorithms.
#[allow(dead_code)] // not every test file needs it
pub fn run_in(size: u32, way: Way, body: impl Fn(&Rank) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, report) = (body.clone(), report.clone());
        std::thread::spawn(move || {
            let lock = Arc::new(ProcessLock::new(false));
            let engine = Arc::new(Engine::new(endpoint, lock, &HeapMemory));
            let coll = Collectives::new(engine.clone(), way == Way::Flat, &HeapMemory);
            coll.settings().shape.set(match way {
                Way::Shared => 0,
                Way::Flat => 1,
                Way::Tree | Way::Ring => 2,
            });
            if way == Way::Ring {
                coll.settings().ring_from.set(3);
                coll.settings().bcast_split_limit.set(1000);
            }
            let spec = CommSpec::world(engine.rank(), engine.size());
            let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(size));
            let rank = Rank { engine, coll, world };
            body(&rank);
            rank.coll.synchronize(&rank.world).expect("no fault");
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            report.send(rank).expect("the test waits");
        });
    }
    drop(report);
    // Ranks stay alive until all are done: a peer may still copy from them.
    let ranks: Vec<_> =
        (0..size).map(|_| reports.recv_timeout(TIME_LIMIT).expect("a rank panicked, or hangs")).collect();
    assert_eq!(ranks.len(), size as usize);
}

/// Runs `body` with each number of processes and all algorithms.
#[allow(dead_code)] // not every test file needs it
pub fn run_all(body: impl Fn(&Rank) + Send + Sync + Clone + 'static) {
    for size in SIZES {
        for way in [Way::Flat, Way::Tree, Way::Ring, Way::Shared] {
            run_in(size, way, body.clone());
        }
    }
}

/// A number that depends on all of its arguments.
#[allow(dead_code)] // not every test file needs it
pub fn mixed(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |state, part| {
        let state = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^ state >> 29
    })
}
