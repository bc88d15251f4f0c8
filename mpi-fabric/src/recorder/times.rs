//! When calls began and returned, in which thread, and the second message of a call that sends and receives: recorded on
//! request (`fabric_recorder_times`), behind the entries.
//!
//! Invariant: what is stored here is stored before the first word of the entry, and read after it, as the entry is.

use super::{Call, ENDED, EntryMemory, MASK_AT, RecorderMemory, Recording, TIMED, TIMES};
use crate::sync::Ordering;

/// Offsets from an entry: when the call began, in nanoseconds of the system's monotonic clock.
const BEGIN: usize = TIMES;
/// When it returned.
const END: usize = TIMES + 8;
/// The system's number of the thread.
const THREAD: usize = TIMES + 16;
/// Source and tag of what the call receives, if it also sends; [`NO_TAG`]: nothing.
const SOURCE: usize = TIMES + 20;
const RECEIVE_TAG: usize = TIMES + 24;

/// No receive has this tag.
const NO_TAG: i32 = i32::MIN;

/// The times of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// When it began, in nanoseconds of the system's monotonic clock.
    pub begin_ns: u64,
    /// When it returned; `None` if it has not. A call that cannot wait has the time of its begin.
    pub end_ns: Option<u64>,
    /// The system's number of the thread.
    pub thread: u32,
    /// Source and tag of what a call receives that also sends.
    pub second: Option<(i32, i32)>,
}

/// A call with its times, if they were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedCall {
    /// The call.
    pub call: Call,
    /// Its times.
    pub times: Option<Times>,
}

#[cold]
#[inline(never)]
pub(super) fn begin<'r>(entry: impl EntryMemory<'r>) {
    let (now, thread) = now_and_thread();
    // Release, each, as in `write`.
    entry.word(BEGIN).store(now, Ordering::Release);
    entry.word(END).store(now, Ordering::Release);
    entry.half(THREAD).store(thread, Ordering::Release);
    entry.half(RECEIVE_TAG).store(NO_TAG as u32, Ordering::Release);
}

/// Records that a call has returned whose entry has another first word than its number: it has times, or belongs to a later
/// call. Without times the first word is equal, so that calls take no further branch.
#[cold]
#[inline(never)]
pub(super) fn end<'r>(entry: impl EntryMemory<'r>, first: u64) {
    if entry.word(0).load(Ordering::Relaxed) == first | TIMED {
        // Release, each, as in `write`.
        entry.word(END).store(now_and_thread().0, Ordering::Release);
        entry.word(0).store(first | TIMED | ENDED, Ordering::Release);
    }
}

/// For a reader that has loaded the first word of the entry.
pub(super) fn read<'r>(entry: impl EntryMemory<'r>, ended: bool) -> Times {
    // Acquire, each, as in `call`.
    let [begin_ns, end_ns] = [BEGIN, END].map(|offset| entry.word(offset).load(Ordering::Acquire));
    let [thread, tag, source] = [THREAD, RECEIVE_TAG, SOURCE].map(|offset| entry.half(offset).load(Ordering::Acquire));
    let second = (tag as i32 != NO_TAG).then_some((source as i32, tag as i32));
    Times { begin_ns, end_ns: ended.then_some(end_ns), thread, second }
}

#[cfg(not(loom))]
fn now_and_thread() -> (u64, u32) {
    (mpi_core::clock::now_ns(), super::thread_number::thread_number())
}

/// In a model the number of the call stands for its time.
#[cfg(loom)]
fn now_and_thread() -> (u64, u32) {
    (7, 9)
}

impl<M: RecorderMemory> Recording<M> {
    /// Whether times are recorded.
    #[inline(always)]
    fn has_times(&self) -> bool {
        self.mask() & TIMED != 0
    }

    /// Sets whether times are recorded from the next call on.
    pub fn set_times(&self, on: bool) {
        let mask = self.mask() & !TIMED | if on { TIMED } else { 0 };
        self.word(MASK_AT).store(mask, Ordering::Relaxed);
    }

    /// Records what the last call receives that also sends, where times are recorded. The lock was held since it began.
    #[inline]
    pub fn receives(&self, source: i32, tag: i32) {
        if self.has_times() {
            let entry = self.entry(self.last().load(Ordering::Relaxed), self.mask());
            // Release, each, as in `write`. A reader that sees the tag sees the source.
            entry.half(SOURCE).store(source as u32, Ordering::Release);
            entry.half(RECEIVE_TAG).store(tag as u32, Ordering::Release);
        }
    }

    /// The recorded calls with their times, oldest first; as [`Recording::calls`].
    pub fn timed_calls(&self) -> Vec<TimedCall> {
        self.sequences().filter_map(|sequence| self.call(sequence)).collect()
    }
}
