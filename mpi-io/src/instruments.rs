//! Performance variables of an open file (MPI-5.0, 15.3.7).
//!
//! Invariant: counted when the system has done the work, also of a call that then fails.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, Timer};

mpi_t::instruments! {
    /// The traffic of one process with one file.
    pub struct FileInstruments: File {
        /// Calls that read from the file and have returned.
        pub reads: Counter =
            { name: "file_reads", class: Counter, type: u64, unit: "calls", category: "file.traffic" },
        /// Calls that wrote to the file and have returned.
        pub writes: Counter =
            { name: "file_writes", class: Counter, type: u64, unit: "calls", category: "file.traffic" },
        /// Bytes read from the file; fewer than asked for where it ends.
        pub bytes_read: Aggregate =
            { name: "file_bytes_read", class: Aggregate, type: u64, unit: "bytes", category: "file.traffic" },
        /// Bytes written to the file.
        pub bytes_written: Aggregate =
            { name: "file_bytes_written", class: Aggregate, type: u64, unit: "bytes", category: "file.traffic" },
        /// Time that the system took for reading, writing and synchronising the file.
        pub time: Timer =
            { name: "file_time", class: Timer, type: f64, unit: "seconds", category: "file.traffic",
              verbosity: UserDetail },
    }
}
