//! The metrics of a process's objects: counts, events, and one block of variables for each error handler and datatype.
//!
//! Invariant: a block is bound to a handle exactly while the handle is live.
//! Not here: the definitions of the variables (`instruments`), the functions that change them (`updates`).

use std::collections::HashMap;
use std::sync::Arc;

use mpi_core::abi::{MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use mpi_core::{Guarded, ProcessLock};
use mpi_errors::Result;
use mpi_p2p::CommMeters;
use mpi_t::{InstrumentMemory, Registry};
use rustc_hash::FxBuildHasher;

use crate::metrics::instruments::{DatatypeInstruments, ErrhandlerInstruments, ObjectEvents, ObjectInstruments};
use crate::metrics::predefined_uses::{self, PredefinedUses};
use crate::metrics::topologies::{TopologyEvents, TopologyInstruments};

/// Metrics of the objects of one process.
pub struct ObjectMetrics {
    /// Events.
    pub events: &'static ObjectEvents,
    /// Numbers.
    pub counts: &'static ObjectInstruments,
    /// Topologies.
    pub topologies: &'static TopologyInstruments,
    /// Events of topologies.
    pub topology_events: &'static TopologyEvents,
    pub(crate) handlers: Guarded<HashMap<usize, &'static ErrhandlerInstruments, FxBuildHasher>>,
    pub(crate) datatypes: Guarded<Vec<Option<&'static DatatypeInstruments>>>,
    pub(crate) predefined: Arc<Guarded<PredefinedUses>>,
}

impl ObjectMetrics {
    /// Declares all metrics to the registry and binds those of the predefined objects.
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
        let (topologies, topology_events) = (TopologyInstruments::place(memory), TopologyEvents::new());
        registry.register(topologies)?;
        registry.register_events(topology_events)?;
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
        Ok(ObjectMetrics { events, counts, topologies, topology_events, handlers, datatypes, predefined })
    }
}

/// The key of a communicator's events: the address of its instruments.
pub(crate) fn event_key(instruments: CommMeters) -> usize {
    std::ptr::from_ref(instruments.block) as usize
}
