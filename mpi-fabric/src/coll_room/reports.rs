//! Which steps the other processes of a channel have finished, as far as one process has read it.
//!
//! A process keeps the last number that it has read of each other one, and the least of these; it reads reports only when that is not
//! enough for what it wants to overwrite.
//! Invariant: a number is kept only if it was read with Acquire from a report, or from a publication in that step or a later one.
//! Not here: when a process reports (`channel`), the order of the accesses (`protocol`).

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The reports of the processes of one channel. Plain words: one thread uses them at a time.
pub(crate) struct Reports {
    /// The place of this process, of which nothing is kept.
    own: usize,
    /// By rank, the first step that the process is not known to have finished.
    known: Box<[AtomicU64]>,
    /// The least of them, without this process's own, when all were last read.
    all: AtomicU64,
}

impl Reports {
    /// Of so many processes, none of which has finished the step `first`.
    pub fn new(own: usize, size: usize, first: u64) -> Reports {
        Reports { own, known: (0..size).map(|_| AtomicU64::new(first)).collect(), all: AtomicU64::new(first) }
    }

    /// Number of processes.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.known.len()
    }

    /// Whether all others are known to have finished a step.
    #[inline(always)]
    pub fn cover(&self, number: u64) -> bool {
        number < self.all.load(Relaxed)
    }

    /// A process has published in a step, so it has finished all before.
    #[inline(always)]
    pub fn finished_by(&self, rank: usize, number: u64) {
        self.known[rank].store(number, Relaxed);
    }

    /// Looks whether all others have finished the steps before a number; reads the report of those that are not known to have. Errors: the
    /// place of one that has not.
    #[inline]
    pub fn require(&self, at_least: u64, reported: impl Fn(usize) -> u64) -> Result<(), usize> {
        let mut all = u64::MAX;
        for (rank, known) in self.known.iter().enumerate().filter(|(rank, _)| *rank != self.own) {
            if known.load(Relaxed) < at_least {
                known.store(known.load(Relaxed).max(reported(rank)), Relaxed);
                if known.load(Relaxed) < at_least {
                    return Err(rank);
                }
            }
            all = all.min(known.load(Relaxed));
        }
        self.all.store(all, Relaxed);
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_covered_when_every_other_process_has_finished_it() {
        let reports = Reports::new(1, 3, 4);
        assert!(reports.cover(3) && !reports.cover(4));
        let numbers = |numbers: [u64; 3]| move |rank: usize| numbers[rank];
        assert_eq!(reports.require(6, numbers([6, 0, 5])), Err(2));
        assert!(!reports.cover(4), "one of two has finished it");
        reports.finished_by(2, 7);
        assert_eq!(reports.require(6, |rank| panic!("rank {rank} is known")), Ok(()));
        assert!(reports.cover(5) && !reports.cover(6));
        assert_eq!(reports.require(7, numbers([9, 0, 8])), Ok(()), "its own is not needed");
        assert!(reports.cover(6) && !reports.cover(7), "the publication of step 7 is the least");
    }
}
