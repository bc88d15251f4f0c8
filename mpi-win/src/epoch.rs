//! The epochs of a window: on whose memory operations may be started, and those that wait to be sent.
//!
//! Invariants: records belong to operations started since the last fence, and are sent by the next call that completes
//! them. At most one kind of access epoch is open: between fences, by locks, or by `MPI_Win_start`.

use std::ops::Range;
use std::sync::Arc;

use mpi_core::Handle;
use mpi_datatype::SendBuf;

use crate::blocks::Block;
use crate::wire::{BATCH_FULL, Head};

/// Longest put, in bytes, that is sent as a record if there are many.
const SMALL: u64 = 512;
/// Number of small puts between two fences up to which they are copied directly.
const FEW: u32 = 16;

/// Flushes and ends of locks that make no progress before one that does.
const SKIPS: u32 = 15;

/// The world ranks of a group, and the ranks of its processes in the window.
pub(crate) type GroupRanks = (Arc<[u32]>, Arc<[u32]>);

/// The state of one window, under the process lock.
#[derive(Debug)]
pub(crate) struct Epoch {
    /// A fence has been called, without `MPI_MODE_NOSUCCEED`.
    pub open: bool,
    /// Operations started since the last fence.
    pub started: u64,
    /// Operations to be sent, by the target's rank; empty until the first operation that goes as a message.
    pub outgoing: Vec<Outgoing>,
    /// Whether `outgoing` has records.
    pub sends: bool,
    /// Batches that the other processes have sent, as all fences so far have counted them.
    pub expected: u64,
    /// Batches sent since the last fence, by the target's rank; empty if there were none.
    pub early: Vec<u64>,
    /// The locks of memory that this process has.
    pub locks: Locks,
    /// The operation that is about to start has a request, so that it needs a lock.
    pub requesting: bool,
    /// The ranks for which `MPI_Win_start` has begun an epoch, ascending.
    pub access: Option<Arc<[u32]>>,
    /// What ends the epoch begun by `MPI_Win_post`.
    pub exposure: Option<Exposed>,
    /// The last two groups of such epochs.
    pub last_groups: [Option<GroupRanks>; 2],
    /// Epochs of `MPI_Win_start` and `MPI_Win_post` so far with each rank.
    pub pairs: Pairs,
    /// Small puts that were copied directly since the last fence.
    pub small: u32,
    /// Receives of replies, with rank and bytes expected.
    pub replies: Vec<(Handle, u32, u64)>,
    /// Flushes and ends of locks without progress until one has to make some.
    skips: u32,
    /// Those between two that make some; 0 where operations may go as messages.
    most_skips: u32,
    /// Memory of the last fence, kept for the next one.
    pub counts: Vec<u64>,
    size: usize,
}

/// The lock of one process's memory as this process has it (MPI-5.0, 12.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Held {
    /// Not at all.
    #[default]
    No,
    /// Not yet: a thread of this process waits for it.
    Awaited,
    /// Together with others.
    Shared,
    /// Alone.
    Alone,
    /// The program has asserted that no other process wants it (`MPI_MODE_NOCHECK`).
    Assured,
}

/// The locks that this process has.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// By rank; empty until the first.
    held: Vec<Held>,
    /// Number of those that are held or awaited.
    number: u32,
    /// They are taken by `MPI_Win_lock_all`.
    pub all: bool,
    /// An epoch for `MPI_PROC_NULL` is open, which has no lock.
    pub nobody: bool,
}

impl Locks {
    /// Whether an epoch of locks is open, or a thread of this process waits for a lock.
    #[inline]
    pub fn any(&self) -> bool {
        self.number > 0 || self.nobody
    }

    /// Whether the lock of a rank is held.
    #[inline]
    pub fn has(&self, rank: u32) -> bool {
        !matches!(self.of(rank), Held::No | Held::Awaited)
    }

    /// How the lock of a rank is held.
    #[inline]
    pub fn of(&self, rank: u32) -> Held {
        self.held.get(rank as usize).copied().unwrap_or_default()
    }

    /// Where [`Locks::of`] finds how the lock of a rank is held; `None` where there is no such rank, and before the first
    /// lock. Who changes it adds to [`Locks::number`] or subtracts from it.
    #[inline(always)]
    pub fn place(&mut self, rank: u32) -> Option<(&mut Held, &mut u32)> {
        Some((self.held.get_mut(rank as usize)?, &mut self.number))
    }

