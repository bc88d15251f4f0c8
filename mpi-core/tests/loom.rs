//! Checks every interleaving of threads on a slot of facts and on the process lock, with the protocols' own files on
//! loom's atomics. Here each thread executes its own fence in place of the kernel's fence in all threads.
#![allow(dead_code)] // the models use only parts of the files

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

    pub(crate) const SLOTS: usize = 4;

    pub(crate) fn is_single_threaded() -> bool {
        false
    }

    pub(crate) fn compiler_fence(order: Ordering) {
        fence(order);
    }
}
use mpi_core::Handle;

#[path = "../src/lock/bias.rs"]
mod bias;
#[path = "../src/facts/slot.rs"]
mod slot;
#[path = "../src/lock/word.rs"]
mod word;

#[test]
fn a_reader_gets_the_fact_of_its_own_handle_or_none() {
    loom::model(|| {
        let (first, second) = (Handle(0x1000), Handle(0x2000));
        let slot = loom::sync::Arc::new(slot::Slot::default());
        slot.set(first, 1);
        let writer = {
            let slot = slot.clone();
            loom::thread::spawn(move || {
                slot.clear();
                slot.set(second, 2);
            })
        };
        assert!(matches!(slot.get(first), None | Some(1)));
        assert!(matches!(slot.get(second), None | Some(2)));
        assert!(matches!(slot.get_existing(first), None | Some(1)));
        writer.join().expect("no panic");
        assert_eq!((slot.get(first), slot.get(second)), (None, Some(2)));
        assert_eq!((slot.get_existing(first), slot.get_existing(second)), (None, Some(2)));
    });
}

/// Identities of threads with different slots.
const FIRST: u64 = 1;
const SECOND: u64 = 185;

/// What threads sleep on: those that wait for the lock, and the one that waits until the owner of the bias has left.
struct Bells {
    free: loom::sync::Notify,
    left: loom::sync::Notify,
}

/// A free lock; with biases after so many calls in turn, or without.
fn free(needed: Option<u32>) -> word::LockWord {
    word::LockWord {
        holder: sync::AtomicU64::new(word::FREE),
        wishes: sync::AtomicU32::new(0),
        bias: bias::Bias {
            last: sync::AtomicU64::new(0),
            run: sync::AtomicU32::new(0),
            needed: sync::AtomicU32::new(needed.unwrap_or(1)),
            granted: sync::AtomicU64::new(0),
            slots: needed.and_then(|_| bias::Bias::slots()),
        },
    }
}

/// As `RawLock::take_asleep`, without spinning. A wait that no thread ends is a deadlock, which loom reports.
fn lock(word: &word::LockWord, me: u64, bells: &Bells) {
    if word.try_take(me, 1) {
        return;
    }
    serve_claim(word, bells);
    loop {
        word.wish(word::ASLEEP);
        sync::fence(sync::Ordering::SeqCst);
        if word.try_take(me, 0) || claim(word, me, bells) {
            return;
        }
        bells.free.wait();
    }
}

/// As `RawLock::take_if_free` and `claim` together.
fn claim(word: &word::LockWord, me: u64, bells: &Bells) -> bool {
    let owner = word.bias.owner_outside(word.holder.load(sync::Ordering::Relaxed), me);
    let Some(owner) = owner.filter(|owner| word.bias.claim(&word.holder, me, *owner)) else { return false };
    sync::fence(sync::Ordering::SeqCst);
    while !word.bias.is_outside(owner) {
        word.wish(word::LEAVE);
        sync::fence(sync::Ordering::SeqCst);
        if !word.bias.is_outside(owner) {
            bells.left.wait();
        }
    }
    word.bias.revoke(&word.holder, me, owner);
    true
}

/// As `RawLock::try_claim`.
fn try_lock(word: &word::LockWord, me: u64, bells: &Bells) -> bool {
    if word.try_take(me, 1) {
        return true;
    }
    let owner = word.bias.owner_outside(word.holder.load(sync::Ordering::Relaxed), me);
    let Some(owner) = owner.filter(|owner| word.bias.claim(&word.holder, me, *owner)) else {
        serve_claim(word, bells);
        return false;
    };
    sync::fence(sync::Ordering::SeqCst);
    let outside = word.bias.is_outside(owner);
    if outside {
        word.bias.revoke(&word.holder, me, owner);
    } else {
        word.bias.return_to(&word.holder, owner);
        serve(word, bells);
    }
    outside
}

fn serve(word: &word::LockWord, bells: &Bells) {
    let wishes = word.take_wishes();
    if wishes & word::LEAVE != 0 {
        bells.left.notify();
    }
    if wishes & word::ASLEEP != 0 {
        bells.free.notify();
    }
}

/// As `RawLock::serve_claim`.
fn serve_claim(word: &word::LockWord, bells: &Bells) {
    if word.holder.load(sync::Ordering::Relaxed) & bias::CLAIMED != 0 {
        serve(word, bells);
    }
}

/// Two threads take the lock so often; the one in `tries` only tries to. `None`: all orders, else those in which
/// a thread that could go on is interrupted at most so often.
fn two_threads(needed: Option<u32>, often: [u32; 2], tries: Option<u64>, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let word = loom::sync::Arc::new(free(needed));
        let bells = loom::sync::Arc::new(Bells { free: loom::sync::Notify::new(), left: loom::sync::Notify::new() });
        let inside = loom::sync::Arc::new(loom::cell::UnsafeCell::new(0));
        let threads: Vec<_> = [(FIRST, often[0]), (SECOND, often[1])]
            .map(|(me, often)| {
                let (word, bells, inside) = (word.clone(), bells.clone(), inside.clone());
                loom::thread::spawn(move || {
                    for _ in 0..often {
                        assert!(!word.is_held_by(me), "only this thread stores its identity");
                        if tries == Some(me) {
                            if !try_lock(&word, me, &bells) {
                                continue;
                            }
                        } else {
                            lock(&word, me, &bells);
                        }
                        assert!(word.is_held_by(me));
                        // Loom reports two threads that are here at the same time.
                        inside.with_mut(|_| {});
                        if !word.release() && word.release_rest(me) {
                            serve(&word, &bells);
                        }
                    }
                })
            })
            .into();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

#[test]
fn no_thread_sleeps_for_a_free_lock_and_two_never_hold_it() {
    two_threads(None, [1, 1], None, None);
}

#[test]
fn the_owner_of_a_bias_and_the_thread_that_claims_it_never_hold_the_lock_together_nor_sleep_for_ever() {
    two_threads(Some(1), [3, 1], None, Some(3));
}

#[test]
fn a_bias_goes_from_one_thread_to_the_other() {
    two_threads(Some(1), [3, 2], None, Some(2));
}

#[test]
fn a_thread_that_only_tries_gives_the_bias_back() {
    two_threads(Some(1), [3, 2], Some(SECOND), Some(2));
}

#[test]
fn the_owner_of_a_bias_that_only_tries_wakes_the_thread_that_claims_it() {
    two_threads(Some(1), [3, 1], Some(FIRST), Some(2));
}
