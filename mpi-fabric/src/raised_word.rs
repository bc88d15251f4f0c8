//! Words in shared memory that one process raises to a number and another waits for.
//!
//! Invariant: the memory of a word stays mapped while a value here names the word.
//! Not here: the owners of such words (`channel`, `epoch_counts`), waiting (`mpi-p2p`).
#![allow(unsafe_code)] // an address of a word in memory that the value keeps mapped

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::coll_room::protocol;
use crate::job::Job;
use crate::shared::SharedMemory;
use crate::sync::AtomicU64;

/// Memory that is mapped while the value exists.
#[derive(Clone)]
pub(crate) enum MappedMemory {
    Job(#[allow(dead_code)] Arc<Job>),             // kept for its drop
    Shared(#[allow(dead_code)] Arc<SharedMemory>), // as above
}

/// What has such words, and keeps their memory mapped.
pub(crate) trait WordOwner {
    /// World ranks of processes, and the places there of those without which a word is not raised any more.
    fn members(&self) -> (&Arc<[u32]>, Range<usize>);

    /// The memory of its words.
    fn memory(&self) -> MappedMemory;
}

/// A word that another process will raise to a number.
#[derive(Clone, Copy)]
pub struct Awaited<'c> {
    owner: &'c dyn WordOwner,
    word: &'c AtomicU64,
    at_least: u64,
}

impl<'c> Awaited<'c> {
    /// A word in the memory of its owner.
    #[inline(always)]
    pub(crate) fn new(owner: &'c dyn WordOwner, word: &'c AtomicU64, at_least: u64) -> Awaited<'c> {
        Awaited { owner, word, at_least }
    }

    /// Whether it has. Needs no lock.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        protocol::published(self.word) >= self.at_least
    }

    /// The same for as long as needed.
    pub fn to_word(self) -> RoomWord {
        let (members, range) = self.owner.members();
        RoomWord {
            _memory: self.owner.memory(),
            members: members.clone(),
            range,
            word: NonNull::from(self.word),
            at_least: self.at_least,
        }
    }
}

/// As [`Awaited`], beyond the life of the owner.
#[derive(Clone)]
pub struct RoomWord {
    _memory: MappedMemory,
    members: Arc<[u32]>,
    range: Range<usize>,
    word: NonNull<AtomicU64>,
    at_least: u64,
}

// SAFETY: an atomic word in memory that the value keeps mapped.
unsafe impl Send for RoomWord {}
// SAFETY: as above.
unsafe impl Sync for RoomWord {}

impl RoomWord {
    /// World ranks of the processes without which the word is not raised.
    pub fn members(&self) -> &[u32] {
        &self.members[self.range.clone()]
    }

    /// Whether the word has reached its number.
    #[inline]
    pub fn is_over(&self) -> bool {
        // SAFETY: in memory that is kept mapped.
        protocol::published(unsafe { self.word.as_ref() }) >= self.at_least
    }
}

impl std::fmt::Debug for RoomWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RoomWord(up to {})", self.at_least)
    }
}
