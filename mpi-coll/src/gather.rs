//! `MPI_Gather` (MPI-5.0, 6.5).

use mpi_comm::{Comm, Outcome};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{GATHER, Link};
use crate::missing_buffer::{absent_at_root, copy_own, in_place_elsewhere};

impl Collectives {
    /// Collects the blocks of all processes at `root`, in rank order. `recv`, needed at the root only, is the whole of
    /// as many blocks as there are processes. `None` for `send`, at the root only: its block is already in its place.
    pub fn gather(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, root: u32) -> Result<()> {
        let recv = if comm.rank == root { recv } else { None };
        let block = match (&send, &recv) {
            (Some(send), _) => send.bytes(),
            (None, Some(recv)) => recv.bytes() / comm.size() as u64,
            (None, None) => return Err(in_place_elsewhere("sendbuf")),
        };
        let (_calling, guard) = self.begin(comm, (CollOp::Gather, block), |it| {
            it.gather_calls.incr();
            it.gather_bytes.add(block);
        });
        let guard = self.agree(comm, guard, || {
            let whole = recv.as_ref().map(|recv| recv.bytes() / comm.size() as u64);
            Terms::new(CollOp::Gather, whole.unwrap_or(block)).root(root)
        })?;
        drop(guard);
        let link = self.link(comm, GATHER);
        let mut outcome = Outcome::default();
        match (send, recv) {
            (send, Some(recv)) => collect(link, send, recv, &mut outcome)?,
            (Some(_), None) if comm.rank == root => return Err(absent_at_root("recvbuf")),
            (Some(send), None) if block > 0 => link.send(root, send)?,
            _ => {}
        }
        outcome.end()
    }
}

/// The root's side, also as the first half of other collectives: receives the blocks of all others into their places.
pub(crate) fn collect(
    link: Link<'_>,
    send: Option<SendBuf<'_>>,
    mut recv: RecvBuf<'_>,
    outcome: &mut Outcome,
) -> Result<()> {
    let block = recv.bytes() / link.size as u64;
    if let Some(send) = &send {
        copy_own(recv.part(link.rank as u64 * block, block), send, outcome)?;
    }
    if block == 0 {
        return Ok(());
    }
    let mut pending = link.pending();
    each_block(link, recv, |rank, piece| link.irecv(&mut pending, rank, piece))?;
    link.wait_all(pending, outcome)
}

/// Passes the block of each other process to `take`, and returns this one's.
pub(crate) fn each_block<'b>(
    link: Link<'_>,
    mut whole: RecvBuf<'b>,
    mut take: impl FnMut(u32, RecvBuf<'b>) -> Result<()>,
) -> Result<RecvBuf<'b>> {
    let block = whole.bytes() / link.size as u64;
    let mut own = RecvBuf::empty();
    for rank in 0..link.size {
        let (piece, rest) = whole.split_at(block);
        if rank == link.rank {
            own = piece;
        } else {
            take(rank, piece)?;
        }
        whole = rest;
    }
    Ok(own)
}
