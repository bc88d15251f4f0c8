//! The performance variables of the fabric.
//!
//! Writers hold the process lock: pushes do anyway, and `Wait::next` is called while it is held.

use mpi_t::Verbosity::{DeveloperBasic, DeveloperDetail, TunerBasic};
use mpi_t::{Counter, Level, Size, WatchedPercentage};

mpi_t::instruments! {
    /// One rank's queues and waits.
    pub struct FabricInstruments: NoObject, verbosity: TunerDetail {
        /// Times that a record found no room in a peer's queue and had to be tried again later.
        pub queue_full: Counter =
            { name: "fabric_queue_full", class: Counter, type: u64, unit: "events", category: "fabric.queues",
              verbosity: TunerBasic },
        /// Peers, itself included, that have sent to this process since it started.
        pub connections: Counter =
            { name: "fabric_connections", class: Counter, type: u64, unit: "peers", category: "fabric.queues",
              verbosity: DeveloperBasic },
        /// Times that a waiting thread gave its core to others.
        pub yields: Counter =
            { name: "fabric_yields", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Times that a waiting thread prepared to sleep; nearly every time it then did.
        pub sleeps: Counter =
            { name: "fabric_sleeps", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Times that a thread that went to sleep was woken: by the process's doorbell, because of what another process
        /// sent, or by another thread, which completed its operation or passed on the polling. It also counts if that
        /// came before the thread slept.
        pub wakeups_received: Counter =
            { name: "fabric_wakeups_received", class: Counter, type: u64, unit: "events",
              category: "fabric.waiting" },
        /// Bytes of the ring from each process to each other, through which records go.
        pub ring_size: Size =
            { name: "fabric_ring_size", class: Size, type: u64, unit: "bytes", category: "fabric.queues" },
        /// Bytes that were free in the ring in which this process last looked for room, by the last report of the
        /// receiver. It looks when the room that it found before does not suffice. A whole ring until the first look.
        pub ring_room: Level =
            { name: "fabric_ring_room", class: Level, type: u64, unit: "bytes", category: "fabric.queues" }
            { name: "fabric_ring_room", class: LowWatermark, type: u64, unit: "bytes", category: "fabric.queues",
              doc: "Fewest bytes that were free in a ring when this process looked for room, by the last report of the \
                    receiver. Near to 0, messages wait in their sender: receive earlier, or use longer rings." },
        /// Bytes of memory that all processes of the job share, most of it rings; pages that were never written take
        /// none.
        pub job_memory: Size =
            { name: "fabric_job_memory", class: Size, type: u64, unit: "bytes", category: "memory" },
        /// Polls that a wait spends at most before it gives its core to others, as adapted by this process: halved by
        /// each wait that had to sleep, raised by each that did not; 2^30 where nothing has limited it.
        pub wait_patience: Size =
            { name: "fabric_wait_patience", class: Generic, type: u64, unit: "polls", category: "fabric.waiting",
              verbosity: DeveloperDetail },
        /// Times that this process woke a peer that slept.
        pub wakeups_sent: Counter =
            { name: "fabric_wakeups_sent", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
    }
}

mpi_t::instruments! {
    /// The ring to one process of the job: one element for each rank in MPI_COMM_WORLD.
    pub struct RingInstruments: NoObject, verbosity: TunerDetail {
        /// Part of the ring to each process that is in use: written by this process and, by the last report of
        /// the receiver, not yet read. A receiver reports after each quarter of the ring. As of this process's last record in the
        /// ring, or of the allocation of the handle.
        pub used: WatchedPercentage =
            { name: "fabric_ring_used", class: Percentage, type: f64, unit: "part of 1", category: "fabric.queues" },
    }
}
