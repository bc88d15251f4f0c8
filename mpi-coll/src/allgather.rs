//! `MPI_Allgather` (MPI-5.0, 6.7).

use mpi_comm::{Comm, Outcome};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Collectives;
use crate::agreement::Terms;
use crate::bcast::broadcast_over;
use crate::coll_op::CollOp;
use crate::gather::{collect, each_block};
use crate::link::{ALLGATHER, Link};
use crate::missing_buffer::copy_own;
use crate::scratch::Scratch;

impl Collectives {
    /// Collects the blocks of all processes in every process, in rank order. `recv` is the whole of as many blocks as
    /// there are processes. `None` for `send`: the own block is already in its place.
    pub fn allgather(&self, comm: &Comm, send: Option<SendBuf<'_>>, mut recv: RecvBuf<'_>) -> Result<()> {
        let link = self.link(comm, ALLGATHER);
        let whole = recv.bytes();
        let block = whole / link.size as u64;
        let (calling, guard) = self.begin(comm, (CollOp::Allgather, whole), |it| {
            it.allgather_calls.incr();
            it.allgather_bytes.add(send.as_ref().map_or(block, |send| send.bytes()));
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Allgather, block))?;
        drop(guard);
        let plan = calling.plan;
        let mut outcome = Outcome::default();
        if let Some(send) = &send {
            copy_own(recv.part(link.rank as u64 * block, block), send, &mut outcome)?;
        }
        if link.size == 1 || block == 0 {
            return outcome.end();
        }
        if link.size == 2 {
            exchange(link, send, recv, block, &mut outcome)?;
        } else if !plan.short_allgather(whole) {
            direct(link, send, recv, &mut outcome)?;
        } else if plan.flat() {
            through_rank_0(link, recv, block, &mut outcome)?;
        } else {
            bruck(link, recv, block, &mut outcome)?;
        }
        outcome.end()
    }
}

/// Every process sends its block to every other one.
#[allow(clippy::needless_late_init)] // the own block is declared first, so that it outlives what borrows it
fn direct(link: Link<'_>, send: Option<SendBuf<'_>>, recv: RecvBuf<'_>, outcome: &mut Outcome) -> Result<()> {
    let (own, out);
    let mut pending = link.pending();
    own = each_block(link, recv, |rank, piece| link.irecv(&mut pending, rank, piece))?;
    // From the send buffer if there is one: it was not just written, so the others read it from their own caches.
    out = send.unwrap_or(own.as_send());
    link.others().try_for_each(|rank| link.isend(&mut pending, rank, out.clone()))?;
    link.wait_all(pending, outcome)
}

/// Two processes exchange their blocks.
fn exchange(
    link: Link<'_>,
    send: Option<SendBuf<'_>>,
    recv: RecvBuf<'_>,
    block: u64,
    outcome: &mut Outcome,
) -> Result<()> {
    let (first, second) = recv.split_at(block);
    let (own, other) = if link.rank == 0 { (first, second) } else { (second, first) };
    outcome.record_data_error(link.exchange(1 - link.rank, send.unwrap_or(own.as_send()), 1 - link.rank, other))
}

/// Rank 0 collects the blocks and broadcasts the whole; the other processes wait once.
pub(crate) fn through_rank_0(link: Link<'_>, mut recv: RecvBuf<'_>, block: u64, outcome: &mut Outcome) -> Result<()> {
    if link.rank == 0 {
        collect(link, None, recv.reborrow(), outcome)?;
    } else {
        link.send(0, recv.part(link.rank as u64 * block, block).as_send())?;
    }
    broadcast_over(link, recv, 0, true, outcome)
}

/// In log2(n) steps, each of which doubles the number of blocks that a process has: its own and those behind it.
fn bruck(link: Link<'_>, mut recv: RecvBuf<'_>, block: u64, outcome: &mut Outcome) -> Result<()> {
    let Link { rank, size, .. } = link;
    let mut scratch = Scratch::new(recv.bytes())?;
    let blocks = scratch.bytes();
    let bytes = |count: u32| (count as u64 * block) as usize;
    recv.part(rank as u64 * block, block).pack(0, &mut blocks[..bytes(1)]);
    let mut have = 1;
    while have < size {
        let more = have.min(size - have);
        let (known, coming) = blocks.split_at_mut(bytes(have));
        let out = SendBuf::from_slice(&known[..bytes(more)]);
        let into = RecvBuf::from_slice(&mut coming[..bytes(more)]);
        outcome.record_data_error(link.exchange((rank + size - have) % size, out, (rank + have) % size, into))?;
        have += more;
    }
    for (step, data) in blocks.chunks(bytes(1)).enumerate().skip(1) {
        recv.unpack(((rank + step as u32) % size) as u64 * block, data);
    }
    Ok(())
}
