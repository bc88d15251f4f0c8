//! The flight recorder: the last calls of a rank, stored in the job memory, so that they outlive the process.
//!
//! On unless its depth is 0: entering a call is seven stores into the rank's own memory, leaving it one. Where times are
//! recorded too, the clock is read twice a call, which costs more than the rest; otherwise one bit of the mask, which is
//! loaded anyway, skips that. The number of
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
#[cfg(not(loom))]
mod thread_number;
mod times;
mod words;

pub use times::{TimedCall, Times};

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
/// Set in the mask while times are recorded, and in the first word of an entry that has times.
const TIMED: u64 = 4;
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

/// From an entry to its times, behind the last entry.
const TIMES: usize = (MOST * UNIT) as usize;

const _: () = assert!(MOST.is_power_of_two());
const _: () = assert!(ENTRIES_AT + TIMES + (MOST * UNIT) as usize <= block::RECORDER_BYTES);

/// The memory of a recorder: the job memory, or loom's atomics.
pub trait RecorderMemory {
    /// An entry in it.
    type Entry<'r>: EntryMemory<'r>
    where
        Self: 'r;

    /// The entry at an offset.
    fn entry(&self, offset: usize) -> Self::Entry<'_>;

    /// The word at an offset below the recorder's size, a multiple of 8.
    fn word(&self, offset: usize) -> &AtomicU64;

    /// The half word at an offset below the recorder's size, a multiple of 4. What is accessed as halves is never
    /// accessed as words.
    fn half(&self, offset: usize) -> &AtomicU32;
}

/// The memory of one entry and of its times.
pub trait EntryMemory<'r>: Copy {
    /// The word at an offset from the entry: one of the entry, or `TIMES` more one of its times.
    fn word(self, offset: usize) -> &'r AtomicU64;

    /// The half word, as [`RecorderMemory::half`].
    fn half(self, offset: usize) -> &'r AtomicU32;
}

/// A rank's recorder in the job memory.
#[cfg(not(loom))]
pub type Recorder = Recording<mapped::MappedEntries>;
/// The entry of a call that has begun, in the job memory.
#[cfg(not(loom))]
pub type Mark<'r> = CallMark<mapped::MappedEntry<'r>>;

/// A rank's recorder. Cheap to clone. Reading is thread-safe. The caller that records a call prevents other threads
/// from recording at the same time (the process's lock); a mark may be used without it.
#[derive(Clone)]
pub struct Recording<M>(M);

/// The entry of a call that has begun.
#[derive(Clone, Copy, Debug)]
pub struct CallMark<E> {
    entry: E,
    /// The value of its first word, without [`TIMED`], while the entry belongs to the call: nested calls may reuse it, or the depth may change.
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

impl<'r, E: EntryMemory<'r>> CallMark<E> {
    /// Records that the call has returned.
    #[inline(always)]
    pub fn leave(self) {
        if KEPT {
            match self.entry.word(0).load(Ordering::Relaxed) == self.first {
                // Release pairs with the Acquire in `call`.
                true => self.entry.word(0).store(self.first | ENDED, Ordering::Release),
                false => times::end(self.entry, self.first),
            }
        }
    }

    /// As [`CallMark::leave`], for a call of [`Recording::enter_untimed`].
    #[inline(always)]
    pub fn leave_untimed(self) {
        if KEPT {
            // Release pairs with the Acquire in `call`.
            self.entry.word(0).store(self.first | ENDED, Ordering::Release);
        }
    }

    /// Records that the call has failed, after it has returned, for [`Recording::refused`]. Not for hot paths.
    pub fn failed(self) {
        let (word, ended) = (self.entry.word(0), self.first | ENDED);
        let now = word.load(Ordering::Relaxed);
        if now & !TIMED == ended {
            word.store(now | FAILED, Ordering::Release);
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

    /// The entry of a call with this number, in units.
    #[inline(always)]
    fn entry(&self, units: u64, mask: u64) -> M::Entry<'_> {
        // Other processes can write the mask: it must not lead out of the recorder.
        self.0.entry(ENTRIES_AT + (units & mask & WHOLE_MASK) as usize)
    }

    /// The mask, with [`TIMED`].
    #[inline(always)]
    fn mask(&self) -> u64 {
        self.word(MASK_AT).load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn write(
        &self,
        timed: u64,
        (function, ended): (u16, u64),
        comm: u32,
        peer: i32,
        tag: i32,
        count: u64,
    ) -> CallMark<M::Entry<'_>> {
        if !KEPT {
            return CallMark { entry: self.entry(0, 0), first: 0 };
        }
        let units = self.last().load(Ordering::Relaxed).wrapping_add(UNIT);
        self.last().store(units, Ordering::Relaxed);
        let mask = self.mask();
        let (entry, timed) = (self.entry(units, mask), mask & timed);
        // Release, each: pair with the Acquires in `call`, which then sees the number stored above.
        entry.half(FUNCTION).store(u32::from(function), Ordering::Release);
        entry.half(COMM).store(comm, Ordering::Release);
        entry.half(PEER).store(peer as u32, Ordering::Release);
        entry.half(TAG).store(tag as u32, Ordering::Release);
        entry.word(COUNT).store(count, Ordering::Release);
        if timed != 0 {
            times::begin(entry);
        }
        let first = units | ended;
        entry.word(0).store(first | timed, Ordering::Release);
        CallMark { entry, first }
    }

    /// Records a call that cannot wait, as begun and returned in one step. Needs no [`CallMark::leave`].
    #[inline(always)]
    pub fn record(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) {
        self.write(TIMED, (function, ENDED), comm, peer, tag, count);
    }

    /// Records that a call begins. A few nanoseconds.
    #[inline(always)]
    pub fn enter(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) -> CallMark<M::Entry<'_>> {
        self.write(TIMED, (function, 0), comm, peer, tag, count)
    }

