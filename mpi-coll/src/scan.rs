//! `MPI_Scan` and `MPI_Exscan` (MPI-5.0, 6.11), by recursive doubling: in log2(n) steps, each of which doubles the number
//! of ranks that a partial result covers.
//!
//! Invariant: what a process combines from below covers the ranks just below its own result, so that operands stay in
//! rank order.

use mpi_errors::Result;

use crate::reducing::copy_unless_same;
use crate::shape::Shape;
use crate::steps::{OTHER, Span, Steps, Team, VALUE};

/// The steps of an inclusive scan.
pub(crate) fn inclusive<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let what = shape.combining();
    if what.bytes() == 0 {
        return Ok(());
    }
    let (own, value) = shape.operands(steps)?;
    copy_unless_same(steps, own, value)?;
    include(steps, shape.team, what.count, value)?;
    shape.deliver(steps, value)
}

/// The steps of an exclusive scan. The receive buffer of rank 0 stays as it is.
pub(crate) fn exclusive<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (what, team) = (shape.combining(), shape.team);
    if what.bytes() == 0 || team.size == 1 {
        return Ok(());
    }
    let (own, value) = shape.operands(steps)?;
    exclude(steps, team, what.count, own, value)?;
    if team.rank == 0 { Ok(()) } else { shape.deliver(steps, value) }
}

/// Combines the contributions of the ranks up to this one; `value` has that of this process before.
pub(crate) fn include<S: Steps>(steps: &mut S, team: Team, count: u64, value: Span) -> Result<()> {
    let other = steps.elements(OTHER, count)?;
    let mut distance = 1;
    while distance < team.size {
        if team.rank + distance < team.size {
            steps.send(team.rank + distance, value)?;
        }
        if team.rank >= distance {
            steps.receive(team.rank - distance, other)?;
            // The result that is sent must not change.
            steps.round()?;
            steps.combine(other, value)?;
        } else {
            steps.round()?;
        }
        distance *= 2;
    }
    Ok(())
}

/// Combines the contributions of the ranks before this one in `value`, which rank 0 leaves as it is. Returns working memory with
/// those of the ranks up to this one.
pub(crate) fn exclude<S: Steps>(steps: &mut S, team: Team, count: u64, own: Span, value: Span) -> Result<Span> {
    // The result of the ranks up to this one, for others.
    let partial = steps.elements(VALUE, count)?;
    copy_unless_same(steps, own, partial)?;
    let (other, mut distance) = (steps.elements(OTHER, count)?, 1);
    while distance < team.size {
        if team.rank + distance < team.size {
            steps.send(team.rank + distance, partial)?;
        }
        if team.rank >= distance {
            steps.receive(team.rank - distance, other)?;
            steps.round()?;
            if distance == 1 {
                steps.copy(other, value)?;
            } else {
                steps.combine(other, value)?;
            }
            steps.combine(other, partial)?;
        } else {
            steps.round()?;
        }
        distance *= 2;
    }
    Ok(partial)
}
