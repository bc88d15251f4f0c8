//! Metrics of single requests and messages, created when a handle is allocated for one (MPI-5.0, 15.3.2 and 15.3.7).
//!
//! A request has metrics from when an MPI_T handle is allocated for it until the program's handle of it is stale. A
//! flag among those that every operation on the request reads anyway marks such a request, so that all others cost
//! nothing.
//! Invariant: exactly the requests and sends that have metrics here have the flag.
//! Not here: allocating handles (`on_demand_handles`), the operations (`transfer`, `send`).

use mpi_t::{Level, OnDemand, Percentage, Size};

mpi_t::instruments! {
    /// One operation that was started.
    pub struct RequestInstruments: Request, verbosity: UserAll {
        /// Bytes that the operation sends, or that its receive buffer has room for. If the data of a receive is already
        /// stored or being copied when the handle is allocated, the bytes of its message.
        pub bytes: Size =
            { name: "p2p_request_bytes", class: Size, type: u64, unit: "bytes", category: "p2p.requests" },
        /// Bytes of the operation's message that have been moved. The sender of a message that its receiver copies
        /// alone counts all of them when the copy is complete.
        pub moved: Level =
            { name: "p2p_request_bytes_moved", class: Level, type: u64, unit: "bytes", category: "p2p.requests" },
        /// Part of the operation's bytes that has been moved, from 0 to 1; 1 once the operation is complete. Counts as
        /// p2p_request_bytes_moved does.
        pub done: Percentage =
            { name: "p2p_request_done", class: Percentage, type: f64, unit: "part of 1", category: "p2p.requests" },
    }
}

mpi_t::instruments! {
    /// One message that a matched probe took.
    pub struct MessageInstruments: Message, verbosity: UserAll {
        /// Bytes of data in the message; constant.
        pub bytes: Size =
            { name: "p2p_message_bytes", class: Size, type: u64, unit: "bytes", category: "p2p.unexpected" },
        /// Bytes of the message's data that are in this process; 0 while the data is still in its sender.
        pub held: Level =
            { name: "p2p_message_bytes_held", class: Level, type: u64, unit: "bytes", category: "p2p.unexpected" },
    }
}

/// The requests and messages that have metrics.
#[derive(Debug, Default)]
pub(crate) struct OnDemandMetrics {
    pub requests: OnDemand<RequestInstruments>,
    pub messages: OnDemand<MessageInstruments>,
}
