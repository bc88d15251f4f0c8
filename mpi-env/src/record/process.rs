//! The record of one process, created once by the first call of the library and passed down to the engine crates.
//!
//! Invariant: `MPI_COMM_WORLD` and `MPI_COMM_SELF` exist, with their variables bound, as long as the record exists.
//! Not here: the one static record (`global`), states of the library (`life`).

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;

use mpi_coll::{Collectives, Op};
use mpi_comm::{Comm, CommSpec, ContextIds, Group, InternalMeters, register};
use mpi_core::abi::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERRORS_RETURN, MPI_THREAD_SINGLE};
use mpi_core::{Facts, Guarded, Handle, Kind, ProcessLock, Table};
use mpi_datatype::Datatype;
use mpi_dynamic::PublishedNames;
use mpi_errors::{Attached, Errhandlers, ErrorCodes, Result};
use mpi_fabric::queue_map::QueueMap;
use mpi_fabric::statistics::StatisticsSettings;
use mpi_fabric::{Endpoint, HostFacts, Job, JobInstruments, Recorder};
use mpi_io::{File, Io};
use mpi_net::{NetInstruments, NetSettings};
use mpi_p2p::{CommMeters, Engine};
use mpi_t::{Bind, InstrumentMemory, Registry};
use mpi_win::{OneSided, Win};
use mpi_wireup::{self as wireup, Directory, Manager, Spawner};

use crate::metrics::heap;
use crate::metrics::objects::{ObjectMetrics, event_key};
use crate::metrics::on_demand::{OnDemandMetrics, Tables};
use crate::record::error_settings::ErrorSettings;
use crate::record::memory_settings::MemorySettings;
use crate::record::port_settings::PortSettings;
use crate::record::variables;
use crate::tables::attributes::Attributes;
use crate::tables::errhandler_cache::ErrhandlerCache;
use crate::tables::freed::Freed;
use crate::tables::held_types::HeldTypes;
use crate::tables::memory::Blocks;
use crate::tables::names_and_hints::NamesAndHints;
use crate::tables::ports::Ports;
use crate::tables::selected_types::SelectedTypes;
use crate::tables::session::Session;

