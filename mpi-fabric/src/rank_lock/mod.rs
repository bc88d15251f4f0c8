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
use std::ptr::NonNull;
#[cfg(not(loom))]
use std::sync::Arc;
#[cfg(not(loom))]
use std::sync::atomic::AtomicU64;

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
    /// The address of the first lock.
    first: NonNull<u8>,
    ranks: u32,
}

// SAFETY: locks are atomics in memory that stays mapped while the value exists.
#[cfg(not(loom))]
unsafe impl Send for RankLocks {}
// SAFETY: as above.
#[cfg(not(loom))]
unsafe impl Sync for RankLocks {}

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

    /// Those in memory that another process has created, of [`RankLocks::bytes`]. Panics if it is shorter.
    pub fn of(memory: SharedMemory, ranks: u32) -> RankLocks {
        let first = memory.first(RankLocks::bytes(ranks) as usize);
        RankLocks { memory: Arc::new(memory), first, ranks }
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
        self.get(rank).unwrap_or_else(|| panic!("rank {rank} of {}", self.ranks))
    }

    /// The lock of a process's memory; `None` if there is no such rank.
    #[inline(always)]
    pub fn get(&self, rank: u32) -> Option<RankLock<'_>> {
        if rank >= self.ranks {
            return None;
        }
        // SAFETY: as long as `self` exists memory for so many lines is mapped there, and holds nothing but atomic words.
        unsafe {
            let state = self.first.add(rank as usize * LINE).cast::<AtomicU64>();
            Some(RankLock::new(state.as_ref(), state.add(1).as_ref()))
        }
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
