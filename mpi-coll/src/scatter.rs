//! `MPI_Scatter` (MPI-5.0, 6.6).

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::Buffers;
use crate::missing_buffer::{absent_at_root, in_place_elsewhere};
use crate::shape::{Root, Shape};
use crate::steps::{Place, Steps};

impl Collectives {
    /// Sends each process its block of `root`'s buffer. `send`, needed at the root only, is the whole of as many blocks
    /// as there are processes. `None` for `recv`, at the root only: its block stays in its place.
    pub fn scatter(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, root: u32) -> Result<()> {
        let at_root = comm.rank == root;
        let send = match send {
            Some(buffer) if at_root => Buffers::Whole { buffer, blocks: comm.size() },
            None if at_root => return Err(absent_at_root("sendbuf")),
            _ => Buffers::Absent,
        };
        let recv = match recv {
            Some(recv) => Buffers::one(recv),
            None if at_root => Buffers::InPlace,
            None => return Err(in_place_elsewhere("recvbuf")),
        };
        self.block(comm, CollCall::new(CollOp::Scatter, send, recv).rooted(Root::Rank(root)))
    }
}

/// The steps of a scatter: the root sends every process its block.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (rank, root) = (shape.team.rank, shape.root_rank());
    if rank != root {
        let own = shape.recv.whole(Place::Recv);
        if own.bytes > 0 {
            steps.receive(root, own)?;
        }
        return steps.round();
    }
    for dest in shape.team.others() {
        let block = shape.send_block(dest);
        if block.bytes > 0 {
            steps.send(dest, block)?;
        }
    }
    if !shape.recv.in_place() {
        steps.copy(shape.send_block(rank), shape.recv.whole(Place::Recv))?;
    }
    steps.round()
}
