//! The functions of C of each collective operation, under which the flight recorder has the calls of this crate.
//!
//! Not here: the operations (`mpi_coll::CollOp`).

use mpi_coll::CollOp;
use mpi_core::functions::*;

/// The numbers of an operation's functions: the one that blocks, the one that does not, and the persistent one.
pub(crate) fn functions(which: CollOp) -> [u16; 3] {
    match which {
        CollOp::Barrier => [MPI_BARRIER, MPI_IBARRIER, MPI_BARRIER_INIT],
        CollOp::Bcast => [MPI_BCAST, MPI_IBCAST, MPI_BCAST_INIT],
        CollOp::Reduce => [MPI_REDUCE, MPI_IREDUCE, MPI_REDUCE_INIT],
        CollOp::Allreduce => [MPI_ALLREDUCE, MPI_IALLREDUCE, MPI_ALLREDUCE_INIT],
        CollOp::Gather => [MPI_GATHER, MPI_IGATHER, MPI_GATHER_INIT],
        CollOp::Scatter => [MPI_SCATTER, MPI_ISCATTER, MPI_SCATTER_INIT],
        CollOp::Allgather => [MPI_ALLGATHER, MPI_IALLGATHER, MPI_ALLGATHER_INIT],
        CollOp::Alltoall => [MPI_ALLTOALL, MPI_IALLTOALL, MPI_ALLTOALL_INIT],
        CollOp::Gatherv => [MPI_GATHERV, MPI_IGATHERV, MPI_GATHERV_INIT],
        CollOp::Scatterv => [MPI_SCATTERV, MPI_ISCATTERV, MPI_SCATTERV_INIT],
        CollOp::Allgatherv => [MPI_ALLGATHERV, MPI_IALLGATHERV, MPI_ALLGATHERV_INIT],
        CollOp::Alltoallv => [MPI_ALLTOALLV, MPI_IALLTOALLV, MPI_ALLTOALLV_INIT],
        CollOp::Alltoallw => [MPI_ALLTOALLW, MPI_IALLTOALLW, MPI_ALLTOALLW_INIT],
        CollOp::ReduceScatter => [MPI_REDUCE_SCATTER, MPI_IREDUCE_SCATTER, MPI_REDUCE_SCATTER_INIT],
        CollOp::ReduceScatterBlock => {
            [MPI_REDUCE_SCATTER_BLOCK, MPI_IREDUCE_SCATTER_BLOCK, MPI_REDUCE_SCATTER_BLOCK_INIT]
        }
        CollOp::Scan => [MPI_SCAN, MPI_ISCAN, MPI_SCAN_INIT],
        CollOp::Exscan => [MPI_EXSCAN, MPI_IEXSCAN, MPI_EXSCAN_INIT],
        CollOp::NeighborAllgather => [MPI_NEIGHBOR_ALLGATHER, MPI_INEIGHBOR_ALLGATHER, MPI_NEIGHBOR_ALLGATHER_INIT],
        CollOp::NeighborAllgatherv => [MPI_NEIGHBOR_ALLGATHERV, MPI_INEIGHBOR_ALLGATHERV, MPI_NEIGHBOR_ALLGATHERV_INIT],
        CollOp::NeighborAlltoall => [MPI_NEIGHBOR_ALLTOALL, MPI_INEIGHBOR_ALLTOALL, MPI_NEIGHBOR_ALLTOALL_INIT],
        CollOp::NeighborAlltoallv => [MPI_NEIGHBOR_ALLTOALLV, MPI_INEIGHBOR_ALLTOALLV, MPI_NEIGHBOR_ALLTOALLV_INIT],
        CollOp::NeighborAlltoallw => [MPI_NEIGHBOR_ALLTOALLW, MPI_INEIGHBOR_ALLTOALLW, MPI_NEIGHBOR_ALLTOALLW_INIT],
    }
}
