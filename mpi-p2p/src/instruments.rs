//! What the engine tells of itself (MPI-4.1, 15.3.7), each variable a field the engine needs or keeps for it alone.
//!
//! Invariant: a communicator's instruments count the program's own messages; those that collectives send inside the
//! library are counted by the engine's instruments only.

use std::time::Instant;

use mpi_t::{Aggregate, Counter, Level, Timer};

mpi_t::instruments! {
    /// The queues and messages of one communicator.
    pub struct CommInstruments: Comm {
        /// Messages that have arrived and wait for a receive to be posted.
        pub umq_length: Level =
            { name: "MPI_T_UMQ_LENGTH", class: Level, type: u32, unit: "messages", category: "p2p.unexpected" }
            { name: "MPI_T_UMQ_LENGTH", class: HighWatermark, type: u32, unit: "messages",
              category: "p2p.unexpected",
              doc: "Most messages that waited at once for a receive to be posted." },
        /// Bytes of data held for messages that wait for a receive to be posted; offered messages, whose data is
        /// still with the sender, hold none.
        pub umq_bytes: Level =
            { name: "p2p_unexpected_bytes", class: Level, type: u64, unit: "bytes", category: "p2p.unexpected" }
            { name: "p2p_unexpected_bytes", class: HighWatermark, type: u64, unit: "bytes",
              category: "p2p.unexpected",
              doc: "Most bytes of data held at once for messages that waited for a receive to be posted." },
        /// Receives that are posted and wait for their message.
        pub posted_length: Level =
            { name: "p2p_posted_length", class: Level, type: u32, unit: "receives", category: "p2p.posted" }
            { name: "p2p_posted_length", class: HighWatermark, type: u32, unit: "receives", category: "p2p.posted",
              doc: "Most receives that were posted at once, waiting for their message." },
        /// Messages whose send has been started, whether or not it is complete; none to MPI_PROC_NULL.
        pub messages_sent: Counter =
            { name: "p2p_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Messages that have been matched with a receive.
        pub messages_received: Counter =
            { name: "p2p_messages_received", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Bytes of data in the messages whose send has been started.
        pub bytes_sent: Aggregate =
            { name: "p2p_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
        /// Bytes of data in the messages that have been matched with a receive, as sent: a truncated message counts
        /// whole.
        pub bytes_received: Aggregate =
            { name: "p2p_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
    }
}

mpi_t::instruments! {
    /// The engine of one process, collectives' own messages included.
    pub struct EngineInstruments: NoObject {
        /// Messages sent whole, without asking the receiver first.
        pub eager_sent: Counter =
            { name: "p2p_eager_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol" },
        /// Messages offered to the receiver first, because they are longer than the eager limit.
        pub rendezvous_sent: Counter =
            { name: "p2p_rendezvous_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol" },
        /// Time that blocking calls spent waiting. A wait counts from when it has lasted for its first polls, at most
        /// 128 and about a microsecond; what ends sooner is not waiting.
        pub time_waited: Timer =
            { name: "p2p_time_waited", class: Timer, type: f64, unit: "seconds", category: "p2p.waiting" },
        /// Waits of blocking calls that lasted long enough to be timed.
        pub waits: Counter =
            { name: "p2p_waits", class: Counter, type: u64, unit: "waits", category: "p2p.waiting" },
    }
}

impl EngineInstruments {
    /// Notes that a blocking call has begun to wait in earnest.
    pub(crate) fn begin_wait(&self) -> Instant {
        Instant::now()
    }

    /// Notes that the wait is over; for the holder of the process lock.
    pub(crate) fn end_wait(&self, began: Instant) {
        self.waits.incr();
        self.time_waited.add_ns(began.elapsed().as_nanos() as u64);
    }
}
