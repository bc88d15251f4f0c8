//! `MPI_Bcast` (MPI-5.0, 6.4).

use mpi_comm::{Comm, Outcome};
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use smallvec::SmallVec;

use crate::Collectives;
use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{BCAST, Link};
use crate::plan::SHORT;

impl Collectives {
    /// Copies `root`'s buffer into those of all other processes.
    #[inline]
    pub fn bcast(&self, comm: &Comm, buffer: RecvBuf<'_>, root: u32) -> Result<()> {
        self.bcast_with(self.engine.lock(), comm, buffer, root)
    }

    /// As [`Collectives::bcast`], for a caller that has the process lock, which it releases.
    #[inline]
    pub fn bcast_with<'a>(&'a self, guard: Guard<'a>, comm: &'a Comm, buffer: RecvBuf<'_>, root: u32) -> Result<()> {
        let bytes = buffer.bytes();
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Bcast, bytes), |it| {
            it.bcast_calls.incr();
            it.bcast_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Bcast, bytes).root(root))?;
        if comm.size() == 1 || bytes == 0 {
            return Ok(());
        }
        let link = self.link(comm, BCAST);
        if link.size == 2 {
            return match link.rank == root {
                true => link.send_with(guard, 1 - root, buffer.as_send()),
                false => link.recv_with(guard, root, buffer),
            };
        }
        drop(guard);
        let flat = if bytes <= SHORT { calling.plan.flat_bcast() } else { calling.plan.flat_long_bcast() };
        let mut outcome = Outcome::default();
        broadcast_over(link, buffer, root, flat, &mut outcome)?;
        outcome.end()
    }
}

/// The broadcast without its scope, also as the second half of other collectives.
#[inline]
pub(crate) fn broadcast_over(
    link: Link<'_>,
    mut buffer: RecvBuf<'_>,
    root: u32,
    flat: bool,
    outcome: &mut Outcome,
) -> Result<()> {
    if flat {
        if link.rank != root {
            return outcome.record_data_error(link.recv(root, buffer));
        }
        return send_to_all(link, &buffer.as_send(), link.others());
    }
    let place = (link.rank + link.size - root) % link.size;
    if place != 0 {
        let parent = place & (place - 1);
        outcome.record_data_error(link.recv((parent + root) % link.size, buffer.reborrow()))?;
    }
    // The children of a place add one bit below its lowest; the largest subtree begins first.
    let limit = if place == 0 { link.size.next_power_of_two() } else { place & place.wrapping_neg() };
    let mut children: SmallVec<[u32; 8]> = SmallVec::new();
    let mut bit = limit >> 1;
    while bit > 0 {
        if place + bit < link.size {
            children.push((place + bit + root) % link.size);
        }
        bit >>= 1;
    }
    send_to_all(link, &buffer.as_send(), children.into_iter())
}

#[inline]
fn send_to_all(link: Link<'_>, buffer: &SendBuf<'_>, mut ranks: impl Iterator<Item = u32>) -> Result<()> {
    if buffer.bytes() <= SHORT {
        return ranks.try_for_each(|rank| link.send(rank, buffer.clone()));
    }
    let mut pending = link.pending();
    ranks.try_for_each(|rank| link.isend(&mut pending, rank, buffer.clone()))?;
    link.wait_all(pending, &mut Outcome::default())
}