/// The state of one process of a job. Thread-safe.
pub struct Process {
    /// The message engine, and with it the process's lock.
    pub engine: Arc<Engine>,
    /// Collective operations.
    pub coll: Collectives,
    /// One-sided operations.
    pub one_sided: OneSided,
    /// Control and performance variables.
    pub registry: Registry,
    /// What the process sends and receives over a network.
    pub(crate) net: &'static NetInstruments,
    /// Error codes and their texts.
    pub codes: Arc<ErrorCodes>,
    /// The flight recorder.
    pub recorder: Recorder,
    /// Communicators other than the predefined ones.
    pub comms: Arc<Guarded<Table<Arc<Comm>>>>,
    /// Windows.
    pub windows: Guarded<Table<Arc<Win>>>,
    /// Datatypes other than the predefined ones.
    pub datatypes: Guarded<Table<Datatype>>,
    /// Datatypes whose handles pending operations use.
    pub(crate) held_types: Guarded<HeldTypes>,
    /// Operations of the program.
    pub ops: Arc<Guarded<Table<Op>>>,
    /// Error handlers of the program.
    pub errhandlers: Guarded<Errhandlers>,
    /// The functions that freed the last handles.
    pub freed: Freed,
    pub(crate) errors: &'static ErrorSettings,
    pub(crate) statistics: &'static StatisticsSettings,
    pub(crate) memory_settings: &'static MemorySettings,
    pub(crate) port_settings: &'static PortSettings,
    /// The error handler of `MPI_FILE_NULL`, and the first one of new files.
    pub(crate) file_default: Attached,
    /// Opens and deletes files.
    pub io: Io,
    /// Open files.
    pub(crate) files: Guarded<Table<Arc<File>>>,
    /// Groups other than the empty one.
    pub groups: Arc<Guarded<Table<Group>>>,
    /// Attributes of all objects.
    pub attributes: Guarded<Attributes>,
    /// The datatypes of precisions and ranges of Fortran numbers, by combiner and parameters.
    pub(crate) selected_types: Guarded<SelectedTypes>,
    /// Names and hints of objects.
    pub names_and_hints: Guarded<NamesAndHints>,
    /// Memory that the program allocated.
    pub blocks: Guarded<Blocks>,
    /// Metrics of objects.
    pub metrics: ObjectMetrics,
    /// Metrics of single objects, created on demand.
    pub(crate) on_demand: OnDemandMetrics,
    /// Number of users of the library: the world model, and each session.
    pub(crate) users: Guarded<u32>,
    pub(crate) sessions: Arc<Guarded<Table<Session>>>,
    /// Rank and size of each communicator in `comms`, readable without the lock.
    pub(crate) facts: Facts,
    /// The instruments of communicators for the library's own messages, once there is one.
    pub(crate) internal_meters: InternalMeters,
    /// Ports that the program has opened.
    pub(crate) ports: Ports,
    /// In a box, so that unoptimised code, which copies the record in its making, needs less stack.
    pub(crate) errhandler_cache: Box<ErrhandlerCache>,
    /// Whether the program has set the error handler of `MPI_COMM_SELF`.
    pub(crate) comm_self_handler_set: AtomicBool,
    /// The facts, as in `facts`, of `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
    pub(crate) predefined_facts: [u64; 2],
    pub(crate) world: Arc<Comm>,
    pub(crate) comm_self: Arc<Comm>,
    pub(crate) context_ids: Guarded<ContextIds>,
    /// Freed communicators that may have pending operations: context and instruments.
    pub(crate) leaving: Guarded<Vec<(u32, CommMeters)>>,
    pub(crate) memory: Arc<JobInstruments>,
    pub(crate) launched: bool,
    /// The connection to a foreign launcher.
    pub(crate) manager: Option<Arc<Manager>>,
    /// The ranks that share the job memory, if not all ranks of the job do.
    pub(crate) on_host: Option<Arc<[u32]>>,
    /// The addresses of the ranks, if a network connects them.
    pub(crate) directory: Option<Arc<Directory>>,
    pub(crate) appnum: i32,
    /// Starts further processes.
    pub(crate) spawner: Box<Spawner>,
    /// The port of the process that spawned this job, if one did.
    pub(crate) parent_port: Option<String>,
    /// The handle of the communicator with the processes that spawned this job.
    pub(crate) parent_comm: AtomicUsize,
    /// The names of services that this process has published.
    pub(crate) published: Box<PublishedNames>,
    /// Where the queues are, for readers outside; the job memory has its address.
    queue_map: Box<[u64; QueueMap::WORDS]>,
    pub(crate) job: Arc<Job>,
    pub(crate) host: HostFacts,
    pub(crate) life: AtomicU32,
    pub(crate) thread_level: AtomicI32,
    pub(crate) main_thread: OnceLock<ThreadId>,
}

/// The word that calls read without the lock: a communicator's size, and the process's rank in it.
#[inline]
pub(crate) const fn fact(rank: u32, size: u32) -> u64 {
    (size as u64) << 32 | rank as u64
}

/// The state of the world model in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Life {
    /// Only the tool interface can be used.
    New = 0,
    /// A call of `MPI_Init` is under way.
    Initialising = 1,
    /// Everything can be used.
    Initialised = 2,
    /// `MPI_Finalize` is under way.
    Finalising = 3,
    /// Only the tool interface can be used.
    Finalised = 4,
}

impl Process {
    /// Address of the map of the queues (`mpi_fabric::queue_map`).
    pub fn queue_map(&self) -> u64 {
        self.queue_map.as_ptr().addr() as u64
    }

    /// Creates the record over one rank's endpoint. Errors: `MPI_ERR_ARG` if file or environment give a control
    /// variable an invalid value.
    pub fn new(endpoint: Endpoint) -> Result<Box<Process>> {
        let (settings, rings) = (endpoint.settings(), endpoint.job().ring_bytes());
        let registry = variables::begin(settings, NetSettings::new())?;
        // The job was created before the settings were read.
        settings.ring_bytes.set(rings as u64);
        Process::with_registry(endpoint, registry, Arc::default())
    }

