//! Messages that have arrived for services, queued until the services are called (`service`).
//!
//! Invariant: the messages of one sender leave the queue in the order in which they came.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use mpi_core::Handle;

use crate::chains::Key;

/// What waits for the services of one process.
#[derive(Default)]
pub(crate) struct ServiceQueue {
    pub queue: VecDeque<Event>,
    /// Messages for contexts without a service.
    pub early: HashMap<u32, Vec<Event>>,
    /// Long messages that are being received, by request.
    pub incoming: HashMap<Handle, (Key, Vec<u8>)>,
    /// Of senders with a long message on the way: that and what came after it, in order, by context and source.
    pub behind: HashMap<(u32, i32), VecDeque<Arrival>>,
    /// Number of threads that call services at the moment.
    pub calls: usize,
}

/// One of several messages of a sender.
pub(crate) enum Arrival {
    Here(Key, Vec<u8>),
    OnTheWay(Handle),
}

/// What a service is called for.
pub(crate) struct Event {
    pub context: u32,
    pub what: What,
}

pub(crate) enum What {
    Message(Key, Vec<u8>),
    Completed(Handle),
    /// The word that a collective operation waits for has been raised.
    Raised(Handle),
    /// A process has ended; for all services but that of collective operations.
    Lost(u32),
}

impl fmt::Debug for ServiceQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceQueue").field("queue", &self.queue.len()).finish()
    }
}

impl ServiceQueue {
    /// Whether a service is to be called.
    #[inline]
    pub fn wait_for_call(&self) -> usize {
        self.queue.len()
    }
}
