//! Loom model of the recorder: one writer, one reader, and an entry that is written again and again.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p mpi-fabric --release --lib model::`

use loom::sync::Arc;
use loom::thread;

use super::*;

/// The first line, and as many entries as the model needs.
struct Entries {
    words: Vec<AtomicU64>,
    halves: Vec<AtomicU32>,
}

impl Entries {
    fn new(entries: usize) -> Entries {
        // The times lie at the end of the entries' room; the model has them behind its own few.
        let words = (ENTRIES_AT + 2 * entries * UNIT as usize) / 8;
        Entries {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            halves: (0..2 * words).map(|_| AtomicU32::new(0)).collect(),
        }
    }
}

#[derive(Clone, Copy)]
struct Entry<'r> {
    of: &'r Entries,
    at: usize,
}

impl Entry<'_> {
    fn place(&self, offset: usize) -> usize {
        let entries = (self.of.words.len() * 8 - ENTRIES_AT) / (2 * UNIT as usize);
        if offset < TIMES { self.at + offset } else { self.at + entries * UNIT as usize + offset - TIMES }
    }
}

impl<'r> EntryMemory<'r> for Entry<'r> {
    fn word(self, offset: usize) -> &'r AtomicU64 {
        &self.of.words[self.place(offset) / 8]
    }

    fn half(self, offset: usize) -> &'r AtomicU32 {
        &self.of.halves[self.place(offset) / 4]
    }
}

impl RecorderMemory for Arc<Entries> {
    type Entry<'r> = Entry<'r>;

    fn entry(&self, at: usize) -> Entry<'_> {
        Entry { of: self, at }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8));
        &self.words[offset / 8]
    }

    fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4));
        &self.halves[offset / 4]
    }
}

fn check(entries: usize, calls: u32, preemptions: usize, timed: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let recorder = Recording(Arc::new(Entries::new(entries)));
        recorder.set_depth(entries as u64);
        recorder.set_times(timed);
        let reader = recorder.clone();
        let reading = thread::spawn(move || {
            for TimedCall { call, times } in reader.timed_calls() {
                let n = call.sequence as u32;
                assert_eq!(times.is_some(), timed);
                if let Some(times) = times {
                    // Each call receives with its number as tag.
                    let second = times.second.is_none_or(|(source, tag)| (source, tag) == (n as i32, n as i32));
                    assert!(times.begin_ns == 7 && times.end_ns.is_none_or(|end| end == 7) && second, "{times:?}");
                }
                let whole = (call.function, call.comm, call.peer, call.tag, call.count);
                assert_eq!(whole, (n as u16, n, n as i32, n as i32, u64::from(n)));
            }
        });
        for n in 1..=calls {
            let call = recorder.enter(n as u16, n, n as i32, n as i32, u64::from(n));
            recorder.receives(n as i32, n as i32);
            call.leave();
        }
        reading.join().expect("no panic");
    });
}

#[test]
fn a_reader_sees_whole_calls_of_an_entry_that_is_written_again() {
    check(1, 2, 3, false);
}

#[test]
fn a_reader_sees_whole_calls_of_entries_in_turn() {
    check(2, 3, 2, false);
}

#[test]
fn a_reader_sees_the_times_of_the_call() {
    check(1, 2, 2, true);
}
