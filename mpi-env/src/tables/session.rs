//! The entry of a session in the table of sessions (MPI-5.0, 11.3).
//!
//! Not here: initialisation and finalisation of sessions (`process::sessions`).

use mpi_errors::Attached;

/// A session of this process.
#[derive(Debug)]
pub struct Session {
    pub(crate) level: &'static str,
    pub(crate) errhandler: Attached,
}

impl Session {
    /// The name of the level of thread support that the session provides.
    pub fn thread_level(&self) -> &'static str {
        self.level
    }
}
