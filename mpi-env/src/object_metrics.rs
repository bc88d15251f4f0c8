//! What the objects of a process tell of themselves: how many of each kind there are, how often error handlers and
//! datatypes are used, and events when objects come and go or an error is raised (MPI-5.0, 15.3.7 and 15.3.8).
//!
//! Invariant: a level of objects is the length of their table, set wherever that changes; an object's own counters
//! are bound while it lives, and their memory is used again only when nobody can count in it any more.
//! Not here: what communicators' messages tell (mpi-p2p).

use std::collections::HashMap;
use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use mpi_core::{Guard, Guarded, Handle, ProcessLock};
use mpi_errors::Result;
use mpi_p2p::CommMeters;
use mpi_t::Verbosity::UserBasic;
use mpi_t::{Bind, Counter, InstrumentMemory, Level, Registry, SourceDef, WatchedCounter};
use rustc_hash::FxBuildHasher;

use crate::predefined_uses::{self, PredefinedUses};
use crate::process::Process;

mpi_t::instruments! {
    /// The objects of one process.
    pub struct ObjectInstruments: NoObject, verbosity: UserDetail {
        /// Communicators that the program made and has not freed, duplicates under way included.
        pub communicators: Level =
            { name: "objects_communicators", class: Level, type: u64, unit: "communicators", category: "objects" }
            { name: "objects_communicators", class: HighWatermark, type: u64, unit: "communicators",
              category: "objects", doc: "Most communicators that the program had at once." },
        /// Groups that the program made and has not freed, the empty one not counted.
        pub groups: Level =
            { name: "objects_groups", class: Level, type: u64, unit: "groups", category: "objects" },
        /// Datatypes that the program made and has not freed.
        pub datatypes: Level =
            { name: "objects_datatypes", class: Level, type: u64, unit: "datatypes", category: "objects" }
            { name: "objects_datatypes", class: HighWatermark, type: u64, unit: "datatypes", category: "objects",
              doc: "Most datatypes that the program had at once." },
        /// Windows that the program made and has not freed.
        pub windows: Level =
            { name: "objects_windows", class: Level, type: u64, unit: "windows", category: "objects" },
        /// Reduction operations that the program made and has not freed.
        pub operations: Level =
            { name: "objects_operations", class: Level, type: u64, unit: "operations", category: "objects" },
        /// Error handlers that the program made and that it, or an object, still refers to. Counted again whenever
        /// one is made or freed.
        pub errhandlers: Level =
            { name: "objects_errhandlers", class: Level, type: u64, unit: "error handlers", category: "objects" },
        /// Sessions that were begun and not ended.
        pub sessions: Level =
            { name: "objects_sessions", class: Level, type: u64, unit: "sessions", category: "objects" },
        /// Files that the program opened and has not closed.
        pub files: Level =
            { name: "objects_files", class: Level, type: u64, unit: "files", category: "objects" }
            { name: "objects_files", class: HighWatermark, type: u64, unit: "files", category: "objects",
              doc: "Most files that the program had open at once." },
        /// Errors that calls raised, whatever the error handler did about them. MPI_T calls raise none.
        pub errors: Counter =
            { name: "errors_raised", class: Counter, type: u64, unit: "errors", category: "errors",
              verbosity: UserBasic },
        /// Bytes of memory that the program has from MPI_Alloc_mem and has not freed, as it asked for them.
        pub alloc_mem: Level =
            { name: "memory_alloc_mem", class: Level, type: u64, unit: "bytes", category: "memory" }
            { name: "memory_alloc_mem", class: HighWatermark, type: u64, unit: "bytes", category: "memory",
              doc: "Most bytes that the program had from MPI_Alloc_mem at once." },
        /// Calls of MPI_Alloc_mem that gave memory.
        pub alloc_mem_calls: Counter =
            { name: "memory_alloc_mem_calls", class: Counter, type: u64, unit: "calls", category: "memory" },
    }
}

mpi_t::instruments! {
    /// One error handler.
    pub struct ErrhandlerInstruments: Errhandler, verbosity: UserAll {
        /// Errors that were given to this error handler, by calls that failed and by MPI_X_call_errhandler.
        pub calls: Counter =
            { name: "errors_handler_calls", class: Counter, type: u64, unit: "errors", category: "errors" },
    }
}

mpi_t::instruments! {
    /// One datatype.
    pub struct DatatypeInstruments: Datatype, verbosity: UserAll {
        /// Times that calls of whatever kind were given this datatype. Of a predefined one those count that begin while
        /// a handle of this variable for it exists.
        pub uses: WatchedCounter =
            { name: "objects_datatype_uses", class: Counter, type: u64, unit: "calls", category: "objects" },
    }
}

