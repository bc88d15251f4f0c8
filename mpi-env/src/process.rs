//! The process record: what one process of a job owns.
//!
//! Invariant: all fields that change after creation are atomics, `Guarded` by the process lock, or have a lock of
//! their own. A `Process` is no static by itself: a test makes several, one per thread.

use std::sync::atomic::{AtomicI32, AtomicU8};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use mpi_coll::Collectives;
use mpi_coll::op::Op;
use mpi_comm::{Comm, CommSpec, ContextIds, register};
use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_OTHER, MPI_THREAD_SINGLE};
use mpi_core::{Guard, Guarded, Handle, Kind, ProcessLock, Table};
use mpi_datatype::Datatype;
use mpi_errors::{Error, ErrorCodes, Errhandlers, Result};
use mpi_fabric::{Endpoint, Job, Life, Recorder};
use mpi_p2p::{CommInstruments, Engine};
use mpi_t::InstrumentMemory;

/// One process of a job: engine, instruments, tables of objects, and where it stands.
pub struct Process {
    /// The message engine.
    pub engine: Arc<Engine>,
    /// Collective operations over the engine.
    pub coll: Collectives,
    /// The flight recorder.
    pub recorder: Recorder,
    /// Error codes that remember their instance.
    pub codes: ErrorCodes,
    /// Error handlers.
    pub errhandlers: Guarded<Errhandlers>,
    /// The program's own datatypes.
    pub datatypes: Guarded<Table<Datatype>>,
    /// The program's own reduction operations.
    pub ops: Guarded<Table<Op>>,
    pub(crate) comms: Guarded<Table<Arc<Comm>>>,
    pub(crate) world: Arc<Comm>,
    pub(crate) myself: Arc<Comm>,
    pub(crate) context_ids: Guarded<ContextIds>,
    pub(crate) job: Arc<Job>,
    pub(crate) memory: Arc<dyn InstrumentMemory + Send + Sync>,
    pub(crate) phase: AtomicU8,
    pub(crate) level: AtomicI32,
    pub(crate) main_thread: Mutex<Option<ThreadId>>,
    pub(crate) starting: Mutex<()>,
}

impl Process {
    /// The process that the launcher's environment describes, or a world of one.
    pub(crate) fn from_environment() -> Result<Process> {
        let place = mpi_launch::wireup::from_environment()
            .map_err(|error| Error::new(MPI_ERR_OTHER, error.to_string()))?;
        let endpoint = match place {
            Some(place) => Endpoint::attach(&place)?,
            None => Endpoint::world_of_one()?,
        };
        Ok(Process::new(endpoint))
    }

    /// A process over one rank's endpoint.
    pub fn new(endpoint: Endpoint) -> Process {
        let lock = Arc::new(ProcessLock::new(false));
        let (rank, size) = (endpoint.rank(), endpoint.size());
        let (job, recorder) = (endpoint.job().clone(), endpoint.recorder());
        let host = endpoint.host_facts();
        let memory: Arc<dyn InstrumentMemory + Send + Sync> = endpoint.instrument_memory();
        let engine = Arc::new(Engine::new(endpoint, lock.clone(), &*memory));
        let predefined = |spec: CommSpec, handle: usize| {
            let instruments = CommInstruments::place_for(&*memory, &spec.name);
            let comm = register(&engine, &mut engine.lock(), spec, instruments);
            comm.set_handle(Handle(handle));
            Arc::new(comm)
        };
        let world = predefined(CommSpec::world(rank, size), MPI_COMM_WORLD);
        let myself = predefined(CommSpec::this_process(rank), MPI_COMM_SELF);
        Process {
            coll: Collectives::new(engine.clone(), host.oversubscribed(), &*memory),
            recorder,
            codes: ErrorCodes::default(),
            errhandlers: Guarded::new(&lock, Errhandlers::default()),
            datatypes: Guarded::new(&lock, Table::new(Kind::Datatype)),
            ops: Guarded::new(&lock, Table::new(Kind::Op)),
            comms: Guarded::new(&lock, Table::new(Kind::Comm)),
            world,
            myself,
            context_ids: Guarded::new(&lock, ContextIds::new(rank, size)),
            job,
            memory,
            phase: AtomicU8::new(0),
            level: AtomicI32::new(MPI_THREAD_SINGLE),
            main_thread: Mutex::new(None),
            starting: Mutex::new(()),
            engine,
        }
    }

    /// The communicator a handle names; `None` for a null, freed, forged or wrong-kind handle.
    #[inline]
    pub fn comm<'g>(&'g self, guard: &'g Guard<'_>, handle: Handle) -> Option<&'g Arc<Comm>> {
        match handle.0 {
            MPI_COMM_WORLD => Some(&self.world),
            MPI_COMM_SELF => Some(&self.myself),
            _ => self.comms.get(guard).get(handle),
        }
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> &Arc<Comm> {
        &self.world
    }

    /// `MPI_COMM_SELF`.
    pub fn myself(&self) -> &Arc<Comm> {
        &self.myself
    }

    /// The communicator whose context this is; for errors of operations under way, which know only that.
    pub fn handle_of_context(&self, guard: &Guard<'_>, context: u32) -> Option<Handle> {
        [&self.world, &self.myself]
            .into_iter()
            .chain(self.comms.get(guard).iter().map(|(_, comm)| comm))
            .find(|comm| comm.context == context & !1)
            .map(|comm| comm.handle())
    }

    /// Tells the launcher how far this process has come.
    pub(crate) fn set_life(&self, life: Life) {
        self.job.set_life(self.engine.rank(), life);
    }
}
