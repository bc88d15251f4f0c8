//! A channel: the flags and slots through which the processes of one communicator make collectives directly.
//!
//! Every process has a part of its own room for the channel: lines of publications, a word that reports what it has
//! finished, and data. It writes its own part only, and reads those of all others; but two processes that exchange data
//! have rooms that pass to the reader (`coll_room::passed`). An operation consists of turns. In a turn a process may publish data
//! once, short ones in the line itself, and may read what the others publish in the same turn. All pass the same
//! operations and turns, in the same order; so the number of a step, counted by each, says which publication is meant.
//! A process reports what it has finished after some operations or some data, and before it waits: so whoever waits for
//! room does not wait for a process that waits itself.
//! Invariants: a publication is overwritten only when every other process has finished its step. What others wrote is
//! input: offsets and lengths are checked against their parts. One thread at a time uses a channel, or the program is
//! erroneous; then data are wrong, and nothing else.
//! Not here: the protocol's words (`coll_room::protocol`), what is published (`mpi-coll`), waiting (`mpi-p2p`).

mod open;
mod window;

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::coll_room::FIRST_LINES;
pub use crate::coll_room::passed::LONGEST_PASSED;
use crate::coll_room::passed::Passed;
use crate::coll_room::protocol::{self, first_turn, operation, turn};
use crate::doorbell::{Bell, LinuxKernel};
use crate::job::Job;
use crate::layout::LINE;
use crate::prefetching;
use crate::raised_word::{Awaited, MappedMemory, WordOwner};
use crate::ring::is_on_mesh;
use crate::streaming::copy_streaming;
use crate::sync::{AtomicU32, AtomicU64};
use crate::variables::FabricInstruments;
use open::Held;
use window::Window;

pub use open::Place;

/// Bytes in front of the data in a line: the number and the terms.
const HEAD: usize = 16;
/// Most bytes that a line has room for.
pub const IN_LINE: usize = LINE - HEAD;
/// Bit of the terms: the data are not in the line, which has their offset.
const AWAY: u64 = 1 << 63;
/// The same: they are in a room that passes to the reader, whose number the line has.
const PASSED: u64 = 1 << 62;
const AWAY_AND_PASSED: u64 = AWAY | PASSED;
/// Shortest data copied with streaming stores.
const STREAMED: usize = 1024;
/// Every so many operations without a wait a process reports what it has finished: four times while the lines of first
/// turns are used once.
const REPORTS: u64 = 16;
/// The line of the operation this many further on is requested when one is published, to be written: the others have it
/// in their caches from its last use, and a store would wait until they have dropped it. Not where all read all, because
/// a process that waits for the line fetches it at once.
const AHEAD: u64 = 4;
/// Most bytes of data that are requested when those before them are published or read; longer copies request their own.
const DATA_AHEAD: usize = 2 << 10;

const _: () = assert!(4 * REPORTS as usize <= FIRST_LINES && (AHEAD as usize) < FIRST_LINES);

/// One process's part of a channel.
struct Part {
    /// Its lines, and the word behind them.
    lines: NonNull<u8>,
    data: NonNull<u8>,
    waiters: NonNull<AtomicU32>,
    futex: NonNull<AtomicU32>,
}

/// The flags and slots of one communicator, seen from one of its processes.
pub struct Channel {
    rank: usize,
    /// World ranks of the processes.
    members: Arc<[u32]>,
    parts: Box<[Part]>,
    /// Bytes of data of each part, without the room that passes.
    area: usize,
    passed: Passed,
    /// The present step.
    number: AtomicU64,
    window: Window,
    fenced: bool,
    variables: &'static FabricInstruments,
    job: Arc<Job>,
    held: Held,
}

// SAFETY: the pointers lead into the job memory, which the value keeps mapped; all that is written there and here is
// atomic, or data that only the thread that is in an operation writes.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

/// Room for what this process publishes in the present turn.
pub struct Publication<'c> {
    channel: &'c Channel,
    line: NonNull<u8>,
    start: NonNull<u8>,
    bytes: usize,
    place: DataPlace,
    number: u64,
}

