//! The ring: a queue of records from one sender to one receiver.
//!
//! A record lies in consecutive cache lines: head, payload. The sender zeroes the first word of the line *after* the
//! record, writes the record, and stores the record's own first word last (Release); the receiver polls the first word
//! at its position (Acquire). So a short message is one cache line that moves once, and there is no shared index. The
//! receiver reports its position in a line of its own, once per quarter of the ring; from that the sender computes what
//! it may overwrite.
//!
//! Invariants:
//! - at the receiver's position there is 0, a complete record, or a wrap mark, and nothing is ever published behind a
//!   0;
//! - every record leaves `SPARE` bytes before the end of the ring, so that the line of the next head belongs to the
//!   same lap; what does not fit gets a wrap mark;
//! - a ring that was drained takes the longest record, whatever the positions: see `longest_record`.
//!
//! The payload of a longer record lies in a cell of the pair (`cells`), or in the sender's copy buffer (`copy_buffer`); the
//! record, of one line, has the cell's number, or the offset.
//!
//! A pair of processes begins with a short ring, of which many share a page (`layout::FIRST_RING_BYTES`). The sender moves
//! on to the pair's longer ring, once and for good, when a record does not fit or after `FIRST_LAPS` laps: it stores a mark
//! where the next record would be, and continues at the beginning of the longer ring.
//!
//! The memory is behind `RingMemory`, so that loom can check the same code. Not here: waking the receiver
//! (`doorbell`).

mod consumer;
mod distance;
#[cfg(not(loom))]
mod mapped;
#[cfg(all(loom, test))]
mod model;

use crate::layout::LINE;
use crate::record::{
    FirstWord, Full, HEAD_BYTES, INLINE_BYTES, MOVED_WORD, Payload, RecordHead, WRAP_WORD, payload_at, record_bytes,
};
use crate::sync::{AtomicU64, Ordering};

pub(crate) use consumer::Consumer;
pub use consumer::Expected;
pub(crate) use distance::{Distance, FAR_NS, is_on_mesh};
#[cfg(not(loom))]
pub(crate) use mapped::{MappedRing, clock_ns};

/// Bytes after a record that stay free in its lap: the next head's line.
const SPARE: usize = LINE;

/// Records up to this many bytes are pushed towards the receiver once they are written (measured, half round trips with
/// and without: 256 B 278 against 371 ns, 1 KiB 473 against 561 ns, 8 KiB 1680 against 1920 ns). Longer records are
/// part of a stream, where the receiver reads while the sender continues to write.
const HANDED_OVER: usize = (8 << 10) + LINE;

/// So many reports are timed at first, and one of so many later: reading the clock twice takes as long as copying 2 KiB.
const FIRST_TIMED: u32 = 32;
/// See [`FIRST_TIMED`].
const TIMED: u32 = 16;

/// Bit of the number of a cell: the receiver is far from the sender, so that its copy is to begin early.
const FROM_FAR: u64 = 1 << 63;

/// The receiver reports what it has consumed after so many records with cells at most; so the sender can measure how far away
/// it is.
const CELL_REPORT: usize = 32 * LINE;

/// Laps in the first ring. It has room for five short records; a pair that exchanges more than this many times five is
/// worth pages of its own.
const FIRST_LAPS: u64 = 8;

