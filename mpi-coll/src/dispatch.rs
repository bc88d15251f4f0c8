//! The steps of a call of any operation.

use mpi_errors::Result;

use crate::coll_op::CollOp;
use crate::shape::Shape;
use crate::steps::Steps;
use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, scatter};

impl Shape<'_> {
    /// Passes the steps of the call to a sink.
    pub fn steps<S: Steps>(&self, steps: &mut S) -> Result<()> {
        match self.which {
            CollOp::Barrier => barrier::steps(steps, self.team, self.plan.flat()),
            CollOp::Bcast => bcast::steps(self, steps),
            CollOp::Reduce => reduce::steps(self, steps),
            CollOp::Allreduce => allreduce::steps(self, steps),
            CollOp::Gather => gather::steps(self, steps),
            CollOp::Scatter => scatter::steps(self, steps),
            CollOp::Allgather => allgather::steps(self, steps),
            CollOp::Alltoall => alltoall::steps(self, steps),
        }
    }
}
