//! `MPI_Scatter` (MPI-5.0, 6.6).

use mpi_comm::{Comm, Outcome};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{Link, SCATTER};
use crate::missing_buffer::{absent_at_root, copy_own, in_place_elsewhere};
use crate::plan::SHORT;

impl Collectives {
    /// Sends each process its block of `root`'s buffer. `send`, needed at the root only, is the whole of as many blocks
    /// as there are processes. `None` for `recv`, at the root only: its block stays in its place.
    pub fn scatter(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, root: u32) -> Result<()> {
        let send = if comm.rank == root { send } else { None };
        let block = match (&send, &recv) {
            (_, Some(recv)) => recv.bytes(),
            (Some(send), None) => send.bytes() / comm.size() as u64,
            (None, None) => return Err(in_place_elsewhere("recvbuf")),
        };
        let (_calling, guard) = self.begin(comm, (CollOp::Scatter, block), |it| {
            it.scatter_calls.incr();
            it.scatter_bytes.add(block);
        });
        let guard = self.agree(comm, guard, || {
            let whole = send.as_ref().map(|send| send.bytes() / comm.size() as u64);
            Terms::new(CollOp::Scatter, whole.unwrap_or(block)).root(root)
        })?;
        drop(guard);
        let link = self.link(comm, SCATTER);
        let mut outcome = Outcome::default();
        match (send, recv) {
            (Some(send), recv) => distribute(link, &send, recv, &mut outcome)?,
            (None, Some(_)) if comm.rank == root => return Err(absent_at_root("sendbuf")),
            (None, Some(recv)) if block > 0 => outcome.record_data_error(link.recv(root, recv))?,
            _ => {}
        }
        outcome.end()
    }
}

fn distribute(link: Link<'_>, send: &SendBuf<'_>, recv: Option<RecvBuf<'_>>, outcome: &mut Outcome) -> Result<()> {
    let block = send.bytes() / link.size as u64;
    let piece = |rank: u32| send.part(rank as u64 * block, block);
    if let Some(recv) = recv {
        copy_own(recv, &piece(link.rank), outcome)?;
    }
    if block == 0 {
        return Ok(());
    }
    if block <= SHORT {
        return link.others().try_for_each(|rank| link.send(rank, piece(rank)));
    }
    let mut pending = link.pending();
    link.others().try_for_each(|rank| link.isend(&mut pending, rank, piece(rank)))?;
    link.wait_all(pending, outcome)
}