/// The memory of a ring. Positions are offsets in bytes, multiples of 8.
pub(crate) trait RingMemory: Clone {
    /// Length of the data, a multiple of [`LINE`].
    fn bytes(&self) -> usize;
    /// The longer ring in which the records of this pair continue; `None` for that ring itself.
    fn next(&self) -> Option<Self>;
    /// How many bytes the receiver has consumed since the beginning of the job.
    fn credit(&self) -> &AtomicU64;
    /// Loads `credit` (Acquire), and how many nanoseconds that took.
    fn timed_credit(&self) -> (u64, u32);
    /// # Safety
    /// `at` is a multiple of 8 below `bytes()`.
    unsafe fn word(&self, at: usize) -> &AtomicU64;
    /// Calls `fill` to write `len` bytes at `at`.
    /// # Safety
    /// `at + len <= bytes()`, and only one sender uses the ring.
    unsafe fn fill(&self, at: usize, len: usize, fill: impl FnOnce(&mut [u8]));
    /// Writes `src` at `at`.
    /// # Safety
    /// As `fill`.
    unsafe fn write(&self, at: usize, src: &[u8]);
    /// Hints that the receiver is going to read `bytes` bytes from `at` on.
    /// # Safety
    /// There are some, they end at `bytes()` at most, and both are multiples of [`LINE`].
    unsafe fn hand_over(&self, at: usize, bytes: usize);
    /// Returns `len` bytes at `at`.
    /// # Safety
    /// `at` is a multiple of 8, and `at + len`, rounded up to 8, is at most `bytes()`.
    unsafe fn view<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R;
    /// Length of the sender's copy buffer.
    fn buffer_bytes(&self) -> usize;
    /// As [`Self::view`], in the sender's copy buffer.
    /// # Safety
    /// `at` is a multiple of 8, and `at + len`, rounded up to 8, is at most `buffer_bytes()`.
    unsafe fn view_buffer<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R;
    /// Number of cells of the pair.
    fn cells(&self) -> usize;
    /// As [`Self::view`], at the beginning of a cell.
    /// # Safety
    /// `cell` is below `cells()`, and `len` at most `CELL_BYTES`.
    unsafe fn view_cell<R>(&self, cell: usize, far: bool, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R;
}

/// The longest record, in bytes with its head, for a ring of `bytes`.
///
/// A quarter: in a drained ring at most a quarter is not yet reported back, less than a record and the spare is lost
/// before a wrap, and the record and its spare follow. With eight lines or more that is no more than the ring.
pub(crate) fn longest_record(bytes: usize) -> usize {
    bytes / 4 / LINE * LINE
}

/// A word at the receiver's position that no correct sender writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The first word found.
    pub word: u64,
    /// Its offset in the ring.
    pub at: usize,
}

/// Puts a payload into the ring at an offset.
trait WritePayload<M> {
    /// # Safety
    /// As much as the payload has fits at `at`.
    unsafe fn write(self, memory: &M, at: usize);
}

struct Closure<F>(F);

impl<M, F: FnOnce(&M, usize)> WritePayload<M> for Closure<F> {
    #[inline(always)]
    unsafe fn write(self, memory: &M, at: usize) {
        (self.0)(memory, at);
    }
}

impl<M: RingMemory> WritePayload<M> for &[u8] {
    // A closure might be compiled out of line.
    #[inline(always)]
    unsafe fn write(self, memory: &M, at: usize) {
        // SAFETY: the caller's promise.
        unsafe { memory.write(at, self) };
    }
}

/// The sender's side. One per ring in the whole job.
pub(crate) struct Producer<M> {
    memory: M,
    /// The position of the next record.
    pos: usize,
    /// The position up to which records may be written before more room is needed.
    stop: usize,
    /// A position whose first word is 0, besides `pos`.
    zeroed: usize,
    /// Bytes of all laps before this one.
    laps: u64,
    /// The receiver's report as last seen.
    consumed: u64,
    /// Of the receiver.
    distance: Distance,
    /// Reports read, some of which are timed.
    looks: u32,
}

impl<M: RingMemory> Producer<M> {
    /// A sender for a ring that is all zero, as is the one after it. The first `push` finds no room and reads the receiver's report; see
    /// [`Self::grow`].
    pub(crate) fn new(memory: M) -> Producer<M> {
        Producer {
            memory,
            pos: 0,
            stop: 0,
            zeroed: usize::MAX,
            laps: 0,
            consumed: 0,
            distance: Distance::UNKNOWN,
            looks: 0,
        }
    }

    /// Longest payload of one record, in bytes.
    pub(crate) fn max_payload(&self) -> usize {
        longest_record(self.bytes()) - payload_at(usize::MAX)
    }

    /// Whether a record with `len` bytes of payload fits without reading the receiver's report again.
    #[inline(always)]
    pub(crate) fn fits(&self, len: usize) -> bool {
        self.pos + record_bytes(len) <= self.stop
    }

