//! How long a thread spins on its own word before it sleeps on it.
//!
//! Not here: the word (`thread_word`), the sleep (`wait`).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::policy::WaitPolicy;
use super::thread_word::ThreadWord;

/// Fewest loads of the word before the thread sleeps: a microsecond or two.
const LEAST: u32 = 32;
/// Most loads. Where a thread shares its core, each load delays the thread that it waits for.
const MOST: u32 = 1024;
/// One wait in this many has the most loads: threads that always sleep for each other would otherwise never measure
/// that they need not.
const PROBE: u32 = 32;

/// How long threads spin: halved by each wait that had to sleep, doubled by each that did not. Concurrent changes may
/// be lost; the value is an estimate.
#[derive(Debug)]
pub(super) struct SpinLimit {
    looks: AtomicU32,
    waits: AtomicU32,
}

impl SpinLimit {
    pub(super) fn new() -> SpinLimit {
        SpinLimit { looks: AtomicU32::new(MOST), waits: AtomicU32::new(0) }
    }

    /// Loads `word` until it is set or the limit is reached; returns whether it is set.
    pub(super) fn spin(&self, word: &ThreadWord, policy: &WaitPolicy) -> bool {
        let waits = self.waits.load(Relaxed).wrapping_add(1);
        self.waits.store(waits, Relaxed);
        let looks = if waits.is_multiple_of(PROBE) { MOST } else { self.looks.load(Relaxed) };
        for _ in 0..looks.min(policy.spins()) {
            if word.is_set() {
                self.looks.store((looks * 2).min(MOST), Relaxed);
                return true;
            }
            std::hint::spin_loop();
        }
        self.looks.store((looks.min(self.looks.load(Relaxed)) / 2).max(LEAST), Relaxed);
        word.is_set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_end_in_sleep_spin_less_and_others_more() {
        let (limit, policy, word) = (SpinLimit::new(), WaitPolicy::for_job(1, 1), ThreadWord::default());
        word.arm();
        for _ in 0..PROBE - 1 {
            assert!(!limit.spin(&word, &policy));
        }
        assert_eq!(limit.looks.load(Relaxed), LEAST);
        assert!(!word.set(), "no thread sleeps");
        assert!(limit.spin(&word, &policy) && limit.spin(&word, &policy));
        assert_eq!(limit.looks.load(Relaxed), MOST, "one wait in {PROBE} has the most loads");
    }

    #[test]
    fn a_thread_without_a_core_does_not_spin() {
        let (limit, policy, word) = (SpinLimit::new(), WaitPolicy::for_job(2, 1), ThreadWord::default());
        assert!(limit.spin(&word, &policy), "the word is loaded all the same");
        assert_eq!(policy.spins(), 0);
    }
}
