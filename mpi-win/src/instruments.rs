//! Performance variables of a window: operations that this process has started on it, with their bytes, and its epochs.
//!
//! Invariant: a call is counted once, after it has passed all checks, under the process lock; none that concerns
//! `MPI_PROC_NULL` only.

use mpi_t::Verbosity::{TunerBasic, UserDetail};
use mpi_t::{Aggregate, Counter, WatchedTimer};

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
        /// Number of epochs that this process has begun by MPI_Win_lock and MPI_Win_lock_all; none for MPI_PROC_NULL.
        pub locks: Counter = { name: "win_locks", class: Counter, type: u64, unit: "epochs", category: "win.protocol" },
        /// Number of locks of single processes' memory that this process had to wait for, because others had them.
        pub locks_awaited: Counter =
            { name: "win_locks_awaited", class: Counter, type: u64, unit: "locks", category: "win.protocol" },
        /// Time in seconds that this process has waited for locks of the window, added when a wait ends. Only waits
        /// that begin while a handle of this variable exists are timed.
        pub lock_wait_time: WatchedTimer =
            { name: "win_lock_wait_time", class: Timer, type: f64, unit: "seconds", category: "win.protocol",
              verbosity: UserDetail },
        /// Number of calls of MPI_Win_flush, MPI_Win_flush_all and their local forms by this process; none for
        /// MPI_PROC_NULL.
        pub flushes: Counter =
            { name: "win_flushes", class: Counter, type: u64, unit: "flushes", category: "win.protocol" },
    }
}
