//! Variables of the collective calls: their number and time, and bytes as the program's arguments state them.
//!
//! Invariant: a call is counted once, when it begins, under the process lock; a call made by the library itself (at
//! `MPI_Finalize`, say) is not counted.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, WatchedTimer};

use crate::coll_op::{CollOp, for_each_operation};

macro_rules! variables {
    ($($op:ident $number:literal $calls:ident $time:ident $word:ident $function:literal,)+) => {
        mpi_t::instruments! {
            /// The collective calls of one process.
            pub struct CollInstruments: NoObject {
                $(
                    #[doc = concat!(" Calls of ", $function, " that have begun.")]
                    pub $calls: Counter =
                        { name: concat!("coll_", stringify!($calls)), class: Counter, type: u64, unit: "calls",
                          category: "coll.calls" },
                )+
                /// Bytes of data in the buffers given to MPI_Bcast.
                pub bcast_bytes: Aggregate =
                    { name: "coll_bcast_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Reduce.
                pub reduce_bytes: Aggregate =
                    { name: "coll_reduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Allreduce.
                pub allreduce_bytes: Aggregate =
                    { name: "coll_allreduce_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Gather.
                pub gather_bytes: Aggregate =
                    { name: "coll_gather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process took out of MPI_Scatter.
                pub scatter_bytes: Aggregate =
                    { name: "coll_scatter_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Allgather.
                pub allgather_bytes: Aggregate =
                    { name: "coll_allgather_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                /// Bytes of data that this process contributed to MPI_Alltoall, those for itself included.
                pub alltoall_bytes: Aggregate =
                    { name: "coll_alltoall_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.data" },
                $(
                    #[doc = concat!(
                        " Time spent in calls of ", $function,
                        ", taken of those that begin while a handle of this variable exists."
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
