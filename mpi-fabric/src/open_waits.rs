//! Waits of a rank that have not ended, as readers outside see them.
//!
//! The time that a rank has waited is added to its variables when a wait ends. A rank that its job's end interrupts leaves a
//! wait open; its length follows from when it began and when the process ended.
//! Invariant: the rank writes when its waits began, with its process lock held; the launcher, when the process ended.
//! Not here: what counts as a wait (`mpi-p2p`).

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::Endpoint;
use crate::Job;
use crate::rank_block::RankBlock;

/// The open waits of one rank, for that rank itself.
#[derive(Clone)]
pub struct OpenWaits {
    job: Arc<Job>,
    /// The rank's place in the job memory.
    place: u32,
}

impl std::fmt::Debug for OpenWaits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenWaits").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The waits that a rank had not ended when its process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Their number: several threads may wait at once.
    pub waits: u64,
    /// Their length in nanoseconds, all together.
    pub ns: u64,
}

/// More threads than wait at once in a rank; a greater number is damage.
const MOST_WAITS: u64 = 1 << 16;

impl OpenWaits {
    fn block(&self) -> RankBlock<'_> {
        self.job.block(self.place)
    }

    /// Records that a wait begins, at a time of [`mpi_core::clock`]; for the holder of the process lock.
    pub fn begin(&self, now_ns: u64) {
        self.change(now_ns, 1);
    }

    /// Records that the wait that began at this time has ended; for the holder of the process lock.
    pub fn end(&self, began_ns: u64) {
        self.change(began_ns.wrapping_neg(), u64::MAX);
    }

    fn change(&self, sum: u64, count: u64) {
        let (began, waits) = (self.block().waits_began(), self.block().open_waits());
        // Relaxed: readers look when the process has ended. The holder of the lock is the only writer.
        began.store(began.load(Relaxed).wrapping_add(sum), Relaxed);
        waits.store(waits.load(Relaxed).wrapping_add(count), Relaxed);
    }
}

impl Endpoint {
    /// This rank's waits that have not ended.
    pub fn open_waits(&self) -> OpenWaits {
        OpenWaits { job: self.job().clone(), place: self.local }
    }
}

impl Job {
    /// Records when the process of a rank was found to have ended, at a time of [`mpi_core::clock`]; for the launcher. Panics if
    /// there is no such rank.
    pub fn record_end(&self, rank: u32, now_ns: u64) {
        // Relaxed: a reader that finds 0 reports no wait.
        self.block(rank).ended_at().store(now_ns, Relaxed);
    }

    /// The waits that a rank had not ended when its process ended; none before that. Panics if there is no such rank.
    pub fn unfinished_waits(&self, rank: u32) -> Unfinished {
        let block = self.block(rank);
        let [waits, began, ended] =
            [block.open_waits(), block.waits_began(), block.ended_at()].map(|word| word.load(Relaxed));
        if ended == 0 || waits == 0 || waits > MOST_WAITS {
            return Unfinished::default();
        }
        // The sums of the times may be greater than 64 bits; their difference is not. A negative one is damage.
        let ns = waits.wrapping_mul(ended).wrapping_sub(began);
        Unfinished { waits, ns: if ns > i64::MAX as u64 { 0 } else { ns } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOptions;

    #[test]
    fn waits_that_the_end_of_the_process_interrupts_have_a_length() {
        let job = Arc::new(Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory"));
        let waits = OpenWaits { job: job.clone(), place: 1 };
        waits.begin(1_000);
        waits.begin(4_000);
        waits.begin(5_000);
        waits.end(1_000);
        assert_eq!(job.unfinished_waits(1), Unfinished::default());
        job.record_end(1, 10_000);
        assert_eq!(job.unfinished_waits(1), Unfinished { waits: 2, ns: 11_000 });
        waits.end(4_000);
        waits.end(5_000);
        assert_eq!(job.unfinished_waits(1), Unfinished::default());
        job.record_end(0, 10_000);
        assert_eq!(job.unfinished_waits(0), Unfinished::default());
    }

    #[test]
    fn damaged_words_are_no_waits() {
        let job = Job::create(&JobOptions { ranks: 1, ring_bytes: None, cores: 1 }).expect("memory");
        job.record_end(0, 10);
        job.block(0).open_waits().store(u64::MAX, Relaxed);
        assert_eq!(job.unfinished_waits(0), Unfinished::default());
        job.block(0).open_waits().store(1, Relaxed);
        job.block(0).waits_began().store(11, Relaxed);
        assert_eq!(job.unfinished_waits(0).ns, 0);
    }
}
