//! `MPI_Barrier` (MPI-5.0, 6.3).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{BARRIER, Link};
use crate::plan::Plan;

impl Collectives {
    /// Returns once every process of the communicator has called it.
    #[inline]
    pub fn barrier(&self, comm: &Comm) -> Result<()> {
        self.barrier_with(self.engine.lock(), comm)
    }

    /// As [`Collectives::barrier`], for a caller that has the process lock, which it releases.
    #[inline]
    pub fn barrier_with<'a>(&'a self, guard: Guard<'a>, comm: &'a Comm) -> Result<()> {
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Barrier, 0), |it| it.barrier_calls.incr());
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Barrier, 0))?;
        self.wait_for_all(comm, guard, calling.plan)
    }

    /// A barrier of the library itself, which no instrument counts.
    pub fn synchronize(&self, comm: &Comm) -> Result<()> {
        self.wait_for_all(comm, self.engine.lock(), self.plan(comm, CollOp::Barrier))
    }

    #[inline]
    fn wait_for_all(&self, comm: &Comm, guard: Guard<'_>, plan: Plan) -> Result<()> {
        let link = self.link(comm, BARRIER);
        match link.size {
            1 => Ok(()),
            2 => {
                // An empty message is never long, so both may send before they receive.
                link.send_with(guard, 1 - link.rank, SendBuf::empty())?;
                link.recv(1 - link.rank, RecvBuf::empty())
            }
            _ => {
                drop(guard);
                if plan.flat() { through_rank_0(link) } else { dissemination(link) }
            }
        }
    }
}

/// Two messages per process, and for all but rank 0 one wait.
fn through_rank_0(link: Link<'_>) -> Result<()> {
    if link.rank != 0 {
        link.send(0, SendBuf::empty())?;
        return link.recv(0, RecvBuf::empty());
    }
    (1..link.size).try_for_each(|rank| link.recv(rank, RecvBuf::empty()))?;
    (1..link.size).try_for_each(|rank| link.send(rank, SendBuf::empty()))
}

/// After step k, the 2^k processes before each process have reached the barrier.
fn dissemination(link: Link<'_>) -> Result<()> {
    let mut distance = 1;
    while distance < link.size {
        let dest = (link.rank + distance) % link.size;
        let source = (link.rank + link.size - distance) % link.size;
        link.send(dest, SendBuf::empty())?;
        link.recv(source, RecvBuf::empty())?;
        distance *= 2;
    }
    Ok(())
}
