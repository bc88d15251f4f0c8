//! The condition that a blocked call waits for: its requests, or any change.
//!
//! Not here: how the thread that completes it finds the waiting thread (`waiting`), the record of it (`wait_record`).

use mpi_core::Handle;
use mpi_fabric::{Mark, RoomWord};

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

/// A wait, and the call's entry in the flight recorder if that does not have the facts yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedWait<'a> {
    pub awaited: Awaited<'a>,
    pub entry: Option<Mark<'a>>,
}

impl<'a> Awaited<'a> {
    /// A wait whose facts are recorded in this entry when it begins.
    #[inline(always)]
    pub fn recorded(self, entry: Option<Mark<'a>>) -> RecordedWait<'a> {
        RecordedWait { awaited: self, entry }
    }
}

impl<'a> From<Awaited<'a>> for RecordedWait<'a> {
    #[inline(always)]
    fn from(awaited: Awaited<'a>) -> RecordedWait<'a> {
        awaited.recorded(None)
    }
}
