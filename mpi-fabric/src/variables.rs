//! What the fabric tells of itself: performance variables beside the places that change them.
//!
//! Writers hold the process lock: pushes do anyway, and `Wait::next` is called while it is held.

use mpi_t::Counter;

mpi_t::instruments! {
    /// One rank's queues and waits.
    pub struct FabricInstruments: NoObject {
        /// Times that a record found no room in a peer's queue and had to be tried again later.
        pub queue_full: Counter =
            { name: "fabric_queue_full", class: Counter, type: u64, unit: "events", category: "fabric.queues" },
        /// Peers, itself included, that have sent to this process since it started.
        pub connections: Counter =
            { name: "fabric_connections", class: Counter, type: u64, unit: "peers", category: "fabric.queues" },
        /// Times that a waiting thread gave its core to others.
        pub yields: Counter =
            { name: "fabric_yields", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Times that a waiting thread prepared to sleep; nearly every time it then did.
        pub sleeps: Counter =
            { name: "fabric_sleeps", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Times that this process woke a peer that slept.
        pub wakeups_sent: Counter =
            { name: "fabric_wakeups_sent", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
    }
}
