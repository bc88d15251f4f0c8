//! The performance variables and events of partitioned communication (MPI-5.0, 4.2, 15.3.7 and 15.3.8).
//!
//! Invariant: they change under the process lock, except the count of failed tests, which threads increment at once.
//! Not here: the completion of partitioned operations, which raises the events of all requests (`request_events`).

use mpi_t::Verbosity::TunerDetail;
use mpi_t::{Counter, InstrumentMemory, PeakLevel, WatchedTimer};

use crate::context::Context;
use crate::events::{ENGINE, of};
use crate::partitions::PairKey;

mpi_t::instruments! {
    /// The partitioned operations of one process.
    pub struct PartitionInstruments: NoObject, verbosity: UserDetail {
        /// Number of partitioned sends that are complete: all of their partitions have left. Each start is one.
        pub sent: Counter =
            { name: "p2p_partitioned_sent", class: Counter, type: u64, unit: "messages", category: "p2p.partitioned" },
        /// Number of partitioned receives that are complete: all of their partitions have arrived. Each start is one.
        pub received: Counter =
            { name: "p2p_partitioned_received", class: Counter, type: u64, unit: "messages",
              category: "p2p.partitioned" },
        /// Number of partitions that were marked ready by MPI_Pready, MPI_Pready_range and MPI_Pready_list.
        pub ready: Counter =
            { name: "p2p_partitions_ready", class: Counter, type: u64, unit: "partitions",
              category: "p2p.partitioned" },
        /// Number of partitions that were marked ready before the start of their receive was known here. They wait in
        /// the sender, so start receives earlier where this grows.
        pub early: Counter =
            { name: "p2p_partitions_early", class: Counter, type: u64, unit: "partitions",
              category: "p2p.partitioned" },
        /// Number of active partitioned sends whose receive is not known here to be started, and that have partitions
        /// that are ready.
        pub waiting: PeakLevel =
            { name: "p2p_partitioned_waiting", class: Level, type: u64, unit: "messages",
              category: "p2p.partitioned" }
            { name: "p2p_partitioned_waiting", class: HighWatermark, type: u64, unit: "messages",
              category: "p2p.partitioned",
              doc: "Greatest number of partitioned sends that had partitions ready at once and whose receive was not \
                    known to be started." },
        /// Time in seconds that partitioned sends waited for the start of their receive, from when their first
        /// partition was marked ready; added when the start is known. Only waits that begin while a handle of this
        /// variable exists are timed.
        pub time_waiting: WatchedTimer =
            { name: "p2p_partitioned_time_waiting", class: Timer, type: f64, unit: "seconds",
              category: "p2p.partitioned" },
        /// Number of times that data of partitions arrived: in a record with data of neighbouring partitions, or
        /// written into the receive buffer by the sender.
        pub arrivals: Counter =
            { name: "p2p_partitions_arrivals", class: Counter, type: u64, unit: "arrivals",
              category: "p2p.partitioned" },
        /// Number of calls of MPI_Parrived that found that the partition had not arrived.
        pub failed_tests: Counter =
            { name: "p2p_partitions_failed_tests", class: Counter, type: u64, unit: "tests",
              category: "p2p.partitioned" },
    }
}

mpi_t::events! {
    /// Events of the partitioned messages of one communicator.
    pub struct PartitionEvents: Comm, from: ENGINE {
        /// Partitions of a partitioned send were marked ready: the handle of the request, the first and the last
        /// partition.
        pub ready(request: u64, first: i32, last: i32) =
            { name: "p2p_partitions_ready", category: "p2p.events", at: MpiRestricted, verbosity: TunerDetail },
        /// The start of a partitioned receive is known in its sender: rank of the receiver and tag.
        pub granted(dest: i32, tag: i32) =
            { name: "p2p_partitions_granted", category: "p2p.events", at: MpiRestricted, verbosity: TunerDetail },
        /// Data of partitions has arrived: rank of the sender, tag, offset of the first byte in the message, and number
        /// of bytes.
        pub arrived(source: i32, tag: i32, offset: u64, bytes: u64) =
            { name: "p2p_partitions_arrived", category: "p2p.events", at: MpiRestricted, verbosity: TunerDetail },
    }
}

/// The metrics of partitioned communication.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartitionMetrics {
    pub counts: &'static PartitionInstruments,
    pub events: &'static PartitionEvents,
}

impl PartitionMetrics {
    pub fn new(memory: &dyn InstrumentMemory) -> PartitionMetrics {
        PartitionMetrics { counts: PartitionInstruments::place(memory), events: PartitionEvents::new() }
    }

    /// Raises the event of partitions that are ready.
    #[inline]
    pub fn raise_ready(self, context: Option<&Context>, request: u64, ranges: impl Iterator<Item = (i32, i32)>) {
        if let Some(context) = listened(context) {
            let key = of(context.spec.instruments.block);
            ranges.for_each(|(first, last)| self.events.ready.emit_for(|| (key, (request, first, last))));
        }
    }

    /// Raises the event of a receive that was started.
    #[inline]
    pub fn raise_granted(self, context: Option<&Context>, pair: PairKey) {
        if let Some(context) = listened(context) {
            let data = (pair.channel.peer, pair.channel.tag);
            self.events.granted.emit_for(|| (of(context.spec.instruments.block), data));
        }
    }

    /// Raises the event of data that has arrived.
    #[inline]
    pub fn raise_arrived(self, context: Option<&Context>, pair: PairKey, offset: u64, bytes: u64) {
        if let Some(context) = listened(context) {
            let data = (pair.channel.peer, pair.channel.tag, offset, bytes);
            self.events.arrived.emit_for(|| (of(context.spec.instruments.block), data));
        }
    }
}

/// The communicator of an event, while there may be a listener.
#[inline]
fn listened(context: Option<&Context>) -> Option<&Context> {
    context.filter(|_| mpi_t::any_callback_registered())
}
