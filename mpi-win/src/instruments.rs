//! Performance variables of a window: operations that this process has started on it, and their bytes.
//!
//! Invariant: an operation is counted once, after its call has passed all checks, under the process lock; none to
//! `MPI_PROC_NULL`.

use mpi_t::Verbosity::TunerBasic;
use mpi_t::{Aggregate, Counter};

mpi_t::instruments! {
    /// The operations of this process on one window.
    pub struct WinInstruments: Win {
        /// Number of puts that this process has started on the window; none to MPI_PROC_NULL.
        pub puts: Counter = { name: "win_puts", class: Counter, type: u64, unit: "operations", category: "win.traffic" },
        /// Bytes of data in the puts that this process has started, added at the start.
        pub put_bytes: Aggregate =
            { name: "win_put_bytes", class: Aggregate, type: u64, unit: "bytes", category: "win.traffic" },
        /// Number of gets that this process has started on the window; none from MPI_PROC_NULL.
        pub gets: Counter = { name: "win_gets", class: Counter, type: u64, unit: "operations", category: "win.traffic" },
        /// Bytes of data in the gets that this process has started, added at the start.
        pub get_bytes: Aggregate =
            { name: "win_get_bytes", class: Aggregate, type: u64, unit: "bytes", category: "win.traffic" },
        /// Number of accumulations that this process has started on the window; none to MPI_PROC_NULL.
        pub accumulates: Counter =
            { name: "win_accumulates", class: Counter, type: u64, unit: "operations", category: "win.traffic" },
        /// Bytes of data in the accumulations that this process has started, added at the start.
        pub accumulate_bytes: Aggregate =
            { name: "win_accumulate_bytes", class: Aggregate, type: u64, unit: "bytes", category: "win.traffic" },
        /// Number of accumulations that also fetch (MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap) that
        /// this process has started on the window; none to MPI_PROC_NULL.
        pub fetches: Counter =
            { name: "win_fetches", class: Counter, type: u64, unit: "operations", category: "win.traffic" },
        /// Bytes of data that the fetching accumulations of this process return, added at the start.
        pub fetch_bytes: Aggregate =
            { name: "win_fetch_bytes", class: Aggregate, type: u64, unit: "bytes", category: "win.traffic" },
        /// Number of operations of this process that were sent as messages, which their target applies, and not copied
        /// directly.
        pub messages: Counter =
            { name: "win_operations_sent", class: Counter, type: u64, unit: "operations", category: "win.protocol",
              verbosity: TunerBasic },
        /// Number of fences that this process has begun on the window.
        pub fences: Counter = { name: "win_fences", class: Counter, type: u64, unit: "fences", category: "win.protocol" },
    }
}
