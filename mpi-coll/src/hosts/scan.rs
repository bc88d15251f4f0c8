//! Scans: within each host, of the hosts' results between their last ranks, and combined with that within each again.

use mpi_errors::Result;

use super::{Among, Call};
use crate::reducing::copy_unless_same;
use crate::scan::{exclude, include};
use crate::steps::{ABOVE, Span, Steps};

impl Call<'_, '_> {
    pub(super) fn scan(&mut self) -> Result<()> {
        let (shape, local) = (self.shape, self.local());
        let (own, value) = shape.operands(self.steps)?;
        copy_unless_same(self.steps, own, value)?;
        include(&mut self.within(), local, shape.combining().count, value)?;
        if let Some(before) = self.of_hosts_before(value)? {
            self.steps.combine(before, value)?;
        }
        shape.deliver(self.steps, value)
    }

    pub(super) fn exscan(&mut self) -> Result<()> {
        let (shape, local) = (self.shape, self.local());
        let (own, value) = shape.operands(self.steps)?;
        let up_to_here = exclude(&mut self.within(), local, shape.combining().count, own, value)?;
        if let Some(before) = self.of_hosts_before(up_to_here)? {
            match local.rank {
                0 => self.steps.copy(before, value)?,
                _ => self.steps.combine(before, value)?,
            }
        }
        if shape.team.rank == 0 { Ok(()) } else { shape.deliver(self.steps, value) }
    }

    /// The result of all ranks of the hosts before this one, in working memory; `None` in the first host. `whole`: in the last rank of
    /// this host, the result of the host.
    fn of_hosts_before(&mut self, whole: Span) -> Result<Option<Span>> {
        let (local, between, count) = (self.local(), self.between(), self.shape.combining().count);
        let last = local.size - 1;
        let first_host = between.rank == 0;
        let before = if first_host { Span::EMPTY } else { self.within().elements(ABOVE, count)? };
        if local.rank == last {
            exclude(&mut self.among(Among::Lasts(self.hosts)), between, count, whole, before)?;
        }
        if first_host {
            return Ok(None);
        }
        self.spread_within(before, last, local)?;
        Ok(Some(before))
    }
}
