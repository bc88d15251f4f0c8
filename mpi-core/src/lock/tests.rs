//! The lock, its guards and its biases, from one and several threads.

use super::*;
use std::sync::Arc;

#[test]
fn four_threads_lose_no_increment() {
    let lock = Arc::new(ProcessLock::new(true));
    let cell = Arc::new(Guarded::new(&lock, 0u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (lock, cell) = (lock.clone(), cell.clone());
            std::thread::spawn(move || (0..20_000).for_each(|_| *cell.get_mut(&mut lock.lock()) += 1))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(*cell.get(&lock.lock()), 80_000);
}

/// Makes a thread wait for the lock, and then calls `give_way` until the thread has had it.
fn gives_way(mut give_way: impl FnMut(&ProcessLock)) {
    use std::sync::atomic::{AtomicBool, Ordering};
    let (lock, had) = (ProcessLock::new(true), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let guard = lock.lock();
        scope.spawn(|| {
            let _guard = lock.lock();
            had.store(true, Ordering::Relaxed);
        });
        while !lock.raw.is_awaited() && !lock.raw.sleeps() {
            std::thread::yield_now();
        }
        drop(guard);
        while !had.load(Ordering::Relaxed) {
            give_way(&lock);
        }
    });
}

#[test]
fn a_thread_that_polls_lets_a_waiting_thread_take_the_lock() {
    gives_way(|lock| lock.lock_soon().give_way());
    gives_way(|lock| lock.lock().let_others_in());
    // A thread that does not give way keeps the lock for a burst, not for ever.
    gives_way(|lock| drop(lock.lock()));
    gives_way(|lock| {
        lock.lock().release_to_retake();
        drop(lock.lock());
    });
}

#[test]
fn a_thread_that_calls_in_turn_gets_a_bias_and_others_take_it_away() {
    let lock = ProcessLock::new(true);
    if !lock.raw.has_biases() {
        return eprintln!("skipped: the kernel has no membarrier");
    }
    let cell = Guarded::new(&lock, 0u64);
    let add = |calls: u32| (0..calls).for_each(|_| *cell.get_mut(&mut lock.lock()) += 1);
    add(200);
    assert!(!lock.raw.is_biased(), "too few calls");
    let rounds = 20u32;
    let mut calls = 200u32;
    std::thread::scope(|scope| {
        for _ in 0..rounds {
            // Each bias is used for fewer calls than it needed, so that the next one needs twice as many.
            while !lock.raw.is_biased() && calls < 10_000_000 {
                add(1);
                calls += 1;
            }
            let guard = lock.lock();
            assert!(lock.raw.is_held_by(this_thread()) && lock.raw.is_biased());
            let others = scope.spawn(|| (lock.try_lock().is_some(), lock.raw.is_held_by(this_thread())));
            assert_eq!(others.join().expect("no panic"), (false, false), "its owner is inside");
            assert!(lock.raw.is_biased(), "the bias was given back");
            drop(guard);
            scope.spawn(|| assert!(lock.try_lock().is_some(), "its owner is outside")).join().expect("no panic");
            assert!(!lock.raw.is_biased());
        }
    });
    assert!(calls > 200 + (rounds - 8) * (1 << 16), "{calls} calls for {rounds} biases");
    assert_eq!(*cell.get(&lock.lock()), u64::from(calls));
}

#[test]
fn threads_with_and_without_a_bias_lose_no_increment() {
    let lock = ProcessLock::new(true);
    let cell = Guarded::new(&lock, 0u64);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (lock, cell) = (&lock, &cell);
            scope.spawn(move || {
                for call in 0..100_000u64 {
                    let mut guard = if thread == 3 { lock.lock_soon() } else { lock.lock() };
                    *cell.get_mut(&mut guard) += 1;
                    drop(guard);
                    if call % (700 << (2 * thread)) == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(100));
                    }
                }
            });
        }
    });
    assert_eq!(*cell.get(&lock.lock()), 400_000);
}

#[test]
fn the_owner_of_a_bias_that_takes_the_lock_twice_panics() {
    let lock = ProcessLock::new(true);
    if !lock.raw.has_biases() {
        return eprintln!("skipped: the kernel has no membarrier");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            (0..1000).for_each(|_| drop(lock.lock()));
            assert!(lock.raw.is_biased());
            let guard = lock.lock();
            let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(lock.lock())));
            assert!(again.is_err() && lock.lock_beside().is_none());
            drop(guard);
            drop(lock.lock());
        });
    });
}

#[test]
fn threads_that_look_closely_lose_no_increment() {
    let lock = ProcessLock::new(true);
    let cell = Guarded::new(&lock, 0u64);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (lock, cell) = (&lock, &cell);
            scope.spawn(move || {
                for _ in 0..5_000 {
                    let mut guard = if thread % 2 == 0 { lock.lock() } else { lock.lock_soon() };
                    *cell.get_mut(&mut guard) += 1;
                    guard.let_others_in();
                    guard.give_way();
                }
            });
        }
    });
    assert_eq!(*cell.get(&lock.lock()), 20_000);
}

#[test]
fn four_threads_lose_no_increment_under_the_short_mutex() {
    static COUNT: ShortMutex<u64> = ShortMutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20_000).for_each(|_| *COUNT.lock() += 1));
        }
    });
    assert_eq!(*COUNT.lock(), 80_000);
}

#[test]
fn a_lock_that_is_held_is_not_taken_again() {
    for multiple in [false, true] {
        let lock = ProcessLock::new(multiple);
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock().is_none(), "a refusal does not free the lock");
        assert!(lock.lock_beside().is_none(), "it would wait for itself");
        drop(guard);
        assert!(lock.try_lock().is_some() && lock.lock_beside().is_some());
    }
}

#[test]
fn a_second_entry_of_one_thread_panics_and_the_lock_stays_usable() {
    for multiple in [false, true] {
        let lock = ProcessLock::new(multiple);
        let guard = lock.lock();
        let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(lock.lock())));
        let text = *again.expect_err("refused").downcast::<&str>().expect("a sentence");
        assert!(text.contains("from within a call"), "{text}");
        drop(guard);
        drop(lock.lock());
    }
    let mutex = ShortMutex::new(0);
    let held = mutex.lock();
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(mutex.lock()))).is_err());
    drop(held);
}

#[test]
fn a_program_of_one_thread_that_uses_several_loses_no_increment() {
    let lock = ProcessLock::new(false);
    let cell = Guarded::new(&lock, 0u64);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20_000).for_each(|_| *cell.get_mut(&mut lock.lock()) += 1));
        }
    });
    assert_eq!(*cell.get(&lock.lock()), 80_000);
}

#[test]
fn beside_a_program_of_one_thread_another_thread_never_waits() {
    let lock = ProcessLock::new(false);
    let other = || std::thread::scope(|scope| scope.spawn(|| lock.lock_beside().is_some()).join().expect("no panic"));
    assert!(lock.lock_beside().is_some() && other());
    let guard = lock.lock();
    assert!(!other(), "the holder may wait for long");
    drop(guard);
    lock.set_multiple(true);
    assert!(lock.lock_beside().is_some() && other());
}
