//! The collective operations: the one table of their numbers, names and variables.
//!
//! Not here: reduction operations (`op`), the variables (`instruments`, `algorithms`).

/// Passes the table of operations to a macro: for each operation its variant of [`CollOp`], its number in events and in
/// the tags of its messages, the word in the names of its variables; the fields of its counts of calls (blocking,
/// non-blocking, starts of persistent requests) and of its time, the names of its functions of each form; and of an
/// operation that moves data the field of its bytes and what they are.
macro_rules! for_each_operation {
    ($take:ident) => {
        $take! {
            Barrier 0 barrier { barrier_calls ibarrier_calls barrier_starts barrier_time }
                ["MPI_Barrier" "MPI_Ibarrier" "MPI_Barrier_init"] {},
            Bcast 1 bcast { bcast_calls ibcast_calls bcast_starts bcast_time }
                ["MPI_Bcast" "MPI_Ibcast" "MPI_Bcast_init"] { bcast_bytes "in the buffers of" "" },
            Reduce 2 reduce { reduce_calls ireduce_calls reduce_starts reduce_time }
                ["MPI_Reduce" "MPI_Ireduce" "MPI_Reduce_init"] { reduce_bytes "that this process contributed to" "" },
            Allreduce 3 allreduce { allreduce_calls iallreduce_calls allreduce_starts allreduce_time }
                ["MPI_Allreduce" "MPI_Iallreduce" "MPI_Allreduce_init"]
                { allreduce_bytes "that this process contributed to" "" },
            Gather 4 gather { gather_calls igather_calls gather_starts gather_time }
                ["MPI_Gather" "MPI_Igather" "MPI_Gather_init"] { gather_bytes "that this process contributed to" "" },
            Scatter 5 scatter { scatter_calls iscatter_calls scatter_starts scatter_time }
                ["MPI_Scatter" "MPI_Iscatter" "MPI_Scatter_init"]
                { scatter_bytes "that this process received from" "" },
            Allgather 6 allgather { allgather_calls iallgather_calls allgather_starts allgather_time }
                ["MPI_Allgather" "MPI_Iallgather" "MPI_Allgather_init"]
                { allgather_bytes "that this process contributed to" "" },
            Alltoall 7 alltoall { alltoall_calls ialltoall_calls alltoall_starts alltoall_time }
                ["MPI_Alltoall" "MPI_Ialltoall" "MPI_Alltoall_init"]
                { alltoall_bytes "that this process contributed to" ", those for itself included" },
        }
    };
}
pub(crate) use for_each_operation;

macro_rules! operations {
    ($($op:ident $number:literal $word:ident { $calls:ident $icalls:ident $starts:ident $time:ident }
        [$function:literal $ifunction:literal $init:literal] { $($bytes:ident $what:literal $more:literal)? },)+) => {
        /// A collective operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub enum CollOp {
            $(#[doc = $function] $op = $number,)+
        }

        impl CollOp {
            /// All operations, by number.
            pub const ALL: [CollOp; [$($number),+].len()] = [$(CollOp::$op),+];

            /// The name of the operation's function.
            pub const fn function(self) -> &'static str {
                match self {
                    $(CollOp::$op => $function,)+
                }
            }
        }
    };
}

for_each_operation!(operations);

impl CollOp {
    /// Whether one process is the root.
    pub const fn is_rooted(self) -> bool {
        matches!(self, CollOp::Bcast | CollOp::Reduce | CollOp::Gather | CollOp::Scatter)
    }

    /// The tag of the messages of blocking calls: a process is in one at a time on a communicator, and messages between
    /// two processes keep their order, so that calls of one operation need no numbers.
    pub(crate) const fn tag(self) -> i32 {
        self as i32 + FIRST_TAG
    }
}

/// The tag of the operation with number 0.
const FIRST_TAG: i32 = 16;

/// The form of a collective call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Blocking,
    Nonblocking,
    /// A start of a persistent request.
    Persistent,
}