    /// The lock of a rank of a window of `size` processes is held in this way from now on; how it was.
    pub fn set(&mut self, rank: u32, held: Held, size: u32) -> Held {
        if self.held.len() != size as usize {
            self.held.resize(size as usize, Held::No);
        }
        let before = std::mem::replace(&mut self.held[rank as usize], held);
        self.number = self.number + u32::from(held != Held::No) - u32::from(before != Held::No);
        before
    }

    /// The same for the locks of all ranks.
    pub fn set_all(&mut self, held: Held, size: u32) {
        self.held.clear();
        self.held.resize(size as usize, held);
        self.all = held != Held::No;
        self.number = if self.all { size } else { 0 };
    }

    /// The first rank whose lock is held or awaited.
    pub fn first(&self) -> Option<u32> {
        (0..).zip(&self.held).find(|(_, held)| **held != Held::No).map(|(rank, _)| rank)
    }
}

/// What ends an epoch of `MPI_Win_post`.
#[derive(Debug, Clone)]
pub(crate) enum Exposed {
    /// Messages, which these requests receive.
    Messages(Vec<Handle>),
    /// Counts, which these ranks raise.
    Counted(Arc<[u32]>),
}

/// A call that counts epochs with another rank.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Post = 0,
    Start = 1,
    Complete = 2,
    Wait = 3,
}

/// Epochs with each rank, as this process counts them: it expects the other one's count to be one more.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// By rank and [`Step`]; empty until the first.
    counts: Vec<[u64; 4]>,
    size: usize,
}

impl Pairs {
    /// The number of such calls so far.
    #[inline]
    pub fn count(&self, rank: u32, step: Step) -> u64 {
        self.counts.get(rank as usize).map_or(0, |counts| counts[step as usize])
    }

    /// Counts a call; its number.
    #[inline]
    pub fn next(&mut self, rank: u32, step: Step) -> u64 {
        if self.counts.is_empty() {
            self.counts.resize(self.size, [0; 4]);
        }
        let count = &mut self.counts[rank as usize][step as usize];
        *count += 1;
        *count
    }
}

/// Operations on one target.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    pub batches: Vec<Vec<u8>>,
    /// Data too long for a batch, in the order of their records.
    pub data: Vec<SendBuf<'static>>,
}

impl Epoch {
    /// No epoch, of a window of `size` processes; `is_mapped` as `Win::is_mapped`.
    pub fn new(size: u32, is_mapped: bool) -> Epoch {
        let size = size as usize;
        let most_skips = if is_mapped { SKIPS } else { 0 };
        Epoch {
            open: false,
            started: 0,
            outgoing: Vec::new(),
            sends: false,
            expected: 0,
            early: Vec::new(),
            locks: Locks::default(),
            requesting: false,
            access: None,
            exposure: None,
            last_groups: [None, None],
            pairs: Pairs { counts: Vec::new(), size },
            small: 0,
            replies: Vec::new(),
            skips: most_skips,
            most_skips,
            counts: vec![0; size],
            size,
        }
    }

    /// Whether operations on the memory of a rank may be started.
    #[inline]
    pub fn allows(&self, rank: u32) -> bool {
        self.locks.has(rank)
            || self.open
            || self.access.as_ref().is_some_and(|ranks| ranks.binary_search(&rank).is_ok())
    }

    /// Whether a flush may go without progress: most may, where no operation goes as a message.
    #[inline(always)]
    pub fn may_skip_progress(&mut self) -> bool {
        match self.skips.checked_sub(1) {
            Some(left) => self.skips = left,
            None => {
                self.skips = self.most_skips;
                return false;
            }
        }
        true
    }

    /// Counts an operation that is complete when its call returns as started, as `Win::begin` does.
    #[inline(always)]
    pub fn start_one(&mut self) {
        self.started += u64::from(self.open);
    }

    /// Whether nothing prevents an epoch of `MPI_Win_lock` but the lock itself.
    #[inline(always)]
    pub fn may_lock(&self) -> bool {
        self.started == 0 && !self.locks.all && self.access.is_none()
    }

    /// Whether operations on the memory of any rank may be started.
    #[inline]
    pub fn is_access(&self) -> bool {
        self.open || self.locks.any() || self.access.is_some()
    }

