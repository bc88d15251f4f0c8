//! Opening and closing channels: parts of the rooms of all processes.
//!
//! Every process takes a part of its own room, sends its place to the others, and opens the channel with the places of
//! all. Invariant: places that other processes sent are checked before any address is made of them.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::window::Window;
use super::{Channel, Part};
use crate::coll_room::passed::{Passed, room_bytes};
use crate::coll_room::protocol::{first_turn, operation, report, reported};
use crate::coll_room::reports::Reports;
use crate::coll_room::{BLOCK, BLOCKS, CLOSED, DATA, FINISHED, Lingering, RoomPart, RoomTable, UNIT};
use crate::endpoint::Endpoint;
use crate::job::Job;
use crate::layout::LINE;
use crate::sync::{AtomicU64, Ordering};

/// Most operations before those of one channel: beyond, its numbers would not fit.
const OPERATIONS: u64 = 1 << 43;

/// The place of a process's part of a channel, as it sends it to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(RoomPart);

impl Place {
    /// The place as words of a message.
    pub fn to_words(self) -> [u64; 2] {
        let RoomPart { block, at, bytes, operation } = self.0;
        let unit = UNIT as u32;
        [1 << 63 | u64::from(block) << 32 | u64::from(at / unit) << 16 | u64::from(bytes / unit), operation]
    }

    /// The place that another process sent; `None` if it has none.
    pub fn from_words([place, operation]: [u64; 2]) -> Option<Place> {
        let (block, units) = ((place >> 32) as u32 & !(1 << 31), |at: u32| (place >> at) as u16 as u32);
        let fits = place >> 63 == 1 && (block as usize) < BLOCKS && operation < OPERATIONS && operation > 0;
        let part = |unit| RoomPart { block, at: units(16) * unit, bytes: units(0) * unit, operation };
        fits.then(|| Place(part(UNIT as u32)))
    }
}

/// This process's part, given back when the channel is dropped.
pub(super) struct Held {
    part: RoomPart,
    /// The first step of the channel.
    first: u64,
    table: Arc<Mutex<RoomTable>>,
}

impl Endpoint {
    /// Takes a part of this process's room, with data of the longest of these lengths that is free; `None` without room.
    pub fn take_room(&self, lengths: &[usize]) -> Option<Place> {
        // A panic elsewhere leaves a whole table.
        self.room().lock().unwrap_or_else(PoisonError::into_inner).take(lengths).map(Place)
    }

    /// As [`Endpoint::take_room`], of what is not kept for communicators.
    pub fn take_spare_room(&self, lengths: &[usize]) -> Option<Place> {
        self.room().lock().unwrap_or_else(PoisonError::into_inner).take_spare(lengths).map(Place)
    }

    /// Gives back a part that no channel was opened with.
    pub fn give_room_back(&self, place: Place) {
        let mut table = self.room().lock().unwrap_or_else(PoisonError::into_inner);
        table.give_back(place.0, place.0.operation, Box::new(Unread));
    }

    /// The channel of the processes with these world ranks, of which this one is at `rank`; `places` are what they sent.
    /// `None`, and this process's part is given back, if one has no place, or none that can be.
    pub fn open_channel(&self, members: &[u32], rank: u32, places: &[Option<Place>]) -> Option<Channel> {
        let own = (*places.get(rank as usize)?)?;
        let opened = self.try_open(members, rank, places);
        if opened.is_none() {
            self.give_room_back(own);
        }
        opened
    }

    fn try_open(&self, members: &[u32], rank: u32, places: &[Option<Place>]) -> Option<Channel> {
        let job = self.job().clone();
        let room = job.layout().coll_room_bytes();
        let whole: Vec<Place> = places.iter().copied().collect::<Option<_>>()?;
        if whole.len() != members.len() || whole.len() < 2 {
            return None;
        }
        // All use as much, so that all divide data alike.
        let bytes = whole.iter().map(|place| place.0.bytes).min()? as usize;
        let passed = room_bytes(whole.len(), bytes);
        let area = bytes - passed;
        let operation = whole.iter().map(|place| place.0.operation).max()?;
        let parts = members.iter().zip(&whole).map(|(member, Place(part))| {
            let local = self.place_in_job(*member)?;
            let end = DATA.checked_add(part.at as usize)?.checked_add(part.bytes as usize)?;
            (end <= room).then(|| part_of(&job, local, part))
        });
        let parts: Box<[Part]> = parts.collect::<Option<_>>()?;
        let first = RoomPart::first(operation);
        let held = Held { part: whole[rank as usize].0, first, table: self.room().clone() };
        let channel = Channel {
            rank: rank as usize,
            members: members.into(),
            window: Window::new(Reports::new(rank as usize, parts.len(), first), area),
            parts,
            area,
            passed: Passed::new(passed, rank as usize),
            number: AtomicU64::new(first),
            fenced: self.is_fenced(),
            variables: self.instruments(),
            job,
            held,
        };
        // Nothing of it was finished before; an earlier report in the same block is of a smaller number.
        report(channel.finished_word(channel.rank), first_turn(operation));
        Some(channel)
    }
}

fn part_of(job: &Job, local: u32, part: &RoomPart) -> Part {
    let (room, block) = (job.layout().coll_room_at(local), job.block(local));
    Part {
        lines: job.mapping().at(room + part.block as usize * BLOCK, BLOCK),
        data: job.mapping().at(room + DATA + part.at as usize, part.bytes as usize),
        waiters: NonNull::from(block.waiters()),
        futex: NonNull::from(block.futex()),
    }
}

/// A part that nobody has read.
struct Unread;

impl Lingering for Unread {
    fn is_over(&mut self) -> bool {
        true
    }
}

/// The other processes of a channel that was dropped.
struct Readers {
    /// Their words that report what they have finished; if rooms pass, those that report that they have closed the channel: a process
    /// writes in the other one's part until then.
    words: Vec<NonNull<AtomicU64>>,
    /// The number that each of them reaches.
    last: u64,
    _job: Arc<Job>,
}

// SAFETY: atomic words in memory that the value keeps mapped.
unsafe impl Send for Readers {}

impl Lingering for Readers {
    fn is_over(&mut self) -> bool {
        // SAFETY: in the job memory, which is kept mapped. A block that has another user by then has larger numbers.
        self.words.retain(|word| reported(unsafe { word.as_ref() }) < self.last);
        self.words.is_empty()
    }
}

impl Channel {
    /// The word that reports that a process has closed the channel.
    fn closed_word(&self, rank: usize) -> &AtomicU64 {
        // SAFETY: a block has that word, aligned; the value keeps it mapped.
        unsafe { AtomicU64::from_ptr(self.parts[rank].lines.as_ptr().add(CLOSED).cast()) }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let last = first_turn(operation(self.number.load(Ordering::Relaxed)));
        report(self.finished_word(self.rank), last);
        report(self.closed_word(self.rank), last);
        self.ring();
        let Held { part, first, table } = &self.held;
        let others = (0..self.parts.len()).filter(|rank| *rank != self.rank);
        let (words, reached): (Vec<_>, _) = match self.passed.bytes() {
            0 => (others.map(|rank| NonNull::from(self.finished_word(rank))).collect(), last),
            // An earlier channel with the same block was closed with a smaller number.
            _ => (others.map(|rank| NonNull::from(self.closed_word(rank))).collect(), *first),
        };
        let readers = Box::new(Readers { words, last: reached, _job: self.job.clone() });
        let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.give_back(*part, operation(last) + 1, readers);
    }
}

const _: () = assert!(FINISHED.is_multiple_of(LINE));
