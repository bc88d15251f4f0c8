//! Instruments that communicators for the library's own messages share: nobody reads them.
//!
//! Invariant: a place was never handed out with fewer rows than its communicator has processes.

use std::sync::{Arc, Mutex, PoisonError};

use mpi_p2p::CommMeters;

/// The instruments of one process's internal communicators. Thread-safe; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct InternalMeters {
    /// The largest so far. Smaller ones stay, because communicators use them.
    largest: Arc<Mutex<Option<(u32, CommMeters)>>>,
}

impl InternalMeters {
    /// Instruments with rows for `size` processes at least. More than a job has are needed for processes of several jobs.
    pub fn of(&self, size: u32) -> CommMeters {
        // A panic elsewhere leaves the value whole.
        let mut largest = self.largest.lock().unwrap_or_else(PoisonError::into_inner);
        match *largest {
            Some((rows, meters)) if rows >= size => meters,
            smaller => {
                // At least twice as many, so that what stays is no more than what is in use.
                let rows = size.max(smaller.map_or(0, |(rows, _)| 2 * rows));
                let meters = CommMeters::detached(rows);
                *largest = Some((rows, meters));
                meters
            }
        }
    }
}
