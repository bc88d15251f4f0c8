//! Short blocks of all for all: those of a host go to its first process, to that of each other host in one message, and from there to
//! their destinations.

use mpi_errors::Result;

use super::{Call, segment};
use crate::steps::{ABOVE, OTHER, Place, Span, Steps, VALUE};

impl Call<'_, '_> {
    pub(super) fn alltoall(&mut self) -> Result<()> {
        let (shape, local, between) = (self.shape, self.local(), self.between());
        let (in_place, into) = (shape.send.in_place(), shape.recv.whole(Place::Recv));
        let own = if in_place { into } else { shape.send.whole(Place::Send) };
        if local.rank != 0 {
            let mut within = self.within();
            within.send(0, own)?;
            if in_place {
                // What comes next overwrites the blocks.
                within.round()?;
            }
            within.receive(0, into)?;
            return within.round();
        }
        let (size, each) = (u64::from(local.size), own.bytes / u64::from(shape.team.size));
        let of_host = own.bytes.saturating_mul(size);
        let rows = self.steps.bytes(VALUE, of_host)?;
        let row = |rank: u32| rows.part(u64::from(rank) * own.bytes, own.bytes);
        let mut within = self.within();
        local.others().try_for_each(|rank| within.receive(rank, row(rank)))?;
        within.round()?;
        // In the order of their destinations, those for each in the order of their sources.
        let out = self.steps.bytes(OTHER, of_host)?;
        for dest in 0..u64::from(shape.team.size) {
            for rank in 0..local.size {
                let from = if rank == 0 { own } else { row(rank) };
                let at = (dest * size + u64::from(rank)) * each;
                self.steps.copy(from.part(dest * each, each), out.part(at, each))?;
            }
        }
        let arrived = self.steps.bytes(ABOVE, of_host)?;
        let hosts = self.hosts;
        let blocks = |whole: Span, host: u32| segment(whole, hosts, host);
        let mut across = self.across(0);
        between.others().try_for_each(|host| across.receive(host, blocks(arrived, host)))?;
        between.others().try_for_each(|host| across.send(host, blocks(out, host)))?;
        across.round()?;
        for rank in 0..local.size {
            let whole = if rank == 0 { into } else { row(rank) };
            for host in 0..between.size {
                let from = blocks(if host == between.rank { out } else { arrived }, host);
                let bytes = from.bytes / size;
                self.steps.copy(from.part(u64::from(rank) * bytes, bytes), blocks(whole, host))?;
            }
        }
        let mut within = self.within();
        local.others().try_for_each(|rank| within.send(rank, row(rank)))?;
        within.round()
    }
}
