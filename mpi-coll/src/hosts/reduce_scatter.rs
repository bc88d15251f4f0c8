//! Short reductions whose result is scattered: combined within each host, the part of each host between the hosts, and scattered
//! within each.

use mpi_errors::Result;

use super::Call;
use crate::parts::Parts;
use crate::reduce_scatter::Counted;
use crate::split;
use crate::steps::{STAGED, Span, Steps, VALUE};

impl Call<'_, '_> {
    pub(super) fn reduce_scatter(&mut self) -> Result<()> {
        let (shape, local, between) = (self.shape, self.local(), self.between());
        let (what, parts) = (shape.combining(), Counted::new(shape.counts));
        let own = shape.contribution(self.steps)?;
        let into = shape.result(parts.of(shape.team.rank).1 * what.plain);
        let whole = if local.rank == 0 { self.within().elements(STAGED, what.count)? } else { Span::EMPTY };
        let (of_host, of_all) = (self.reducing(local), self.reducing(between));
        of_host.to_root(&mut self.within(), 0, own, whole)?;
        if local.rank != 0 {
            if into.bytes > 0 {
                self.within().receive(0, into)?;
            }
            return self.steps.round();
        }
        let (hosts, first) = (self.hosts, self.hosts.first(between.rank));
        let by_host = parts.of_groups((0..=between.size).map(|host| hosts.first(host)));
        let (from, count) = by_host.of(between.rank);
        let mut across = self.across(0);
        let mine = across.elements(VALUE, count)?;
        split::combine(&of_all, &mut across, &by_host, whole, mine)?;
        let block = |rank: u32| {
            let (at, count) = parts.of(first + rank);
            mine.part((at - from) * what.size, count * what.size)
        };
        let mut within = self.within();
        for (rank, block) in local.others().map(|rank| (rank, block(rank))).filter(|(_, block)| block.bytes > 0) {
            within.send(rank, block)?;
        }
        within.copy(block(0), into)?;
        within.round()
    }
}
