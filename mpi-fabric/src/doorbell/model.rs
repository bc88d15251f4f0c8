//! Loom models of sleeping and waking: no wake-up is lost, for any interleaving and memory order.
//!
//! `membarrier` cannot be expressed in loom; its guarantee, that every sender passes a full fence between its store and
//! its load of `waiters`, is modelled by that fence (`sync::compiler_fence` under loom). So both kinds of sender are
//! checked by the same model, and only the kernel's guarantee is not checked.

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::protocol::{Bell, Kernel};
use crate::sync::{AtomicU32, Ordering};

/// A futex of loom's parts. Sleeps are never bounded, so that a lost wake-up is a deadlock, which loom reports.
struct ModelKernel {
    lock: Mutex<()>,
    woken: Condvar,
}

impl Kernel for ModelKernel {
    fn wait(&self, word: &AtomicU32, expected: u32, _bounded: bool) {
        let guard = self.lock.lock().unwrap();
        if word.load(Ordering::Relaxed) == expected {
            drop(self.woken.wait(guard).unwrap());
        }
    }

    fn wake(&self, _word: &AtomicU32) {
        let _guard = self.lock.lock().unwrap();
        self.woken.notify_all();
    }

    fn fence_others(&self) -> bool {
        true
    }
}

struct Rank {
    kernel: ModelKernel,
    waiters: AtomicU32,
    futex: AtomicU32,
    /// Stands for the rings: one word per sender.
    records: [AtomicU32; 2],
}

impl Rank {
    fn new() -> Arc<Rank> {
        Arc::new(Rank {
            kernel: ModelKernel { lock: Mutex::new(()), woken: Condvar::new() },
            waiters: AtomicU32::new(0),
            futex: AtomicU32::new(0),
            records: [AtomicU32::new(0), AtomicU32::new(0)],
        })
    }

    fn bell(&self) -> Bell<'_> {
        Bell { waiters: &self.waiters, futex: &self.futex }
    }

    fn send(&self, sender: usize, fenced: bool) {
        self.records[sender].store(1, Ordering::Release);
        if self.bell().has_waiters(fenced) {
            self.bell().ring(&self.kernel);
        }
    }

    fn receive(&self, from: usize) {
        let poll = || self.records[from].load(Ordering::Acquire) != 0;
        while !poll() {
            let ticket = self.bell().announce(&self.kernel);
            if !poll() {
                self.bell().sleep(&self.kernel, ticket);
            }
            self.bell().retract();
        }
    }
}

#[test]
fn loom_a_sleeper_is_woken_by_a_fencing_sender() {
    loom::model(|| {
        let rank = Rank::new();
        let sender = thread::spawn({
            let rank = rank.clone();
            move || rank.send(0, false)
        });
        rank.receive(0);
        sender.join().unwrap();
    });
}

#[test]
fn loom_a_sleeper_is_woken_by_senders_that_others_fence() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let rank = Rank::new();
        let senders = [0, 1].map(|sender| {
            let rank = rank.clone();
            thread::spawn(move || rank.send(sender, true))
        });
        rank.receive(0);
        rank.receive(1);
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

#[test]
fn loom_two_sleeping_threads_of_one_rank_are_both_woken() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let rank = Rank::new();
        let other = thread::spawn({
            let rank = rank.clone();
            move || rank.receive(1)
        });
        let sender = thread::spawn({
            let rank = rank.clone();
            move || {
                rank.send(1, true);
                rank.send(0, true);
            }
        });
        rank.receive(0);
        other.join().unwrap();
        sender.join().unwrap();
    });
}
