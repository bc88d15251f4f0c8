//! The flight recorder: the last calls of a rank, stored in the job memory, so that they outlive the process.
//!
//! On unless its depth is 0: entering a call is seven stores into the rank's own memory, leaving it one. The number of
//! the call is stored first and the entry's first word last, each store a Release, which costs nothing where stores
//! keep their order: a reader in another process that sees anything of a later call sees the later number as well, and
//! skips the entry.
//!
//! Invariant: calls are recorded one at a time, under the process's lock. Only the return or failure of a call is
//! recorded without it. If calls of other threads have reused its entry meanwhile, one of them may be lost, but two are
//! never mixed. `recorder/model.rs` checks it with loom.
//!
//! Format: see `FORMAT.md`, section "Flight recorder".

use crate::layout::{LINE, block};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

#[cfg(not(loom))]
mod mapped;
#[cfg(all(test, loom))]
mod model;
mod words;

/// Whether calls are recorded: not in the build that the cost of instruments is compared with.
const KEPT: bool = cfg!(not(feature = "uninstrumented"));

/// Calls stored per rank without a setting.
pub const DEPTH: u64 = 64;
/// The most calls that can be stored.
pub const MOST: u64 = 2048;
/// Stands for the peer of a call that an error refused before its arguments were recorded.
pub const REFUSED: i32 = i32::MIN;
/// In the count of a call that waits for requests: the first of them is a send.
pub const SEND: u64 = 1 << 32;
/// The same of a receive.
pub const RECEIVE: u64 = 2 << 32;
/// Bytes of an entry, the unit of the calls' numbers: call number s has `s * UNIT` in its first word.
const UNIT: u64 = 32;
/// Set in the first word of an entry once the call has returned.
const ENDED: u64 = 1;
/// Set in the first word of an entry from when the call has failed until its error is raised.
const FAILED: u64 = 2;
/// The bits of the first word below the call's number.
const FLAGS: u64 = UNIT - 1;

/// Offset of the number of calls stored; 0: none is, and all calls overwrite each other in the first entry.
const DEPTH_AT: usize = 8;
/// Offset of the mask that turns a call's number into its entry's place: in bytes, the entries in use are a power of
/// two.
const MASK_AT: usize = 16;
/// Offset of the first entry; the line before it holds the number of the last call and the words above.
const ENTRIES_AT: usize = LINE;
/// The largest mask.
const WHOLE_MASK: u64 = (MOST - 1) * UNIT;

/// Offsets in an entry.
const FUNCTION: usize = 8;
const COMM: usize = 12;
const PEER: usize = 16;
const TAG: usize = 20;
const COUNT: usize = 24;

const _: () = assert!(MOST.is_power_of_two());
const _: () = assert!(ENTRIES_AT + (MOST * UNIT) as usize <= block::RECORDER_BYTES);

/// The memory of a recorder: the job memory, or loom's atomics.
pub trait RecorderMemory {
    /// The word at an offset below the recorder's size, a multiple of 8.
    fn word(&self, offset: usize) -> &AtomicU64;

    /// The half word at an offset below the recorder's size, a multiple of 4. What is accessed as halves is never
    /// accessed as words.
    fn half(&self, offset: usize) -> &AtomicU32;
}

/// A rank's recorder in the job memory.
#[cfg(not(loom))]
pub type Recorder = Recording<mapped::MappedEntries>;

/// A rank's recorder. Cheap to clone. Reading is thread-safe. The caller that records a call prevents other threads
/// from recording at the same time (the process's lock); a mark may be used without it.
#[derive(Clone)]
pub struct Recording<M>(M);

/// The entry of a call that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'r> {
    /// The entry's first word.
    word: &'r AtomicU64,
    /// Its value while the entry belongs to the call: nested calls may reuse it, or the depth may change.
    first: u64,
}

/// A call as read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Running number of the call within its rank, from 1.
    pub sequence: u64,
    /// Number of the function in the API's table.
    pub function: u16,
    /// Whether it has returned.
    pub ended: bool,
    /// Context id, or what the caller recorded in its place.
    pub comm: u32,
    /// Peer rank, or what the caller recorded in its place; [`REFUSED`].
    pub peer: i32,
    /// Tag.
    pub tag: i32,
    /// Count; of a call that waits for requests their number, with [`SEND`] or [`RECEIVE`] for the first of them.
    pub count: u64,
}

impl Mark<'_> {
    /// Records that the call has returned.
    #[inline(always)]
    pub fn leave(self) {
        if KEPT && self.word.load(Ordering::Relaxed) == self.first {
            // Release pairs with the Acquire in `call`.
            self.word.store(self.first | ENDED, Ordering::Release);
        }
    }

    /// As [`Mark::leave`], for a call in which the lock was held all the time, so that its entry is still its own.
    #[inline(always)]
    pub fn leave_held(self) {
        if KEPT {
            // Release as in `leave`.
            self.word.store(self.first | ENDED, Ordering::Release);
        }
    }

    /// Records that the call has failed, after it has returned, for [`Recording::refused`]. Not for hot paths.
    pub fn failed(self) {
        if self.word.load(Ordering::Relaxed) == self.first | ENDED {
            self.word.store(self.first | ENDED | FAILED, Ordering::Release);
        }
    }
}

impl<M: RecorderMemory> Recording<M> {
    /// The number of the last call, in units.
    #[inline(always)]
    fn last(&self) -> &AtomicU64 {
        self.word(0)
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        self.0.word(offset)
    }

