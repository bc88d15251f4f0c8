//! The entry of a session in the table of sessions (MPI-5.0, 11.3).
//!
//! Not here: initialisation and finalisation of sessions (`process::sessions`).

use mpi_core::Info;
use mpi_errors::Attached;

/// The kinds of memory that message buffers may use (MPI-5.0, 11.4.3).
const MEMORY_KINDS: &str = "mpi,system";

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

    /// The hints that the session uses (`MPI_Session_get_info`).
    pub fn hints(&self) -> Info {
        let mut hints = Info::new();
        for (key, value) in [("thread_level", self.level), ("mpi_memory_alloc_kinds", MEMORY_KINDS)] {
            hints.set(key, value).expect("both are short");
        }
        hints
    }
}