    /// Makes room for a record with `len` bytes of payload, so that [`Self::fits`]; `Full` without room.
    #[cold]
    pub(crate) fn grow(&mut self, len: usize) -> Result<(), Full> {
        if let Some(next) = self.memory.next() {
            let bytes = self.memory.bytes();
            let stays = self.laps < FIRST_LAPS * bytes as u64 && record_bytes(len) <= longest_record(bytes);
            if stays && self.make_room(len).is_ok() {
                return Ok(());
            }
            self.move_to(next);
        }
        self.make_room(len)
    }

    /// Continues at the beginning of the longer ring.
    fn move_to(&mut self, next: M) {
        // SAFETY: `pos` is a multiple of 64 below `bytes()`, and the line there is not a record yet.
        let here = unsafe { self.memory.word(self.pos) };
        // Release pairs with the Acquire in `Consumer::poll`: the receiver has seen all before when it reads the longer
        // ring, which is zero and which it has not read yet.
        here.store(MOVED_WORD, Ordering::Release);
        self.laps += self.memory.bytes() as u64;
        // The first touch of the page takes long, and is no distance.
        next.credit().load(Ordering::Relaxed);
        self.memory = next;
        (self.pos, self.stop, self.zeroed) = (0, 0, usize::MAX);
    }

    /// As [`Self::grow`], in this ring.
    fn make_room(&mut self, len: usize) -> Result<(), Full> {
        let (total, end) = (record_bytes(len), self.memory.bytes());
        assert!(total <= longest_record(end), "a record of {len} bytes is longer than max_payload()");
        self.read_report();
        let free = end - self.used();
        self.stop = end.min(self.pos + free).saturating_sub(SPARE);
        if self.fits(len) {
            return Ok(());
        }
        let gap = end - self.pos;
        if self.pos + total + SPARE <= end || gap + total + SPARE > free {
            return Err(Full);
        }
        // SAFETY: 0 and `pos` are multiples of 64 below `bytes()`.
        let (begin, here) = unsafe { (self.memory.word(0), self.memory.word(self.pos)) };
        begin.store(0, Ordering::Relaxed);
        // Release pairs with the Acquire in `Consumer::poll`: a receiver that sees the mark sees the 0 at the ring's
        // begin.
        here.store(WRAP_WORD, Ordering::Release);
        self.laps += end as u64;
        self.stop = end.min(free - gap).saturating_sub(SPARE);
        (self.pos, self.zeroed) = (0, usize::MAX);
        Ok(())
    }

    /// Bytes that are written and, as far as the receiver has reported, not yet read; what is left before a wrap
    /// counts.
    pub(crate) fn used(&self) -> usize {
        (self.laps + self.pos as u64 - self.consumed) as usize
    }

    /// Reads the receiver's report; at first and now and then measures the distance.
    fn read_report(&mut self) {
        let timed = self.looks < FIRST_TIMED || self.looks.is_multiple_of(TIMED);
        self.looks = self.looks.wrapping_add(1).max(1);
        // Acquire pairs with the Release in `Consumer::poll`: what the receiver read is read before we overwrite it.
        let reported = match timed {
            false => self.memory.credit().load(Ordering::Acquire),
            true => {
                let (reported, ns) = self.memory.timed_credit();
                // The line is the receiver's only if it has stored to it since.
                if reported != self.consumed {
                    self.distance.measured(ns);
                }
                reported
            }
        };
        // The report is another process's word; an impossible value is ignored.
        if reported >= self.consumed && reported <= self.laps + self.pos as u64 {
            self.consumed = reported;
        }
    }

    /// Discards room that was found, except for one record with `len` bytes of payload, or all. The next record reads
    /// the receiver's report again.
    pub(crate) fn limit(&mut self, len: Option<usize>) {
        if len.is_none() {
            self.read_report();
        }
        self.stop = self.stop.min(self.pos + len.map_or(0, record_bytes));
    }

