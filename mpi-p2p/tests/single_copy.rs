//! `p2p_single_copy_by`: each value moves messages whole, and the processes that it names have copied them.

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Rank, pattern, run};
use mpi_p2p::{EngineInstruments, Mode};

const AUTO: i32 = 0;
const BY_RECEIVER: i32 = 1;
const BY_SENDER: i32 = 2;
const BY_BOTH: i32 = 3;

/// Longer than the eager limit; around the size from which both copy, and around whole chunks.
const SIZES: [usize; 8] = [16_385, 20_000, 32_767, 32_768, 65_537, 300_001, 1 << 20, 3_000_001];

/// What one process has copied, as receiver and as sender, and what it received in fragments.
fn copied(instruments: &EngineInstruments) -> [u64; 3] {
    [instruments.bytes_copied.get(), instruments.bytes_helped.get(), instruments.bytes_in_fragments.get()]
}

/// Rank 0 sends a message, blocking or started; what both processes have counted of it.
fn message(rank: &Rank, sums: &Mutex<[u64; 3]>, bytes: usize, started: bool) -> [u64; 3] {
    let engine = &rank.engine;
    if rank.me() == 0 {
        *sums.lock().expect("no panic") = [0; 3];
    }
    rank.exchange_with_peer();
    let before = copied(engine.instruments());
    let data = pattern(bytes, bytes);
    if rank.me() == 1 {
        let mut got = vec![0; bytes + 1];
        let status = rank.recv(0, 1, &mut got).expect("fits");
        assert!(status.bytes() == bytes as u64 && got[..bytes] == data && got[bytes] == 0, "{bytes} bytes");
    } else if started {
        let request = rank.isend(1, 1, &data);
        engine.wait(engine.lock(), request).expect("sent");
    } else {
        rank.send(1, 1, &data, Mode::Standard);
    }
    let after = copied(engine.instruments());
    sums.lock().expect("no panic").iter_mut().zip(after.iter().zip(before)).for_each(|(sum, (a, b))| *sum += a - b);
    rank.exchange_with_peer();
    let sums = *sums.lock().expect("no panic");
    rank.exchange_with_peer();
    sums
}

/// Sets the variable in both processes, with limits by which nothing goes in fragments or ahead.
fn set(rank: &Rank, by: i32) {
    let settings = rank.engine.settings();
    settings.single_copy_by.set(by);
    settings.pipelined_limit.set(0);
    settings.ahead_limit.set(0);
    settings.cell_limit.set(0);
    settings.both_copy_from.set(32 << 10);
}

fn can_copy(rank: &Rank) -> bool {
    rank.exchange_with_peer();
    rank.engine.can_copy(&rank.engine.lock(), 1 - rank.engine.rank())
}

#[test]
fn the_process_that_is_set_copies_all() {
    let sums = Arc::new(Mutex::default());
    run(2, move |rank| {
        if !can_copy(rank) {
            return; // all data goes in fragments
        }
        for (by, due) in [(BY_RECEIVER, [1, 0, 0]), (BY_SENDER, [0, 1, 0])] {
            set(rank, by);
            for bytes in SIZES {
                for started in [false, true] {
                    let counts = message(rank, &sums, bytes, started);
                    assert_eq!(counts, due.map(|share| share * bytes as u64), "{by}, started: {started}");
                }
            }
        }
    });
}

#[test]
fn both_copy_where_both_are_set_and_by_default() {
    let sums = Arc::new(Mutex::default());
    run(2, move |rank| {
        if !can_copy(rank) {
            return;
        }
        for by in [AUTO, BY_BOTH] {
            set(rank, by);
            for bytes in SIZES {
                let [received, sent, fragments] = message(rank, &sums, bytes, false);
                assert_eq!((received + sent, fragments), (bytes as u64, 0));
                assert!(sent == 0 || by == BY_BOTH || bytes >= 32 << 10, "short messages are the receiver's: {bytes}");
            }
            // Which process is first is a question of time.
            let both = (0..2000).any(|_| {
                let [received, sent, _] = message(rank, &sums, 8 << 20, false);
                received > 0 && sent > 0
            });
            assert!(both, "one process copied all of 2000 messages, with {by}");
        }
        // A message of two chunks may be shared as well.
        let short = (0..20_000).any(|_| message(rank, &sums, 32_767, false)[1] > 0);
        assert!(short, "the sender copied nothing of 20000 messages");
    });
}

#[test]
fn the_limit_of_copies_by_both_is_measured_once_and_a_number_forces_it() {
    const BYTES: usize = 40_000;
    let sums = Arc::new(Mutex::default());
    run(2, move |rank| {
        if !can_copy(rank) {
            return;
        }
        let (settings, found) = (rank.engine.settings(), rank.engine.calibration());
        let (limit, classes) = (&found.both_from, &found.both_classes);
        set(rank, AUTO);
        for (limit_bytes, helps) in [(BYTES as i32 + 1, false), (BYTES as i32, true), (0, true)] {
            settings.both_copy_from.set(limit_bytes);
            let helped = (0..if helps { 20_000 } else { 20 }).any(|_| message(rank, &sums, BYTES, false)[1] > 0);
            assert_eq!(helped, helps, "from {limit_bytes}");
            assert!(rank.me() == 0 || limit.get() == limit_bytes as u64);
        }
        settings.both_copy_from.set(-1);
        // The messages of this class that are measured, and one behind them.
        let began = Instant::now();
        for _ in 0..17 {
            let [received, sent, _] = message(rank, &sums, BYTES, false);
            assert_eq!(received + sent, BYTES as u64);
        }
        // Measuring stops after 2 ms, which all messages together may take on a busy machine.
        let measured = classes.get() == 1 || began.elapsed() > Duration::from_millis(2);
        assert!(rank.me() == 0 || measured, "{} classes", classes.get());
        let found = limit.get();
        assert!(rank.me() == 0 || found == 32 << 10 || found == 64 << 10, "{found}");
        (0..20).for_each(|_| _ = message(rank, &sums, BYTES, false));
        assert_eq!(limit.get(), found);
    });
}

#[test]
fn a_sender_that_may_not_copy_sends_fragments_where_it_was_to_copy_alone() {
    let sums = Arc::new(Mutex::default());
    run(2, move |rank| {
        if !can_copy(rank) {
            return;
        }
        rank.fabric_settings.single_copy.set(rank.me() == 1);
        for (by, due) in [(BY_SENDER, [0, 0, 1]), (BY_BOTH, [1, 0, 0]), (BY_RECEIVER, [1, 0, 0])] {
            set(rank, by);
            for bytes in SIZES {
                for started in [false, true] {
                    let counts = message(rank, &sums, bytes, started);
                    assert_eq!(counts, due.map(|share| share * bytes as u64), "{by}, started: {started}");
                }
            }
        }
    });
}
