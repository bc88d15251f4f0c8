//! Context ids that are unique among all communicators of a job.
//!
//! The numbers are divided into equal shares, one for each process of the job. A process of the parent communicator
//! gives an id out of its share and publishes it; the processes take turns (`context_agreement`). Ids from different
//! shares differ, whatever the order in which threads of different processes create communicators; and no id is ever
//! used again, so a late message of a freed communicator can never reach a new one.
//! The ids of communicators with processes of several jobs are apart. Each process counts the blocks of such ids that
//! it has seen, and a new communicator gets the first block that is free in all of its processes
//! (`context_agreement`).
//! Invariant: ids are even; the share of world rank 0 begins behind the ids of `MPI_COMM_WORLD` and `MPI_COMM_SELF`.

use std::collections::HashMap;

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_p2p::{BLOCK_OF_IDS, SHARED_IDS};

/// One process's share of the context ids.
#[derive(Debug)]
pub struct ContextIds {
    next: u32,
    end: u32,
    /// The first block of ids for several jobs that is free here.
    block: u32,
    /// Ids taken from blocks, in the process that gives them to duplicates that do not wait.
    taken: HashMap<u32, u32>,
}

/// Communicators of a block.
const IN_BLOCK: u32 = BLOCK_OF_IDS / 4;

/// Bits of a number, which is an even id divided by two. One bit of the id's word stays free.
const NUMBER_BITS: u32 = 30;

impl ContextIds {
    /// That of `MPI_COMM_WORLD`.
    pub const WORLD: u32 = 0;
    /// That of `MPI_COMM_SELF`: the same number in every process, whose messages never leave it.
    pub const SELF: u32 = 2;

    /// Number of blocks; the ids at the end of the last one have another meaning (`PENDING_CONTEXT`).
    pub(crate) const BLOCKS: u32 = SHARED_IDS / BLOCK_OF_IDS - 1;

    /// The share of a process in a job of `size`.
    pub fn new(world_rank: u32, size: u32) -> ContextIds {
        let rank_bits = u32::BITS - size.max(1).saturating_sub(1).leading_zeros();
        let share = 1 << (NUMBER_BITS - rank_bits.min(NUMBER_BITS - 1));
        let start = world_rank * share;
        let next = if world_rank == 0 { 2 } else { start };
        ContextIds { next, end: start + share, block: 0, taken: HashMap::new() }
    }

    /// The first block of ids for several jobs that is free here.
    pub(crate) fn free_block(&self) -> u32 {
        self.block
    }

    /// Takes a block, if it and all behind it are free here; whether they are.
    pub(crate) fn take_block(&mut self, block: u32) -> bool {
        let free = self.block <= block && block < ContextIds::BLOCKS;
        if free {
            self.block = block + 1;
        }
        free
    }

    /// The id of the communicator that a block is for.
    pub(crate) fn first_of_block(block: u32) -> u32 {
        SHARED_IDS + block * BLOCK_OF_IDS
    }

    /// The id of a duplicate of a communicator of several jobs, and the id behind it; for the one process that gives
    /// them. Errors: `MPI_ERR_OTHER` when the block is used up.
    pub fn take_of_block(&mut self, parent: u32) -> Result<u32> {
        let first = parent & !(BLOCK_OF_IDS - 1);
        let taken = self.taken.entry(first).or_insert(1);
        if *taken == IN_BLOCK {
            let rule = format!(
                "a communicator of several jobs has {} non-blocking duplicates at most; MPI_Comm_dup makes one that can be \
                 duplicated as often again",
                IN_BLOCK - 1
            );
            return Err(Error::new(MPI_ERR_OTHER, rule));
        }
        *taken += 1;
        Ok(first + (*taken - 1) * 4)
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
        let mut ids = ContextIds { next: 7, end: 8, block: 0, taken: HashMap::new() };
        assert_eq!(ids.take().expect("one is left"), 14);
        assert_eq!(ids.take().expect_err("none is left").class(), MPI_ERR_OTHER);
    }

    #[test]
    fn ids_of_several_jobs_are_apart_and_end_with_an_error() {
        let mut ids = ContextIds::new(0, 1);
        assert!(ids.take_block(5) && !ids.take_block(5) && !ids.take_block(4) && ids.free_block() == 6);
        let first = ContextIds::first_of_block(5);
        let given: Vec<u32> = (1..IN_BLOCK).map(|_| ids.take_of_block(first).expect("of the block")).collect();
        assert!(given.windows(2).all(|two| two[0] + 4 == two[1]) && given[0] == first + 4);
        assert!(*given.last().expect("some") + 2 < ContextIds::first_of_block(6));
        assert_eq!(ids.take_of_block(first + 8).expect_err("used up").class(), MPI_ERR_OTHER);
        assert!(!ids.take_block(ContextIds::BLOCKS) && ids.take_block(ContextIds::BLOCKS - 1));
        assert!(ContextIds::first_of_block(ContextIds::BLOCKS - 1).checked_add(BLOCK_OF_IDS + 16).is_some());
    }

    #[test]
    fn a_pair_is_of_adjacent_ids_of_the_share() {
        let mut ids = ContextIds { next: 5, end: 10, block: 0, taken: HashMap::new() };
        assert_eq!(ids.take_pair().expect("two are left"), 10);
        assert_eq!(ids.take_pair().expect("two are left"), 14);
        assert_eq!(ids.take_pair().expect_err("one is left").class(), MPI_ERR_OTHER);
        assert_eq!(ids.left(), 0);
    }
}