    /// The record is boxed, because a small stack cannot hold several copies of it.
    pub(crate) fn with_registry(
        endpoint: Endpoint,
        registry: Registry,
        codes: Arc<ErrorCodes>,
    ) -> Result<Box<Process>> {
        let lock = Arc::new(ProcessLock::new(true));
        let (recorder, job, host) = (endpoint.recorder(), endpoint.job().clone(), endpoint.host_facts());
        let (memory, fabric) = (endpoint.instrument_memory(), endpoint.instruments());
        let engine = Arc::new(Engine::new(endpoint, lock.clone(), &*memory));
        let queue_map = Box::new(engine.queue_map().to_words());
        job.set_queue_map(engine.rank(), queue_map.as_ptr().addr() as u64);
        let coll = Collectives::new(engine.clone(), host.oversubscribed(), &*memory);
        let (one_sided, errors) = (OneSided::new(engine.clone(), coll.clone()), ErrorSettings::new());
        let (statistics, memory_settings) = (StatisticsSettings::new(), MemorySettings::new());
        let port_settings = PortSettings::new();
        let settings = (errors, statistics, memory_settings, port_settings);
        let net: &'static NetInstruments = mpi_t::place(&*memory, "");
        registry.register(net)?;
        let registry = variables::complete(registry, fabric, &engine, &coll, &one_sided, settings)?;

        let predefined = |word: usize, spec: CommSpec| -> Result<Arc<Comm>> {
            let instruments = CommMeters::place_in_job(&memory, &spec.name, spec.peer_ranks());
            let comm = register(&engine, &mut engine.lock(), spec, instruments);
            comm.set_handle(Handle(word));
            instruments.bind(&registry, word)?;
            registry.bind_events(Bind::Comm, word, event_key(instruments));
            Ok(Arc::new(comm))
        };
        let metrics = ObjectMetrics::new(&lock, &registry, &*memory)?;
        let comms = Arc::new(Guarded::new(&lock, Table::new(Kind::Comm)));
        let groups = Arc::new(Guarded::new(&lock, Table::new(Kind::Group)));
        let ops = Arc::new(Guarded::new(&lock, Table::new(Kind::Op)));
        let sessions = Arc::new(Guarded::new(&lock, Table::new(Kind::Session)));
        let tables = Tables { comms: &comms, groups: &groups, ops: &ops, sessions: &sessions };
        let on_demand = OnDemandMetrics::new(&lock, &registry, &engine, &tables)?;
        // Registered last, because Rust programs do not have these variables.
        let heap = heap::instruments();
        if heap.allocations.get() > 0 {
            registry.register(heap)?;
        }
        let (rank, size) = (engine.rank(), engine.size());
        let world = predefined(MPI_COMM_WORLD, CommSpec::world(rank, size))?;
        let comm_self = predefined(MPI_COMM_SELF, CommSpec::this_process(rank))?;
        Ok(Box::new(Process {
            coll,
            one_sided,
            registry,
            net,
            metrics,
            on_demand,
            codes,
            recorder,
            comms,
            windows: Guarded::new(&lock, Table::new(Kind::Win)),
            datatypes: Guarded::new(&lock, Table::new(Kind::Datatype)),
            held_types: Guarded::new(&lock, HeldTypes::default()),
            ops,
            errhandlers: Guarded::new(&lock, Errhandlers::new()),
            freed: Freed::new(),
            errors,
            statistics,
            memory_settings,
            port_settings,
            file_default: Attached::new(Handle(MPI_ERRORS_RETURN)),
            io: Io::new(engine.clone()),
            files: Guarded::new(&lock, Table::new(Kind::File)),
            groups,
            attributes: Guarded::new(&lock, Attributes::new()),
            selected_types: Guarded::new(&lock, SelectedTypes::new()),
            names_and_hints: Guarded::new(&lock, NamesAndHints::default()),
            blocks: Guarded::new(&lock, Blocks::default()),
            facts: Facts::new(),
            predefined_facts: [fact(rank, size), fact(0, 1)],
            internal_meters: InternalMeters::default(),
            ports: Ports::default(),
            errhandler_cache: Box::default(),
            comm_self_handler_set: AtomicBool::new(false),
            users: Guarded::new(&lock, 0),
            sessions,
            world,
            comm_self,
            context_ids: Guarded::new(&lock, ContextIds::new(rank, size)),
            leaving: Guarded::new(&lock, Vec::new()),
            memory,
            launched: false,
            manager: None,
            on_host: None,
            directory: None,
            appnum: 0,
            spawner: Box::new(Spawner::new(None)),
            parent_port: None,
            parent_comm: AtomicUsize::new(MPI_COMM_NULL),
            published: Box::default(),
            queue_map,
            job,
            host,
            life: AtomicU32::new(0),
            thread_level: AtomicI32::new(MPI_THREAD_SINGLE),
            main_thread: OnceLock::new(),
            engine,
        }))
    }