    #[inline(always)]
    fn half(&self, offset: usize) -> &AtomicU32 {
        self.0.half(offset)
    }

    /// The place of the entry of a call with this number, in units.
    #[inline(always)]
    fn entry(&self, units: u64) -> usize {
        ENTRIES_AT + (units & self.mask()) as usize
    }

    #[inline(always)]
    fn mask(&self) -> u64 {
        // Other processes can write the mask: it must not lead out of the recorder.
        self.word(MASK_AT).load(Ordering::Relaxed) & WHOLE_MASK
    }

    #[inline(always)]
    fn write(&self, function: u16, ended: u64, comm: u32, peer: i32, tag: i32, count: u64) -> Mark<'_> {
        if !KEPT {
            return Mark { word: self.last(), first: 0 };
        }
        let units = self.last().load(Ordering::Relaxed).wrapping_add(UNIT);
        self.last().store(units, Ordering::Relaxed);
        let at = self.entry(units);
        // Release, each: pair with the Acquires in `call`, which then sees the number stored above.
        self.half(at + FUNCTION).store(u32::from(function), Ordering::Release);
        self.half(at + COMM).store(comm, Ordering::Release);
        self.half(at + PEER).store(peer as u32, Ordering::Release);
        self.half(at + TAG).store(tag as u32, Ordering::Release);
        self.word(at + COUNT).store(count, Ordering::Release);
        let (word, first) = (self.word(at), units | ended);
        word.store(first, Ordering::Release);
        Mark { word, first }
    }

    /// Records a call that cannot wait, as begun and returned in one step. Needs no [`Mark::leave`].
    #[inline(always)]
    pub fn record(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) {
        self.write(function, ENDED, comm, peer, tag, count);
    }

    /// Records that a call begins. A few nanoseconds.
    #[inline(always)]
    pub fn enter(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) -> Mark<'_> {
        self.write(function, 0, comm, peer, tag, count)
    }

    /// Replaces the facts of a call that has not returned, if its entry still belongs to it: a call that waits for
    /// requests records what it waits for when its wait begins. Not for hot paths.
    pub fn amend(&self, mark: Mark<'_>, comm: u32, peer: i32, tag: i32, count: u64) {
        if !KEPT || mark.word.load(Ordering::Relaxed) != mark.first {
            return;
        }
        let at = self.entry(mark.first & !FLAGS);
        // Release, each, as in `write`.
        self.half(at + COMM).store(comm, Ordering::Release);
        self.half(at + PEER).store(peer as u32, Ordering::Release);
        self.half(at + TAG).store(tag as u32, Ordering::Release);
        self.word(at + COUNT).store(count, Ordering::Release);
    }

    /// Records a call that failed with an error, unless its [`Mark`] has recorded that already. Not for hot paths.
    pub fn refused(&self, function: u16) {
        let last = self.last().load(Ordering::Relaxed) & !FLAGS;
        let at = self.entry(last);
        let first = self.word(at);
        let recorded = first.load(Ordering::Relaxed) == last | ENDED | FAILED;
        if recorded && self.half(at + FUNCTION).load(Ordering::Relaxed) == u32::from(function) {
            // The next error is of another call.
            first.store(last | ENDED, Ordering::Release);
        } else {
            self.record(function, 0, REFUSED, 0, 0);
        }
    }

    /// How many calls are stored; 0: none.
    pub fn depth(&self) -> u64 {
        self.word(DEPTH_AT).load(Ordering::Relaxed).min(MOST)
    }

    /// Sets how many calls are stored from now on, at most [`MOST`]; 0: none. Earlier ones may be lost.
    pub fn set_depth(&self, depth: u64) {
        let depth = depth.min(MOST);
        self.word(MASK_AT).store((depth.max(1).next_power_of_two() - 1) * UNIT, Ordering::Relaxed);
        self.word(DEPTH_AT).store(depth, Ordering::Relaxed);
    }

    /// The recorded calls, oldest first. Invalid entries are omitted: the rank may be writing, or faulty.
    pub fn calls(&self) -> Vec<Call> {
        let last = self.last().load(Ordering::Relaxed) / UNIT;
        let Some(before) = self.depth().checked_sub(1) else { return Vec::new() };
        let first = last.saturating_sub(before).max(1);
        (first..=last).filter_map(|sequence| self.call(sequence)).collect()
    }

    fn call(&self, sequence: u64) -> Option<Call> {
        let units = sequence * UNIT;
        let at = self.entry(units);
        // Acquire pairs with the Releases in `write`, `leave` and `failed`: what another call wrote comes with that
        // call's number, which the last load then sees.
        let first = self.word(at).load(Ordering::Acquire);
        let [function, comm, peer, tag] =
            [FUNCTION, COMM, PEER, TAG].map(|offset| self.half(at + offset).load(Ordering::Acquire));
        let count = self.word(at + COUNT).load(Ordering::Acquire);
        let overwritten = self.last().load(Ordering::Relaxed).saturating_sub(units) > self.mask();
        let whole = first & !FLAGS == units && !overwritten;
        whole.then_some(Call {
            sequence,
            function: function as u16,
            ended: first & ENDED != 0,
            comm,
            peer: peer as i32,
            tag: tag as i32,
            count,
        })
    }

    /// The call that the rank is in, the innermost if several; else the last one that returned.
    pub fn current(&self) -> Option<Call> {
        let calls = self.calls();
        calls.iter().rfind(|call| !call.ended).or(calls.last()).copied()
    }
}
