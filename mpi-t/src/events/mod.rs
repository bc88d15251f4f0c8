//! Events: an engine raises them, tools that registered a callback are called (MPI-5.0, section 15.3.8).
//!
//! - `declare`: [`events!`](crate::events) and what an event type is.
//! - `point`: [`EventPoint`], where an event is raised; one load and a branch while no callback is registered.
//! - `dispatcher`: registrations and queues; which callback runs when, and which events are dropped.
//! - `live`: the instances that callbacks look at just now.
//! - `hub`: one process's events, put together.
//!
//! An event is raised at a *place*, which limits what a callback may do there ([`Safety`]). A registration whose
//! callbacks need more than the place allows gets the event later, at the next place that allows it, with the time
//! of when it happened; so does one whose turn has not come. Each source hands out its events one at a time and in the
//! order of their times, so that callbacks of one source never run at once: that is the meaning of `MPI_T_SOURCE_ORDERED`.
//! Events beyond what a registration's queue holds are dropped and counted.
//!
//! Invariant: no lock is held while a callback runs, except the one of the place itself, which nothing that
//! [`Safety::MpiRestricted`] allows needs.
//! Not here: indices and names (`registry`), what is worth an event (the engine crates).

mod clock;
pub(crate) mod declare;
pub(crate) mod dispatcher;
pub(crate) mod hub;
mod live;
pub(crate) mod point;
pub(crate) mod safety;
mod tool_events;

pub use clock::now_ns;
pub use declare::{ElementDef, EventDef, Events, Payload, SourceDef};
pub use hub::{Dropped, EventInstance, Freed};
pub use point::{AnyPoint, EventPoint, somebody_listens};
pub use safety::Safety;
pub(crate) use tool_events::ToolEvents;

/// The most bytes that the elements of an event have together.
pub const EVENT_BYTES: usize = 64;
/// The same in words.
pub(crate) const WORDS: usize = EVENT_BYTES / 8;
