//! The collective operations, as variables, events and errors number and name them.
//!
//! Not here: reduction operations (`op`).

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum CollOp {
    Barrier = 0,
    Bcast = 1,
    Reduce = 2,
    Allreduce = 3,
    Gather = 4,
    Scatter = 5,
    Allgather = 6,
    Alltoall = 7,
}

impl CollOp {
    /// All of them.
    pub const ALL: [CollOp; 8] = [
        CollOp::Barrier,
        CollOp::Bcast,
        CollOp::Reduce,
        CollOp::Allreduce,
        CollOp::Gather,
        CollOp::Scatter,
        CollOp::Allgather,
        CollOp::Alltoall,
    ];

    /// The name of its function.
    pub const fn function(self) -> &'static str {
        match self {
            CollOp::Barrier => "MPI_Barrier",
            CollOp::Bcast => "MPI_Bcast",
            CollOp::Reduce => "MPI_Reduce",
            CollOp::Allreduce => "MPI_Allreduce",
            CollOp::Gather => "MPI_Gather",
            CollOp::Scatter => "MPI_Scatter",
            CollOp::Allgather => "MPI_Allgather",
            CollOp::Alltoall => "MPI_Alltoall",
        }
    }
}
