//! Traffic between ranks, sizes of messages and highest queue lengths in the job memory: what a rank counts, for readers
//! outside (`FORMAT.md`, section "Traffic").
//!
//! A communicator has a table: a row for each of its processes, which the engine updates in place, so that counting costs
//! the same as on the heap. The rows of a freed communicator are added to one row for each rank. Pages are backed when a
//! word in them is first written.
//! Invariant: the owner reads nothing of its directory from the area, which other processes can write; `used` is stored
//! (Release) after the table that it covers is whole. Not here: reading (`read`), the meaning of the counts (mpi-p2p).
#![allow(unsafe_code)] // rows are found through the area's begin

mod read;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::job::Job;
use crate::layout::traffic::{ELSEWHERE, PEAK_COUNT, PEAKS, ROW_BYTES, SIZES, TABLE_HEAD, TABLES, USED};
use crate::layout::{LINE, PAGE};
use crate::mapping::Mapping;

pub use crate::layout::traffic::SIZE_CLASSES;
pub use read::{Counts, Traffic, read};

/// Words of a row.
const ROW_WORDS: usize = ROW_BYTES / 8;
/// Low half of a table's first word: its communicator exists.
const LIVE: u64 = 1;
/// It was freed; its rows are 0.
const FREE: u64 = 2;

/// The area of traffic of one rank, for that rank. Thread-safe.
pub(crate) struct TrafficArea {
    mapping: Arc<Mapping>,
    at: usize,
    /// Where the rows of freed communicators begin.
    freed: usize,
    bytes: usize,
    ranks: u32,
    directory: Mutex<Directory>,
}

#[derive(Default)]
struct Directory {
    /// Where the next table will begin; 0: at the first place.
    used: usize,
    /// Freed tables, by their number of rows.
    free: HashMap<usize, Vec<usize>>,
    /// The rows in use, by their address.
    live: HashMap<usize, Rows>,
    elsewhere: u64,
}

struct Rows {
    /// The place of their table; `None`: they are not in the area.
    table: Option<usize>,
    peers: Box<[u32]>,
}

impl TrafficArea {
    /// The area of a rank; this must be its only writer.
    pub(crate) fn new(job: &Job, rank: u32) -> TrafficArea {
        let layout = job.layout();
        TrafficArea {
            mapping: job.mapping().clone(),
            at: layout.traffic_at(rank),
            freed: layout.freed_traffic(),
            bytes: layout.traffic_bytes(),
            ranks: layout.ranks(),
            directory: Mutex::default(),
        }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < self.bytes);
        self.mapping.word(self.at + at)
    }

    fn words(&self, at: usize, count: usize) -> &'static [AtomicU64] {
        assert!(at.is_multiple_of(8) && at + count * 8 <= self.bytes);
        let address = self.mapping.at(self.at + at, count * 8).cast::<AtomicU64>();
        self.mapping.keep(self.at + self.bytes);
        // SAFETY: inside the part of the mapping that is never unmapped, by the call above; aligned; any bits are valid
        // atomics.
        unsafe { std::slice::from_raw_parts(address.as_ptr(), count) }
    }

    /// The counters of messages by classes of sizes.
    pub(crate) fn sizes(&self) -> &'static [AtomicU64] {
        self.words(SIZES, SIZE_CLASSES)
    }

    /// Zeroed rows for these peers, if there is room and the rows have the length of those here.
    pub(crate) fn allocate(&self, words: usize, peers: &[u32]) -> Option<&'static [AtomicU64]> {
        let rows = peers.len();
        if rows == 0 || words != rows * ROW_WORDS {
            return None;
        }
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = directory.free.get(&rows).is_none_or(Vec::is_empty);
        let (begin, bytes) = (directory.used.max(TABLES), table_bytes(rows));
        let table = match directory.free.get_mut(&rows).and_then(Vec::pop) {
            Some(table) => table,
            None if begin + bytes <= self.freed => begin,
            None => return None,
        };
        self.word(table + 8).store((rows as u64) << 32, Ordering::Relaxed);
        let number = |i: usize| peers.get(i).map_or(0, |peer| u64::from(*peer));
        for i in (0..rows).step_by(2) {
            self.word(table + TABLE_HEAD + 4 * i).store(number(i) | number(i + 1) << 32, Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `read`: the numbers are there when the table is in use.
        self.word(table).store((bytes as u64) << 32 | LIVE, Ordering::Release);
        if is_new {
            directory.used = begin + bytes;
            // Release pairs with the Acquire in `read`.
            self.word(USED).store(directory.used as u64, Ordering::Release);
        }
        let words = self.words(table + rows_at(rows), words);
        directory.live.insert(words.as_ptr().addr(), Rows { table: Some(table), peers: peers.into() });
        Some(words)
    }

    /// Counts rows that lie elsewhere.
    pub(crate) fn note(&self, words: &'static [AtomicU64], peers: &[u32]) {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        directory.live.insert(words.as_ptr().addr(), Rows { table: None, peers: peers.into() });
        directory.elsewhere += 1;
        self.word(ELSEWHERE).store(directory.elsewhere, Ordering::Relaxed);
    }

    /// Adds the counts of rows to those of freed communicators; frees the rows, if they are in the area.
    pub(crate) fn release(&self, words: &'static [AtomicU64]) -> bool {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Rows { table, peers }) = directory.live.remove(&words.as_ptr().addr()) else { return false };
        for (row, peer) in words.chunks_exact(ROW_WORDS).zip(&peers) {
            // Processes of other jobs have no row.
            if row.iter().all(|word| word.load(Ordering::Relaxed) == 0) || *peer >= self.ranks {
                continue;
            }
            for (i, word) in row.iter().enumerate() {
                let sum = self.word(self.freed + *peer as usize * ROW_BYTES + 8 * i);
                sum.store(sum.load(Ordering::Relaxed).wrapping_add(word.load(Ordering::Relaxed)), Ordering::Relaxed);
            }
        }
        let Some(table) = table else {
            directory.elsewhere -= 1;
            self.word(ELSEWHERE).store(directory.elsewhere, Ordering::Relaxed);
            return false;
        };
        let bytes = table_bytes(peers.len()) as u64;
        self.word(table).store(bytes << 32 | FREE, Ordering::Relaxed);
        // A page that was never written is zero and stays unused.
        words.iter().filter(|word| word.load(Ordering::Relaxed) != 0).for_each(|word| word.store(0, Ordering::Relaxed));
        directory.free.entry(peers.len()).or_default().push(table);
        true
    }

    /// Keeps the highest levels of the queues of a communicator that is freed: of unexpected messages, of their bytes, of
    /// posted receives.
    pub(crate) fn note_peaks(&self, peaks: [Option<u64>; PEAK_COUNT]) {
        for (i, peak) in peaks.into_iter().enumerate() {
            let word = self.word(PEAKS + 8 * i);
            let one_more = peak.map_or(0, |peak| peak.saturating_add(1));
            word.store(word.load(Ordering::Relaxed).max(one_more), Ordering::Relaxed);
        }
    }
}

/// Offset of the rows in a table of so many.
fn rows_at(rows: usize) -> usize {
    TABLE_HEAD + (rows * 4).next_multiple_of(ROW_BYTES)
}

/// Length of a table of so many rows.
fn table_bytes(rows: usize) -> usize {
    (rows_at(rows) + rows * ROW_BYTES).next_multiple_of(LINE)
}

const _: () = assert!(SIZES + SIZE_CLASSES * 8 <= TABLES && TABLES < PAGE && TABLES.is_multiple_of(LINE));
const _: () = assert!(PEAKS + PEAK_COUNT * 8 <= SIZES);
