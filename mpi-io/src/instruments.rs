//! Performance variables of an open file (MPI-5.0, 15.3.7).
//!
//! Invariant: an access is counted when the system has completed it, also if the call then fails.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, Timer};

mpi_t::instruments! {
    /// The traffic of one process with one file.
    pub struct FileInstruments: File {
        /// Number of calls that read from the file; incremented when the call returns.
        pub reads: Counter =
            { name: "file_reads", class: Counter, type: u64, unit: "calls", category: "file.traffic" },
        /// Number of calls that wrote to the file; incremented when the call returns.
        pub writes: Counter =
            { name: "file_writes", class: Counter, type: u64, unit: "calls", category: "file.traffic" },
        /// Bytes read from the file, added when the call returns; fewer than requested where the file ends.
        pub bytes_read: Aggregate =
            { name: "file_bytes_read", class: Aggregate, type: u64, unit: "bytes", category: "file.traffic" },
        /// Bytes written to the file, added when the call returns.
        pub bytes_written: Aggregate =
            { name: "file_bytes_written", class: Aggregate, type: u64, unit: "bytes", category: "file.traffic" },
        /// Number of system calls that read or wrote, added when the call returns. One access may need many where a view
        /// has gaps.
        pub system_calls: Counter =
            { name: "file_system_calls", class: Counter, type: u64, unit: "calls", category: "file.traffic",
              verbosity: UserDetail },
        /// Number of collective accesses that went through shared windows: one process reads or writes a whole window.
        pub buffered: Counter =
            { name: "file_collectively_buffered", class: Counter, type: u64, unit: "calls", category: "file.traffic",
              verbosity: UserDetail },
        /// Bytes of this process's data that went through shared windows, added when the call returns.
        pub bytes_buffered: Aggregate =
            { name: "file_bytes_collectively_buffered", class: Aggregate, type: u64, unit: "bytes",
              category: "file.traffic", verbosity: UserDetail },
        /// Time in seconds that the system needed to read, write and synchronise the file, added when the call returns.
        pub time: Timer =
            { name: "file_time", class: Timer, type: f64, unit: "seconds", category: "file.traffic",
              verbosity: UserDetail },
    }
}
