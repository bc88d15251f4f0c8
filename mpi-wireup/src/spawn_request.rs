//! A request to start further processes, and its result, for all launchers.
//!
//! Invariant: a request has at least one program, and each has at least one process.
//! Not here: its form on a connection (`pmi::spawn`), who makes requests (`mpi-env`).

use std::ffi::OsString;

/// Key of the value by which started processes find the process that started them: the name of its port.
pub const PARENT_PORT: &str = "PARENT_ROOT_PORT_NAME";
/// Environment variable with that name, where the launcher passes it as one; without it no process started the job.
pub const PARENT: &str = "FERRUM_PARENT";

/// Most processes of a request: many times what fits on a host.
pub const MOST_PROCESSES: u64 = 1 << 16;

/// A request to start processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnRequest {
    /// The programs; at least one.
    pub programs: Vec<SpawnProgram>,
    /// Values that the started processes find by their keys.
    pub values: Vec<(String, String)>,
}

/// One program of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnProgram {
    /// Number of processes, at least 1.
    pub processes: u32,
    /// The program as given.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Keys and values of its info object.
    pub info: Vec<(String, OsString)>,
}

impl SpawnRequest {
    /// Number of all processes.
    pub fn processes(&self) -> usize {
        self.programs.iter().map(|program| program.processes as usize).sum()
    }

    /// A value by its key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(own, _)| own == key).map(|(_, value)| &**value)
    }
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpawnResult {
    /// Which of the requested processes were started, in their order.
    pub started: Vec<bool>,
    /// Why none was started; empty if some were.
    pub reason: String,
}
