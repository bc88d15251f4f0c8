//! Checks every interleaving of threads on a slot of facts and on the process lock, with the protocols' own files on
//! loom's atomics. Here each thread executes its own fence in place of the kernel's fence in all threads.
#![allow(dead_code)] // the models use only parts of the files

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

    pub(crate) fn is_single_threaded() -> bool {
        false
    }

    pub(crate) fn compiler_fence(order: Ordering) {
        fence(order);
    }
}
use mpi_core::Handle;

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

/// As `RawLock::take_asleep`, without spinning. A wait that no thread ends is a deadlock, which loom reports.
fn lock(word: &word::LockWord, me: u64, bell: &loom::sync::Notify) {
    while !word.try_take(me) {
        word.wish(word::ASLEEP);
        sync::fence(sync::Ordering::SeqCst);
        if word.try_take(me) {
            return;
        }
        bell.wait();
    }
}

#[test]
fn no_thread_sleeps_for_a_free_lock_and_two_never_hold_it() {
    loom::model(|| {
        let word = loom::sync::Arc::new(word::LockWord {
            holder: sync::AtomicU64::new(word::FREE),
            wishes: sync::AtomicU32::new(0),
        });
        let bell = loom::sync::Arc::new(loom::sync::Notify::new());
        let inside = loom::sync::Arc::new(loom::cell::UnsafeCell::new(0));
        let threads: Vec<_> = [1, 3]
            .map(|me| {
                let (word, bell, inside) = (word.clone(), bell.clone(), inside.clone());
                loom::thread::spawn(move || {
                    assert!(!word.is_held_by(me), "only this thread stores its identity");
                    lock(&word, me, &bell);
                    assert!(word.is_held_by(me) && !word.is_held_by(me ^ 2));
                    // Loom reports two threads that are here at the same time.
                    inside.with_mut(|_| {});
                    if word.release() && word.take_wishes() & word::ASLEEP != 0 {
                        bell.notify();
                    }
                })
            })
            .into();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}
