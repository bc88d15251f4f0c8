//! What the collectives tell of themselves: calls, and bytes as the program's arguments say them.
//!
//! Invariant: counted once per call, when it begins, under the process lock; a call made by the library itself (at
//! `MPI_Finalize`, say) is not counted.

use mpi_t::{Aggregate, Counter};

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
    }
}
