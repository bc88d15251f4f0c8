//! Starts of several persistent operations that own their data (`MPI_Startall`; MPI-5.0, 3.9).
//!
//! Invariant: an operation that was started counts as active, also when a later one of the list could not be started.
//! Not here: the operations (`owned`, and `owned` of mpi-coll).

use mpi_core::{Guard, Handle};
use mpi_errors::Error;

use crate::engine::Engine;

/// A persistent operation that owns its data.
pub trait OwnedRestart {
    /// Its request, whether it is active or not; `None` if it has none.
    fn persistent_request(&self) -> Option<Handle>;
    /// Its request has been started: the engine uses the data until it is complete.
    fn has_started(&mut self);
}

impl Engine {
    /// Starts the operations, in the order of the list. Errors: as [`Engine::start_all`].
    pub fn start_owned(
        &self,
        guard: &mut Guard<'_>,
        operations: &mut [&mut dyn OwnedRestart],
    ) -> Result<(), (usize, Error)> {
        let null = Handle(mpi_core::abi::MPI_REQUEST_NULL);
        let requests: Vec<Handle> =
            operations.iter().map(|operation| operation.persistent_request().unwrap_or(null)).collect();
        let started = self.start_all(guard, &requests);
        let count = match &started {
            Ok(()) => operations.len(),
            // The first refused one is found before any is started, or the ones before it have been.
            Err((index, _)) => *index,
        };
        for (operation, request) in operations.iter_mut().zip(&requests).take(count) {
            if self.is_active(guard, *request) {
                operation.has_started();
            }
        }
        started
    }
}
