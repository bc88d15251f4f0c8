//! The performance variables of the network.
//!
//! Invariant: the code that counts has the lock of the network. Not here: messages of the program by receiver and protocol (`mpi-p2p`).

use std::sync::{Arc, OnceLock};

use mpi_t::Verbosity::TunerBasic;
use mpi_t::{Aggregate, Counter};

mpi_t::instruments! {
    /// What one process sends and receives over the network.
    pub struct NetInstruments: NoObject, verbosity: TunerDetail {
        /// Number of records that this process gave to the network: messages, parts of them, and what protocols need.
        pub records_sent: Counter =
            { name: "net_records_sent", class: Counter, type: u64, unit: "records", category: "net",
              verbosity: TunerBasic },
        /// Number of records that this process took from the network: messages, parts of them, and what protocols need.
        pub records_received: Counter =
            { name: "net_records_received", class: Counter, type: u64, unit: "records", category: "net",
              verbosity: TunerBasic },
        /// Bytes of data in the records that this process gave to the network. What others read from its memory does not count.
        pub bytes_sent: Aggregate =
            { name: "net_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "net",
              verbosity: TunerBasic },
        /// Bytes of data in the records that this process took from the network. What it read from the memory of others does
        /// not count.
        pub bytes_received: Aggregate =
            { name: "net_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "net",
              verbosity: TunerBasic },
        /// Bytes that this process read over the network from the memory of other processes: of long messages that it
        /// receives, and of windows. Added when a read has ended.
        pub bytes_read: Aggregate =
            { name: "net_bytes_read", class: Aggregate, type: u64, unit: "bytes", category: "net",
              verbosity: TunerBasic },
        /// Bytes that this process wrote over the network to the memory of other processes. Added when a write has ended.
        pub bytes_written: Aggregate =
            { name: "net_bytes_written", class: Aggregate, type: u64, unit: "bytes", category: "net",
              verbosity: TunerBasic },
        /// Number of packets that left this process with records: each has one or several.
        pub packets_sent: Counter =
            { name: "net_packets_sent", class: Counter, type: u64, unit: "packets", category: "net" },
        /// Number of packets that were dropped, because they were none of this job or of a connected one.
        pub packets_refused: Counter =
            { name: "net_packets_refused", class: Counter, type: u64, unit: "packets", category: "net" },
    }
}

/// Where the variables of a network are, once that is known: it is open before the memory of the job is attached.
#[derive(Clone, Default)]
pub struct Meters(Arc<OnceLock<&'static NetInstruments>>);

impl Meters {
    /// Counts in these variables from now on. The first call counts.
    pub fn count_in(&self, instruments: &'static NetInstruments) {
        self.0.get_or_init(|| instruments);
    }

    pub(crate) fn with(&self, count: impl FnOnce(&'static NetInstruments)) {
        if let Some(instruments) = self.0.get() {
            count(instruments);
        }
    }
}
