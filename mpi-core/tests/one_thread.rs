//! Rules for a process with one thread. The test harness would create a second thread, so this test has its own `main`.

use mpi_core::{Guarded, ProcessLock, ShortMutex, single_threaded};

fn main() {
    single_threaded::find_flag();
    let known = single_threaded::is_single_threaded();
    let (counter, lock) = (ShortMutex::new(0u64), ProcessLock::new(true));
    let cell = Guarded::new(&lock, 0u64);
    let count = || {
        (0..20_000).for_each(|_| {
            *counter.lock() += 1;
            *cell.get_mut(&mut lock.lock()) += 1;
        });
    };
    count();
    {
        let _held = lock.lock();
        assert!(lock.try_lock().is_none(), "it is held");
    }
    assert!(lock.try_lock().is_some(), "it was released");
    // From here on the process has several threads, which continue with the words that one thread has written.
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(!single_threaded::is_single_threaded()));
        (0..3).for_each(|_| drop(scope.spawn(count)));
    });
    assert_eq!((*counter.lock(), *cell.get(&lock.lock())), (80_000, 80_000));
    println!(
        "test of one thread and then several: ok ({})",
        if known { "alone at first" } else { "the C library has no flag" }
    );
}