    /// The state of the world model. Thread-safe and async-signal-safe.
    #[inline]
    pub fn life(&self) -> Life {
        // Acquire pairs with the Release of `advance`: a thread that reads a state sees all writes before that change.
        match self.life.load(Ordering::Acquire) {
            0 => Life::New,
            1 => Life::Initialising,
            2 => Life::Initialised,
            3 => Life::Finalising,
            _ => Life::Finalised,
        }
    }

    /// Whether `MPI_COMM_WORLD` and `MPI_COMM_SELF` can be used: from the end of `MPI_Init` to the end of
    /// `MPI_Finalize`.
    #[inline]
    pub fn has_world(&self) -> bool {
        // The test of one bit, because every message needs it.
        const BIT: u32 = Life::Initialised as u32 & Life::Finalising as u32;
        const {
            assert!(
                BIT.is_power_of_two()
                    && (Life::New as u32 | Life::Initialising as u32 | Life::Finalised as u32) & BIT == 0
            )
        }
        self.life.load(Ordering::Acquire) & BIT != 0
    }

    /// Rank in `MPI_COMM_WORLD`.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.engine.rank()
    }

    /// Whether a launcher started the process; otherwise the process is a job of its own.
    #[inline]
    pub fn is_launched(&self) -> bool {
        self.launched
    }

    /// Number of the process's program among those of the launcher's command line, from 0 (`MPI_APPNUM`).
    #[inline]
    pub fn appnum(&self) -> &i32 {
        &self.appnum
    }

    /// The value that the launcher's command line gives for a key of `MPI_INFO_ENV`; `None` if it gives none, or if a
    /// foreign launcher started the process.
    pub fn info_env_value(key: &str) -> Option<String> {
        let (_, variable) = wireup::INFO_ENV_VARIABLES.iter().find(|(known, _)| *known == key)?;
        std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned())
    }

    /// The memory of the instruments that the job's final statistics read.
    pub fn instrument_memory(&self) -> &dyn InstrumentMemory {
        &*self.memory
    }

    /// Number of processes that can run at a time, those of `MPI_COMM_WORLD` included (`MPI_UNIVERSE_SIZE`): as many as
    /// there are cores of the host, if that is more and the job has one host.
    pub fn universe_size(&self) -> u32 {
        let several = self.engine.has_network(&self.engine.lock());
        // The same in all processes, whose hosts may differ in their cores.
        if several { self.size() } else { self.size().max(self.job.cores()) }
    }

    /// Number of processes in `MPI_COMM_WORLD`.
    #[inline]
    pub fn size(&self) -> u32 {
        self.engine.size()
    }

    /// `MPI_COMM_WORLD`.
    #[inline]
    pub fn world(&self) -> &Arc<Comm> {
        &self.world
    }

    /// `MPI_COMM_SELF`.
    #[inline]
    pub fn comm_self(&self) -> &Arc<Comm> {
        &self.comm_self
    }
}
