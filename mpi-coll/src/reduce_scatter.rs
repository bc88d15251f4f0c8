//! `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block` (MPI-5.0, 6.10).

use mpi_errors::Result;

use crate::lists::Sizes;
use crate::parts::Parts;
use crate::reducing::Reducing;
use crate::shape::Shape;
use crate::split;
use crate::steps::{STAGED, Span, Steps, VALUE};

/// The elements of each process's part, by the counts of the call.
pub(crate) struct Counted {
    /// First element of each part, and the number of all elements.
    starts: Sizes,
}

impl Counted {
    pub fn new(counts: &[u64]) -> Counted {
        let mut end = 0;
        let ends = counts.iter().map(|count| {
            end += count;
            end
        });
        Counted { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The parts of groups of processes, by the first rank of each and the number of ranks.
    pub fn of_groups(&self, firsts: impl Iterator<Item = u32>) -> Counted {
        Counted { starts: firsts.map(|first| self.starts[first as usize]).collect() }
    }
}

impl Parts for Counted {
    fn of(&self, rank: u32) -> (u64, u64) {
        match self.starts.get(rank as usize..rank as usize + 2) {
            Some(ends) => (ends[0], ends[1] - ends[0]),
            None => (0, 0),
        }
    }

    fn longest(&self) -> u64 {
        self.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }
}

/// The steps of a reduction whose result is scattered.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let what = shape.combining();
    if what.bytes() == 0 {
        return Ok(());
    }
    let (team, parts) = (shape.team, Counted::new(shape.counts));
    let own = shape.contribution(steps)?;
    let into = shape.result(parts.of(team.rank).1 * what.plain);
    let call = Reducing { team, what, plan: shape.plan };
    if team.size > 1 && shape.plan.split(what.bytes()) {
        let mine = steps.elements(VALUE, parts.of(team.rank).1)?;
        split::combine(&call, steps, &parts, own, mine)?;
        return shape.deliver(steps, mine);
    }
    // Short ones: one process combines all.
    let whole = if team.rank == 0 { steps.elements(STAGED, what.count)? } else { Span::EMPTY };
    call.to_root(steps, 0, own, whole)?;
    let whole = shape.rounded(steps, whole)?;
    scatter(shape, steps, &parts, whole, into)
}

/// Rank 0, which has all parts, sends each process its own.
pub(crate) fn scatter<S: Steps>(
    shape: &Shape<'_>,
    steps: &mut S,
    parts: &Counted,
    whole: Span,
    into: Span,
) -> Result<()> {
    let (team, size) = (shape.team, shape.combining().plain);
    if team.rank != 0 {
        if into.bytes > 0 {
            steps.receive(0, into)?;
        }
        return steps.round();
    }
    for dest in team.others() {
        let (first, count) = parts.of(dest);
        if count > 0 {
            steps.send(dest, whole.part(first * size, count * size))?;
        }
    }
    steps.copy(whole.part(0, into.bytes), into)?;
    steps.round()
}