/// Objects and errors.
static LIBRARY: SourceDef =
    SourceDef { name: "library", description: "Objects that come and go, and errors, in the thread that makes them." };

mpi_t::events! {
    /// What becomes of objects and errors.
    pub struct ObjectEvents: NoObject, from: LIBRARY {
        /// A communicator was made: its handle, the program's rank in it, and its number of processes.
        pub comm_made(comm: u64, rank: u32, size: u32) =
            { name: "objects_comm_made", category: "objects.events", at: MpiRestricted },
        /// A communicator was freed; the handle is stale.
        pub comm_freed(comm: u64) = { name: "objects_comm_freed", category: "objects.events", at: MpiRestricted },
        /// A datatype was made: its handle, and the bytes of its data.
        pub datatype_made(datatype: u64, bytes: u64) =
            { name: "objects_datatype_made", category: "objects.events", at: MpiRestricted },
        /// A datatype was freed; the handle is stale.
        pub datatype_freed(datatype: u64) =
            { name: "objects_datatype_freed", category: "objects.events", at: MpiRestricted },
        /// A call failed, and its error handler is about to be called: the error's class and code, and the handle of
        /// the object whose handler that is.
        pub error_raised(error_class: i32, error_code: i32, object: u64) =
            { name: "errors_error_raised", category: "errors.events", at: None, verbosity: UserBasic },
    }
}

/// What the objects of one process tell.
pub struct ObjectMetrics {
    /// Events.
    pub events: &'static ObjectEvents,
    /// Numbers.
    pub counts: &'static ObjectInstruments,
    handlers: Guarded<HashMap<usize, &'static ErrhandlerInstruments, FxBuildHasher>>,
    datatypes: Guarded<Vec<Option<&'static DatatypeInstruments>>>,
    pub(crate) predefined: Arc<Guarded<PredefinedUses>>,
}

impl ObjectMetrics {
    /// Declares everything to the registry, and binds what is there from the start.
    pub(crate) fn new(
        lock: &Arc<ProcessLock>,
        registry: &Registry,
        memory: &dyn InstrumentMemory,
    ) -> Result<ObjectMetrics> {
        let (events, counts) = (ObjectEvents::new(), ObjectInstruments::place(memory));
        registry.register(counts)?;
        registry.declare::<ErrhandlerInstruments>()?;
        let predefined = Arc::new(Guarded::new(lock, PredefinedUses::default()));
        predefined_uses::declare(lock, registry, &predefined)?;
        registry.register_events(events)?;
        let mut handlers = HashMap::default();
        let always = [
            (MPI_ERRORS_ARE_FATAL, "MPI_ERRORS_ARE_FATAL"),
            (MPI_ERRORS_ABORT, "MPI_ERRORS_ABORT"),
            (MPI_ERRORS_RETURN, "MPI_ERRORS_RETURN"),
        ];
        for (word, name) in always {
            let block = ErrhandlerInstruments::place_for(memory, name);
            registry.bind(word, block);
            handlers.insert(word, block);
        }
        let (handlers, datatypes) = (Guarded::new(lock, handlers), Guarded::new(lock, Vec::new()));
        Ok(ObjectMetrics { events, counts, handlers, datatypes, predefined })
    }
}

/// The key with which events of a communicator are raised: where its instruments are.
pub(crate) fn event_key(instruments: CommMeters) -> usize {
    std::ptr::from_ref(instruments.block) as usize
}

impl Process {
    /// A communicator has its handle: variables and events can be bound to it.
    pub(crate) fn on_comm_created(&self, guard: &mut Guard<'_>, handle: Handle, rank: u32, size: u32) {
        let Some(comm) = self.comm(guard, handle).cloned() else { return };
        self.on_demand.made(guard, handle, comm.group());
        let instruments = comm.instruments();
        instruments.bind(&self.registry, handle.0).expect("declared when the process record was made");
        self.registry.bind_events(Bind::Comm, handle.0, event_key(instruments));
        self.metrics.counts.communicators.follow(self.comms.get(guard).len() as u64);
        self.metrics.events.comm_made.emit(|| (handle.0 as u64, rank, size));
    }

