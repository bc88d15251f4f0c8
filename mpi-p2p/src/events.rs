//! The events of the engine (MPI-5.0, 15.3.8): messages of the program as they come, are matched and complete, and
//! waits.
//!
//! Invariant: events are raised under the process lock; the library's own messages raise none. While no listener is
//! registered, each place costs one load and a branch, and the path of a short send has none.
//! Not here: what becomes of events (mpi-t), counting (`instruments`).

use mpi_t::Verbosity::TunerDetail;
use mpi_t::{EventPoint, SourceDef};

use crate::chains::Key;
use crate::instruments::CommInstruments;

/// The message engine.
pub(crate) static ENGINE: SourceDef =
    SourceDef { name: "engine", description: "The message engine: messages, requests and waits of this process." };

mpi_t::events! {
    /// What happens to the messages of one communicator.
    pub struct MessageEvents: Comm, from: ENGINE {
        /// A message arrived before a matching receive was posted: its source, tag and size in bytes. Raised when a
        /// call that makes progress reads the message from its ring.
        pub unexpected(source: i32, tag: i32, bytes: u64) =
            { name: "p2p_unexpected", category: "p2p.events", at: MpiRestricted },
        /// A receive was posted and waits for its message: its source and tag, which may be wildcards.
        pub posted(source: i32, tag: i32) = { name: "p2p_posted", category: "p2p.events", at: MpiRestricted },
        /// A message was matched with a receive or a matched probe: its source, tag and size in bytes.
        pub matched(source: i32, tag: i32, bytes: u64) =
            { name: "p2p_matched", category: "p2p.events", at: MpiRestricted },
        /// A receive that had been posted, or whose message was offered first, is complete or was cancelled: source,
        /// tag and bytes as in its status.
        pub received(source: i32, tag: i32, bytes: u64) =
            { name: "p2p_receive_completed", category: "p2p.events", at: MpiRestricted },
        /// A send that was not complete when it started is complete: the handle of its request.
        pub sent(request: u64) = { name: "p2p_send_completed", category: "p2p.events", at: MpiRestricted },
        /// The transfer of an offered message into its receive begins: its source, tag and size in bytes.
        pub rendezvous_begin(source: i32, tag: i32, bytes: u64) =
            { name: "p2p_rendezvous_begin", category: "p2p.events", at: MpiRestricted, verbosity: TunerDetail },
        /// The transfer of an offered message has ended: source, tag and bytes as in the receive's status.
        pub rendezvous_end(source: i32, tag: i32, bytes: u64) =
            { name: "p2p_rendezvous_end", category: "p2p.events", at: MpiRestricted, verbosity: TunerDetail },
    }
}

mpi_t::events! {
    /// Events of the engine of a process as a whole.
    pub struct WaitEvents: NoObject, from: ENGINE {
        /// A blocking call begins to wait, after its first polls: the number of requests that exist.
        pub begin(requests: u64) = { name: "p2p_wait_begin", category: "p2p.events", at: MpiRestricted },
        /// A wait has ended: its duration in nanoseconds.
        pub end(nanoseconds: u64) = { name: "p2p_wait_end", category: "p2p.events", at: MpiRestricted },
    }
}

impl WaitEvents {
    /// Raises the begin of a wait; returns its time in nanoseconds, or 0 while no listener is registered.
    pub(crate) fn raise_begin(&self, requests: u64) -> u64 {
        self.begin.emit(|| (requests,));
        if mpi_t::any_callback_registered() { mpi_t::now_ns() } else { 0 }
    }

    /// Raises the end of the wait that began at that time.
    pub(crate) fn raise_end(&self, began: u64) {
        if began != 0 {
            self.end.emit(|| (mpi_t::now_ns().saturating_sub(began),));
        }
    }
}

/// The key with which a communicator's events are raised: where its instruments are.
#[inline]
pub(crate) fn of(instruments: &'static CommInstruments) -> usize {
    std::ptr::from_ref(instruments) as usize
}

// Functions off the path take their arguments by value: a closure that borrows them would force them onto the stack
// even while no listener is registered.
impl MessageEvents {
    /// Raises the event of a message that arrived before its receive.
    #[inline(always)]
    pub(crate) fn raise_unexpected(&self, instruments: Option<&'static CommInstruments>, key: Key, bytes: u64) {
        if mpi_t::any_callback_registered() {
            raise_message(&self.unexpected, instruments, key, bytes);
        }
    }

    /// Raises the event of a message that was matched with a receive.
    #[inline(always)]
    pub(crate) fn raise_matched(&self, instruments: Option<&'static CommInstruments>, key: Key, bytes: u64) {
        if mpi_t::any_callback_registered() {
            raise_message(&self.matched, instruments, key, bytes);
        }
    }

    /// Raises the event of a receive that was posted.
    #[inline(always)]
    pub(crate) fn raise_posted(&self, instruments: &'static CommInstruments, key: Key) {
        if mpi_t::any_callback_registered() {
            raise_receive(&self.posted, instruments, key);
        }
    }
}

#[cold]
#[inline(never)]
fn raise_message(
    point: &EventPoint<(i32, i32, u64)>,
    instruments: Option<&'static CommInstruments>,
    key: Key,
    bytes: u64,
) {
    if let Some(instruments) = instruments {
        point.emit_for(|| (of(instruments), (key.source, key.tag, bytes)));
    }
}

#[cold]
#[inline(never)]
fn raise_receive(point: &EventPoint<(i32, i32)>, instruments: &'static CommInstruments, key: Key) {
    point.emit_for(|| (of(instruments), (key.source, key.tag)));
}