    /// As [`Recording::enter`], without times: for the shortest ways, which are not taken while times are recorded
    /// (`mpi_t::whole_calls_requested`), so that no call of a function is in them.
    #[inline(always)]
    pub fn enter_untimed(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) -> CallMark<M::Entry<'_>> {
        self.write(0, (function, 0), comm, peer, tag, count)
    }

    /// As [`Recording::record`], without times.
    #[inline(always)]
    pub fn record_untimed(&self, function: u16, comm: u32, peer: i32, tag: i32, count: u64) {
        self.write(0, (function, ENDED), comm, peer, tag, count);
    }

    /// Replaces the facts of a call that has not returned, if its entry still belongs to it: a call that waits for
    /// requests records what it waits for when its wait begins. Not for hot paths.
    pub fn amend(&self, mark: CallMark<M::Entry<'_>>, comm: u32, peer: i32, tag: i32, count: u64) {
        let entry = mark.entry;
        if !KEPT || entry.word(0).load(Ordering::Relaxed) & !TIMED != mark.first {
            return;
        }
        // Release, each, as in `write`.
        entry.half(COMM).store(comm, Ordering::Release);
        entry.half(PEER).store(peer as u32, Ordering::Release);
        entry.half(TAG).store(tag as u32, Ordering::Release);
        entry.word(COUNT).store(count, Ordering::Release);
    }

    /// Records a call that failed with an error, unless its [`CallMark`] has recorded that already. Not for hot paths.
    pub fn refused(&self, function: u16) {
        let last = self.last().load(Ordering::Relaxed) & !FLAGS;
        let entry = self.entry(last, self.mask());
        let first = entry.word(0).load(Ordering::Relaxed);
        let recorded = first & !TIMED == last | ENDED | FAILED;
        if recorded && entry.half(FUNCTION).load(Ordering::Relaxed) == u32::from(function) {
            // The next error is of another call.
            entry.word(0).store(first & !FAILED, Ordering::Release);
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
        let mask = (depth.max(1).next_power_of_two() - 1) * UNIT;
        self.word(MASK_AT).store(mask | self.mask() & TIMED, Ordering::Relaxed);
        self.word(DEPTH_AT).store(depth, Ordering::Relaxed);
    }

    /// The recorded calls, oldest first. Invalid entries are omitted: the rank may be writing, or faulty.
    pub fn calls(&self) -> Vec<Call> {
        self.sequences().filter_map(|sequence| self.call(sequence)).map(|timed| timed.call).collect()
    }

    /// The numbers of the calls that are stored.
    fn sequences(&self) -> impl Iterator<Item = u64> {
        let last = self.last().load(Ordering::Relaxed) / UNIT;
        let depth = self.depth();
        let first = last.saturating_sub(depth.saturating_sub(1)).max(1);
        (first..=last).filter(move |_| depth > 0)
    }

    fn call(&self, sequence: u64) -> Option<TimedCall> {
        let units = sequence * UNIT;
        let entry = self.entry(units, self.mask());
        // Acquire pairs with the Releases in `write`, `leave`, `leave_untimed`, `times::end` and `failed`: what another call wrote comes with that
        // call's number, which the last load then sees.
        let first = entry.word(0).load(Ordering::Acquire);
        let [function, comm, peer, tag] =
            [FUNCTION, COMM, PEER, TAG].map(|offset| entry.half(offset).load(Ordering::Acquire));
        let count = entry.word(COUNT).load(Ordering::Acquire);
        let ended = first & ENDED != 0;
        let times = (first & TIMED != 0).then(|| times::read(entry, ended));
        let overwritten = self.last().load(Ordering::Relaxed).saturating_sub(units) > self.mask() & WHOLE_MASK;
        let whole = first & !FLAGS == units && !overwritten;
        let call = Call { sequence, function: function as u16, ended, comm, peer: peer as i32, tag: tag as i32, count };
        whole.then_some(TimedCall { call, times })
    }

    /// The call that the rank is in, the innermost if several; else the last one that returned.
    pub fn current(&self) -> Option<Call> {
        let calls = self.calls();
        calls.iter().rfind(|call| !call.ended).or(calls.last()).copied()
    }
}
