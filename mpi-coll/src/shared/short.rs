//! The short ways of the most frequent blocking calls: without shapes, spans and working memory.
//!
//! Each makes the same publications and reads as the steps of the call would.
//! Not here: those of the other blocking calls (`blocking`).

use mpi_comm::Comm;
use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use super::moving::is_mutual_barrier;
use super::turns::{Heading, Turns, put_into};
use crate::Collectives;
use crate::coll_op::CollOp;
use crate::op::Reducer;

impl Collectives {
    /// The turns of a blocking operation that begins, as for [`Turns::new`]; `None` if the communicator has no channels.
    #[inline(always)]
    pub(crate) fn turns<'c>(&'c self, comm: &'c Comm, heading: Heading, exchanges: bool) -> Option<Turns<'c>> {
        Some(Turns::new(&self.engine, &comm.channels()?.blocking, heading, exchanges))
    }

    /// A barrier whose plan is to go through the channel; `None` if it must go by its steps.
    #[inline(always)]
    pub(crate) fn shared_barrier(&self, comm: &Comm, heading: Heading) -> Option<Result<()>> {
        if !is_mutual_barrier(comm.size()) {
            return None;
        }
        let mut turns = self.turns(comm, heading, false)?;
        let result = meet_all(&mut turns, comm.rank, comm.size());
        turns.end(result.is_ok());
        Some(result)
    }

    /// A broadcast of data that fit into one publication.
    #[inline(always)]
    pub(crate) fn shared_bcast(&self, comm: &Comm, buffer: &mut RecvBuf<'_>, root: u32) -> Option<Result<()>> {
        let bytes = buffer.bytes();
        let mut turns = self.turns(comm, Heading::new(CollOp::Bcast, bytes), false)?;
        let result = match comm.rank == root {
            true => publish(&mut turns, &buffer.as_send()),
            false => turns.store(root, 0, bytes, buffer, 0),
        };
        turns.end(false);
        Some(result)
    }

    /// A reduction for all, of a predefined operation on elements without gaps, up to [`longest_whole`](crate::plan::longest_whole) bytes.
    #[inline(always)]
    pub(crate) fn shared_allreduce(
        &self,
        comm: &Comm,
        send: Option<&SendBuf<'_>>,
        recv: &mut RecvBuf<'_>,
        reducer: &Reducer<'_>,
        count: u64,
    ) -> Option<Result<()>> {
        let bytes = recv.bytes();
        // A contribution in place is overwritten, so it is read from its publication, which then must not pass to the reader.
        let own = send.and_then(SendBuf::native).filter(|own| own.len() as u64 == bytes);
        let mut turns = self.turns(comm, Heading::new(CollOp::Allreduce, bytes), own.is_some())?;
        let result = combine_all(&mut turns, comm, (send, own), recv, reducer, count);
        turns.end(result.is_ok());
        Some(result)
    }
}

impl Collectives {
    /// A reduction to one process, of a predefined operation on so many bytes of elements without gaps, which fit into one
    /// publication. The root combines the contributions from the last rank down, onto its own.
    #[inline(always)]
    pub(crate) fn shared_reduce(
        &self,
        comm: &Comm,
        send: Option<&SendBuf<'_>>,
        recv: Option<&mut RecvBuf<'_>>,
        (reducer, count): (&Reducer<'_>, u64),
        (bytes, root): (u64, u32),
    ) -> Option<Result<()>> {
        let mut turns = self.turns(comm, Heading::new(CollOp::Reduce, bytes), false)?;
        let result = match (send, recv) {
            (Some(send), None) => publish(&mut turns, send),
            (send, Some(recv)) => {
                if let Some(send) = send {
                    recv.copy_from(send);
                }
                combine_at_root(&turns, (comm.size(), root), recv, reducer, (count, bytes))
            }
            (None, None) => Ok(()),
        };
        turns.end(false);
        Some(result)
    }
}

#[inline(always)]
fn combine_at_root(
    turns: &Turns<'_>,
    (size, root): (u32, u32),
    recv: &mut RecvBuf<'_>,
    reducer: &Reducer<'_>,
    (count, bytes): (u64, u64),
) -> Result<()> {
    let Some(value) = recv.native_mut() else { return Err(with_gaps()) };
    for source in (0..size).rev().filter(|source| *source != root) {
        reducer.apply(turns.bytes(source, 0, bytes)?, value, count);
    }
    Ok(())
}

/// Publishes data that fit into one publication.
#[inline(always)]
pub(crate) fn publish(turns: &mut Turns<'_>, data: &SendBuf<'_>) -> Result<()> {
    turns.reserve(data.bytes())?;
    if let Some(publication) = turns.publication() {
        put_into(publication, 0, data);
    }
    turns.publish();
    Ok(())
}

#[inline(always)]
fn meet_all(turns: &mut Turns<'_>, rank: u32, size: u32) -> Result<()> {
    turns.reserve(0)?;
    turns.publish();
    (0..size).filter(|other| *other != rank).try_for_each(|other| turns.read(other).map(drop))
}

#[inline(always)]
fn combine_all(
    turns: &mut Turns<'_>,
    comm: &Comm,
    (send, own): (Option<&SendBuf<'_>>, Option<&[u8]>),
    recv: &mut RecvBuf<'_>,
    reducer: &Reducer<'_>,
    count: u64,
) -> Result<()> {
    match send {
        Some(send) => publish(turns, send)?,
        None => publish(turns, &recv.as_send())?,
    }
    let (bytes, rank) = (recv.bytes(), comm.rank);
    let turns = &*turns;
    let contribution = |source: u32| match own.filter(|_| source == rank) {
        Some(own) => Ok(own),
        None => turns.bytes(source, 0, bytes),
    };
    let Some(value) = recv.native_mut() else { return Err(with_gaps()) };
    let last = comm.size() - 1;
    // From the last rank down, so that each contribution is the left operand, its own as well.
    value.copy_from_slice(&contribution(last)?[..value.len()]);
    for source in (0..last).rev() {
        reducer.apply(contribution(source)?, value, count);
    }
    Ok(())
}

#[cold]
pub(crate) fn with_gaps() -> Error {
    Error::new(MPI_ERR_INTERN, "elements of a derived datatype in the program's memory")
}
