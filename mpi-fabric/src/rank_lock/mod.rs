//! Locks of the memory of each process of a window, in memory that all of them have mapped (MPI-5.0, 12.5.3).
//!
//! Invariant: a process's lock has a line of its own. What another process wrote there is input: any value makes a
//! process wait or take over a lock, and nothing else.
//! Not here: waiting for a lock (`mpi-win`).

#[cfg(all(test, loom))]
mod model;
mod protocol;

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
    memory: SharedMemory,
    ranks: u32,
}

#[cfg(not(loom))]
impl RankLocks {
    /// Bytes of the memory for so many locks.
    pub fn bytes(ranks: u32) -> u64 {
        u64::from(ranks) * LINE as u64
    }

    /// New locks, all free; as [`SharedMemory::create`].
    pub fn create(ranks: u32, name: u64) -> Result<RankLocks> {
        Ok(RankLocks { memory: SharedMemory::create(RankLocks::bytes(ranks), name)?, ranks })
    }

    /// Those in memory that another process has created, of [`RankLocks::bytes`].
    pub fn of(memory: SharedMemory, ranks: u32) -> RankLocks {
        RankLocks { memory, ranks }
    }

    /// See [`SharedMemory::descriptor`].
    pub fn descriptor(&self) -> Option<i32> {
        self.memory.descriptor()
    }

    /// See [`SharedMemory::close`].
    pub fn close(&mut self) {
        self.memory.close();
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
