//! `MPI_Alltoall` (MPI-5.0, 6.8).

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::Buffers;
use crate::plan::SHORT;
use crate::shape::Shape;
use crate::steps::{Span, Steps, VALUE};

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
    let kept = match shape.send.in_place() {
        true => keep(shape, steps)?,
        false => Vec::new(),
    };
    let out = |rank: u32| kept.get(rank as usize).copied().unwrap_or_else(|| shape.send_block(rank));
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
    if kept.is_empty() {
        steps.copy(shape.send_block(team.rank), shape.recv_block(team.rank))?;
    }
    steps.round()
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

/// Copies the blocks of the receive buffer, which are sent, and returns where they are.
fn keep<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<Vec<Span>> {
    let copy = steps.bytes(VALUE, shape.recv.bytes())?;
    let (mut at, mut blocks) = (0, Vec::with_capacity(shape.peers as usize));
    for rank in 0..shape.peers {
        let block = shape.recv_block(rank);
        let part = copy.part(at, block.bytes);
        steps.copy(block, part)?;
        blocks.push(part);
        at += block.bytes;
    }
    Ok(blocks)
}
