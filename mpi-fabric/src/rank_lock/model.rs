//! Loom models: a process that holds the lock alone is alone, and sees what those before it did.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::protocol::RankLock;
use crate::sync::AtomicU64;

struct Memory {
    state: AtomicU64,
    claims: AtomicU64,
    value: UnsafeCell<u64>,
}

// SAFETY: the lock under test orders the accesses to `value`; loom reports any two that it does not.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn new() -> Arc<Memory> {
        Arc::new(Memory { state: AtomicU64::new(0), claims: AtomicU64::new(0), value: UnsafeCell::new(0) })
    }

    fn lock(&self) -> RankLock<'_> {
        RankLock::new(&self.state, &self.claims)
    }

    fn change(&self, rank: u32) {
        self.lock().claim();
        while !self.lock().try_hold(rank) {
            thread::yield_now();
        }
        self.lock().end_claim();
        // SAFETY: see `Sync`.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.lock().release();
    }

    fn read(&self) -> u64 {
        while !self.lock().try_share() {
            thread::yield_now();
        }
        // SAFETY: see `Sync`.
        let value = self.value.with(|value| unsafe { *value });
        self.lock().stop_sharing();
        value
    }
}

#[test]
fn loom_two_processes_change_a_value_one_after_the_other() {
    loom::model(|| {
        let memory = Memory::new();
        let other = thread::spawn({
            let memory = memory.clone();
            move || memory.change(1)
        });
        memory.change(0);
        other.join().unwrap();
        assert_eq!(memory.read(), 2);
    });
}

#[test]
fn loom_a_process_that_shares_the_lock_reads_no_value_that_is_being_changed() {
    loom::model(|| {
        let memory = Memory::new();
        let other = thread::spawn({
            let memory = memory.clone();
            move || memory.read()
        });
        memory.change(0);
        assert!(other.join().unwrap() <= 1);
        assert_eq!(memory.read(), 1);
    });
}
