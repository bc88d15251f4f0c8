//! Variables of the collective calls: number of calls, time, and bytes by the program's arguments.
//!
//! Invariant: a call is counted once, when it begins, under the process lock; calls of the library itself (in
//! `MPI_Finalize`, for example) are not counted.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, WatchedTimer};

use crate::coll_op::{CollOp, for_each_operation};

macro_rules! variables {
    ($($op:ident $number:literal $calls:ident $time:ident $word:ident $function:literal,)+) => {
        mpi_t::instruments! {
            /// The collective calls of one process.
            pub struct CollInstruments: NoObject {
                $(
                    #[doc = concat!(" Number of calls of ", $function, " that have begun.")]
                    pub $calls: Counter =
                        { name: concat!("coll_", stringify!($calls)), class: Counter, type: u64, unit: "calls",
                          category: "coll.calls" },
                )+
                /// Bytes of data in the buffers of MPI_Bcast, added when the call begins.
                pub bcast_bytes: Aggregate =
                    { name: "coll_bcast_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Reduce, added when the call begins.
                pub reduce_bytes: Aggregate =
                    { name: "coll_reduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Allreduce, added when the call begins.
                pub allreduce_bytes: Aggregate =
                    { name: "coll_allreduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Gather, added when the call begins.
                pub gather_bytes: Aggregate =
                    { name: "coll_gather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process received from MPI_Scatter, added when the call begins.
                pub scatter_bytes: Aggregate =
                    { name: "coll_scatter_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Allgather, added when the call begins.
                pub allgather_bytes: Aggregate =
                    { name: "coll_allgather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Alltoall, those for itself included, added when
                /// the call begins.
                pub alltoall_bytes: Aggregate =
                    { name: "coll_alltoall_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                $(
                    #[doc = concat!(
                        " Time in seconds spent in calls of ", $function,
                        ", added when a call ends. Only calls that begin while a handle of this variable exists are",
                        " timed."
                    )]
                    pub $time: WatchedTimer =
                        { name: concat!("coll_", stringify!($time)), class: Timer, type: f64, unit: "seconds",
                          category: "coll.time", verbosity: UserDetail },
                )+
            }
        }

        impl CollInstruments {
            /// The timer of an operation.
            #[inline]
            pub(crate) fn timer(&'static self, which: CollOp) -> &'static WatchedTimer {
                match which {
                    $(CollOp::$op => &self.$time,)+
                }
            }
        }
    };
}

for_each_operation!(variables);
