//! Where the data of publications lie in the part of one process, and which of them others may still read.
//!
//! Data lie one behind the other and begin again at the start of the part in use. Each publication has a position, which counts on and on, and
//! lies at the position modulo the length of the part in use; so data overlap only if their positions are that length or more apart.
//! Invariant: data get a place only if none of its bytes belong to a publication that some other process may still read. A part that begins
//! again at its first lines therefore never overwrites what is still read: the position behind the new data is at most the position of
//! the oldest publication that is still read plus the length.
//! Not here: which processes have finished what (`reports`), waiting (`channel::window`).

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use super::LINES;

/// Publications that may have data at the same time: one for each line, rounded up.
const RECORDS: usize = LINES.next_power_of_two();

/// The publications of one process that have data. Plain words: one thread uses them at a time.
pub(crate) struct DataRecords {
    /// Number and position of each, the oldest at `oldest % RECORDS`.
    records: [(AtomicU64, AtomicU64); RECORDS],
    oldest: AtomicUsize,
    newest: AtomicUsize,
    /// Position behind the last data.
    next: AtomicU64,
    /// Bytes in use.
    length: AtomicU64,
}

impl DataRecords {
    /// None yet, in a part of so many bytes.
    pub fn new(length: usize) -> DataRecords {
        DataRecords {
            records: [const { (AtomicU64::new(0), AtomicU64::new(0)) }; RECORDS],
            oldest: AtomicUsize::new(0),
            newest: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            length: AtomicU64::new(length as u64),
        }
    }

    /// A place for `need` bytes of the publication with this number, where `wanted` bytes should be in use, of which `need` is a part.
    /// `is_over`: whether all other processes have finished the step of a number. Errors: the number whose step must be over first.
    pub fn place(&self, number: u64, need: u64, wanted: u64, is_over: impl Fn(u64) -> bool) -> Result<usize, u64> {
        let (mut oldest, newest) = (self.oldest.load(Relaxed), self.newest.load(Relaxed));
        while oldest != newest && is_over(self.record(oldest).0.load(Relaxed)) {
            oldest += 1;
        }
        self.oldest.store(oldest, Relaxed);
        if oldest == newest && wanted != self.length.load(Relaxed) {
            self.length.store(wanted, Relaxed);
            self.next.store(0, Relaxed);
        }
        if !self.has_room(need, oldest, newest) {
            self.grow(wanted, oldest, newest);
            if !self.has_room(need, oldest, newest) {
                return Err(self.record(oldest).0.load(Relaxed));
            }
        }
        let (at, length) = (self.following(need), self.length.load(Relaxed));
        let (into, position) = self.record(newest);
        into.store(number, Relaxed);
        position.store(at, Relaxed);
        self.newest.store(newest + 1, Relaxed);
        self.next.store(at + need, Relaxed);
        Ok((at % length.max(1)) as usize)
    }

    /// Where the next data will lie if they have room behind the last ones.
    #[inline]
    pub fn next_data(&self) -> usize {
        (self.next.load(Relaxed) % self.length.load(Relaxed).max(1)) as usize
    }

    fn record(&self, at: usize) -> &(AtomicU64, AtomicU64) {
        &self.records[at % RECORDS]
    }

    /// The position of the next data, of so many bytes: they do not lie across the end of the part in use.
    fn following(&self, need: u64) -> u64 {
        let (at, length) = (self.next.load(Relaxed), self.length.load(Relaxed).max(1));
        if at % length + need > length { at.next_multiple_of(length) } else { at }
    }

    fn has_room(&self, need: u64, oldest: usize, newest: usize) -> bool {
        let length = self.length.load(Relaxed);
        let end = self.following(need) + need;
        oldest == newest
            || newest - oldest < RECORDS && need <= length && end <= self.record(oldest).1.load(Relaxed) + length
    }

    /// Uses more bytes at once, where others may still read from those in use: the next data lie behind these. All publications that are still
    /// read then count as if they began at the start, so none of their bytes is written before the last of them is over.
    fn grow(&self, wanted: u64, oldest: usize, newest: usize) {
        let length = self.length.load(Relaxed);
        if wanted > length {
            (oldest..newest).for_each(|at| self.record(at).1.store(0, Relaxed));
            self.next.store(length, Relaxed);
            self.length.store(wanted, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVER: fn(u64) -> bool = |_| true;
    const READ: fn(u64) -> bool = |_| false;

    #[test]
    fn two_publications_in_turn_have_room_in_twice_their_length() {
        let records = DataRecords::new(4096);
        let before = |number: u64| move |over: u64| over + 1 < number;
        let places: Vec<_> = (1..7).map(|n| records.place(n, 512, 1024, before(n))).collect();
        assert_eq!(places, [0, 512, 0, 512, 0, 512].map(Ok));
    }

    #[test]
    fn data_do_not_begin_again_where_others_still_read() {
        let records = DataRecords::new(1024);
        assert_eq!([1, 2].map(|n| records.place(n, 512, 1024, READ)), [Ok(0), Ok(512)]);
        assert_eq!(records.place(3, 64, 1024, READ), Err(1));
        assert_eq!(records.place(3, 64, 1024, |n| n == 1), Ok(0));
        assert_eq!(records.place(4, 512, 1024, |n| n == 1), Err(2), "the second lies there");
    }

    #[test]
    fn more_bytes_are_used_without_a_wait_and_fewer_when_all_are_over() {
        let records = DataRecords::new(1024);
        assert_eq!([1, 2].map(|n| records.place(n, 512, 1024, READ)), [Ok(0), Ok(512)]);
        assert_eq!(records.place(3, 512, 4096, READ), Ok(1024));
        let rest: Vec<_> = (4..9).map(|n| records.place(n, 512, 4096, READ)).collect();
        assert_eq!(rest, [1536, 2048, 2560, 3072, 3584].map(Ok));
        assert_eq!(records.place(9, 512, 4096, |n| n < 2), Err(2), "both that lay there before must be over");
        assert_eq!(records.place(9, 512, 4096, |n| n < 3), Ok(0));
        assert_eq!(records.place(10, 512, 1024, |n| n < 9), Ok(512), "one is still read, and there is room");
        assert_eq!((records.place(11, 512, 1024, OVER), records.place(12, 512, 1024, READ)), (Ok(0), Ok(512)));
        assert_eq!(records.place(13, 64, 1024, READ), Err(11));
    }

    #[test]
    fn no_place_has_bytes_of_a_publication_that_is_not_over() {
        let records = DataRecords::new(8192);
        let (mut random, mut over) = (1u64, 0u64);
        let mut places = Vec::new();
        let mut refused = 0;
        for number in 1..20_000u64 {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let need = (1 + (random >> 40) % 32) * 64;
            let wanted = [2 * need, 2048.max(2 * need), 8192][(random >> 50) as usize % 3];
            over = over.max((number - 1).saturating_sub((random >> 56) % 12));
            let at = loop {
                match records.place(number, need, wanted, |step| step < over) {
                    Ok(at) => break at as u64,
                    Err(first) => {
                        assert!(first >= over && first < number);
                        refused += 1;
                        over = first + 1;
                    }
                }
            };
            assert!(at + need <= 8192);
            places.retain(|(step, _, _)| *step >= over);
            assert!(places.iter().all(|(_, start, end)| at + need <= *start || *end <= at), "{number}: {at}, {need}");
            places.push((number, at, at + need));
        }
        assert!((100..19_000).contains(&refused), "{refused} waits");
    }
}
