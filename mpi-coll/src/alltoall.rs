//! `MPI_Alltoall` (MPI-5.0, 6.8).

use mpi_comm::{Comm, Outcome};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::gather::each_block;
use crate::link::{ALLTOALL, Link};
use crate::missing_buffer::copy_own;
use crate::plan::SHORT;
use crate::scratch::Scratch;

impl Collectives {
    /// Sends block i to rank i and receives rank i's block for this process into place i. Both buffers are the whole
    /// of as many blocks as there are processes. `None` for `send`: the blocks are taken out of `recv`.
    pub fn alltoall(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: RecvBuf<'_>) -> Result<()> {
        let link = self.link(comm, ALLTOALL);
        let bytes = send.as_ref().map_or(recv.bytes(), |send| send.bytes());
        let (_calling, guard) = self.begin(comm, (CollOp::Alltoall, bytes), |it| {
            it.alltoall_calls.incr();
            it.alltoall_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Alltoall, recv.bytes() / comm.size() as u64))?;
        drop(guard);
        if bytes == 0 && recv.bytes() == 0 {
            return Ok(());
        }
        let mut outcome = Outcome::default();
        match send {
            Some(send) => exchange(link, &send, recv, &mut outcome)?,
            None => {
                let mut copy = Scratch::new(bytes)?;
                recv.pack(0, copy.bytes());
                exchange(link, &SendBuf::from_slice(copy.bytes()), recv, &mut outcome)?;
            }
        }
        outcome.end()
    }
}

fn exchange(link: Link<'_>, send: &SendBuf<'_>, mut recv: RecvBuf<'_>, outcome: &mut Outcome) -> Result<()> {
    let Link { rank: own, size, .. } = link;
    let (out, into) = (send.bytes() / size as u64, recv.bytes() / size as u64);
    let piece = |rank: u32| send.part(rank as u64 * out, out);
    copy_own(recv.part(own as u64 * into, into), &piece(own), outcome)?;
    if out.max(into) <= SHORT.min(link.engine.eager_bytes(&link.engine.lock(), link.context)) {
        // Nearly all sends are complete at once, so they all come first; the receives follow one after the other.
        let mut pending = link.pending();
        link.others().try_for_each(|rank| link.isend(&mut pending, rank, piece(rank)))?;
        for step in 1..size {
            let source = (own + size - step) % size;
            outcome.record_data_error(link.recv(source, recv.part(source as u64 * into, into)))?;
        }
        return link.wait_all(pending, outcome);
    }
    let mut pending = link.pending();
    each_block(link, recv, |rank, block| link.irecv(&mut pending, rank, block))?;
    link.others().try_for_each(|rank| link.isend(&mut pending, rank, piece(rank)))?;
    link.wait_all(pending, outcome)
}
