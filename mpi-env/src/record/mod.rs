//! The process record: the state of one process, and its registry of variables.
//!
//! Not here: the functions that use it (`objects`, `process`).

pub(crate) mod error_settings;
pub(crate) mod memory_settings;
pub(crate) mod port_settings;
pub(crate) mod process;
pub(crate) mod variables;
