//! Short blocks of any lengths in every process: each host's go to its first process, which exchanges them with those of the other
//! hosts and broadcasts all.

use mpi_errors::Result;

use super::Call;
use crate::lists::Sizes;
use crate::steps::{Place, Steps, VALUE};

impl Call<'_, '_> {
    pub(super) fn allgatherv(&mut self) -> Result<()> {
        let (shape, local, me) = (self.shape, self.local(), self.shape.team.rank);
        let own = if shape.send.in_place() { shape.recv_block(me) } else { shape.send.whole(Place::Send) };
        let all = self.within().bytes(VALUE, shape.recv.bytes())?;
        let mut end = 0;
        let starts: Sizes = (0..=shape.team.size)
            .map(|rank| {
                let start = end;
                end += shape.recv_block(rank).bytes;
                start
            })
            .collect();
        let ranks = |first: u32, count: u32| {
            let start = starts[first as usize];
            all.part(start, starts[(first + count) as usize] - start)
        };
        if local.rank == 0 {
            let mut within = self.within();
            for rank in local.others().map(|rank| me + rank).filter(|rank| ranks(*rank, 1).bytes > 0) {
                within.receive(rank - me, ranks(rank, 1))?;
            }
            within.copy(own, ranks(me, 1))?;
            within.round()?;
            let hosts = self.hosts;
            self.exchange_segments(&|host| ranks(hosts.first(host), hosts.size(host)))?;
        } else {
            let mut within = self.within();
            if own.bytes > 0 {
                within.send(0, own)?;
            }
            within.round()?;
        }
        self.spread_within(all, 0, local)?;
        (0..shape.team.size).try_for_each(|rank| self.steps.copy(ranks(rank, 1), shape.recv_block(rank)))
    }
}
