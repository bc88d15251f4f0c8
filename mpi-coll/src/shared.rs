//! Collectives through the flags and slots of a communicator whose processes share memory (`mpi_fabric::Channel`).
//!
//! - `open`: opening the channels, at a communicator's first blocking collective.
//! - `turns`: publications and reads of one operation. `short`: the short ways of the most frequent blocking calls.
//!   `split`: that of a long reduction for all.
//! - `moving`, `reducing`: the algorithms.
//!
//! An operation consists of turns; in each a process publishes data and reads those of the others. Long data go in
//! chunks, one in a turn: while a process writes its next chunk the others read the one before.
//! Invariants: whether an operation goes this way follows from facts that are the same in all processes. Contributions
//! to a part of a result are combined by the same process in the same order each time, so that the result of a call
//! is the same from run to run.
//! Not here: messages (`run`, `link`), the words and their protocol (`mpi-fabric`), the choice (`plan`).

mod moving;
mod open;
mod reducing;
mod short;
mod split;
mod turns;

pub(crate) use moving::place_among_others;
pub(crate) use short::{publish, with_gaps};
pub(crate) use turns::{Heading, Line, Turns, Way, no_channel, outside, put_into, put_part};

use mpi_errors::Result;

use crate::coll_op::CollOp;
use crate::shape::Shape;
use crate::steps::{Place, Span, Steps};

/// Whether every process of so many reads what every other one publishes, in every turn.
pub(crate) fn is_mutual(which: CollOp, size: u32) -> bool {
    match which {
        CollOp::Barrier => moving::is_mutual_barrier(size),
        _ => matches!(which, CollOp::Allreduce | CollOp::Allgather | CollOp::Alltoall),
    }
}

impl Shape<'_> {
    /// The steps of a call whose plan is to go through the channel.
    pub(crate) fn shared_steps<S: Steps>(&self, steps: &mut S) -> Result<()> {
        if !self.has_turns() {
            return self.without_data(steps);
        }
        match self.which {
            CollOp::Barrier => moving::barrier(self, steps),
            CollOp::Bcast => moving::bcast(self, steps),
            CollOp::Gather => moving::gather(self, steps),
            CollOp::Scatter => moving::scatter(self, steps),
            CollOp::Allgather => moving::allgather(self, steps),
            CollOp::Alltoall => moving::alltoall(self, steps),
            CollOp::Reduce => reducing::reduce(self, steps),
            CollOp::Allreduce => reducing::allreduce(self, steps),
            _ => Ok(()),
        }
    }

    /// Whether the steps of a call through the channel publish and read: those of a call without data do not.
    fn has_turns(&self) -> bool {
        self.bytes > 0 || self.which == CollOp::Barrier
    }

    /// Whether the steps of a call through the channel end with a turn in which every process reads what every other one publishes
    /// (`mutual` of `Channel::end_operation`).
    pub(crate) fn ends_mutually(&self) -> bool {
        self.has_turns() && is_mutual(self.which, self.team.size)
    }

    /// No data of others; a copy of this process's own finds that its buffers do not match.
    fn without_data<S: Steps>(&self, steps: &mut S) -> Result<()> {
        let (own, into) = match self.which {
            CollOp::Gather | CollOp::Allgather => (self.send.whole(Place::Send), self.recv_block(self.team.rank)),
            CollOp::Scatter => (self.send_block(self.team.rank), self.recv.whole(Place::Recv)),
            CollOp::Alltoall => (self.send_block(self.team.rank), self.recv_block(self.team.rank)),
            _ => return Ok(()),
        };
        if !self.send.present() || !self.recv.present() {
            return Ok(());
        }
        steps.copy(own, into)
    }

    /// Most bytes that a process publishes in one turn.
    fn chunk(&self) -> u64 {
        self.plan.longest()
    }

    /// Most bytes that any process would publish in one turn if there were room.
    pub(crate) fn longest_publication(&self) -> u64 {
        let all = self.bytes.max(self.matching.saturating_mul(u64::from(self.team.size - 1)));
        all.min(self.plan.longest())
    }

    /// Whether every process publishes in each turn of a call through the channel, and reads what all others publish in it; but of the turns
    /// of a reduction whose combining is divided only the root reads the last one. Of two processes steps of a reduction read the
    /// process's own publication, so their rooms do not pass.
    pub(crate) fn exchanges(&self) -> bool {
        match self.which {
            CollOp::Reduce => self.bytes > 0 && reducing::is_split_reduce(self),
            CollOp::Allreduce => self.team.size > 2,
            which => is_mutual(which, self.team.size),
        }
    }

    fn others(&self) -> impl Iterator<Item = u32> + use<> {
        self.team.others()
    }
}

/// Parts of so many bytes of a span, one after the other.
fn parts(whole: u64, part: u64) -> impl Iterator<Item = (u64, u64)> {
    let part = part.max(1);
    (0..whole.div_ceil(part)).map(move |i| (i * part, part.min(whole - i * part)))
}

/// No data.
const NOTHING: Span = Span::EMPTY;
