//! Variables of the collective calls: number of calls, time, and bytes by the program's arguments.
//!
//! Invariant: a call is counted once, when it begins, under the process lock; calls of the library itself (in
//! `MPI_Finalize`, for example) are not counted.

use mpi_t::Verbosity::UserDetail;
use mpi_t::{Aggregate, Counter, WatchedTimer};

use crate::coll_op::{CollOp, Form, for_each_operation};

macro_rules! variables {
    ($($op:ident $number:literal $word:ident { $calls:ident $icalls:ident $starts:ident $time:ident }
        [$function:literal $ifunction:literal $init:literal] { $($bytes:ident $what:literal $more:literal)? },)+) => {
        mpi_t::instruments! {
            /// The collective calls of one process.
            pub struct CollInstruments: NoObject {
                $(
                    #[doc = concat!(" Number of calls of ", $function, " that have begun.")]
                    pub $calls: Counter =
                        { name: concat!("coll_", stringify!($calls)), class: Counter, type: u64, unit: "calls",
                          category: "coll.calls" },
                )+
                $(
                    #[doc = concat!(" Number of calls of ", $ifunction, ".")]
                    pub $icalls: Counter =
                        { name: concat!("coll_", stringify!($icalls)), class: Counter, type: u64, unit: "calls",
                          category: "coll.calls" },
                )+
                $(
                    #[doc = concat!(" Number of starts of requests that ", $init, " made.")]
                    pub $starts: Counter =
                        { name: concat!("coll_", stringify!($starts)), class: Counter, type: u64, unit: "starts",
                          category: "coll.calls" },
                )+
                $($(
                    #[doc = concat!(
                        " Bytes of data ", $what, " ", $function, $more, ", added when the call begins. Non-blocking calls",
                        " and starts of persistent requests count too."
                    )]
                    pub $bytes: Aggregate =
                        { name: concat!("coll_", stringify!($bytes)), class: Aggregate, type: u64, unit: "bytes",
                          category: "coll.data" },
                )?)+
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

            /// Counts a call of an operation.
            #[inline]
            pub(crate) fn count(&self, which: CollOp, form: Form, bytes: u64) {
                match which {
                    $(CollOp::$op => {
                        match form {
                            Form::Blocking => self.$calls.incr(),
                            Form::Nonblocking => self.$icalls.incr(),
                            Form::Persistent => self.$starts.incr(),
                        }
                        $(self.$bytes.add(bytes);)?
                    })+
                }
            }
        }
    };
}

for_each_operation!(variables);
