//! Loom models: one process at a time changes the memory, also after the lock of a process that has ended was taken over.
//!
//! With Relaxed in place of the Acquire in `try_take`, or of the Release in `release`, the first model fails.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::MemoryLock;
use crate::sync::AtomicU32;

struct Memory {
    word: AtomicU32,
    value: UnsafeCell<u64>,
}

// SAFETY: the lock under test orders the accesses to `value`; loom reports any two that it does not.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn new(word: u32) -> Arc<Memory> {
        Arc::new(Memory { word: AtomicU32::new(word), value: UnsafeCell::new(0) })
    }

    fn change(&self, process: u32, ended: u32) {
        let lock = MemoryLock(&self.word);
        while !lock.try_take(process) {
            if lock.holder() == Some(ended) && lock.take_over(ended, process) {
                break;
            }
            thread::yield_now();
        }
        // SAFETY: see `Sync`.
        self.value.with_mut(|value| unsafe { *value += 1 });
        lock.release();
    }
}

fn two_change(word: u32, ended: u32) {
    let memory = Memory::new(word);
    let other = thread::spawn({
        let memory = memory.clone();
        move || memory.change(2, ended)
    });
    memory.change(1, ended);
    other.join().unwrap();
    // SAFETY: no other thread is left.
    assert_eq!(memory.value.with(|value| unsafe { *value }), 2);
}

#[test]
fn loom_processes_change_the_memory_one_after_the_other() {
    loom::model(|| two_change(0, 9));
}

#[test]
fn loom_the_lock_of_a_process_that_has_ended_is_taken_over_once() {
    loom::model(|| two_change(9, 9));
}
