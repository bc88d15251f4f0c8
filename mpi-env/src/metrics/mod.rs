//! The metrics of objects and of the heap.
//!
//! - `instruments`, `objects`: variables and events of all objects.
//! - `on_demand`: variables of single groups, operations and sessions, created when a handle is allocated for one.
//! - `topologies`: variables and events of topologies. `predefined_uses`: uses of predefined datatypes. `derived`:
//!   objects derived from sessions. `heap`: the allocator.
//!
//! Not here: the code that changes them (`objects::updates`); metrics of messages, collectives, windows and files
//! (their crates).

pub(crate) mod derived;
pub(crate) mod heap;
pub(crate) mod instruments;
pub(crate) mod objects;
pub(crate) mod on_demand;
pub(crate) mod predefined_uses;
pub(crate) mod topologies;
