//! A word in the room of another process that a thread, or an operation, waits for.
//!
//! Not here: when it is looked at (`room_waits`).

use mpi_core::Handle;
use mpi_fabric::RoomWord;

use crate::waiters::Place;

/// Who waits for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// The thread at this place, which sleeps.
    Thread(Place),
    /// A collective operation that does not block.
    Operation(Handle),
}

/// A word that is waited for.
#[derive(Debug)]
pub(crate) struct RoomWait {
    pub word: RoomWord,
    pub waiter: Waiter,
}
