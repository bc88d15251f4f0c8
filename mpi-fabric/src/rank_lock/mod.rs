//! Locks of the memory of each process of a window, in memory that all of them have mapped (MPI-5.0, 12.5.3).
//!
//! Behind the locks is a line for each ordered pair of processes, for the counts of their epochs (`epoch_counts`).
//! Invariant: a process's lock has a line of its own. What another process wrote there is input: any value makes a
//! process wait or take over a lock, and nothing else.
//! Not here: waiting for a lock (`mpi-win`).

#[cfg(all(test, loom))]
mod model;
mod protocol;

#[cfg(not(loom))]
use std::sync::Arc;

#[cfg(not(loom))]
use mpi_errors::Result;

#[cfg(not(loom))]
use crate::layout::LINE;
#[cfg(not(loom))]
use crate::shared::SharedMemory;

pub use protocol::RankLock;

/// One lock for each process of a group, in shared memory. Thread-safe.
#[cfg(not(loom))]
#[derive(Debug)]
pub struct RankLocks {
    memory: Arc<SharedMemory>,
    ranks: u32,
}

#[cfg(not(loom))]
impl RankLocks {
    /// Bytes of the memory for the locks and counts of so many processes. Pages that no process uses take no memory.
    pub fn bytes(ranks: u32) -> u64 {
        let ranks = u64::from(ranks);
        (ranks + ranks * ranks) * LINE as u64
    }

    /// New locks, all free; as [`SharedMemory::create`].
    pub fn create(ranks: u32, name: u64) -> Result<RankLocks> {
        Ok(RankLocks::of(SharedMemory::create(RankLocks::bytes(ranks), name)?, ranks))
    }

    /// Those in memory that another process has created, of [`RankLocks::bytes`].
    pub fn of(memory: SharedMemory, ranks: u32) -> RankLocks {
        RankLocks { memory: Arc::new(memory), ranks }
    }

    /// See [`SharedMemory::descriptor`].
    pub fn descriptor(&self) -> Option<i32> {
        self.memory.descriptor()
    }

    /// See [`SharedMemory::close`]; before any counts are made of the memory.
    pub fn close(&mut self) {
        if let Some(memory) = Arc::get_mut(&mut self.memory) {
            memory.close();
        }
    }

    /// The memory, and the offset of the line that `writer` writes and `reader` reads. Panics if there is no such rank.
    pub(crate) fn pair(&self, reader: u32, writer: u32) -> (&Arc<SharedMemory>, usize) {
        assert!(reader < self.ranks && writer < self.ranks, "ranks {reader} and {writer} of {}", self.ranks);
        let [ranks, reader, writer] = [self.ranks, reader, writer].map(|rank| rank as usize);
        (&self.memory, (ranks + reader * ranks + writer) * LINE)
    }

    /// The lock of a process's memory. Panics if there is no such rank.
    #[inline]
    pub fn of_rank(&self, rank: u32) -> RankLock<'_> {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let [state, claims] = self.memory.two_words(rank as usize * LINE);
        RankLock::new(state, claims)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn processes_that_have_mapped_the_locks_share_them() {
        let mut owner = RankLocks::create(3, 77).expect("little memory");
        let descriptor = owner.descriptor().expect("not closed");
        let opened = SharedMemory::open(std::process::id(), descriptor, RankLocks::bytes(3), 77).expect("it is there");
        let other = RankLocks::of(opened, 3);
        owner.close();
        assert!(owner.of_rank(2).try_hold(1));
        assert!(!other.of_rank(2).try_share() && other.of_rank(1).try_share());
        assert_eq!(other.of_rank(2).holder(), Some(1));
        owner.of_rank(2).release();
        assert!(other.of_rank(2).try_share());
    }
}
