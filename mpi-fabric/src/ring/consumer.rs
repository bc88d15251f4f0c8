//! The receiver's side of a ring.
//!
//! Invariants: those of the ring; what the sender wrote is checked before it is used.

use super::{BadRecord, CELL_REPORT, FROM_FAR, RingMemory, SPARE};
use crate::layout::{CELL_BYTES, LINE};
use crate::record::{FirstWord, HEAD_BYTES, MOVED_WORD, Payload, RecordHead, WRAP_WORD, payload_at, record_bytes};
use crate::sync::{Ordering, spin_loop};

/// The receiver reports after each longer record what it has consumed, and after all that it finds otherwise, each time
/// it is a quarter of the ring: a sender that waits for room in a stream goes on while the receiver reads the next
/// record. When it finds no more after a longer record it reports all, so that a sender may restart.
const REPORTED_AT_ONCE: usize = 1 << 10;

/// The receiver's side. One per ring in the whole job.
pub(crate) struct Consumer<M> {
    pub(super) memory: M,
    pub(super) pos: usize,
    laps: u64,
    /// Last report to the sender.
    pub(super) reported: u64,
}

/// The record that a receiver waits for. A trait, because two closures might be compiled out of line.
pub trait Expected {
    /// What the record brings.
    type Output;
    /// Whether the record with this head and so many bytes of payload is the one.
    fn is(&self, head: &RecordHead, len: usize) -> bool;
    /// Takes it. The head and the length of the payload are those that [`Self::is`] has accepted.
    fn take(self, head: &RecordHead, payload: Payload<'_>) -> Self::Output;
}

/// Expects any record.
struct Any<F>(F);

impl<F: FnMut(&RecordHead, Payload<'_>)> Expected for Any<F> {
    type Output = ();

    #[inline(always)]
    fn is(&self, _head: &RecordHead, _len: usize) -> bool {
        true
    }

    #[inline(always)]
    fn take(mut self, head: &RecordHead, payload: Payload<'_>) {
        (self.0)(head, payload);
    }
}

impl<M: RingMemory> Consumer<M> {
    /// A receiver for a ring that is all zero, as is the one after it.
    pub(crate) fn new(memory: M) -> Consumer<M> {
        Consumer { memory, pos: 0, laps: 0, reported: 0 }
    }

