//! Context ids that are unique among all communicators of a job.
//!
//! The numbers are divided into equal shares, one for each process of the job. A process of the parent communicator
//! gives an id out of its share and publishes it; the processes take turns (`context_agreement`). Ids from different
//! shares differ, whatever the order in which threads of different processes create communicators; and no id is ever
//! used again, so a late message of a freed communicator can never reach a new one.
//! Invariant: ids are even; the share of world rank 0 begins behind the ids of `MPI_COMM_WORLD` and `MPI_COMM_SELF`.

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

/// One process's share of the context ids.
#[derive(Debug)]
pub struct ContextIds {
    next: u32,
    end: u32,
}

/// Bits of a number, which is an even id divided by two. One bit of the id's word stays free.
const NUMBER_BITS: u32 = 30;

impl ContextIds {
    /// That of `MPI_COMM_WORLD`.
    pub const WORLD: u32 = 0;
    /// That of `MPI_COMM_SELF`: the same number in every process, whose messages never leave it.
    pub const SELF: u32 = 2;

    /// The share of a process in a job of `size`.
    pub fn new(world_rank: u32, size: u32) -> ContextIds {
        let rank_bits = u32::BITS - size.max(1).saturating_sub(1).leading_zeros();
        let share = 1 << (NUMBER_BITS - rank_bits.min(NUMBER_BITS - 1));
        let start = world_rank * share;
        ContextIds { next: if world_rank == 0 { 2 } else { start }, end: start + share }
    }

    /// Ids left in the share.
    pub fn left(&self) -> u64 {
        u64::from(self.end - self.next)
    }

    /// The next two ids, adjacent; returns the first. For an intercommunicator, whose local group has the second one.
    /// Errors: as [`ContextIds::take`], also when one is left.
    pub fn take_pair(&mut self) -> Result<u32> {
        if self.end - self.next < 2 {
            self.next = self.end;
        }
        let first = self.take()?;
        self.take()?;
        Ok(first)
    }

    /// The next id. Errors: `MPI_ERR_OTHER` when the share is used up.
    pub fn take(&mut self) -> Result<u32> {
        if self.next == self.end {
            return Err(Error::new(MPI_ERR_OTHER, "this process has used all of its context ids"));
        }
        self.next += 1;
        Ok((self.next - 1) * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_overlap_and_miss_the_predefined_ids() {
        for size in [1, 2, 3, 4, 5, 64, 1000] {
            let mut last_end = 0;
            for rank in 0..size {
                let mut ids = ContextIds::new(rank, size);
                let first = ids.take().expect("fresh");
                assert!(first >= last_end && first.is_multiple_of(2) && (rank > 0 || first > ContextIds::SELF));
                last_end = ids.end * 2;
                assert!(ids.end > ids.next + 1_000_000 && ids.end <= 1 << NUMBER_BITS);
            }
        }
    }

    #[test]
    fn a_used_up_share_is_an_error() {
        let mut ids = ContextIds { next: 7, end: 8 };
        assert_eq!(ids.take().expect("one is left"), 14);
        assert_eq!(ids.take().expect_err("none is left").class(), MPI_ERR_OTHER);
    }

    #[test]
    fn a_pair_is_of_adjacent_ids_of_the_share() {
        let mut ids = ContextIds { next: 5, end: 10 };
        assert_eq!(ids.take_pair().expect("two are left"), 10);
        assert_eq!(ids.take_pair().expect("two are left"), 14);
        assert_eq!(ids.take_pair().expect_err("one is left").class(), MPI_ERR_OTHER);
        assert_eq!(ids.left(), 0);
    }
}
