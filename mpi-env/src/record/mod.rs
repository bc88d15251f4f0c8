//! The record: all that a process owns, and its registry of variables.
//!
//! Not here: what is done with it (`objects`, `process`).

pub(crate) mod error_settings;
pub(crate) mod process;
pub(crate) mod variables;
