//! The calls that make, find, change and end the objects of the program, under the process lock.
//!
//! - `lookups`, `comms`, `idup`, `unsettled`, `files`, `windows`: handles, and the calls that make and end objects.
//! - `handlers`, `cached_handlers`: error handlers of objects. `updates`: what changes the metrics of objects.
//!
//! Not here: the state (`tables`), what the objects do (the engine crates).

pub(crate) mod cached_handlers;
pub(crate) mod comms;
pub(crate) mod files;
pub(crate) mod handlers;
pub(crate) mod idup;
pub(crate) mod lookups;
pub(crate) mod unsettled;
pub(crate) mod updates;
pub(crate) mod windows;
