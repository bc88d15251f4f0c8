//! Loom models of publications: what is read is what was published in that step, for any interleaving and memory order.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::passed::Passed;
use super::protocol;
use crate::layout::LINE;
use crate::sync::AtomicU64;

/// One process's part: one line with its data, and its report.
pub(super) struct Part {
    pub(super) line: AtomicU64,
    pub(super) data: UnsafeCell<u64>,
    pub(super) finished: AtomicU64,
}

// SAFETY: the protocol under test orders the accesses to `data`; loom reports any two that it does not.
unsafe impl Sync for Part {}
// SAFETY: as above.
unsafe impl Send for Part {}

impl Part {
    pub(super) fn new() -> Part {
        Part { line: AtomicU64::new(0), data: UnsafeCell::new(0), finished: AtomicU64::new(0) }
    }

    fn publish(&self, number: u64) {
        // SAFETY: see `Sync`.
        self.data.with_mut(|data| unsafe { *data = number * 10 });
        protocol::publish(&self.line, number);
    }

    fn read(&self, number: u64) {
        while protocol::published(&self.line) < number {
            thread::yield_now();
        }
        // SAFETY: see `Sync`.
        self.data.with(|data| assert_eq!(unsafe { *data }, number * 10));
    }
}

/// Runs the steps of two processes, each with two lines that it publishes in: the lines of both, and the number of the process.
fn in_both(run: impl Fn(&[[Part; 2]; 2], usize) + Copy + Send + 'static) {
    let parts = Arc::new([[Part::new(), Part::new()], [Part::new(), Part::new()]]);
    let other = thread::spawn({
        let parts = parts.clone();
        move || run(&parts, 1)
    });
    run(&parts, 0);
    other.join().unwrap();
}

/// A root publishes in one line again and again; each time the reader must have reported that it has finished.
#[test]
fn loom_a_line_is_overwritten_only_when_its_reader_has_finished() {
    loom::model(|| {
        let parts = Arc::new([Part::new(), Part::new()]);
        let reader = thread::spawn({
            let parts = parts.clone();
            move || {
                for number in 1..=2 {
                    parts[0].read(number);
                    protocol::report(&parts[1].finished, number + 1);
                }
            }
        });
        for number in 1..=2 {
            while number > 1 && protocol::reported(&parts[1].finished) < number {
                thread::yield_now();
            }
            parts[0].publish(number);
        }
        reader.join().unwrap();
    });
}

/// Both publish and read each other's: the next publication alone says that the one before was read.
#[test]
fn loom_a_publication_reports_the_steps_before_it() {
    loom::model(|| {
        let run = |parts: &[[Part; 2]; 2], own: usize| {
            // Two lines in turn: a line is written again after the publication in the other one was read.
            for number in 1..=3 {
                parts[own][number as usize % 2].publish(number);
                parts[1 - own][number as usize % 2].read(number);
            }
        };
        in_both(run);
    });
}

/// Two processes exchange data in two rooms: each publishes in the one that it has read last, without any report.
#[test]
fn loom_a_room_that_passes_is_written_only_by_the_process_that_has_read_it() {
    loom::model(|| {
        // Two lines of each process, in turn; the rooms are the data of the first ones, and a line names one.
        let run = |parts: &[[Part; 2]; 2], own: usize| {
            let rooms = Passed::new(LINE, own);
            for number in 1..=3 {
                let room = rooms.take().expect("each publication that is read brings one");
                // SAFETY: see `Sync`.
                parts[room][0].data.with_mut(|data| unsafe { *data = number * 10 + own as u64 });
                protocol::publish(&parts[own][number as usize % 2].line, number << 1 | room as u64);
                let theirs = loop {
                    let theirs = protocol::published(&parts[1 - own][number as usize % 2].line);
                    if theirs >> 1 >= number {
                        break theirs;
                    }
                    thread::yield_now();
                };
                let room = theirs as usize & 1;
                // SAFETY: see `Sync`.
                parts[room][0].data.with(|data| assert_eq!(unsafe { *data }, number * 10 + 1 - own as u64));
                rooms.put(room, number);
            }
        };
        in_both(run);
    });
}

/// A root runs ahead of its reader by all lines, and the reader reports with every second operation only: the root keeps what it
/// knows, and looks at the report only when that is not enough for the next line.
#[test]
fn loom_reports_that_come_late_cover_all_lines_before_them() {
    const LINES: u64 = 2;
    loom::model(|| {
        let lines = Arc::new([Part::new(), Part::new()]);
        let reader = thread::spawn({
            let lines = lines.clone();
            move || {
                for number in 1..=4u64 {
                    lines[(number % LINES) as usize].read(number);
                    if number % 2 == 0 {
                        protocol::report(&lines[0].finished, number + 1);
                    }
                }
            }
        });
        let mut known = 1;
        for number in 1..=4u64 {
            // The last publication in this line, which the reader must have finished.
            let last = number.saturating_sub(LINES);
            while known <= last {
                known = protocol::reported(&lines[0].finished);
                thread::yield_now();
            }
            lines[(number % LINES) as usize].publish(number);
        }
        reader.join().unwrap();
    });
}
