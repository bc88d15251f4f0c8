//! `MPI_Gather` (MPI-5.0, 6.5).

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
    /// Collects the blocks of all processes at `root`, in rank order. `recv`, needed at the root only, is the whole of
    /// as many blocks as there are processes. `None` for `send`, at the root only: its block is already in its place.
    pub fn gather(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, root: u32) -> Result<()> {
        let at_root = comm.rank == root;
        let recv = match recv {
            Some(buffer) if at_root => Buffers::Whole { buffer, blocks: comm.size() },
            None if at_root => return Err(absent_at_root("recvbuf")),
            _ => Buffers::Absent,
        };
        let send = match send {
            Some(send) => Buffers::one(send),
            None if at_root => Buffers::InPlace,
            None => return Err(in_place_elsewhere("sendbuf")),
        };
        self.block(comm, CollCall::new(CollOp::Gather, send, recv).rooted(Root::Rank(root)))
    }
}

/// The steps of a gather: every process sends its block to the root.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (rank, root) = (shape.team.rank, shape.root_rank());
    if rank != root {
        let own = shape.send.whole(Place::Send);
        if own.bytes > 0 {
            steps.send(root, own)?;
        }
        return steps.round();
    }
    if !shape.send.in_place() {
        steps.copy(shape.send.whole(Place::Send), shape.recv_block(rank))?;
    }
    for source in shape.team.others() {
        let block = shape.recv_block(source);
        if block.bytes > 0 {
            steps.receive(source, block)?;
        }
    }
    steps.round()
}
