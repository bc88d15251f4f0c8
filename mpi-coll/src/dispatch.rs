//! The steps of a call of any operation.

use mpi_errors::Result;

use crate::coll_op::CollOp;
use crate::plan::Algorithm;
use crate::shape::Shape;
use crate::steps::Steps;
use crate::{
    allgather, allreduce, alltoall, barrier, bcast, gather, hosts, inter, neighbor, reduce, reduce_scatter, scan,
    scatter,
};

impl Shape<'_> {
    /// Passes the steps of the call to a sink.
    pub fn steps<S: Steps>(&self, steps: &mut S) -> Result<()> {
        if self.inter {
            return inter::steps(self, steps);
        }
        if self.plan.shared() {
            return self.shared_steps(steps);
        }
        if let Some(hosts) = self.hosts
            && self.plan.algorithm(self.which, self.bytes) == Algorithm::Hosts
        {
            return hosts::steps(self, hosts, steps);
        }
        match self.which {
            CollOp::Barrier => barrier::steps(steps, self.team, self.plan.flat()),
            CollOp::Bcast => bcast::steps(self, steps),
            CollOp::Reduce => reduce::steps(self, steps),
            CollOp::Allreduce => allreduce::steps(self, steps),
            CollOp::Gather | CollOp::Gatherv => gather::steps(self, steps),
            CollOp::Scatter | CollOp::Scatterv => scatter::steps(self, steps),
            CollOp::Allgather => allgather::steps(self, steps),
            CollOp::Allgatherv => allgather::direct(self, steps),
            CollOp::Alltoall | CollOp::Alltoallv | CollOp::Alltoallw => alltoall::steps(self, steps),
            CollOp::ReduceScatter | CollOp::ReduceScatterBlock => reduce_scatter::steps(self, steps),
            CollOp::Scan => scan::inclusive(self, steps),
            CollOp::Exscan => scan::exclusive(self, steps),
            CollOp::NeighborAllgather | CollOp::NeighborAllgatherv => neighbor::allgather(self, steps),
            CollOp::NeighborAlltoall | CollOp::NeighborAlltoallv | CollOp::NeighborAlltoallw => {
                neighbor::alltoall(self, steps)
            }
        }
    }
}