    /// The open epochs, for messages, by the calls that began them.
    pub fn described(&self) -> String {
        let mut epochs = Vec::new();
        if self.locks.all {
            epochs.push("MPI_Win_lock_all".to_owned());
        } else if self.locks.number == 1 {
            let rank = self.locks.first().unwrap_or_default();
            epochs.push(format!("MPI_Win_lock of rank {rank}"));
        } else if self.locks.number > 1 {
            epochs.push(format!("MPI_Win_lock of {} ranks", self.locks.number));
        }
        if self.locks.nobody {
            epochs.push("MPI_Win_lock of MPI_PROC_NULL".to_owned());
        }
        if let Some(ranks) = &self.access {
            epochs.push(format!("MPI_Win_start for {}", mpi_errors::counted(ranks.len() as u64, "rank")));
        }
        if self.exposure.is_some() {
            epochs.push("MPI_Win_post".to_owned());
        }
        if self.open && epochs.is_empty() {
            epochs.push("MPI_Win_fence".to_owned());
        }
        match epochs.is_empty() {
            true => "no epoch".to_owned(),
            false => format!("epoch of {}", epochs.join(" and ")),
        }
    }

    /// Whether records or replies of operations on this rank wait.
    pub fn has_records(&self, rank: u32) -> bool {
        let outgoing = self.outgoing.get(rank as usize);
        outgoing.is_some_and(|outgoing| !outgoing.batches.is_empty())
            || self.replies.iter().any(|reply| reply.1 == rank)
    }

    /// The same for any of these ranks.
    #[inline]
    pub fn has_any_of(&self, ranks: Range<u32>) -> bool {
        (self.sends || !self.replies.is_empty()) && ranks.into_iter().any(|rank| self.has_records(rank))
    }

    /// The records for a rank, which are to be sent.
    pub fn take_outgoing(&mut self, rank: u32) -> Outgoing {
        let taken = self.outgoing.get_mut(rank as usize).map(std::mem::take).unwrap_or_default();
        self.sends = self.outgoing.iter().any(|outgoing| !outgoing.batches.is_empty());
        taken
    }

    /// The receives of replies of a rank, with the bytes expected.
    pub fn take_replies(&mut self, rank: u32) -> Vec<(Handle, u64)> {
        let taken = self.replies.extract_if(.., |reply| reply.1 == rank);
        taken.map(|(receive, _, bytes)| (receive, bytes)).collect()
    }

    /// Batches for a rank were sent, which the next fence counts.
    pub fn sent_early(&mut self, rank: u32, batches: u64) {
        if batches > 0 {
            self.early.resize(self.size, 0);
            self.early[rank as usize] += batches;
        }
    }

    /// Whether a put of so many bytes is sent as a record and not copied directly. A direct copy costs a system call,
    /// records cost the fence a barrier, which is cheaper for many small puts.
    pub fn prefers_sending(&mut self, bytes: u64) -> bool {
        // Outside of fences each record would need a reply.
        if bytes > SMALL || !self.open {
            return false;
        }
        self.small = self.small.saturating_add(1);
        self.sends || self.small > FEW
    }

    /// Adds a record with its blocks, and its data if it has any.
    pub fn send(&mut self, target: u32, head: &Head, blocks: &[Block], data: Option<SendBuf<'static>>) {
        match data {
            Some(data) if head.is_inline() => self.send_inline(target, head, blocks, |room| {
                data.pack(0, room);
            }),
            data => {
                self.send_inline(target, head, blocks, |_| {});
                self.outgoing[target as usize].data.extend(data);
            }
        }
    }

    /// Adds a record with data inside the batch, stored by `fill`.
    pub fn send_inline(&mut self, target: u32, head: &Head, blocks: &[Block], fill: impl FnOnce(&mut [u8])) {
        if self.outgoing.is_empty() {
            self.outgoing.resize_with(self.size, Outgoing::default);
        }
        self.sends = true;
        let outgoing = &mut self.outgoing[target as usize];
        if outgoing.batches.last().is_none_or(|batch| batch.len() >= BATCH_FULL) {
            outgoing.batches.push(Vec::new());
        }
        let batch = outgoing.batches.last_mut().expect("there is one now");
        let end = batch.len() + head.record_bytes();
        batch.extend_from_slice(&head.encode());
        blocks.iter().for_each(|block| batch.extend_from_slice(&block.encode()));
        if head.is_inline() {
            let start = batch.len();
            batch.resize(end, 0);
            fill(&mut batch[start..start + head.bytes as usize]);
        }
    }
}
