//! `MPI_Scan` and `MPI_Exscan` (MPI-5.0, 6.11), by recursive doubling: in log2(n) steps, each of which doubles the number
//! of ranks that a partial result covers.
//!
//! Invariant: what a process combines from below covers the ranks just below its own result, so that operands stay in
//! rank order.

use mpi_errors::Result;

use crate::reducing::copy_unless_same;
use crate::shape::Shape;
use crate::steps::{OTHER, Steps, VALUE};

/// The steps of an inclusive scan.
pub(crate) fn inclusive<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (what, team) = (shape.combining(), shape.team);
    if what.bytes() == 0 {
        return Ok(());
    }
    let (own, value) = shape.operands(steps)?;
    copy_unless_same(steps, own, value)?;
    let other = steps.elements(OTHER, what.count)?;
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
    shape.deliver(steps, value)
}

/// The steps of an exclusive scan. The receive buffer of rank 0 stays as it is.
pub(crate) fn exclusive<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (what, team) = (shape.combining(), shape.team);
    if what.bytes() == 0 || team.size == 1 {
        return Ok(());
    }
    let (own, value) = shape.operands(steps)?;
    // The result of the ranks up to this one, for others.
    let partial = steps.elements(VALUE, what.count)?;
    steps.copy(own, partial)?;
    let (other, mut distance) = (steps.elements(OTHER, what.count)?, 1);
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
    if team.rank == 0 { Ok(()) } else { shape.deliver(steps, value) }
}
