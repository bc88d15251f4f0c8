//! `MPI_Allgather` (MPI-5.0, 6.7).

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::bcast::broadcast;
use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::Buffers;
use crate::ring;
use crate::shape::Shape;
use crate::steps::{Place, Span, Steps, Team, VALUE};

impl Collectives {
    /// Collects the blocks of all processes in every process, in rank order. `recv` is the whole of as many blocks as
    /// there are processes. `None` for `send`: the own block is already in its place.
    pub fn allgather(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: RecvBuf<'_>) -> Result<()> {
        let send = send.map_or(Buffers::InPlace, Buffers::one);
        let recv = Buffers::Whole { buffer: recv, blocks: comm.size() };
        self.block(comm, CollCall::new(CollOp::Allgather, send, recv))
    }
}

/// The steps of an allgather of equal blocks.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (team, block) = (shape.team, shape.recv_block(0).bytes);
    if team.size > 2 && block > 0 && shape.plan.short_allgather(shape.bytes) {
        if !shape.send.in_place() {
            steps.copy(shape.send.whole(Place::Send), shape.recv_block(team.rank))?;
        }
        return if shape.plan.flat() { through_rank_0(shape, steps) } else { bruck(shape, steps) };
    }
    direct(shape, steps)
}

/// Every process sends its block to every other one, or many processes around a ring; blocks may have any lengths.
pub(crate) fn direct<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (team, own) = (shape.team, shape.recv_block(shape.team.rank));
    // From the send buffer if there is one: it was not just written, so the others read it from their own caches.
    let out = match shape.send.in_place() {
        true => own,
        false => shape.send.whole(Place::Send),
    };
    if shape.recv.bytes() == 0 {
        return if shape.send.in_place() { Ok(()) } else { steps.copy(out, own) };
    }
    if team.size > 2 && shape.plan.in_ring() {
        if !shape.send.in_place() {
            steps.copy(out, own)?;
        }
        return ring::allgather(steps, team, |rank| shape.recv_block(rank));
    }
    if team.size == 2 && shape.is_sent(out) {
        steps.send(1 - team.rank, out)?;
    }
    for source in team.others() {
        let block = shape.recv_block(source);
        if shape.is_sent(block) {
            steps.receive(source, block)?;
        }
    }
    if team.size > 2 && shape.is_sent(out) {
        team.others().try_for_each(|dest| steps.send(dest, out))?;
    }
    if !shape.send.in_place() {
        steps.copy(out, own)?;
    }
    steps.round()
}

/// Every process sends its block to every other one; `block` is where a rank's block is in every process.
pub(crate) fn exchange<S: Steps>(steps: &mut S, team: Team, block: impl Fn(u32) -> Span) -> Result<()> {
    team.others().try_for_each(|source| steps.receive(source, block(source)))?;
    team.others().try_for_each(|dest| steps.send(dest, block(team.rank)))?;
    steps.round()
}

/// Rank 0 collects the blocks and broadcasts the whole; the other processes wait once.
fn through_rank_0<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let team = shape.team;
    if team.rank == 0 {
        team.others().try_for_each(|source| steps.receive(source, shape.recv_block(source)))?;
        steps.received()?;
    } else {
        steps.send(0, shape.recv_block(team.rank))?;
        // The broadcast overwrites the block.
        steps.round()?;
    }
    broadcast(steps, team, shape.recv.whole(Place::Recv), 0, true)
}

/// In log2(n) steps, each of which doubles the number of blocks that a process has: its own and those behind it.
fn bruck<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (rank, size) = (shape.team.rank, shape.team.size);
    let blocks = steps.bytes(VALUE, shape.recv.bytes())?;
    let block = blocks.bytes / u64::from(size);
    let some = |first: u32, count: u32| blocks.part(u64::from(first) * block, u64::from(count) * block);
    steps.copy(shape.recv_block(rank), some(0, 1))?;
    let mut have = 1;
    while have < size {
        let more = have.min(size - have);
        steps.send((rank + size - have) % size, some(0, more))?;
        steps.receive((rank + have) % size, some(have, more))?;
        steps.round()?;
        have += more;
    }
    (1..size).try_for_each(|step| steps.copy(some(step, 1), shape.recv_block((rank + step) % size)))
}
