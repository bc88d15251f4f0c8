//! The performance variables of the fabric.
//!
//! Writers hold the process lock: pushes do anyway, and `Wait::next` is called while it is held.

use mpi_t::Verbosity::{DeveloperBasic, DeveloperDetail, TunerBasic};
use mpi_t::{Aggregate, Counter, Level, Size, WatchedPercentage};

mpi_t::instruments! {
    /// One rank's queues and waits.
    pub struct FabricInstruments: NoObject, verbosity: TunerDetail {
        /// Number of times that a record found no room in the ring to a peer and was tried again later.
        pub queue_full: Counter =
            { name: "fabric_queue_full", class: Counter, type: u64, unit: "events", category: "fabric.queues",
              verbosity: TunerBasic },
        /// Number of peers, this process included, that have sent to this process since it started.
        pub connections: Counter =
            { name: "fabric_connections", class: Counter, type: u64, unit: "peers", category: "fabric.queues",
              verbosity: DeveloperBasic },
        /// Number of times that a waiting thread yielded its core.
        pub yields: Counter =
            { name: "fabric_yields", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Number of times that a waiting thread prepared to sleep, after which it nearly always sleeps.
        pub sleeps: Counter =
            { name: "fabric_sleeps", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
        /// Number of times that a thread that went to sleep was woken: by the process's doorbell for a record of
        /// another process, or by another thread that completed its operation or passed on the polling. A wake-up
        /// between preparation and sleep counts too.
        pub wakeups_received: Counter =
            { name: "fabric_wakeups_received", class: Counter, type: u64, unit: "events",
              category: "fabric.waiting" },
        /// Bytes of the ring from each process to each other, which records pass through; constant in a job.
        pub ring_size: Size =
            { name: "fabric_ring_size", class: Size, type: u64, unit: "bytes", category: "fabric.queues" },
        /// Bytes that were free in a ring when this process last looked for room in it, by the last report of the
        /// receiver. Updated when the room found before does not suffice; the length of a ring until the first update.
        pub ring_room: Level =
            { name: "fabric_ring_room", class: Level, type: u64, unit: "bytes", category: "fabric.queues" }
            { name: "fabric_ring_room", class: LowWatermark, type: u64, unit: "bytes", category: "fabric.queues",
              doc: "Fewest bytes that were free in a ring when this process looked for room, by the last report of the \
                    receiver. Near to 0, messages wait in their sender: receive earlier, or use longer rings." },
        /// Bytes of memory that all processes of the job share, most of it rings; constant in a job. Pages that were
        /// never written take no physical memory.
        pub job_memory: Size =
            { name: "fabric_job_memory", class: Size, type: u64, unit: "bytes", category: "memory" },
        /// Number of polls that a wait spends at most before it yields its core, as this process adapts it: halved by
        /// each wait that had to sleep, doubled by each that did not; 2^30 while no wait has slept.
        pub wait_poll_limit: Size =
            { name: "fabric_wait_poll_limit", class: Generic, type: u64, unit: "polls", category: "fabric.waiting",
              verbosity: DeveloperDetail },
        /// Number of records that this process sent with data in its copy buffer, or in a cell, which passes to the
        /// receiver: one for each message of 2 KiB and more (with a cell, of more than 32 bytes), or one for each segment or
        /// fragment of a longer one. Counted when the record is in the ring.
        pub buffered_records: Counter =
            { name: "fabric_buffered_records", class: Counter, type: u64, unit: "records", category: "fabric.queues" },
        /// Bytes of data in the records of fabric_buffered_records.
        pub buffered_bytes: Aggregate =
            { name: "fabric_buffered_bytes", class: Aggregate, type: u64, unit: "bytes", category: "fabric.queues" },
        /// Bytes of fabric_buffered_bytes that went through the copy buffer; the others went through cells.
        pub copy_buffer_bytes: Aggregate =
            { name: "fabric_copy_buffer_bytes", class: Aggregate, type: u64, unit: "bytes", category: "fabric.queues" },
        /// Bytes of fabric_copy_buffer_bytes that were written by stores that go past the caches (fabric_copy_stores).
        pub streamed_bytes: Aggregate =
            { name: "fabric_streamed_bytes", class: Aggregate, type: u64, unit: "bytes", category: "fabric.queues" },
        /// Number of times that this process woke a peer that slept.
        pub wakeups_sent: Counter =
            { name: "fabric_wakeups_sent", class: Counter, type: u64, unit: "events", category: "fabric.waiting" },
    }
}

mpi_t::instruments! {
    /// The ring to one process of the job: one element for each rank in MPI_COMM_WORLD.
    pub struct RingInstruments: NoObject, verbosity: TunerDetail {
        /// Part of the ring to each process that is in use, from 0 to 1: written by this process and, by the last
        /// report of the receiver, not yet read. A receiver reports after each quarter of the ring, and after 2 KiB of it
        /// with records in cells. Updated by this process's records in the ring and by the allocation of the handle.
        pub used: WatchedPercentage =
            { name: "fabric_ring_used", class: Percentage, type: f64, unit: "part of 1", category: "fabric.queues" },
        /// Nanoseconds until a cache line that the process has written is here, above what reading the clock takes: the
        /// median of the last measurements, 0 before the first. Below 50, with processors of Intel 80, the two processes run on cores that share a
        /// cache: so the choice between ordinary and streaming stores (fabric_copy_stores) follows from this measurement. Measured now and then while this process sends messages of 2 KiB and more (in cells, of more than 32 bytes);
        /// updated then and by the allocation of the handle.
        pub distance: Size =
            { name: "fabric_ring_distance", class: Generic, type: u64, unit: "nanoseconds",
              category: "fabric.queues" },
    }
}