/// Where data of a publication are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DataPlace {
    /// In the line.
    Line,
    /// At an offset of this process's part.
    Part(usize),
    /// In one of the rooms that pass.
    Passed(usize),
}

impl Publication<'_> {
    /// Copies `data` to an offset; bytes beyond its room are left out.
    #[inline]
    pub fn put(&mut self, at: usize, data: &[u8]) {
        let len = data.len().min(self.bytes.saturating_sub(at));
        // SAFETY: inside the room, into which nobody reads or writes meanwhile; it consists of whole lines where data are
        // streamed, and the next `put` begins behind.
        unsafe {
            let into = self.start.as_ptr().add(at);
            if let DataPlace::Passed(_) = self.place {
                prefetching::copy_to_reader(data.as_ptr(), into, len);
            } else if len >= STREAMED
                && self.channel.window.streams()
                && (into as usize).is_multiple_of(LINE)
                && len.is_multiple_of(LINE)
            {
                copy_streaming(data.as_ptr(), into, len);
            } else {
                std::ptr::copy_nonoverlapping(data.as_ptr(), into, len);
            }
        }
    }

    /// As [`Publication::put`], and copies `data` to `also` at the same time; bytes beyond the room or `also` are left out.
    #[inline]
    pub fn put_and_copy(&mut self, at: usize, data: &[u8], also: &mut [u8]) {
        let len = data.len().min(self.bytes.saturating_sub(at)).min(also.len());
        // SAFETY: inside the room and inside `also`, which are different memory; nobody reads or writes the room meanwhile.
        unsafe {
            prefetching::copy_twice(data.as_ptr(), self.start.as_ptr().add(at), also.as_mut_ptr(), len);
        }
    }

    /// Whether [`Publication::put_and_copy`] is faster than a copy of the data after they are published: if they pass to the reader,
    /// except on a mesh, where the second copy is made while the other process reads (measured, allgather of 64 KiB: 10.3 us instead of 13.4).
    #[inline]
    pub fn copies_at_once(&self) -> bool {
        matches!(self.place, DataPlace::Passed(_)) && !is_on_mesh()
    }

    /// The room from an offset on, with undefined content, to overwrite.
    #[inline]
    pub fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        let at = at.min(self.bytes);
        // SAFETY: inside the room, which only this process writes and no other reads before it is published.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(at), len.min(self.bytes - at)) }
    }

    /// Publishes it with these terms (below 2^62) and wakes processes that wait.
    #[inline(always)]
    pub fn publish(self, terms: u64) {
        let Publication { channel, line, place, number, bytes, .. } = self;
        // SAFETY: a line of this process's part, aligned, which no other process writes.
        let [number_word, terms_word, offset] = unsafe { words(line) };
        let away = match place {
            DataPlace::Line => None,
            DataPlace::Part(at) => Some((AWAY, at)),
            DataPlace::Passed(room) => Some((AWAY | PASSED, room)),
        };
        match away {
            None => terms_word.store(terms, Relaxed),
            Some((bits, at)) => {
                terms_word.store(terms | bits, Relaxed);
                offset.store(at as u64 | (bytes as u64) << 32, Relaxed);
            }
        }
        protocol::publish(number_word, number);
        channel.window.published(number);
        channel.ring();
        if turn(number) == 0 && !channel.window.was_mutual() {
            let ahead = channel.line(channel.rank, first_turn(operation(number) + AHEAD));
            prefetching::prefetch_to_write(ahead.as_ptr());
            if matches!(place, DataPlace::Part(_)) && bytes <= DATA_AHEAD && !channel.window.streams() {
                let data = channel.parts[channel.rank].data.as_ptr().wrapping_add(channel.window.next_data());
                let lines = (0..bytes).step_by(LINE);
                lines.for_each(|at| prefetching::prefetch_to_write(data.wrapping_add(at)));
            }
        }
    }
}

