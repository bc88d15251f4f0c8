//! A simulated network: hosts, links and virtual time, with thousands of ranks in one process.
//!
//! [`run`] starts each rank as a thread with a small stack and gives it an [`Endpoint`] whose peers all lie behind a
//! [`Transport`](crate::Transport). The simulation lets one rank run at a time, always the one whose virtual clock is
//! lowest, so every count and every clock is the same in each run. A record costs its sender an overhead, waits for its
//! link, and arrives after the link's latency and the time that its bytes take. Where the ranks of a host have fewer cores
//! than they are ([`Topology::cores_per_host`]), the overhead also waits for a core. An empty poll takes virtual time too,
//! so a loop of tests ends. The data of a pair of ranks is allocated when the pair first communicates.
//!
//! A process that is lost ([`Topology::lose`]) gives its peers an error once they could have detected the loss. Ranks
//! that all wait for each other get an error too: no run hangs.
//!
//! ```
//! use mpi_fabric::simulated::{Link, Topology, run};
//! use mpi_fabric::{Payload, RecordHead, Sink};
//!
//! struct Count(u32);
//! impl Sink for Count {
//!     fn record(&mut self, _from: u32, _head: &RecordHead, _payload: Payload<'_>) {
//!         self.0 += 1;
//!     }
//! }
//!
//! // Two hosts of two ranks; rank 0 sends a record to each of the others.
//! let topology = Topology::new(4).ranks_per_host(2).between_hosts(Link { latency_ns: 2000, bytes_per_us: 10_000 });
//! let outcome = run(&topology, |mut rank| {
//!     let mut count = Count(0);
//!     if rank.endpoint.rank() == 0 {
//!         for peer in 1..4 {
//!             rank.endpoint.push(peer, &RecordHead::default(), b"8 bytes.").expect("a link takes any number");
//!         }
//!     } else {
//!         while rank.endpoint.poll(&mut count)? == 0 {}
//!     }
//!     Ok::<_, mpi_errors::Error>((count.0, rank.clock.now_ns()))
//! })?;
//! let results: Vec<(u32, u64)> = outcome.results.into_iter().collect::<mpi_errors::Result<_>>()?;
//! assert_eq!(outcome.traffic.records, 3);
//! assert!(results[1].1 < 2000 && results[3].1 >= 2000, "rank 1 is on the host of rank 0, rank 3 is not");
//! # Ok::<(), mpi_errors::Error>(())
//! ```
//!
//! Invariant: a rank runs only while the scheduler has given it the turn; its thread must not wait for another rank's
//! by other means than its endpoint. One thread per rank.
//! Not here: real time, congestion inside the network, ranks that share memory.

mod schedule;
mod topology;
mod transport;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use mpi_errors::Result;

use crate::endpoint::Endpoint;
use crate::fault;
use crate::settings::FabricSettings;
use schedule::Schedule;
pub use schedule::{RankTraffic, Traffic};
pub use topology::{Link, Topology};
use transport::SimulatedTransport;

/// One rank of a run.
pub struct Rank {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Its virtual clock.
    pub clock: Clock,
}

/// A rank's virtual clock, and the count of what it sent. Thread-safe.
#[derive(Clone)]
pub struct Clock {
    schedule: Arc<Schedule>,
    rank: u32,
}

impl Clock {
    /// Nanoseconds of virtual time since the run began.
    pub fn now_ns(&self) -> u64 {
        self.schedule.lock().clock(self.rank)
    }

    /// What this rank has sent and copied so far.
    pub fn traffic(&self) -> RankTraffic {
        self.schedule.lock().sent(self.rank)
    }

    /// Advances virtual time, as a computation of this length would.
    pub fn spend_ns(&self, ns: u64) {
        self.schedule.lock().spend(self.rank, ns);
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What each rank returned, by rank.
    pub results: Vec<T>,
    /// What was sent over the links.
    pub traffic: Traffic,
    /// Each rank's virtual clock when it ended, in nanoseconds.
    pub clocks_ns: Vec<u64>,
}

/// Runs `body` as every rank of a topology and returns when all have ended. A panic of a rank is passed on.
/// # Errors
/// `MPI_ERR_OTHER` or `MPI_ERR_NO_MEM`: the system has no more threads or memory.
pub fn run<T: Send>(topology: &Topology, body: impl Fn(Rank) -> T + Sync) -> Result<Outcome<T>> {
    let size = topology.ranks();
    let schedule = Arc::new(Schedule::new(topology));
    let make = |rank| {
        let transport = Box::new(SimulatedTransport::new(schedule.clone(), rank));
        let endpoint = Endpoint::over(transport, rank, size, None, FabricSettings::new())?;
        Ok(Rank { endpoint, clock: Clock { schedule: schedule.clone(), rank } })
    };
    let ranks = (0..size).map(make).collect::<Result<Vec<Rank>>>()?;
    let (body, schedule_of_all) = (&body, &schedule);
    let results = thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks.len());
        for rank in ranks {
            let number = rank.endpoint.rank();
            let thread = thread::Builder::new().name(format!("rank {number}")).stack_size(topology.stack());
            let spawned = thread.spawn_scoped(scope, move || {
                schedule_of_all.await_turn(number);
                body(rank)
            });
            match spawned {
                Ok(handle) => threads.push(handle),
                Err(error) => {
                    // The ranks that were started end with an error instead of waiting for the others.
                    schedule.fail("the simulation could not start all ranks");
                    schedule.begin();
                    return Err(fault::system(&format!("cannot start rank {number} of {size}"), &error));
                }
            }
        }
        schedule.begin();
        Ok(threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>())
    })?;
    let results = results.into_iter().map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect();
    let state = schedule.lock();
    Ok(Outcome { results, traffic: state.traffic(), clocks_ns: (0..size).map(|rank| state.clock(rank)).collect() })
}
