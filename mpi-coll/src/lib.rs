//! Collective communication and reduction operations (MPI-5.0, chapter 6).
//!
//! - [`op`]: reduction operations and their kernels.
//! - [`Collectives`]: the collective calls of one process; one file for each group of them (`barrier`, `bcast`,
//!   `reduce`, `allreduce`, `gather`, `scatter`, `allgather`, `alltoall`).
//!   Further groups: `reduce_scatter`, `scan`, `neighbor`, and `inter` for intercommunicators.
//! - `steps`: what an algorithm consists of. `run`: steps carried out at once. `record`, `schedule`, `active`, `start`: steps kept
//!   for calls that do not block. `lowered`: those of short persistent ones on addresses. `memory`: what steps work on. `shape`, `dispatch`: the steps of a call. `reducing`: what
//!   the reductions share.
//! - `owned`: operations that own their data, for programs in Rust.
//! - `call`: a call of any operation. `blocking`: calls that block. `link`: messages of a blocking call.
//!   `missing_buffer`: errors about absent buffers.
//! - `handle_map`: maps by requests. `scratch`, `lists`: memory that the next call uses again. `split`: long reductions, split among all. `ring`: long exchanges of many processes.
//! - `agreement`, `terms`: checks that the processes of a call make the same call.
//! - `shared`: collectives through flags and slots in shared memory.
//! - `hosts`: collectives of several hosts, between which one process of each exchanges messages.
//! - `plan`: the choice of an algorithm by size and number of processes.
//! - `algorithms`: variables of the algorithms chosen.
//! - `coll_op`: the operations by number. `call_scope`: states, times and events of a call.
//! - `instruments`, `settings`: performance variables and control variables.
//!
//! Invariants: every process of a communicator chooses the same algorithm from the same facts; a process that finds an
//! error in received data completes its part of the call, so that the others do not hang, and then reports the error.
//! Not here: handles of operations (`mpi-env`), argument checks of the C interface (`mpi-capi`).

mod active;
mod agreement;
mod algorithms;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod blocking;
mod call;
mod call_scope;
mod coll_op;
mod dispatch;
mod gather;
mod handle_map;
mod hosts;
mod instruments;
mod inter;
mod link;
mod lists;
mod lowered;
mod memory;
mod missing_buffer;
mod neighbor;
pub mod op;
mod owned;
mod parts;
mod plan;
mod record;
mod reduce;
mod reduce_scatter;
mod reducing;
mod ring;
mod run;
mod scan;
mod scatter;
mod schedule;
mod scratch;
mod settings;
mod shape;
mod shared;
mod split;
mod start;
mod steps;
mod terms;

use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::Datatype;
use mpi_p2p::{Engine, SHARED_IDS};
use mpi_t::{InstrumentMemory, TResult};

pub use algorithms::{AlgorithmCalls, LastAlgorithms};
pub use call::{AtEnd, CollCall};
pub use call_scope::CollEvents;
pub use coll_op::CollOp;
pub use instruments::CollInstruments;
pub use lists::{Sizes, recv_list, send_list};
pub use memory::Buffers;
pub use op::{Builtin, Elements, Op, Reducer, UserFunction};
pub use owned::{Blocks, OwnedArguments, OwnedCollective};
pub use settings::CollSettings;
pub use shape::Root;

use algorithms::Chosen;
use call_scope::{CallScope, UnderWay};
use coll_op::Form;
use link::Link;
use plan::Plan;
use schedule::Schedules;

/// The collective calls of one process. Thread-safe: threads may be in collectives of different communicators.
///
/// Calls wait until this process's part is done. The caller has checked that roots are ranks of the communicator.
/// Errors of all calls: `MPI_ERR_TRUNCATE` and `MPI_ERR_OTHER` when the processes' counts or types do not match;
/// whatever the engine finds. `None` for a send buffer (receive buffer of a scatter) stands for `MPI_IN_PLACE`.
#[derive(Clone)]
pub struct Collectives {
    engine: Arc<Engine>,
    instruments: &'static CollInstruments,
    chosen: Chosen,
    settings: &'static CollSettings,
    /// The initial values, for communicators of several jobs: those are not started with the same settings.
    between_jobs: &'static CollSettings,
    events: &'static CollEvents,
    under_way: Arc<UnderWay>,
    schedules: Arc<Schedules>,
    /// More processes than cores: a message costs a context switch.
    crowded: bool,
    /// Whether a network is between processes of the job, whose hosts may differ in `crowded`.
    by_network: bool,
}