/// What another process has published.
#[derive(Clone, Copy)]
pub struct Published<'c> {
    /// What it was published with.
    pub terms: u64,
    data: *const u8,
    room: usize,
    /// Whether the data come from the cache of a far core.
    far: bool,
    _channel: std::marker::PhantomData<&'c Channel>,
}

impl<'c> Published<'c> {
    /// Some of its bytes: an address that is readable until this process ends the turn. Another process that is faulty
    /// may change them at any time. `None`: they would lie outside of its part.
    #[inline]
    pub fn bytes(&self, at: usize, len: usize) -> Option<&'c [u8]> {
        let inside = at.checked_add(len).is_some_and(|end| end <= self.room);
        // SAFETY: inside the part of the other process, which writes there only when this one has finished the turn; a
        // faulty one that does not keep to it makes the data wrong.
        inside.then(|| unsafe { std::slice::from_raw_parts(self.data.add(at), len) })
    }
}

impl Published<'_> {
    /// Requests the lines of some of its bytes, which are going to be read; bytes outside of its part are left out.
    #[inline]
    pub fn request(&self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.room);
        (at..end).step_by(LINE).for_each(|at| prefetching::prefetch::<false>(self.data.wrapping_add(at)));
    }

    /// Copies some of its bytes; returns whether they lie inside its part.
    #[inline]
    pub fn copy(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(data) = self.bytes(at, into.len()) else { return false };
        match data.len() >= prefetching::LEAST {
            // SAFETY: readable, as `bytes` made sure, and apart from memory of this process.
            true if self.far => unsafe { prefetching::copy_from_far(data.as_ptr(), into.as_mut_ptr(), data.len()) },
            // SAFETY: as above.
            true => unsafe { prefetching::copy_prefetching(data.as_ptr(), into.as_mut_ptr(), data.len()) },
            false => into.copy_from_slice(data),
        }
        true
    }
}

/// The words at the beginning of a line.
///
/// # Safety
/// A line that stays mapped.
#[inline(always)]
unsafe fn words<'l>(line: NonNull<u8>) -> [&'l AtomicU64; 3] {
    // SAFETY: the caller's promise; a line is aligned.
    [0, 8, 16].map(|at| unsafe { AtomicU64::from_ptr(line.as_ptr().add(at).cast()) })
}

impl Channel {
    /// Number of processes.
    #[inline]
    pub fn size(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Most bytes of one publication.
    #[inline]
    pub fn longest(&self) -> usize {
        window::longest(self.area)
    }

    /// Room for `bytes` (at most [`Self::longest`]) in the present turn, or what must come before.
    #[inline(always)]
    pub fn reserve(&self, bytes: usize) -> Result<Publication<'_>, Awaited<'_>> {
        self.reserve_in(self.number.load(Relaxed), bytes, false)
    }

    /// As [`Channel::reserve`], for a turn in which every process publishes data and reads those of all others, after it has
    /// published its own: of two processes the room of the data passes to the reader, who may overwrite it; so a process does not read
    /// its own publication.
    #[inline(always)]
    pub fn reserve_exchange(&self, bytes: usize) -> Result<Publication<'_>, Awaited<'_>> {
        self.reserve_in(self.number.load(Relaxed), bytes, true)
    }

    /// As [`Channel::reserve_exchange`], for the turn that follows in the same operation: data of the present turn may be combined
    /// into it. It is published in that turn, which begins with [`Channel::end_turn`]. `None` if that would have to wait:
    /// what comes before may be the present turn.
    ///
    /// It may be the room in which the other process has published in the present turn: what is put at an offset overwrites
    /// what was read from there, so a caller first reads what lies in front.
    #[inline]
    pub fn reserve_next(&self, bytes: usize) -> Option<Publication<'_>> {
        self.reserve_in(self.number.load(Relaxed) + 1, bytes, true).ok()
    }

