//! The process: start and end, abort, sessions, and the reports of its errors.
//!
//! - `start`: making the record. `global`, `running`: the one record of the C interface.
//! - `life`: initialisation and finalisation. `sessions`: the same for sessions. `abort`: ending the job.
//! - `failing`, `initial_errhandler`, `stderr`, `tool_failure`: how errors are reported.
//! - `hardware`, `identity`: where the process runs.
//!
//! Not here: what the process owns (`record`), the objects of the program (`objects`).

pub(crate) mod abort;
pub(crate) mod failing;
pub(crate) mod global;
pub mod hardware;
pub(crate) mod identity;
pub(crate) mod initial_errhandler;
pub(crate) mod life;
pub(crate) mod running;
pub(crate) mod sessions;
pub(crate) mod start;
pub(crate) mod stderr;
pub(crate) mod tool_failure;
