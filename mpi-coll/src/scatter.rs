//! `MPI_Scatter` (MPI-5.0, 6.6).

use mpi_comm::Comm;
use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::Collectives;
use crate::agreement::Terms;
use crate::bcast::SHORT;
use crate::call_scope::CollOp;
use crate::link::{Link, Outcome, SCATTER};
use crate::pending_ops::PendingOps;

impl Collectives {
    /// Gives everybody its block of `root`'s buffer. `send`, needed at the root only, is the whole of as many blocks
    /// as there are processes. `None` for `recv`, at the root only: its block stays where it is.
    pub fn scatter(&self, comm: &Comm, send: Option<SendBuf<'_>>, recv: Option<RecvBuf<'_>>, root: u32) -> Result<()> {
        let send = if comm.rank == root { send } else { None };
        let block = match (&send, &recv) {
            (_, Some(recv)) => recv.bytes(),
            (Some(send), None) => send.bytes() / comm.size() as u64,
            (None, None) => return Err(nowhere()),
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
            (None, Some(_)) if comm.rank == root => return Err(nothing()),
            (None, Some(recv)) if block > 0 => outcome.note(link.recv(root, recv))?,
            _ => {}
        }
        outcome.end()
    }
}

fn distribute(link: Link<'_>, send: &SendBuf<'_>, recv: Option<RecvBuf<'_>>, outcome: &mut Outcome) -> Result<()> {
    let block = send.bytes() / link.size as u64;
    let piece = |rank: u32| send.part(rank as u64 * block, block);
    if let Some(mut recv) = recv {
        recv.copy_from(&piece(link.rank));
    }
    if block == 0 {
        return Ok(());
    }
    if block <= SHORT {
        return link.others().try_for_each(|rank| link.send(rank, piece(rank)));
    }
    let mut flight = PendingOps::new(link);
    link.others().try_for_each(|rank| flight.send(rank, piece(rank)))?;
    flight.wait_all(outcome)
}

#[cold]
fn nowhere() -> Error {
    Error::new(MPI_ERR_BUFFER, "only the root may give MPI_IN_PLACE").arg("recvbuf", &"MPI_IN_PLACE")
}

#[cold]
fn nothing() -> Error {
    Error::new(MPI_ERR_BUFFER, "the root needs a send buffer").arg("sendbuf", &"absent")
}