    #[inline(always)]
    fn reserve_in(&self, number: u64, bytes: usize, exchange: bool) -> Result<Publication<'_>, Awaited<'_>> {
        let bytes = bytes.min(self.longest());
        self.window.free_line(self, number)?;
        let line = self.line(self.rank, number);
        if bytes <= IN_LINE {
            // SAFETY: a line has so many bytes.
            let start = unsafe { line.add(HEAD) };
            return Ok(Publication { channel: self, line, start, bytes, place: DataPlace::Line, number });
        }
        if exchange && bytes <= self.passed.bytes() {
            self.window.look_again(self, bytes);
            if let Some(room) = self.passed.take() {
                let (start, place) = (self.passed_room(room), DataPlace::Passed(room));
                return Ok(Publication { channel: self, line, start, bytes, place, number });
            }
        }
        let at = self.window.free_data(self, (number, exchange), bytes)?;
        // SAFETY: inside the part.
        let start = unsafe { self.parts[self.rank].data.add(at) };
        Ok(Publication { channel: self, line, start, bytes, place: DataPlace::Part(at), number })
    }

    /// What a process has published in the present turn, or what is to be awaited. Panics if there is no such rank.
    #[inline(always)]
    pub fn read(&self, rank: u32) -> Result<Published<'_>, Awaited<'_>> {
        let (rank, number) = (rank as usize, self.number.load(Relaxed));
        let line = self.line(rank, number);
        // SAFETY: a line of the channel, which keeps it mapped.
        let [word, terms, offset] = unsafe { words(line) };
        if protocol::published(word) < number {
            self.report_before_wait();
            return Err(Awaited::new(self, word, number));
        }
        self.window.finished_by(rank, number);
        let terms = terms.load(Relaxed);
        let (data, room) = match terms & AWAY_AND_PASSED {
            AWAY_AND_PASSED => {
                let place = offset.load(Relaxed);
                debug_assert_ne!(rank, self.rank, "the reader may overwrite it");
                let bytes = match rank == self.rank {
                    true => 0,
                    false => ((place >> 32) as usize).min(self.passed.bytes()),
                };
                if rank != self.rank {
                    self.passed.put(place as usize & 1, number);
                }
                (self.passed_room(place as usize & 1), bytes)
            }
            bits if bits & AWAY == 0 => {
                // SAFETY: inside the line.
                (unsafe { line.add(HEAD) }, IN_LINE)
            }
            _ => {
                let (at, bytes) = self.place(offset);
                self.window.saw_data(bytes);
                if turn(number) == 0 && bytes <= DATA_AHEAD {
                    self.request_next(rank, number);
                }
                // SAFETY: inside the part, as `place` made sure.
                (unsafe { self.parts[rank].data.add(at) }, bytes)
            }
        };
        let far = terms & PASSED != 0 && self.streams();
        let terms = terms & !(AWAY | PASSED);
        Ok(Published { terms, data: data.as_ptr(), room, far, _channel: std::marker::PhantomData })
    }

    /// One of the two rooms that pass: behind the data of a process's part. There are some, or nothing is read or written.
    #[inline(always)]
    fn passed_room(&self, room: usize) -> NonNull<u8> {
        // SAFETY: every part has so many bytes before those of the room.
        unsafe { self.parts[room & 1].data.add(self.area) }
    }

    /// The place of the data of a publication in its process's part: offset and length, inside of it.
    #[inline(always)]
    fn place(&self, offset: &AtomicU64) -> (usize, usize) {
        let place = offset.load(Relaxed);
        let at = (place as u32 as usize).min(self.area);
        (at, ((place >> 32) as usize).min(self.area - at))
    }

    /// Requests the data of the following operation, if a process has published them already.
    #[inline(always)]
    fn request_next(&self, rank: usize, number: u64) {
        let next = first_turn(operation(number) + 1);
        // SAFETY: a line of the channel, which keeps it mapped.
        let [word, terms, offset] = unsafe { words(self.line(rank, next)) };
        if protocol::published(word) < next || terms.load(Relaxed) & AWAY == 0 {
            return;
        }
        let (at, bytes) = self.place(offset);
        let data = self.parts[rank].data.as_ptr().wrapping_add(at);
        (0..bytes.min(DATA_AHEAD)).step_by(LINE).for_each(|at| prefetching::prefetch::<false>(data.wrapping_add(at)));
    }

