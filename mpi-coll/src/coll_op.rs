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
            Gatherv 8 gatherv { gatherv_calls igatherv_calls gatherv_starts gatherv_time }
                ["MPI_Gatherv" "MPI_Igatherv" "MPI_Gatherv_init"]
                { gatherv_bytes "that this process contributed to" "" },
            Scatterv 9 scatterv { scatterv_calls iscatterv_calls scatterv_starts scatterv_time }
                ["MPI_Scatterv" "MPI_Iscatterv" "MPI_Scatterv_init"]
                { scatterv_bytes "that this process received from" "" },
            Allgatherv 10 allgatherv { allgatherv_calls iallgatherv_calls allgatherv_starts allgatherv_time }
                ["MPI_Allgatherv" "MPI_Iallgatherv" "MPI_Allgatherv_init"]
                { allgatherv_bytes "that this process contributed to" "" },
            Alltoallv 11 alltoallv { alltoallv_calls ialltoallv_calls alltoallv_starts alltoallv_time }
                ["MPI_Alltoallv" "MPI_Ialltoallv" "MPI_Alltoallv_init"]
                { alltoallv_bytes "that this process contributed to" ", those for itself included" },
            Alltoallw 12 alltoallw { alltoallw_calls ialltoallw_calls alltoallw_starts alltoallw_time }
                ["MPI_Alltoallw" "MPI_Ialltoallw" "MPI_Alltoallw_init"]
                { alltoallw_bytes "that this process contributed to" ", those for itself included" },
            ReduceScatter 13 reduce_scatter { reduce_scatter_calls ireduce_scatter_calls reduce_scatter_starts reduce_scatter_time }
                ["MPI_Reduce_scatter" "MPI_Ireduce_scatter" "MPI_Reduce_scatter_init"]
                { reduce_scatter_bytes "that this process contributed to" "" },
            ReduceScatterBlock 14 reduce_scatter_block { reduce_scatter_block_calls ireduce_scatter_block_calls reduce_scatter_block_starts reduce_scatter_block_time }
                ["MPI_Reduce_scatter_block" "MPI_Ireduce_scatter_block" "MPI_Reduce_scatter_block_init"]
                { reduce_scatter_block_bytes "that this process contributed to" "" },
            Scan 15 scan { scan_calls iscan_calls scan_starts scan_time }
                ["MPI_Scan" "MPI_Iscan" "MPI_Scan_init"]
                { scan_bytes "that this process contributed to" "" },
            Exscan 16 exscan { exscan_calls iexscan_calls exscan_starts exscan_time }
                ["MPI_Exscan" "MPI_Iexscan" "MPI_Exscan_init"]
                { exscan_bytes "that this process contributed to" "" },
            NeighborAllgather 17 neighbor_allgather { neighbor_allgather_calls ineighbor_allgather_calls neighbor_allgather_starts neighbor_allgather_time }
                ["MPI_Neighbor_allgather" "MPI_Ineighbor_allgather" "MPI_Neighbor_allgather_init"]
                { neighbor_allgather_bytes "that this process contributed to" "" },
            NeighborAllgatherv 18 neighbor_allgatherv { neighbor_allgatherv_calls ineighbor_allgatherv_calls neighbor_allgatherv_starts neighbor_allgatherv_time }
                ["MPI_Neighbor_allgatherv" "MPI_Ineighbor_allgatherv" "MPI_Neighbor_allgatherv_init"]
                { neighbor_allgatherv_bytes "that this process contributed to" "" },
            NeighborAlltoall 19 neighbor_alltoall { neighbor_alltoall_calls ineighbor_alltoall_calls neighbor_alltoall_starts neighbor_alltoall_time }
                ["MPI_Neighbor_alltoall" "MPI_Ineighbor_alltoall" "MPI_Neighbor_alltoall_init"]
                { neighbor_alltoall_bytes "that this process contributed to" "" },
            NeighborAlltoallv 20 neighbor_alltoallv { neighbor_alltoallv_calls ineighbor_alltoallv_calls neighbor_alltoallv_starts neighbor_alltoallv_time }
                ["MPI_Neighbor_alltoallv" "MPI_Ineighbor_alltoallv" "MPI_Neighbor_alltoallv_init"]
                { neighbor_alltoallv_bytes "that this process contributed to" "" },
            NeighborAlltoallw 21 neighbor_alltoallw { neighbor_alltoallw_calls ineighbor_alltoallw_calls neighbor_alltoallw_starts neighbor_alltoallw_time }
                ["MPI_Neighbor_alltoallw" "MPI_Ineighbor_alltoallw" "MPI_Neighbor_alltoallw_init"]
                { neighbor_alltoallw_bytes "that this process contributed to" "" },
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
        matches!(
            self,
            CollOp::Bcast | CollOp::Reduce | CollOp::Gather | CollOp::Scatter | CollOp::Gatherv | CollOp::Scatterv
        )
    }

    /// Whether each process of an intracommunicator sends each one as many bytes as it receives from it.
    pub(crate) const fn sends_as_it_receives(self) -> bool {
        matches!(self, CollOp::Allgather | CollOp::Alltoall)
    }

    /// Whether the processes exchange data with their neighbours in a topology.
    pub const fn is_of_neighbours(self) -> bool {
        self as i32 >= CollOp::NeighborAllgather as i32
    }

    /// Whether it has steps for communicators with several hosts (`hosts`).
    pub(crate) const fn has_hosts(self) -> bool {
        use CollOp::*;
        let moves = matches!(self, Barrier | Bcast | Gather | Scatter | Allgather | Allgatherv | Alltoall);
        moves || self.combines()
    }

    /// Whether it combines contributions.
    pub(crate) const fn combines(self) -> bool {
        use CollOp::*;
        matches!(self, Reduce | Allreduce | ReduceScatter | ReduceScatterBlock | Scan | Exscan)
    }

    /// Whether its data may go through memory that the processes share (`shared`).
    pub(crate) const fn can_share(self) -> bool {
        use CollOp::*;
        matches!(self, Barrier | Bcast | Reduce | Allreduce | Gather | Scatter | Allgather | Alltoall)
    }

    /// The tag of the messages of blocking calls: a process is in one at a time on a communicator, and messages between
    /// two processes keep their order, so that calls of one operation need no numbers.
    pub(crate) const fn tag(self) -> i32 {
        self as i32 + FIRST_TAG
    }

    /// The tag of the messages of the synchronisation in `MPI_Finalize`.
    pub(crate) const FINALIZE_TAG: i32 = FIRST_TAG + CollOp::ALL.len() as i32;
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

impl Form {
    pub const ALL: [Form; 3] = [Form::Blocking, Form::Nonblocking, Form::Persistent];
}
