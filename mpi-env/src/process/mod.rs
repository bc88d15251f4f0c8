//! The process: initialisation and finalisation, abort, sessions, and error reports.
//!
//! - `start`: creation of the record. `global`, `running`: the one record of the C interface.
//! - `life`: initialisation and finalisation. `sessions`: the same for sessions. `abort`: abnormal end of the job.
//! - `statistics`: the table at the end of a job, where no launcher writes it.
//! - `failing`, `initial_errhandler`, `stderr`, `tool_failure`: error reports.
//! - `identity`: host, version and time of the process. `info_env`: how it was started.
//!
//! Not here: the process record (`record`), the objects of the program (`objects`).

pub(crate) mod abort;
pub(crate) mod failing;
pub(crate) mod global;
pub(crate) mod identity;
pub mod info_env;
pub(crate) mod initial_errhandler;
pub(crate) mod life;
mod network;
pub(crate) mod running;
pub(crate) mod sessions;
pub(crate) mod spawning;
pub(crate) mod start;
mod statistics;
pub(crate) mod stderr;
pub(crate) mod tool_failure;
