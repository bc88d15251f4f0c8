//! Counts uses of predefined datatypes while an MPI_T handle is allocated for one (MPI-5.0, 3.2.2 and 15.3.7).
//!
//! Nearly every call has a predefined datatype as an argument, so a call counts nothing while no handle exists. Calls
//! look up predefined datatypes with [`predefined_unwatched`](mpi_datatype::predefined_unwatched), which finds none
//! while a handle for any of them exists; the call then takes the slow path, which counts the use. The first slow call
//! that finds no handle switches counting off.
//! Invariant: while a handle exists, this process is registered as a watcher; it is registered at most once.
//! Not here: datatypes that the program created, which always count (`objects`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use mpi_core::{Guarded, ProcessLock};
use mpi_datatype::predefined;
use mpi_datatype::predefined::watch_uses;
use mpi_errors::Result;
use mpi_t::{OnDemand, Registry, TError};

use crate::metrics::instruments::DatatypeInstruments;

/// The predefined datatypes that handles are allocated for.
#[derive(Debug, Default)]
pub(crate) struct PredefinedUses {
    on_demand: OnDemand<DatatypeInstruments>,
    /// Whether this process is registered as a watcher. Changed under the process lock.
    watching: AtomicBool,
}

impl PredefinedUses {
    fn watch(&self, watching: bool) {
        if self.watching.swap(watching, Relaxed) != watching {
            watch_uses(watching);
        }
    }

    /// Counts a call that uses this predefined datatype.
    #[cold]
    pub(crate) fn used(&self, word: usize) {
        if let Some(block) = self.on_demand.get(word).filter(|block| block.uses.is_watched()) {
            block.uses.incr();
        } else if !self.on_demand.any(|block| block.uses.is_watched()) {
            self.watch(false);
        }
    }
}

impl Drop for PredefinedUses {
    fn drop(&mut self) {
        self.watch(false);
    }
}

/// Declares the variables of datatypes. A predefined datatype gets its block when a handle is allocated for it.
pub(crate) fn declare(lock: &Arc<ProcessLock>, registry: &Registry, uses: &Arc<Guarded<PredefinedUses>>) -> Result<()> {
    let (lock, uses) = (lock.clone(), uses.clone());
    registry.declare_on_demand::<DatatypeInstruments>(move |object, open| {
        let mut guard = lock.lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
        predefined(object).ok_or(TError::INVALID)?;
        let uses = uses.get_mut(&mut guard);
        uses.on_demand.open_for(object, |_| (), open)?;
        uses.watch(true);
        Ok(())
    })
}
