//! A target applies operations of other processes to its window in any call that makes progress, without a fence.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Rank, Way, kept, run};
use mpi_core::abi::{MPI_ANY_TAG, MPI_SUM};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_p2p::Mode;

/// How a target makes progress.
#[derive(Debug, Clone, Copy)]
enum Call {
    Iprobe,
    Test,
    Receive,
}

/// Calls of the target, none of which concerns the window, until `done`.
fn progress_until(rank: &Rank, call: Call, mut done: impl FnMut() -> bool) {
    let (engine, context) = (&rank.engine, rank.world.context());
    let room = RecvBuf::from_slice(kept(vec![0u8; 1]));
    let never = engine.irecv(&mut engine.lock(), context, 0, 999, room).expect("posted");
    while !done() {
        match call {
            Call::Iprobe => {
                let found = engine.iprobe(&mut engine.lock(), context, 0, MPI_ANY_TAG).expect("no fault");
                assert!(found.is_none());
            }
            Call::Test => assert!(engine.test(&mut engine.lock(), never).expect("live").is_none()),
            Call::Receive => {
                // To itself, so that the receive need not wait for another process.
                engine.send(engine.lock(), context, 1, 5, SendBuf::empty(), Mode::Standard).expect("no fault");
                engine.recv(engine.lock(), context, 1, 5, RecvBuf::empty()).expect("no fault");
            }
        }
        std::thread::yield_now();
    }
    engine.cancel(&mut engine.lock(), never).expect("live");
    engine.wait(engine.lock(), never).expect("live");
}

/// A word of this process's part. The engine changes it in calls of this thread, between two reads.
fn word_at(rank: &Rank, win: &mpi_win::Win, index: usize) -> u64 {
    rank.memory::<u64>(win)[index]
}

#[test]
fn accumulates_and_puts_are_applied_in_any_call_that_makes_progress() {
    for call in [Call::Iprobe, Call::Test, Call::Receive] {
        // Short records, records with data behind them, and batches that are offered first.
        for count in [1usize, 2000, 100_000] {
            run(2, Way::Sent, move |rank: &Rank| {
                let win = rank.allocate::<u64>(2 * count);
                rank.fence(&win).expect("no fault");
                if rank.rank() == 0 {
                    rank.accumulate(&win, kept(vec![3u64; count]), 1, 0, MPI_SUM).expect("inside");
                    rank.put(&win, kept(vec![4u64; count]), 1, count).expect("inside");
                    rank.fence(&win).expect("no fault");
                } else {
                    progress_until(rank, call, || word_at(rank, &win, 2 * count - 1) == 4);
                    let memory = rank.memory::<u64>(&win);
                    assert!(memory[..count].iter().all(|word| *word == 3), "{call:?}, {count}");
                    rank.fence(&win).expect("no fault");
                    assert!(memory[count..].iter().all(|word| *word == 4));
                }
                rank.one_sided.end(&win).expect("no fault");
            });
        }
    }
}

#[test]
fn gets_are_answered_in_any_call_that_makes_progress() {
    for call in [Call::Iprobe, Call::Test, Call::Receive] {
        run(2, Way::Sent, move |rank: &Rank| {
            let win = rank.allocate::<u64>(5000);
            rank.memory::<u64>(&win).fill(7 + rank.rank() as u64);
            rank.fence(&win).expect("no fault");
            if rank.rank() == 0 {
                let (before, after) = (kept(vec![0u64; 5000]), kept(vec![0u64; 5000]));
                rank.get(&win, &mut before[..], 1, 0).expect("inside");
                rank.fetch(&win, kept(vec![1u64; 5000]), &mut after[..], (1, 0), MPI_SUM).expect("inside");
                rank.fence(&win).expect("no fault");
            } else {
                progress_until(rank, call, || word_at(rank, &win, 4999) == 9);
                rank.fence(&win).expect("no fault");
            }
            rank.one_sided.end(&win).expect("no fault");
        });
    }
}

#[test]
fn what_one_process_sends_before_a_window_exists_elsewhere_is_kept_for_it() {
    run(3, Way::Sent, |rank: &Rank| {
        for round in 0..200u64 {
            let win = rank.allocate::<u64>(8);
            rank.fence(&win).expect("no fault");
            for target in 0..rank.size() {
                rank.accumulate(&win, kept(vec![round]), target, rank.rank(), MPI_SUM).expect("inside");
            }
            rank.fence(&win).expect("no fault");
            assert_eq!(rank.memory::<u64>(&win)[..4], [round, round, round, 0]);
            rank.one_sided.end(&win).expect("no fault");
        }
    });
}

#[test]
fn messages_of_windows_are_counted_as_sent_and_as_received() {
    // Sent and received by both ranks, by the eager and by the rendezvous protocol.
    let counts: Arc<[AtomicU64; 4]> = Arc::default();
    let of_ranks = counts.clone();
    run(2, Way::Sent, move |rank: &Rank| {
        let win = rank.allocate::<u64>(100_001);
        let instruments = rank.engine.instruments();
        rank.fence(&win).expect("no fault");
        let received = instruments.eager_received.get();
        rank.put(&win, kept(vec![1u64]), 1 - rank.rank(), 0).expect("inside");
        rank.put(&win, kept(vec![2u64; 100_000]), 1 - rank.rank(), 1).expect("inside");
        rank.fence(&win).expect("no fault");
        assert!(instruments.eager_received.get() > received, "the short put came with a message");
        rank.one_sided.end(&win).expect("no fault");
        let sent = [instruments.eager_sent.get(), instruments.rendezvous_sent.get()];
        let received = [instruments.eager_received.get(), instruments.rendezvous_received.get()];
        for (sum, value) in of_ranks.iter().zip([sent, received].concat()) {
            sum.fetch_add(value, Ordering::Relaxed);
        }
    });
    let [eager_sent, rendezvous_sent, eager_received, rendezvous_received] =
        [0, 1, 2, 3].map(|place| counts[place].load(Ordering::Relaxed));
    assert!(rendezvous_sent >= 2, "the long puts");
    assert_eq!((eager_received, rendezvous_received), (eager_sent, rendezvous_sent));
}
