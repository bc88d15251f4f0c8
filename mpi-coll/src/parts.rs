//! The parts of data that is split among processes.

use crate::shape::Combining;
use crate::steps::Span;

/// The elements of each process's part, one after the other.
pub(crate) trait Parts {
    /// The first element and the number of elements of a rank's part.
    fn of(&self, rank: u32) -> (u64, u64);
    /// The number of elements of the longest part.
    fn longest(&self) -> u64;
}

/// Parts that differ by one element at most.
pub(crate) struct Even {
    pub count: u64,
    pub size: u64,
}

impl Parts for Even {
    fn of(&self, rank: u32) -> (u64, u64) {
        let start = |rank: u64| rank * (self.count / self.size) + rank.min(self.count % self.size);
        let rank = u64::from(rank);
        (start(rank), start(rank + 1) - start(rank))
    }

    fn longest(&self) -> u64 {
        self.of(0).1
    }
}

/// The bytes of a rank's part in a contribution.
pub(crate) fn part(parts: &impl Parts, what: &Combining, whole: Span, rank: u32) -> Span {
    let (first, count) = parts.of(rank);
    whole.part(first * what.size, count * what.size)
}
