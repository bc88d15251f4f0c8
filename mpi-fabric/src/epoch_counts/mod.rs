//! Counts of the epochs of each pair of processes of a window, in the memory of the window's locks (MPI-5.0, 12.5.2).
//!
//! Each ordered pair has a line that one process writes and the other one reads. There the writer counts its calls of
//! `MPI_Win_post` for the reader, and its calls of `MPI_Win_complete` for an epoch that the reader has posted. A process
//! that waits compares the count with the number that it expects, so nobody sets a count back.
//! Invariant: a word has one writer, which only raises it. What another process wrote there is input: it makes a process
//! wait or go on, and nothing else.
//! Not here: the numbers that a process expects (`mpi-win`), waiting (`mpi-p2p`).

#[cfg(all(test, loom))]
mod model;

#[cfg(not(loom))]
use std::ops::Range;
#[cfg(not(loom))]
use std::sync::Arc;

#[cfg(not(loom))]
use crate::coll_room::protocol;
#[cfg(not(loom))]
use crate::doorbell::{Bell, LinuxKernel};
#[cfg(not(loom))]
use crate::endpoint::Endpoint;
#[cfg(not(loom))]
use crate::job::Job;
#[cfg(not(loom))]
use crate::raised_word::{Awaited, MappedMemory, WordOwner};
#[cfg(not(loom))]
use crate::rank_lock::RankLocks;
#[cfg(not(loom))]
use crate::shared::SharedMemory;
#[cfg(not(loom))]
use crate::sync::AtomicU64;
#[cfg(not(loom))]
use crate::variables::FabricInstruments;

/// What a process counts for another one.
#[cfg(not(loom))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochCount {
    /// Calls of `MPI_Win_post`.
    Posts = 0,
    /// Calls of `MPI_Win_complete`.
    Completes = 1,
}

/// The counts of one window, seen from one of its processes. Thread-safe.
#[cfg(not(loom))]
pub struct EpochCounts {
    memory: Arc<SharedMemory>,
    /// By rank.
    peers: Box<[PeerCounts]>,
    fenced: bool,
    variables: &'static FabricInstruments,
}

/// The counts between this process and another one.
#[cfg(not(loom))]
struct PeerCounts {
    /// Offset of the line that this process writes.
    written: usize,
    /// Offset of the line that this process reads.
    read: usize,
    memory: Arc<SharedMemory>,
    members: Arc<[u32]>,
    rank: usize,
    job: Arc<Job>,
    /// Its place in the job.
    local: u32,
}

#[cfg(not(loom))]
impl Endpoint {
    /// The counts of the processes with these world ranks, of which this one is at `rank`, in the memory of their locks.
    /// `None`, in all of them, if they are not all of one job and host.
    pub fn epoch_counts(&self, locks: &RankLocks, members: &Arc<[u32]>, rank: u32) -> Option<EpochCounts> {
        let job = self.job();
        let memory = locks.pair(rank, rank).0.clone();
        let peers = members.iter().enumerate().map(|(peer, member)| {
            Some(PeerCounts {
                written: locks.pair(peer as u32, rank).1,
                read: locks.pair(rank, peer as u32).1,
                memory: memory.clone(),
                members: members.clone(),
                rank: peer,
                job: job.clone(),
                local: self.place_in_job(*member)?,
            })
        });
        let peers = peers.collect::<Option<_>>()?;
        Some(EpochCounts { memory, peers, fenced: self.is_fenced(), variables: self.instruments() })
    }
}

#[cfg(not(loom))]
impl EpochCounts {
    /// Raises what this process counts for a rank to `number`, and wakes that process if it sleeps. Panics if there is no
    /// such rank.
    #[inline]
    pub fn raise(&self, rank: u32, which: EpochCount, number: u64) {
        let peer = &self.peers[rank as usize];
        protocol::publish(word(&self.memory, peer.written, which), number);
        let block = peer.job.block(peer.local);
        let bell = Bell { waiters: block.waiters(), futex: block.futex() };
        if bell.has_waiters(self.fenced) {
            self.variables.wakeups_sent.incr_shared();
            bell.ring(&LinuxKernel);
        }
    }

    /// What a rank counts for this process, which it will raise to `number`. Panics if there is no such rank.
    #[inline]
    pub fn awaited(&self, rank: u32, which: EpochCount, number: u64) -> Awaited<'_> {
        let peer = &self.peers[rank as usize];
        Awaited::new(peer, word(&self.memory, peer.read, which), number)
    }
}

#[cfg(not(loom))]
#[inline(always)]
fn word(memory: &SharedMemory, line: usize, which: EpochCount) -> &AtomicU64 {
    memory.two_words(line)[which as usize]
}

#[cfg(not(loom))]
impl WordOwner for PeerCounts {
    fn members(&self) -> (&Arc<[u32]>, Range<usize>) {
        (&self.members, self.rank..self.rank + 1)
    }

    fn memory(&self) -> MappedMemory {
        MappedMemory::Shared(self.memory.clone())
    }
}

#[cfg(not(loom))]
impl std::fmt::Debug for EpochCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EpochCounts({} processes)", self.peers.len())
    }
}