    /// The receiver has ended: there is no room any more, and all counts as read.
    pub(crate) fn close(&mut self) {
        self.stop = self.pos;
        self.consumed = self.laps + self.pos as u64;
    }

    /// Bytes of the longer ring.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.next().as_ref().unwrap_or(&self.memory).bytes()
    }

    /// Appends a record whose payload `write` puts at the offset it is given.
    ///
    /// `bytes` and `payload` are `record_bytes(len)` and `payload_at(len)`, which are constants for a short record.
    /// # Safety
    /// [`Self::fits`] holds for `len`, and `write` touches only `len` bytes at its offset.
    #[inline(always)]
    unsafe fn append(&mut self, head: &RecordHead, len: usize, place: (usize, usize), write: impl FnOnce(&M, usize)) {
        // SAFETY: the caller's promise.
        unsafe { self.append_by(head, len, place, Closure(write)) };
    }

    /// As [`Self::append`].
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn append_by(
        &mut self,
        head: &RecordHead,
        len: usize,
        (bytes, payload): (usize, usize),
        write: impl WritePayload<M>,
    ) {
        debug_assert!((bytes, payload) == (record_bytes(len), payload_at(len)));
        // SAFETY: the caller's promise.
        unsafe { self.append_word(head, FirstWord::new(head.kind, head.flags, len), (bytes, payload), write) };
    }

    /// As [`Self::append`], with any first word.
    /// # Safety
    /// `bytes` bytes fit, and `write` touches only those from `payload` on.
    #[inline(always)]
    unsafe fn append_word(
        &mut self,
        head: &RecordHead,
        first: FirstWord,
        (bytes, payload): (usize, usize),
        write: impl WritePayload<M>,
    ) {
        let (at, next) = (self.pos, self.pos + bytes);
        // A local copy, so that the compiler does not assume that a store changes the address of the ring.
        let memory = &self.memory.clone();
        // SAFETY: by `fits`, `next <= stop <= bytes() - SPARE`, so all of these lie inside; all multiples of 8.
        unsafe {
            if next != self.zeroed {
                memory.word(next).store(0, Ordering::Relaxed);
            }
            // The payload first: the receiver polls the head's line, and would fetch it in the middle of a longer
            // write (measured: 1 KiB 616 against 553 ns for a half round trip).
            write.write(memory, at + payload);
            memory.word(at + 8).store((head.tag as u32 as u64) << 32 | head.context as u64, Ordering::Relaxed);
            memory.word(at + 16).store(head.a, Ordering::Relaxed);
            memory.word(at + 24).store(head.b, Ordering::Relaxed);
            // Release pairs with the Acquire in `Consumer::poll`: it publishes head, payload and the next 0.
            memory.word(at).store(first.0, Ordering::Release);
            if bytes <= HANDED_OVER {
                memory.hand_over(at, bytes);
            }
        }
        // Ahead of need, and after the record is on its way: where the head after the next one will be, if the next
        // record is as long as this one. Fetching that line from the receiver's cache would delay the next record
        // otherwise, since stores become visible in order (measured: 150 against 250 ns for a half round trip).
        let ahead = next + (next - at);
        if ahead <= self.stop {
            // SAFETY: `ahead + SPARE` is at most what `grow` found to be free and in this lap.
            unsafe { memory.word(ahead).store(0, Ordering::Relaxed) };
            self.zeroed = ahead;
        } else {
            self.zeroed = usize::MAX;
        }
        self.pos = next;
    }

    /// Appends a record if it fits at once.
    #[inline(always)]
    pub(crate) fn try_push(&mut self, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        let len = payload.len();
        if len > INLINE_BYTES {
            return self.try_push_long(*head, payload);
        }
        if self.pos + LINE > self.stop {
            return Err(Full);
        }
        // SAFETY: a record of one line fits, as just checked, and `write` writes exactly the payload.
        unsafe { self.append(head, len, (LINE, HEAD_BYTES), |memory, at| memory.write(at, payload)) };
        Ok(())
    }

    /// Appends a record if it is one line and fits at once; whether it is and does.
    #[inline(always)]
    pub(crate) fn try_push_line(&mut self, head: &RecordHead, payload: &[u8]) -> bool {
        let len = payload.len();
        if len > INLINE_BYTES || self.pos + LINE > self.stop {
            return false;
        }
        // SAFETY: as in `try_push`.
        unsafe { self.append_by(head, len, (LINE, HEAD_BYTES), payload) };
        true
    }

    /// Appends a record of one line.
    /// # Safety
    /// [`Self::fits_lines`] holds for one, and the payload has at most [`INLINE_BYTES`].
    #[inline(always)]
    pub(crate) unsafe fn push_line(&mut self, head: &RecordHead, payload: &[u8]) {
        // SAFETY: the caller's promise.
        unsafe { self.append_by(head, payload.len(), (LINE, HEAD_BYTES), payload) };
    }

    /// Whether `count` records of one line fit without reading the receiver's report again.
    #[inline(always)]
    pub(crate) fn fits_lines(&self, count: usize) -> bool {
        self.pos + count * LINE <= self.stop
    }

    /// Appends a record whose payload of `len` bytes lies at `offset` in the sender's copy buffer.
    /// # Safety
    /// [`Self::fits_lines`] holds for one.
    pub(crate) unsafe fn push_away(&mut self, head: &RecordHead, len: usize, offset: usize) {
        let first = FirstWord::away(head.kind, head.flags, len);
        // SAFETY: a line fits, and the offset is 8 bytes.
        unsafe { self.append_word(head, first, (LINE, HEAD_BYTES), &(offset as u64).to_ne_bytes()[..]) };
    }

    /// Appends a record whose payload of `len` bytes lies in a cell of the pair.
    /// # Safety
    /// [`Self::fits_lines`] holds for one.
    #[inline(always)]
    pub(crate) unsafe fn push_in_cell(&mut self, head: &RecordHead, len: usize, cell: usize) {
        let first = FirstWord::in_cell(head.kind, head.flags, len);
        let cell = cell as u64 | if self.distance.is_far() { FROM_FAR } else { 0 };
        // SAFETY: a line fits, and the number is 8 bytes.
        unsafe { self.append_word(head, first, (LINE, HEAD_BYTES), &cell.to_ne_bytes()[..]) };
    }

    /// The end of the last record, counted from the beginning of the job.
    pub(crate) fn position(&self) -> u64 {
        self.laps + self.pos as u64
    }

    /// Reads the receiver's report, and so measures the distance now and then.
    pub(crate) fn look(&mut self) {
        self.read_report();
    }

    /// Reads the receiver's report and measures the distance.
    pub(crate) fn measure(&mut self) {
        self.looks = 0;
        self.read_report();
    }

    /// Whether the receiver has reported all records up to a position as read.
    pub(crate) fn has_read(&mut self, position: u64) -> bool {
        if self.consumed < position {
            self.read_report();
        }
        self.consumed >= position
    }

    /// The distance of the receiver, as measured.
    pub(crate) fn distance(&self) -> &Distance {
        &self.distance
    }

    /// A record of several lines; the head by value, so that it stays in registers on the way here.
    #[inline(never)]
    fn try_push_long(&mut self, head: RecordHead, payload: &[u8]) -> Result<(), Full> {
        let len = payload.len();
        if !self.fits(len) {
            return Err(Full);
        }
        let place = (record_bytes(len), payload_at(len));
        // SAFETY: it fits, and `write` writes exactly the payload.
        unsafe { self.append(&head, len, place, |memory, at| memory.write(at, payload)) };
        Ok(())
    }

    /// The same with a payload made in place: `fill` gets `len` bytes with undefined content.
    #[inline(always)]
    pub(crate) fn try_push_with(
        &mut self,
        head: &RecordHead,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if !self.fits(len) {
            return Err(Full);
        }
        let place = (record_bytes(len), payload_at(len));
        // SAFETY: it fits, and `fill` gets exactly the `len` bytes.
        unsafe { self.append(head, len, place, |memory, at| memory.fill(at, len, fill)) };
        Ok(())
    }
}
