//! The ports that the program has opened, by name.
//!
//! Not here: ports themselves (`mpi-dynamic`), the calls (`objects`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_dynamic::Port;

/// The open ports of a process.
#[derive(Debug, Default)]
pub(crate) struct Ports(Mutex<HashMap<String, Arc<Port>>>);

impl Ports {
    /// The table.
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Port>>> {
        // A panic elsewhere leaves the table whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