    /// Hands up to `most` records to `each`, oldest first, and returns how many there were. `put_cell` gets the number of each
    /// cell that passes to this process, before its record; false: the record is bad.
    ///
    /// A bad record is not consumed: every later poll reports it again.
    #[inline(always)]
    pub(crate) fn poll(
        &mut self,
        most: usize,
        mut each: impl FnMut(&RecordHead, Payload<'_>),
        mut put_cell: impl FnMut(usize) -> bool,
    ) -> Result<usize, BadRecord> {
        let (mut seen, mut long) = (0, false);
        while seen < most {
            let at = self.pos;
            // SAFETY: `pos` is a multiple of 64 below `bytes()`: 0 at first, and below it stays `pos + SPARE <=
            // bytes()`. Acquire pairs with the Release in `Producer::append` and in `Producer::grow`.
            let first = FirstWord(unsafe { self.memory.word(at) }.load(Ordering::Acquire));
            if first.is_empty() {
                break;
            }
            let next = at + record_bytes(first.len());
            if !first.is_record() || next + SPARE > self.memory.bytes() {
                if first.is_in_cell() {
                    self.in_cell(first, Any(&mut each), &mut put_cell)?;
                    seen += 1;
                } else if first.is_away() {
                    self.away(first, &mut each)?;
                    (seen, long) = (seen + 1, true);
                } else {
                    self.wrap(first)?;
                }
                continue;
            }
            // SAFETY: the whole record lies inside, as just checked; its words are multiples of 8.
            unsafe {
                let head = self.head(first);
                self.memory.view(at + payload_at(first.len()), first.len(), |payload| each(&head, payload));
            }
            self.pos = next;
            seen += 1;
            if first.len() >= REPORTED_AT_ONCE {
                self.report(self.memory.bytes() / 4);
                long = true;
            }
        }
        self.report(if long { 1 } else { self.memory.bytes() / 4 });
        Ok(seen)
    }

    /// Takes the next record if it is here, is the expected one, and its payload lies behind its head. All other records are
    /// left to [`Self::poll`].
    #[inline(always)]
    pub(crate) fn take_next<E: Expected>(&mut self, expected: E) -> Option<E::Output> {
        // SAFETY: as in `poll`. Acquire pairs with the Release in `Producer::append` and in `Producer::grow`.
        let first = FirstWord(unsafe { self.memory.word(self.pos) }.load(Ordering::Acquire));
        self.take(first, expected)
    }

    /// Waits for the next record with up to `looks` looks, and takes it if it is the expected one and its payload lies behind
    /// its head or in a cell; `missed` is called if the first look finds none. Returns what it has taken, and how many looks it
    /// took. All other records are left to [`Self::poll`].
    #[inline(always)]
    pub(crate) fn await_next<E: Expected>(
        &mut self,
        looks: u32,
        missed: impl FnOnce(),
        expected: E,
        put_cell: impl FnOnce(usize) -> bool,
    ) -> (Option<E::Output>, u32) {
        // SAFETY: as in `poll`. Acquire as in `take_next`.
        let mut first = FirstWord(unsafe { self.memory.word(self.pos) }.load(Ordering::Acquire));
        let mut looked = 1;
        if first.is_empty() {
            missed();
            (first, looked) = self.look_again(looks);
        }
        if first.is_in_cell() {
            // A bad record is reported by the poll.
            return (self.in_cell(first, expected, put_cell).unwrap_or(None), looked);
        }
        (self.take(first, expected), looked)
    }

    /// Looks for the next record after one look. A function of its own, so that the code behind it exists once.
    #[inline(never)]
    fn look_again(&self, looks: u32) -> (FirstWord, u32) {
        // SAFETY: as in `poll`.
        let word = unsafe { self.memory.word(self.pos) };
        let mut looked = 1;
        loop {
            spin_loop();
            looked += 1;
            // Acquire as in `take_next`.
            let first = FirstWord(word.load(Ordering::Acquire));
            if !first.is_empty() || looked >= looks {
                return (first, looked);
            }
        }
    }

    /// Takes the record with this first word, the next one, if it is the expected one and its payload lies behind its head.
    #[inline(always)]
    fn take<E: Expected>(&mut self, first: FirstWord, expected: E) -> Option<E::Output> {
        let at = self.pos;
        let next = at + record_bytes(first.len());
        if !first.is_record() || next + SPARE > self.memory.bytes() {
            return None;
        }
        // SAFETY: the whole record lies inside, as just checked; its words are multiples of 8.
        let taken = unsafe {
            let head = self.head(first);
            if !expected.is(&head, first.len()) {
                return None;
            }
            self.memory.view(at + payload_at(first.len()), first.len(), |payload| expected.take(&head, payload))
        };
        self.pos = next;
        self.report(if first.len() >= REPORTED_AT_ONCE { 1 } else { self.memory.bytes() / 4 });
        Some(taken)
    }

    /// Reports what is consumed to the sender, once that is so many bytes more than before.
    #[inline(always)]
    fn report(&mut self, least: usize) {
        let consumed = self.laps + self.pos as u64;
        if consumed - self.reported >= least as u64 {
            self.reported = consumed;
            // Release pairs with the Acquire in `Producer::grow`: our reads are done before the sender writes again.
            self.memory.credit().store(consumed, Ordering::Release);
        }
    }

    /// The head of the record at the receiver's position.
    /// # Safety
    /// Its line lies inside.
    #[inline(always)]
    unsafe fn head(&self, first: FirstWord) -> RecordHead {
        // SAFETY: the caller's promise; the words are multiples of 8.
        unsafe {
            let second = self.memory.word(self.pos + 8).load(Ordering::Relaxed);
            RecordHead {
                kind: first.kind(),
                flags: first.flags(),
                context: second as u32,
                tag: (second >> 32) as i32,
                a: self.memory.word(self.pos + 16).load(Ordering::Relaxed),
                b: self.memory.word(self.pos + 24).load(Ordering::Relaxed),
            }
        }
    }

    /// Hands over a record whose payload lies in a cell, if it is the expected one.
    #[inline(never)]
    fn in_cell<E: Expected>(
        &mut self,
        first: FirstWord,
        expected: E,
        put_cell: impl FnOnce(usize) -> bool,
    ) -> Result<Option<E::Output>, BadRecord> {
        let (at, len) = (self.pos, first.len());
        let bad = BadRecord { word: first.0, at };
        if at + LINE + SPARE > self.memory.bytes() || len > CELL_BYTES {
            return Err(bad);
        }
        // SAFETY: the record's line lies inside, as just checked.
        let (head, cell) = unsafe { (self.head(first), self.memory.word(at + HEAD_BYTES).load(Ordering::Relaxed)) };
        if !expected.is(&head, len) {
            return Ok(None);
        }
        let (far, cell) = (cell & FROM_FAR != 0, usize::try_from(cell & !FROM_FAR).map_err(|_| bad)?);
        // The cell is this process's as soon as the payload is read: nothing is pushed during `each`.
        if cell >= self.memory.cells() || !put_cell(cell) {
            return Err(bad);
        }
        // SAFETY: there is such a cell, and the payload is no longer, as just checked.
        let taken = unsafe { self.memory.view_cell(cell, far, len, |payload| expected.take(&head, payload)) };
        self.pos = at + LINE;
        self.report(CELL_REPORT.min(self.memory.bytes() / 4));
        Ok(Some(taken))
    }

    /// Hands over a record whose payload lies in the sender's copy buffer.
    #[inline(never)]
    fn away(&mut self, first: FirstWord, mut each: impl FnMut(&RecordHead, Payload<'_>)) -> Result<(), BadRecord> {
        let (at, len) = (self.pos, first.len());
        let bad = BadRecord { word: first.0, at };
        if at + LINE + SPARE > self.memory.bytes() {
            return Err(bad);
        }
        // SAFETY: the record's line lies inside, as just checked.
        let offset = unsafe { self.memory.word(at + HEAD_BYTES) }.load(Ordering::Relaxed);
        let offset = usize::try_from(offset).map_err(|_| bad)?;
        let inside = offset.checked_add(len.next_multiple_of(8)).is_some_and(|end| end <= self.memory.buffer_bytes());
        if !inside || !offset.is_multiple_of(LINE) {
            return Err(bad);
        }
        // SAFETY: as above; the payload lies inside the buffer, as just checked.
        unsafe {
            let head = self.head(first);
            self.memory.view_buffer(offset, len, |payload| each(&head, payload));
        }
        self.pos = at + LINE;
        self.report(self.memory.bytes() / 4);
        Ok(())
    }

    /// Follows a wrap mark, or the mark that leads to the longer ring; any other word that is no record is bad.
    #[cold]
    fn wrap(&mut self, first: FirstWord) -> Result<(), BadRecord> {
        if first.0 == MOVED_WORD
            && let Some(next) = self.memory.next()
        {
            self.laps += self.memory.bytes() as u64;
            (self.memory, self.pos) = (next, 0);
            // The sender reads reports in the longer ring only: also those of what was read before.
            self.report(0);
            return Ok(());
        }
        // A mark at the beginning of the ring would be followed for ever.
        if first.0 != WRAP_WORD || self.pos == 0 {
            return Err(BadRecord { word: first.0, at: self.pos });
        }
        self.laps += self.memory.bytes() as u64;
        self.pos = 0;
        Ok(())
    }
}
