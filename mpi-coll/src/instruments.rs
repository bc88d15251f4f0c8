//! What the collectives tell of themselves: calls, and bytes as the program's arguments say them.
//!
//! Invariant: counted once per call, when it begins, under the process lock; a call made by the library itself (at
//! `MPI_Finalize`, say) is not counted.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, WatchedTimer};

use crate::coll_op::CollOp;

mpi_t::instruments! {
    /// The collective calls of one process.
    pub struct CollInstruments: NoObject {
        /// Calls of MPI_Barrier that have begun.
        pub barrier_calls: Counter =
            { name: "coll_barrier_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Calls of MPI_Bcast that have begun.
        pub bcast_calls: Counter =
            { name: "coll_bcast_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data in the buffers given to MPI_Bcast.
        pub bcast_bytes: Aggregate =
            { name: "coll_bcast_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Reduce that have begun.
        pub reduce_calls: Counter =
            { name: "coll_reduce_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process contributed to MPI_Reduce.
        pub reduce_bytes: Aggregate =
            { name: "coll_reduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Allreduce that have begun.
        pub allreduce_calls: Counter =
            { name: "coll_allreduce_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process contributed to MPI_Allreduce.
        pub allreduce_bytes: Aggregate =
            { name: "coll_allreduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Gather that have begun.
        pub gather_calls: Counter =
            { name: "coll_gather_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process contributed to MPI_Gather.
        pub gather_bytes: Aggregate =
            { name: "coll_gather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Scatter that have begun.
        pub scatter_calls: Counter =
            { name: "coll_scatter_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process took out of MPI_Scatter.
        pub scatter_bytes: Aggregate =
            { name: "coll_scatter_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Allgather that have begun.
        pub allgather_calls: Counter =
            { name: "coll_allgather_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process contributed to MPI_Allgather.
        pub allgather_bytes: Aggregate =
            { name: "coll_allgather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Calls of MPI_Alltoall that have begun.
        pub alltoall_calls: Counter =
            { name: "coll_alltoall_calls", class: Counter, type: u64, unit: "calls", category: "coll.calls" },
        /// Bytes of data that this process contributed to MPI_Alltoall, those for itself included.
        pub alltoall_bytes: Aggregate =
            { name: "coll_alltoall_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
        /// Time spent in calls of MPI_Barrier, taken of those that begin while a handle of this variable exists.
        pub barrier_time: WatchedTimer =
            { name: "coll_barrier_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Bcast, taken of those that begin while a handle of this variable exists.
        pub bcast_time: WatchedTimer =
            { name: "coll_bcast_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Reduce, taken of those that begin while a handle of this variable exists.
        pub reduce_time: WatchedTimer =
            { name: "coll_reduce_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Allreduce, taken of those that begin while a handle of this variable exists.
        pub allreduce_time: WatchedTimer =
            { name: "coll_allreduce_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Gather, taken of those that begin while a handle of this variable exists.
        pub gather_time: WatchedTimer =
            { name: "coll_gather_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Scatter, taken of those that begin while a handle of this variable exists.
        pub scatter_time: WatchedTimer =
            { name: "coll_scatter_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Allgather, taken of those that begin while a handle of this variable exists.
        pub allgather_time: WatchedTimer =
            { name: "coll_allgather_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
        /// Time spent in calls of MPI_Alltoall, taken of those that begin while a handle of this variable exists.
        pub alltoall_time: WatchedTimer =
            { name: "coll_alltoall_time", class: Timer, type: f64, unit: "seconds", category: "coll.time",
              verbosity: UserDetail },
    }
}

impl CollInstruments {
    /// The timer of an operation.
    #[inline]
    pub(crate) fn timer(&'static self, which: CollOp) -> &'static WatchedTimer {
        match which {
            CollOp::Barrier => &self.barrier_time,
            CollOp::Bcast => &self.bcast_time,
            CollOp::Reduce => &self.reduce_time,
            CollOp::Allreduce => &self.allreduce_time,
            CollOp::Gather => &self.gather_time,
            CollOp::Scatter => &self.scatter_time,
            CollOp::Allgather => &self.allgather_time,
            CollOp::Alltoall => &self.alltoall_time,
        }
    }
}
