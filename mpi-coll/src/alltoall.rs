//! `MPI_Alltoall` (MPI-5.0, 6.8).

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::lists::Sizes;
use crate::memory::Buffers;
use crate::plan::SHORT;
use crate::shape::Shape;
use crate::steps::{ABOVE, OTHER, Span, Steps, Team, VALUE};

impl Collectives {
    /// Sends block i to rank i and receives rank i's block for this process into place i. Both buffers are the whole
    /// of as many blocks as there are processes. `None` for `send`: the blocks are taken out of `recv`.
    pub fn alltoall(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: RecvBuf<'_>) -> Result<()> {
        let blocks = comm.size();
        let send = send.map_or(Buffers::InPlace, |buffer| Buffers::Whole { buffer, blocks });
        self.block(comm, CollCall::new(CollOp::Alltoall, send, Buffers::Whole { buffer: recv, blocks }))
    }
}

/// The steps of an exchange of all with all, of blocks of any lengths and types.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let team = shape.team;
    if shape.send.bytes() == 0 && shape.recv.bytes() == 0 {
        return Ok(());
    }
    if shape.which == CollOp::Alltoall && shape.plan.short_alltoall(shape.recv_block(0).bytes) {
        return bruck(shape, steps);
    }
    let kept = match shape.send.in_place() {
        true => Some(keep(shape, steps)?),
        false => None,
    };
    let out = |rank: u32| match &kept {
        Some((copy, starts)) => copy.part(starts[rank as usize], shape.recv_block(rank).bytes),
        None => shape.send_block(rank),
    };
    if shape.plan.in_ring() {
        return pairwise(shape, steps, out);
    }
    // Short sends are complete at once, so they come first and the receives need not be posted.
    let short = team.others().all(|rank| out(rank).bytes.max(shape.recv_block(rank).bytes) <= SHORT);
    if short {
        send_all(shape, steps, out)?;
    }
    // From the nearest process before this one on: those that send to it first.
    for step in 1..team.size {
        let source = (team.rank + team.size - step) % team.size;
        let block = shape.recv_block(source);
        if shape.is_sent(block) {
            steps.receive(source, block)?;
        }
    }
    if !short {
        send_all(shape, steps, out)?;
    }
    if kept.is_none() {
        steps.copy(shape.send_block(team.rank), shape.recv_block(team.rank))?;
    }
    steps.round()
}

/// Exchanges with one process after the other: what goes to the process that is some places ahead in rank order, while the
/// data of the one as many places behind arrive.
fn pairwise<S: Steps>(shape: &Shape<'_>, steps: &mut S, out: impl Fn(u32) -> Span) -> Result<()> {
    let Team { rank, size } = shape.team;
    for step in 1..size {
        let (dest, source) = ((rank + step) % size, (rank + size - step) % size);
        if shape.is_sent(shape.recv_block(source)) {
            steps.receive(source, shape.recv_block(source))?;
        }
        if shape.is_sent(out(dest)) {
            steps.send(dest, out(dest))?;
        }
        steps.round()?;
    }
    if shape.send.in_place() { Ok(()) } else { steps.copy(out(rank), shape.recv_block(rank)) }
}

/// Short equal blocks in log2(n) steps: a step moves all blocks by a power of two of places whose way has it.
fn bruck<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let Team { rank, size } = shape.team;
    let each = shape.recv_block(0).bytes;
    let half = u64::from(size).div_ceil(2) * each;
    // By the number of places that a block still has to move.
    let blocks = steps.bytes(VALUE, u64::from(size) * each)?;
    let (out, into) = (steps.bytes(OTHER, half)?, steps.bytes(ABOVE, half)?);
    let block = |of: Span, at: u32| of.part(u64::from(at) * each, each);
    for way in 0..size {
        let dest = (rank + way) % size;
        let from = if shape.send.in_place() { shape.recv_block(dest) } else { shape.send_block(dest) };
        steps.copy(from, block(blocks, way))?;
    }
    let mut bit = 1;
    while bit < size {
        let moved = || (0..).zip((0..size).filter(|way| way & bit != 0));
        moved().try_for_each(|(at, way)| steps.copy(block(blocks, way), block(out, at)))?;
        let bytes = moved().count() as u64 * each;
        steps.receive((rank + size - bit) % size, into.part(0, bytes))?;
        steps.send((rank + bit) % size, out.part(0, bytes))?;
        steps.round()?;
        moved().try_for_each(|(at, way)| steps.copy(block(into, at), block(blocks, way)))?;
        bit *= 2;
    }
    (0..size).try_for_each(|way| steps.copy(block(blocks, way), shape.recv_block((rank + size - way) % size)))
}

fn send_all<S: Steps>(shape: &Shape<'_>, steps: &mut S, out: impl Fn(u32) -> Span) -> Result<()> {
    for dest in shape.team.others() {
        let block = out(dest);
        if shape.is_sent(block) {
            steps.send(dest, block)?;
        }
    }
    Ok(())
}

/// Copies the blocks of the receive buffer, which are sent, and returns the copy and the first byte of each block in it.
fn keep<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<(Span, Sizes)> {
    let copy = steps.bytes(VALUE, shape.recv.bytes())?;
    let mut end = 0;
    let starts = (0..shape.peers).map(|rank| {
        let start = end;
        end += shape.recv_block(rank).bytes;
        start
    });
    let starts: Sizes = starts.collect();
    for (rank, start) in (0..).zip(starts.iter()) {
        let block = shape.recv_block(rank);
        steps.copy(block, copy.part(*start, block.bytes))?;
    }
    Ok((copy, starts))
}
