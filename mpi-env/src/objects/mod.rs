//! The functions that create, look up, change and free the program's objects, under the process lock.
//!
//! - `lookups`, `comms`, `intercomms`, `from_groups`, `idup`, `pending_comm`, `topologies`, `files`, `windows`,
//!   `int_handles`, `selected_types`: handles, creating and freeing objects.
//! - `connections`: ports and connections with other jobs.
//! - `handlers`, `cached_handlers`: error handlers of objects. `updates`: changes of the objects' metrics.
//!
//! Not here: the state (`tables`), operations on the objects (the engine crates).

pub(crate) mod cached_handlers;
pub(crate) mod comms;
pub(crate) mod connections;
pub(crate) mod files;
pub(crate) mod from_groups;
pub(crate) mod handlers;
pub(crate) mod idup;
pub(crate) mod int_handles;
pub(crate) mod intercomms;
pub(crate) mod lookups;
pub(crate) mod pending_comm;
pub(crate) mod selected_types;
pub(crate) mod topologies;
pub(crate) mod updates;
pub(crate) mod windows;
