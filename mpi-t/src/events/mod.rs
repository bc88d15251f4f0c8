//! Events: an engine raises them, tools that registered a callback are called (MPI-5.0, section 15.3.8).
//!
//! - `event_def`: the definition of an event type. `declare`: [`events!`](crate::events).
//! - `point`: [`EventPoint`], where an event is raised; one load and a branch while no callback is registered
//!   (`listeners`).
//! - `dispatcher`: registrations and queues; which callback runs when, and which events are dropped.
//! - `live`: the event instances that callbacks read.
//! - `hub`: all events of one process.
//!
//! An event is raised at a *place*, which restricts its callbacks ([`Safety`]). A registration whose callbacks need
//! more than the place permits gets the event later, at the next place that permits it, with the time at which it
//! happened; so does a registration behind others in the queue. Each source delivers its events one at a time and in
//! the order of their times, so that callbacks of one source never run at once, as `MPI_T_SOURCE_ORDERED` requires.
//! Events beyond the capacity of a registration's queue are dropped and counted.
//!
//! Invariant: no lock is held while a callback runs, except the lock of the place itself, which no call that
//! [`Safety::MpiRestricted`] permits needs.
//! Not here: indices and names (`registry`), the events themselves (the engine crates).

mod clock;
mod declare;
pub(crate) mod dispatcher;
pub(crate) mod event_def;
pub(crate) mod hub;
mod listeners;
mod live;
pub(crate) mod point;
pub(crate) mod safety;
mod tool_events;

pub use clock::now_ns;
pub use declare::Events;
pub use event_def::{ElementDef, EventDef, Payload, SourceDef};
pub use hub::{Dropped, EventInstance, Freed};
pub use listeners::{any_callback_registered, request_whole_calls, whole_calls_requested};
pub use point::{AnyPoint, EventPoint};
pub use safety::Safety;
pub(crate) use tool_events::ToolEvents;

/// The most bytes that the elements of an event have together.
pub const EVENT_BYTES: usize = 64;
/// The same in words.
pub(crate) const WORDS: usize = EVENT_BYTES / 8;
