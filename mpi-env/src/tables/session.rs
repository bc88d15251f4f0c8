//! A session, as the table of sessions holds it (MPI-5.0, 11.3).
//!
//! Not here: beginning and ending one (`process::sessions`).

use mpi_errors::Attached;

/// A session of this process.
#[derive(Debug)]
pub struct Session {
    pub(crate) level: &'static str,
    pub(crate) errhandler: Attached,
}

impl Session {
    /// The name of the level of thread support that it provides.
    pub fn thread_level(&self) -> &'static str {
        self.level
    }
}
