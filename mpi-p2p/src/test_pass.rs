//! What all tests of the program have in common: a pass of progress, and what follows when the operations are incomplete.
//!
//! Not here: which requests are tested (`complete`, `get_status`), the progress (`copying`).

use std::thread::{sleep, yield_now};
use std::time::Duration;

use mpi_core::Guard;
use mpi_errors::Result;

use crate::engine::Engine;

/// Of the tests without success where processes share cores, one in so many sleeps, the others yield.
const TESTS_PER_SLEEP: u32 = 64;
/// The shortest sleep, to which the kernel adds some 50 us: about 1 us for each test.
const SHORTEST_SLEEP: Duration = Duration::from_nanos(1);

impl Engine {
    /// One pass of progress in a test of the program, which the progress thread counts.
    #[inline(always)]
    pub(crate) fn advance_for_test(&self, guard: &mut Guard<'_>) -> Result<usize> {
        let background = &mut self.state.get_mut(guard).core.background;
        if background.running {
            background.tests += 1;
        }
        self.advance(guard)
    }

    /// Counts a test that found its operations incomplete, and lets other threads of the process take the lock, or another
    /// process run where processes share cores, because a program that tests in a loop would use up its share of the core
    /// while the others wait for it. Some kernels do not let processes of another session or container run for seconds while a
    /// process only yields (seen with Linux 6.18), so now and then it sleeps.
    #[inline]
    pub(crate) fn failed_test(&self, guard: &mut Guard<'_>) {
        self.instruments.failed_tests.incr();
        if self.settings.wait_spins.get() == 0 {
            let count = &mut self.state.get_mut(guard).core.failed_tests;
            *count = count.wrapping_add(1);
            let sleeps = count.is_multiple_of(TESTS_PER_SLEEP);
            guard.unlocked(|| if sleeps { sleep(SHORTEST_SLEEP) } else { yield_now() });
        } else {
            guard.let_others_in();
        }
    }
}
