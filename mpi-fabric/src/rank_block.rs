//! A rank's block in the job memory (life, process id, probe word) and its bell (doorbell words, connections).
//!
//! Writers: the rank itself writes everything except `ended_at` (the launcher), `waiters` (its own threads), `futex` (each process that wakes it)
//! and `connected` (each sender its own bit, the launcher the rank's).

use std::sync::atomic::Ordering;

use crate::layout::{Layout, bell, block};
use crate::mapping::Mapping;
use crate::sync::{AtomicU32, AtomicU64};

/// The state of a rank. It only advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Life {
    /// No process has attached as this rank.
    Absent = 0,
    /// A process has attached (it may use MPI_T), but MPI is not initialised.
    Attached = 1,
    /// MPI is initialised.
    Initialised = 2,
    /// MPI is finalised.
    Finalised = 3,
}

impl Life {
    /// The state of a word read from the job memory; an invalid word counts as the nearest state.
    pub(crate) fn of_word(word: u32) -> Life {
        match word {
            0 => Life::Absent,
            1 => Life::Attached,
            2 => Life::Initialised,
            _ => Life::Finalised,
        }
    }
}

/// In the word [`RankBlock::ended`]: the process takes part no more.
pub(crate) const ENDED: u32 = 1;
/// In the same word of a bridge: the process has disconnected from all others there. Those of them that are connected with each other still are not
/// concerned, so it is not lost for them before it ends.
pub(crate) const LEFT: u32 = 2;

/// One rank's block and bell, borrowed from the mapping.
#[derive(Clone, Copy)]
pub(crate) struct RankBlock<'a> {
    mapping: &'a Mapping,
    at: usize,
    bell_at: usize,
    /// Number of the words with a bit for each rank.
    words: u32,
}

impl<'a> RankBlock<'a> {
    pub(crate) fn new(mapping: &'a Mapping, layout: &Layout, rank: u32) -> RankBlock<'a> {
        let words = layout.ranks().div_ceil(64);
        RankBlock { mapping, at: layout.block_at(rank), bell_at: layout.bell_at(rank), words }
    }

    pub(crate) fn life(&self) -> Life {
        // Acquire pairs with the Release in `set_life` and `claim`: what was written before is seen.
        Life::of_word(self.mapping.half(self.at + block::LIFE).load(Ordering::Acquire))
    }

    pub(crate) fn set_life(&self, life: Life) {
        // Release pairs with the Acquire in `life`.
        self.mapping.half(self.at + block::LIFE).store(life as u32, Ordering::Release);
    }

    /// Makes the calling process this rank; false if one already is.
    pub(crate) fn claim(&self) -> bool {
        let life = self.mapping.half(self.at + block::LIFE);
        // Release pairs with the Acquire in `life`.
        life.compare_exchange(Life::Absent as u32, Life::Attached as u32, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn pid(&self) -> &'a AtomicU32 {
        self.mapping.half(self.at + block::PID)
    }

    /// [`ENDED`] when the rank's endpoint was dropped, [`LEFT`] when the process reads nothing here any more, although it runs.
    pub(crate) fn ended(&self) -> &'a AtomicU32 {
        self.mapping.half(self.at + block::ENDED)
    }

    /// See [`block::ABORT`].
    pub(crate) fn abort(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::ABORT)
    }

    /// See [`block::CONNECTED_JOBS`].
    pub(crate) fn connected_jobs(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::CONNECTED_JOBS)
    }

    /// See [`block::CONNECTED_JOB`]; `i` is less than [`block::MOST_CONNECTED_JOBS`].
    pub(crate) fn connected_job(&self, i: usize) -> &'a AtomicU64 {
        assert!(i < block::MOST_CONNECTED_JOBS, "place {i}");
        self.mapping.word(self.at + block::CONNECTED_JOB + 8 * i)
    }

    /// See [`block::QUEUE_MAP`].
    pub(crate) fn queue_map(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::QUEUE_MAP)
    }

    /// See [`block::WAITS_BEGAN`].
    pub(crate) fn waits_began(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::WAITS_BEGAN)
    }

    /// See [`block::OPEN_WAITS`].
    pub(crate) fn open_waits(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::OPEN_WAITS)
    }

    /// See [`block::ENDED_AT`].
    pub(crate) fn ended_at(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::ENDED_AT)
    }

    pub(crate) fn probe_address(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::PROBE_ADDRESS)
    }

    pub(crate) fn probe_value(&self) -> &'a AtomicU64 {
        self.mapping.word(self.at + block::PROBE_VALUE)
    }

    pub(crate) fn waiters(&self) -> &'a AtomicU32 {
        self.mapping.half(self.bell_at + bell::WAITERS)
    }

    pub(crate) fn futex(&self) -> &'a AtomicU32 {
        self.mapping.half(self.bell_at + bell::FUTEX)
    }

    /// The `i`-th 64 bits of the set of ranks that send to this one.
    pub(crate) fn connected(&self, i: usize) -> &'a AtomicU64 {
        assert!(i < self.words as usize, "word {i} of {}", self.words);
        self.mapping.word(self.bell_at + bell::CONNECTED + 8 * i)
    }
}
