//! `MPI_Bcast` (MPI-5.0, 6.4).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::RecvBuf;
use mpi_errors::Result;

use crate::Collectives;
use crate::coll_op::CollOp;
use crate::memory::{Buffers, Memory};
use crate::parts::{Even, Parts};
use crate::plan::{Plan, SHORT};
use crate::ring;
use crate::run::Run;
use crate::shape::{Root, Shape};
use crate::steps::{Place, Span, Steps, Team};
use crate::terms::Terms;

impl Collectives {
    /// Copies `root`'s buffer into those of all other processes.
    #[inline]
    pub fn bcast(&self, comm: &Comm, buffer: RecvBuf<'_>, root: u32) -> Result<()> {
        self.bcast_with(self.engine.lock(), comm, buffer, root)
    }

    /// As [`Collectives::bcast`], for a caller that has the process lock, which it releases.
    #[inline]
    pub fn bcast_with<'a>(
        &'a self,
        guard: Guard<'a>,
        comm: &'a Comm,
        mut buffer: RecvBuf<'_>,
        root: u32,
    ) -> Result<()> {
        let bytes = buffer.bytes();
        let guard = self.meet(comm, guard, CollOp::Bcast)?;
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Bcast, bytes), |it| {
            it.bcast_calls.incr();
            it.bcast_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Bcast, bytes).root(Root::Rank(root)))?;
        if calling.plan.shared() {
            drop(guard);
            if bytes <= calling.plan.longest()
                && let Some(result) = self.shared_bcast(comm, &mut buffer, root)
            {
                return result;
            }
            return self.bcast_by_steps(comm, buffer, root);
        }
        if comm.size() == 1 || bytes == 0 {
            return Ok(());
        }
        if calling.plan.by_hosts(bytes) {
            drop(guard);
            return self.bcast_by_steps(comm, buffer, root);
        }
        let link = self.link(comm, CollOp::Bcast.tag());
        if link.size == 2 {
            return match link.rank == root {
                true => link.send_with(guard, 1 - root, buffer.as_send()),
                false => link.recv_with(guard, root, buffer),
            };
        }
        drop(guard);
        let plan = calling.plan;
        let mut run = Run::new(link, link.context, Memory::new(Buffers::Absent, Buffers::one(buffer)), None, None);
        let data = Span { place: Place::Recv, piece: 0, at: 0, bytes };
        let result = planned(&mut run, Team { rank: link.rank, size: link.size }, data, root, plan);
        run.end(result, false)
    }
}

/// The steps of a broadcast.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    if shape.team.size == 1 || shape.bytes == 0 {
        return Ok(());
    }
    planned(steps, shape.team, shape.recv.whole(Place::Recv), shape.root_rank(), shape.plan)
}

/// The broadcast that the plan chooses.
pub(crate) fn planned<S: Steps>(steps: &mut S, team: Team, data: Span, root: u32, plan: Plan) -> Result<()> {
    if plan.split_bcast(data.bytes) {
        return split(steps, team, data, root);
    }
    let flat = if data.bytes <= SHORT { plan.flat_bcast() } else { plan.flat_long_bcast() };
    broadcast(steps, team, data, root, flat)
}

/// A long broadcast among many processes: the root's tree scatters parts of the data, which go around a ring. Every process
/// sends less than twice the data, however many there are.
fn split<S: Steps>(steps: &mut S, team: Team, data: Span, root: u32) -> Result<()> {
    let size = team.size;
    let (place, parts) = ((team.rank + size - root) % size, Even { count: data.bytes, size: size.into() });
    let at = |place: u32| (place + root) % size;
    // The parts of places from the first up to the second.
    let of = |first: u32, end: u32| {
        let (from, to) = (parts.of(first).0, parts.of(end.min(size)).0);
        data.part(from, to - from)
    };
    let limit = if place == 0 { size.next_power_of_two() } else { place & place.wrapping_neg() };
    if place != 0 {
        steps.receive(at(place & (place - 1)), of(place, place + limit))?;
        steps.received()?;
    }
    let mut bit = limit >> 1;
    while bit > 0 {
        if place + bit < size {
            steps.send(at(place + bit), of(place + bit, place + 2 * bit))?;
        }
        bit >>= 1;
    }
    steps.round()?;
    ring::allgather(steps, team, |rank| {
        let place = (rank + size - root) % size;
        of(place, place + 1)
    })
}

/// A broadcast of any data, also as a part of other operations.
#[inline]
pub(crate) fn broadcast<S: Steps>(steps: &mut S, team: Team, data: Span, root: u32, flat: bool) -> Result<()> {
    let place = (team.rank + team.size - root) % team.size;
    if flat {
        match place {
            0 => team.others().try_for_each(|rank| steps.send(rank, data))?,
            _ => steps.receive(root, data)?,
        }
        return steps.round();
    }
    if place != 0 {
        let parent = place & (place - 1);
        steps.receive((parent + root) % team.size, data)?;
        steps.received()?;
    }
    // The children of a place add one bit below its lowest; the largest subtree begins first.
    let limit = if place == 0 { team.size.next_power_of_two() } else { place & place.wrapping_neg() };
    let mut bit = limit >> 1;
    while bit > 0 {
        if place + bit < team.size {
            steps.send((place + bit + root) % team.size, data)?;
        }
        bit >>= 1;
    }
    steps.round()
}
