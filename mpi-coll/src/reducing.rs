//! A reduction, without the processes that get its result.
//!
//! Not here: the algorithms (`reduce`, `allreduce`, `split`).

use mpi_errors::Result;

use crate::plan::Plan;
use crate::shape::Combining;
use crate::steps::{Span, Steps, Team};

/// A reduction among processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reducing {
    pub team: Team,
    pub what: Combining,
    pub plan: Plan,
}

/// Copies a contribution to where it is combined, unless it is there.
pub(crate) fn copy_unless_same<S: Steps + ?Sized>(steps: &mut S, own: Span, value: Span) -> Result<()> {
    if own == value { Ok(()) } else { steps.copy(own, value) }
}
