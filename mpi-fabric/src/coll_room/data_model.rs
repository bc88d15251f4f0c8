//! Loom models of data: those that lie in turn in a short area are overwritten only when their reader has finished them. The places and
//! reports are those that channels use.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::data_records::DataRecords;
use super::protocol;
use super::reports::Reports;
use crate::layout::LINE;
use crate::sync::AtomicU64;

/// Publications of the writer.
const NUMBERS: u64 = 3;
/// Bits of a line's word below the number: the place of the data.
const PLACE: u64 = 2;

/// An area with room for two publications, a line for each number, and the report of the reader.
struct Shared {
    data: [UnsafeCell<u64>; 2],
    lines: [AtomicU64; NUMBERS as usize],
    finished: AtomicU64,
}

// SAFETY: the protocol under test orders the accesses to `data`; loom reports any two that it does not.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Shared> {
        let data = std::array::from_fn(|_| UnsafeCell::new(0));
        Arc::new(Shared { data, lines: std::array::from_fn(|_| AtomicU64::new(0)), finished: AtomicU64::new(0) })
    }

    fn publish(&self, number: u64, place: usize) {
        // SAFETY: see `Sync`.
        self.data[place].with_mut(|data| unsafe { *data = number * 10 });
        let line = &self.lines[number as usize - 1];
        protocol::publish(line, number << PLACE | place as u64);
    }

    /// Waits for a publication; the place of its data.
    fn awaits(&self, number: u64) -> usize {
        let line = &self.lines[number as usize - 1];
        loop {
            let word = protocol::published(line);
            if word >> PLACE >= number {
                return (word & ((1 << PLACE) - 1)) as usize;
            }
            thread::yield_now();
        }
    }

    fn check(&self, number: u64, place: usize) {
        // SAFETY: see `Sync`.
        self.data[place].with(|data| assert_eq!(unsafe { *data }, number * 10));
    }
}

/// A writer runs ahead of its reader as far as the area has room. `early`: the reader reports before it has read.
fn writer_and_reader(early: bool) {
    loom::model(move || {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                for number in 1..=NUMBERS {
                    let place = shared.awaits(number);
                    if early {
                        protocol::report(&shared.finished, number + 1);
                    }
                    shared.check(number, place);
                    protocol::report(&shared.finished, number + 1);
                }
            }
        });
        let (area, need) = (2 * LINE, LINE as u64);
        let (records, reports) = (DataRecords::new(area), Reports::new(0, 2, 1));
        for number in 1..=NUMBERS {
            let at = loop {
                match records.place(number, need, area as u64, |number| reports.cover(number)) {
                    Ok(at) => break at,
                    Err(first) => {
                        while reports.require(first + 1, |_| protocol::reported(&shared.finished)).is_err() {
                            thread::yield_now();
                        }
                    }
                }
            };
            shared.publish(number, at / LINE);
        }
        reader.join().unwrap();
    });
}

#[test]
fn loom_data_are_overwritten_only_when_their_reader_has_finished() {
    writer_and_reader(false);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_data_that_are_reported_before_they_are_read_are_overwritten() {
    writer_and_reader(true);
}