    /// Reports what is not reported yet, before this process waits.
    #[inline(always)]
    fn report_before_wait(&self) {
        if self.window.has_unreported() {
            self.report(self.number.load(Relaxed));
        }
    }

    /// Whether data are published with streaming stores: another process is far away.
    #[inline]
    pub fn streams(&self) -> bool {
        self.window.streams()
    }

    /// Whether other turns of the present operation came before.
    #[inline]
    pub fn is_first_turn(&self) -> bool {
        turn(self.number.load(Relaxed)) == 0
    }

    /// Ends a turn; another one of the same operation follows.
    #[inline]
    pub fn end_turn(&self) {
        let number = self.number.load(Relaxed) + 1;
        self.number.store(number, Relaxed);
        self.report(number);
    }

    /// Ends an operation. `mutual`: every process has read what every other one published in its last turn, so that the
    /// next publication of each says that it has finished.
    ///
    /// Of an operation of one turn all processes publish as much or nothing, and read something of others that is as
    /// long, or publish as much. So a process in whose part the room of a short one is missing waits at most for
    /// processes that have not entered that operation: of `REPORTS` short ones four times as many have room.
    #[inline(always)]
    pub fn end_operation(&self, mutual: bool) {
        let number = self.number.load(Relaxed);
        let (ended, next) = (operation(number), first_turn(operation(number) + 1));
        self.number.store(next, Relaxed);
        self.window.ended(mutual);
        let short = turn(number) == 0 && !self.window.end_data();
        if !short || !mutual && ended % REPORTS == REPORTS - 1 {
            self.report(next);
        }
    }

    /// Reports the turns before the present one.
    #[cold]
    fn report_finished(&self) {
        self.report(self.number.load(Relaxed));
    }

    #[inline(never)]
    fn report(&self, number: u64) {
        self.window.reported();
        self.looked_at(self.rank).store(number, Relaxed);
        protocol::report(self.finished_word(self.rank), number);
        self.ring();
    }

    /// Wakes the processes that sleep.
    #[inline(always)]
    fn ring(&self) {
        for (rank, part) in self.parts.iter().enumerate() {
            // SAFETY: in the job memory, which the value keeps mapped.
            let bell = unsafe { Bell { waiters: part.waiters.as_ref(), futex: part.futex.as_ref() } };
            if rank != self.rank && bell.has_waiters(self.fenced) {
                self.variables.wakeups_sent.incr_shared();
                bell.ring(&LinuxKernel);
            }
        }
    }

    #[inline(always)]
    fn line(&self, rank: usize, number: u64) -> NonNull<u8> {
        // SAFETY: a block has a line for each slot.
        unsafe { self.parts[rank].lines.add(protocol::slot(number) * LINE) }
    }

    /// The word by which others measure the distance of a process.
    fn looked_at(&self, rank: usize) -> &AtomicU64 {
        // SAFETY: as for `finished_word`.
        unsafe { AtomicU64::from_ptr(self.parts[rank].lines.as_ptr().add(crate::coll_room::LOOKED_AT).cast()) }
    }

    /// The word that reports what a process has finished.
    #[inline]
    fn finished_word(&self, rank: usize) -> &AtomicU64 {
        // SAFETY: a block has that word, aligned; the value keeps it mapped.
        unsafe { AtomicU64::from_ptr(self.parts[rank].lines.as_ptr().add(crate::coll_room::FINISHED).cast()) }
    }
}

impl WordOwner for Channel {
    fn members(&self) -> (&Arc<[u32]>, Range<usize>) {
        (&self.members, 0..self.members.len())
    }

    fn memory(&self) -> MappedMemory {
        MappedMemory::Job(self.job.clone())
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Channel(rank {} of {})", self.rank, self.parts.len())
    }
}