    /// A communicator, which lives, has the name that it has now: what is told outside the process is told under it.
    /// The names of the predefined ones stay theirs, so that each is told apart.
    pub fn on_comm_named(&self, comm: &Comm) {
        let (name, number) = (comm.name(), comm.context() / 2);
        let is_predefined = [MPI_COMM_WORLD, MPI_COMM_SELF].contains(&comm.handle().0);
        if !is_predefined {
            let own = matches!(&*name, "" | "MPI_COMM_WORLD" | "MPI_COMM_SELF");
            let title = if own { format!("communicator {number}") } else { name };
            mpi_t::rename(&*self.memory, comm.instruments().block, &title);
        }
    }

    /// A communicator's handle is stale.
    pub(crate) fn on_comm_freed(&self, guard: &mut Guard<'_>, handle: Handle, instruments: CommMeters) {
        self.on_demand.gone(guard, handle);
        instruments.unbind(&self.registry, handle.0);
        self.registry.unbind_events(Bind::Comm, handle.0);
        self.metrics.counts.communicators.follow(self.comms.get(guard).len() as u64);
        self.metrics.events.comm_freed.emit(|| (handle.0 as u64,));
    }

    /// A datatype of the program's has its handle.
    pub(crate) fn on_datatype_created(&self, guard: &mut Guard<'_>, handle: Handle, bytes: u64) {
        let block = DatatypeInstruments::place_for(&*self.memory, "a datatype");
        let (index, all) = (handle.index() as usize, self.metrics.datatypes.get_mut(guard));
        all.resize(all.len().max(index + 1), None);
        all[index] = Some(block);
        self.registry.bind(handle.0, block);
        self.metrics.counts.datatypes.follow(self.datatypes.get(guard).len() as u64);
        self.metrics.events.datatype_made.emit(|| (handle.0 as u64, bytes));
    }

    /// A datatype's handle is stale.
    pub(crate) fn on_datatype_freed(&self, guard: &mut Guard<'_>, handle: Handle) {
        let place = self.metrics.datatypes.get_mut(guard).get_mut(handle.index() as usize);
        if let Some(block) = place.and_then(Option::take) {
            self.registry.unbind(handle.0, block);
            mpi_t::retire(&*self.memory, block);
        }
        self.metrics.counts.datatypes.follow(self.datatypes.get(guard).len() as u64);
        self.metrics.events.datatype_freed.emit(|| (handle.0 as u64,));
    }

    /// A call was given this datatype of the program's, which lives.
    pub fn on_datatype_used(&self, guard: &Guard<'_>, handle: Handle) {
        if let Some(Some(block)) = self.metrics.datatypes.get(guard).get(handle.index() as usize) {
            block.uses.incr();
        }
    }

    /// An error handler of the program's was made.
    pub fn on_errhandler_created(&self, guard: &mut Guard<'_>, handle: Handle) {
        self.update_errhandlers(guard);
        let block = ErrhandlerInstruments::place_for(&*self.memory, "an error handler");
        self.metrics.handlers.get_mut(guard).insert(handle.0, block);
        self.registry.bind(handle.0, block);
    }

    /// Error handlers were made or freed: forgets those that nobody refers to any more.
    pub fn update_errhandlers(&self, guard: &mut Guard<'_>) {
        let gone: Vec<usize> = {
            let all = self.errhandlers.get(guard);
            self.metrics.counts.errhandlers.follow(all.len() as u64);
            self.metrics.handlers.get(guard).keys().copied().filter(|word| !all.lives(Handle(*word))).collect()
        };
        for word in gone {
            if let Some(block) = self.metrics.handlers.get_mut(guard).remove(&word) {
                self.registry.unbind(word, block);
                mpi_t::retire(&*self.memory, block);
            }
        }
    }

    /// Memory was allocated or freed.
    pub fn update_memory(&self, guard: &Guard<'_>) {
        self.metrics.counts.alloc_mem.follow(self.blocks.get(guard).bytes());
    }

    /// An error is given to this error handler.
    pub fn on_errhandler_called(&self, guard: &Guard<'_>, handle: Handle) {
        if let Some(block) = self.counters_of(guard, handle) {
            self.count_call(block);
        }
    }

    /// The counters of an error handler.
    pub(crate) fn counters_of(&self, guard: &Guard<'_>, handle: Handle) -> Option<&'static ErrhandlerInstruments> {
        self.metrics.handlers.get(guard).get(&handle.0).copied()
    }

    /// Counts a call, with the process lock or without it.
    #[inline]
    pub(crate) fn count_call(&self, block: &ErrhandlerInstruments) {
        match self.engine.process_lock().is_multiple() {
            true => block.calls.incr_shared(),
            false => block.calls.incr(),
        }
    }
}
