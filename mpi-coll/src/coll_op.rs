//! The collective operations: the one table of their numbers, names and variables.
//!
//! Not here: reduction operations (`op`), the variables (`instruments`, `algorithms`).

/// Passes the table of operations to a macro: for each operation its variant of [`CollOp`], its number in events, the
/// fields of its count of calls and of its time, the word in the names of its variables, and the name of its function.
macro_rules! for_each_operation {
    ($take:ident) => {
        $take! {
            Barrier 0 barrier_calls barrier_time barrier "MPI_Barrier",
            Bcast 1 bcast_calls bcast_time bcast "MPI_Bcast",
            Reduce 2 reduce_calls reduce_time reduce "MPI_Reduce",
            Allreduce 3 allreduce_calls allreduce_time allreduce "MPI_Allreduce",
            Gather 4 gather_calls gather_time gather "MPI_Gather",
            Scatter 5 scatter_calls scatter_time scatter "MPI_Scatter",
            Allgather 6 allgather_calls allgather_time allgather "MPI_Allgather",
            Alltoall 7 alltoall_calls alltoall_time alltoall "MPI_Alltoall",
        }
    };
}
pub(crate) use for_each_operation;

macro_rules! operations {
    ($($op:ident $number:literal $calls:ident $time:ident $word:ident $function:literal,)+) => {
        /// A collective operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum CollOp {
            $($op = $number,)+
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