/// The arguments of a reduction.
#[derive(Debug, Clone, Copy)]
pub struct Reduction<'a> {
    /// The operation.
    pub op: &'a Op,
    /// The type of the elements.
    pub datatype: &'a Datatype,
    /// The type's handle word, passed on to a user's operation.
    pub handle: usize,
    /// Number of elements that each process contributes.
    pub count: u64,
}

impl Reduction<'_> {
    /// Whether elements may be combined where another process published them: predefined ones without gaps. The program's
    /// functions get memory of this process alone.
    pub(crate) fn is_direct(&self) -> bool {
        self.op.builtin().is_some() && self.datatype.is_contiguous()
    }
}

impl Collectives {
    /// The collectives over an engine; `crowded`: more processes of the job than cores are on this host; the same in all of
    /// them.
    pub fn new(engine: Arc<Engine>, crowded: bool, memory: &dyn InstrumentMemory) -> Collectives {
        let (instruments, settings) = (CollInstruments::place(memory), CollSettings::new());
        let (chosen, events) = (Chosen::new(), CollEvents::new());
        let schedules = Arc::new(Schedules::new(engine.process_lock()));
        engine.serve_collectives(schedules.clone());
        let under_way = Arc::default();
        let between_jobs = CollSettings::new();
        let by_network = engine.has_network(&engine.lock());
        Collectives {
            engine,
            instruments,
            chosen,
            settings,
            between_jobs,
            events,
            under_way,
            schedules,
            crowded,
            by_network,
        }
    }

    /// Performance variables of the collectives.
    pub fn instruments(&self) -> &'static CollInstruments {
        self.instruments
    }

    /// The algorithm that each operation chose last.
    pub fn last_algorithms(&self) -> &'static LastAlgorithms {
        self.chosen.last
    }

    /// Calls by algorithm: one row for each.
    pub fn algorithm_calls(&self) -> &'static [AlgorithmCalls] {
        self.chosen.calls
    }

    /// Control variables of the collectives.
    pub fn settings(&self) -> &'static CollSettings {
        self.settings
    }

    /// Whether control variables may be set now: `MPI_T_ERR_CVAR_SET_NOT_NOW` while a call of this process is under
    /// way. Takes no lock.
    pub fn refuse_while_under_way(&self) -> impl Fn() -> TResult<()> + Send + Sync + use<> {
        let under_way = self.under_way.clone();
        move || under_way.refuse()
    }

    /// Begins a call: counts it under the process lock, as instruments demand, and returns the guard for its first
    /// message. The caller keeps the scope to the end of the call and drops the guard first.
    #[inline(always)]
    fn begin_with<'a>(
        &'a self,
        guard: Guard<'a>,
        comm: &'a Comm,
        which: (CollOp, u64),
        count: impl FnOnce(&CollInstruments),
    ) -> (CallScope<'a>, Guard<'a>) {
        count(self.instruments);
        (CallScope::begin(self, comm, which), guard)
    }

    /// The events of collective calls, to be registered.
    pub fn events(&self) -> &'static CollEvents {
        self.events
    }

    #[inline]
    fn link<'a>(&'a self, comm: &Comm, tag: i32) -> Link<'a> {
        Link { engine: &self.engine, context: comm.collective_context(), rank: comm.rank, size: comm.size(), tag }
    }

    #[inline(always)]
    fn plan(&self, comm: &Comm, which: CollOp) -> Plan {
        match comm.channels() {
            Some(channels) => {
                let longest = channels.blocking.longest() as u64;
                Plan::new(which, comm.size(), self.crowded, self.settings, longest)
            }
            None => {
                // Jobs, and the hosts of one, may also differ in whether they have more processes than cores. Over a network
                // a step costs more than a context switch, so the algorithms are those with the fewest.
                let crowded = (self.crowded && !self.by_network) || is_between_jobs(comm);
                let plan = Plan::new(which, comm.size(), crowded, self.settings_of(comm), 0);
                if let Some(hosts) = comm.hosts() {
                    plan.with_hosts(which, self.settings_of(comm), hosts)
                } else if comm.remote().is_some() {
                    plan.between_groups()
                } else {
                    plan
                }
            }
        }
    }

    /// The settings of the calls on a communicator, the same in all of its processes.
    #[inline(always)]
    fn settings_of(&self, comm: &Comm) -> &'static CollSettings {
        if is_between_jobs(comm) { self.between_jobs } else { self.settings }
    }
}

/// Whether the processes of a communicator, or those of the two groups that it is of, are of several jobs.
#[inline(always)]
fn is_between_jobs(comm: &Comm) -> bool {
    comm.context() >= SHARED_IDS
}
