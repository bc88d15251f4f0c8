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
        let words = (ENTRIES_AT + entries * UNIT as usize) / 8;
        Entries {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            halves: (0..2 * words).map(|_| AtomicU32::new(0)).collect(),
        }
    }
}

impl RecorderMemory for Arc<Entries> {
    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8));
        &self.words[offset / 8]
    }

    fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4));
        &self.halves[offset / 4]
    }
}

fn check(entries: usize, calls: u32, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let recorder = Recording(Arc::new(Entries::new(entries)));
        recorder.set_depth(entries as u64);
        let reader = recorder.clone();
        let reading = thread::spawn(move || {
            for call in reader.calls() {
                let n = call.sequence as u32;
                let whole = (call.function, call.comm, call.peer, call.tag, call.count);
                assert_eq!(whole, (n as u16, n, n as i32, n as i32, u64::from(n)));
            }
        });
        for n in 1..=calls {
            recorder.enter(n as u16, n, n as i32, n as i32, u64::from(n)).leave();
        }
        reading.join().expect("no panic");
    });
}

#[test]
fn a_reader_sees_whole_calls_of_an_entry_that_is_written_again() {
    check(1, 2, 3);
}

#[test]
fn a_reader_sees_whole_calls_of_entries_in_turn() {
    check(2, 3, 2);
}
