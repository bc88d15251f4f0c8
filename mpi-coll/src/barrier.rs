//! `MPI_Barrier` (MPI-5.0, 6.3).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::{Buffers, Memory};
use crate::plan::Plan;
use crate::run::Run;
use crate::shared::Heading;
use crate::steps::{Span, Steps, Team};
use crate::terms::Terms;

/// What processes in `MPI_Barrier` state, and the tag of its messages.
const BARRIER: (Heading, i32) = (Heading::new(CollOp::Barrier, 0), CollOp::Barrier.tag());

impl Collectives {
    /// Returns once every process of the communicator has called it.
    #[inline]
    pub fn barrier(&self, comm: &Comm) -> Result<()> {
        self.barrier_with(self.engine.lock(), comm)
    }

    /// As [`Collectives::barrier`], for a caller that has the process lock, which it releases.
    #[inline]
    pub fn barrier_with<'a>(&'a self, guard: Guard<'a>, comm: &'a Comm) -> Result<()> {
        let guard = self.meet(comm, guard, CollOp::Barrier)?;
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Barrier, 0), |it| it.barrier_calls.incr());
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Barrier, 0))?;
        self.wait_for_all(comm, guard, calling.plan, BARRIER)
    }

    /// A barrier of the library itself, which no instrument counts.
    pub fn synchronize(&self, comm: &Comm) -> Result<()> {
        self.wait_for_all(comm, self.engine.lock(), self.plan(comm, CollOp::Barrier), BARRIER)
    }

    /// The synchronisation in `MPI_Finalize`. No other call matches it: through shared memory a process that is in another
    /// one is an error in both.
    pub fn synchronize_to_end(&self, comm: &Comm) -> Result<()> {
        let end = (Heading::FINALIZE, CollOp::FINALIZE_TAG);
        self.wait_for_all(comm, self.engine.lock(), self.plan(comm, CollOp::Barrier), end)
    }

    #[inline]
    fn wait_for_all(&self, comm: &Comm, guard: Guard<'_>, plan: Plan, (heading, tag): (Heading, i32)) -> Result<()> {
        let call = || CollCall::new(CollOp::Barrier, Buffers::Absent, Buffers::Absent);
        if plan.shared() {
            drop(guard);
            return match self.shared_barrier(comm, heading) {
                Some(result) => result,
                None => self.block_headed(comm, call(), heading),
            };
        }
        let link = self.link(comm, tag);
        match link.size {
            1 => Ok(()),
            2 => {
                // An empty message is never long, so both may send before they receive.
                link.send_with(guard, 1 - link.rank, SendBuf::empty())?;
                link.recv(1 - link.rank, RecvBuf::empty())
            }
            _ => {
                drop(guard);
                let mut run = Run::new(link, link.context, Memory::new(Buffers::Absent, Buffers::Absent), None, None);
                let result = match plan.by_hosts(0) {
                    true => self.prepare(comm, call()).and_then(|prepared| prepared.shape.steps(&mut run)),
                    false => steps(&mut run, Team { rank: link.rank, size: link.size }, plan.flat()),
                };
                run.end(result, false)
            }
        }
    }
}

/// The steps of a barrier: through rank 0 or by dissemination.
pub(crate) fn steps<S: Steps>(steps: &mut S, team: Team, flat: bool) -> Result<()> {
    match flat {
        true => through_rank_0(steps, team),
        false => dissemination(steps, team),
    }
}

/// Two messages per process, and for all but rank 0 one wait.
fn through_rank_0<S: Steps>(steps: &mut S, team: Team) -> Result<()> {
    if team.rank != 0 {
        steps.send(0, Span::EMPTY)?;
        steps.receive(0, Span::EMPTY)?;
        return steps.round();
    }
    (1..team.size).try_for_each(|rank| steps.receive(rank, Span::EMPTY))?;
    steps.round()?;
    (1..team.size).try_for_each(|rank| steps.send(rank, Span::EMPTY))?;
    steps.round()
}

/// After step k, the 2^k processes before each process have reached the barrier.
fn dissemination<S: Steps>(steps: &mut S, team: Team) -> Result<()> {
    let mut distance = 1;
    while distance < team.size {
        steps.send((team.rank + distance) % team.size, Span::EMPTY)?;
        steps.receive((team.rank + team.size - distance) % team.size, Span::EMPTY)?;
        steps.round()?;
        distance *= 2;
    }
    Ok(())
}
