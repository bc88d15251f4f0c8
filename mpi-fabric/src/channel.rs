//! A channel: the flags and slots through which the processes of one communicator make collectives directly.
//!
//! Every process has a part of its own room for the channel: lines of publications, a word that reports what it has
//! finished, and data. It writes its own part only, and reads those of all others. An operation consists of turns. In a
//! turn a process may publish data once, short ones in the line itself, and may read what the others publish in the
//! same turn. All processes pass the same operations and turns, in the same order; so the number of a step, counted by
//! each for itself, says which publication is meant.
//! Invariants: a publication is overwritten only when every other process has finished its step. What others wrote is
//! input: offsets are checked against their parts. One thread at a time uses a channel, or the program is erroneous;
//! then data are wrong, and nothing else.
//! Not here: the protocol's words (`coll_room::protocol`), what is published (`mpi-coll`), waiting (`mpi-p2p`).

mod open;
mod window;

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::coll_room::protocol::{self, first_turn, operation, turn};
use crate::doorbell::{Bell, LinuxKernel};
use crate::job::Job;
use crate::layout::LINE;
use crate::prefetching;
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
/// Shortest data copied with streaming stores.
const STREAMED: usize = 1024;
/// Every so many operations without a wait a process reports what it has finished.
const REPORTS: u64 = 4;

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
    /// Bytes of data of each part.
    area: usize,
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

/// A word that another process will raise to a number.
#[derive(Clone, Copy)]
pub struct Awaited<'c> {
    channel: &'c Channel,
    word: NonNull<AtomicU64>,
    at_least: u64,
}

impl Awaited<'_> {
    /// Whether it has. Needs no lock.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        // SAFETY: in the job memory, which the channel keeps mapped.
        protocol::published(unsafe { self.word.as_ref() }) >= self.at_least
    }

    /// The same for as long as needed.
    pub fn to_word(self) -> RoomWord {
        let Channel { job, members, .. } = self.channel;
        RoomWord { _job: job.clone(), members: members.clone(), word: self.word, at_least: self.at_least }
    }
}

/// As [`Awaited`], beyond the channel's life.
#[derive(Clone)]
pub struct RoomWord {
    _job: Arc<Job>,
    members: Arc<[u32]>,
    word: NonNull<AtomicU64>,
    at_least: u64,
}

// SAFETY: an atomic word in memory that the value keeps mapped.
unsafe impl Send for RoomWord {}
// SAFETY: as above.
unsafe impl Sync for RoomWord {}

impl RoomWord {
    /// World ranks of the processes of the channel: it is raised only if all of them continue.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Whether the word has reached its number.
    #[inline]
    pub fn is_over(&self) -> bool {
        // SAFETY: in the job memory, which is kept mapped.
        protocol::published(unsafe { self.word.as_ref() }) >= self.at_least
    }
}

impl std::fmt::Debug for RoomWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RoomWord(up to {})", self.at_least)
    }
}

/// Room for what this process publishes in the present turn.
pub struct Publication<'c> {
    channel: &'c Channel,
    line: NonNull<u8>,
    start: NonNull<u8>,
    bytes: usize,
    /// Offset of the data in this process's part; `None`: they are in the line.
    away: Option<usize>,
    number: u64,
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
            if len >= STREAMED
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

    /// The room from an offset on, with undefined content, to overwrite.
    #[inline]
    pub fn room(&mut self, at: usize, len: usize) -> &mut [u8] {
        let at = at.min(self.bytes);
        // SAFETY: inside the room, which only this process writes and no other reads before it is published.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(at), len.min(self.bytes - at)) }
    }

    /// Publishes it with these terms (below 2^63) and wakes processes that wait.
    #[inline(always)]
    pub fn publish(self, terms: u64) {
        let Publication { channel, line, away, number, .. } = self;
        // SAFETY: a line of this process's part, aligned, which no other process writes.
        let [number_word, terms_word, offset] = unsafe { words(line) };
        match away {
            None => terms_word.store(terms, Relaxed),
            Some(at) => {
                terms_word.store(terms | AWAY, Relaxed);
                offset.store(at as u64, Relaxed);
            }
        }
        protocol::publish(number_word, number);
        channel.window.published(number);
        channel.ring();
    }
}

/// What another process has published.
#[derive(Clone, Copy)]
pub struct Published<'c> {
    /// What it was published with.
    pub terms: u64,
    data: *const u8,
    room: usize,
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
    /// Copies some of its bytes; returns whether they lie inside its part.
    #[inline]
    pub fn copy(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(data) = self.bytes(at, into.len()) else { return false };
        match data.len() >= prefetching::LEAST {
            // SAFETY: readable, as `bytes` made sure, and apart from memory of this process.
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
        let (number, bytes) = (self.number.load(Relaxed), bytes.min(self.longest()));
        self.window.free_line(self, number)?;
        let line = self.line(self.rank, number);
        if bytes <= IN_LINE {
            // SAFETY: a line has so many bytes.
            let start = unsafe { line.add(HEAD) };
            return Ok(Publication { channel: self, line, start, bytes, away: None, number });
        }
        let at = self.window.free_data(self, number, bytes)?;
        // SAFETY: inside the part.
        let start = unsafe { self.parts[self.rank].data.add(at) };
        Ok(Publication { channel: self, line, start, bytes, away: Some(at), number })
    }

    /// What a process has published in the present turn, or what is to be awaited. Panics if there is no such rank.
    #[inline(always)]
    pub fn read(&self, rank: u32) -> Result<Published<'_>, Awaited<'_>> {
        let (rank, number) = (rank as usize, self.number.load(Relaxed));
        let line = self.line(rank, number);
        // SAFETY: a line of the channel, which keeps it mapped.
        let [word, terms, offset] = unsafe { words(line) };
        if protocol::published(word) < number {
            return Err(Awaited { channel: self, word: NonNull::from(word), at_least: number });
        }
        self.window.finished_by(rank, number);
        let terms = terms.load(Relaxed);
        let (data, room) = match terms & AWAY {
            // SAFETY: inside the line.
            0 => (unsafe { line.add(HEAD) }, IN_LINE),
            _ => {
                self.window.saw_data();
                let at = (offset.load(Relaxed) as usize).min(self.area);
                // SAFETY: inside the part, as just made sure.
                (unsafe { self.parts[rank].data.add(at) }, self.area - at)
            }
        };
        let terms = terms & !AWAY;
        Ok(Published { terms, data: data.as_ptr(), room, _channel: std::marker::PhantomData })
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

    /// Ends an operation. `mutual`: every process has read what every other one published in its last turn, all of it in
    /// lines, so that the next publication of each says that it has finished.
    #[inline(always)]
    pub fn end_operation(&self, mutual: bool) {
        let number = self.number.load(Relaxed);
        let (ended, next) = (operation(number), first_turn(operation(number) + 1));
        self.number.store(next, Relaxed);
        let short = turn(number) == 0 && !self.window.has_data();
        if !short || !mutual && ended % REPORTS == REPORTS - 1 {
            self.report(next);
        }
    }

    fn report(&self, number: u64) {
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

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Channel(rank {} of {})", self.rank, self.parts.len())
    }
}
