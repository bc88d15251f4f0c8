//! The condition that a blocked call waits for: its requests, or any change.
//!
//! Not here: how the thread that completes it finds the waiting thread (`waiting`).

use mpi_core::Handle;
use mpi_fabric::RoomWord;

/// What a blocked call waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Awaited<'a> {
    /// This request.
    One(Handle),
    /// One of these.
    Any(&'a [Handle]),
    /// All of these.
    All(&'a [Handle]),
    /// A word that another process raises.
    Word(&'a RoomWord),
    /// A condition that anything that moves may change.
    Change,
}
