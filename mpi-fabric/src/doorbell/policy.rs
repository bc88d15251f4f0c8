//! Waiting policy: how long to poll and to yield before sleeping.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Settings that apply to every later wait. Any thread may change them at any time; they order no other memory access.
#[derive(Debug)]
pub struct WaitPolicy {
    spins: AtomicU32,
    yields: AtomicU32,
    sleep: AtomicU32,
}

/// Polls between two looks at the policy; also the granularity of `spins`.
pub(crate) const BURST: u32 = 32;

impl WaitPolicy {
    /// The policy for a job: with a core for every rank poll for some ten microseconds, then sleep (to yield would give
    /// a whole time slice to any other runnable process); otherwise give the core to the other ranks at once.
    pub fn for_job(ranks: u32, cores: u32) -> WaitPolicy {
        let (spins, yields) = if ranks <= cores { (2048, 0) } else { (0, 64) };
        WaitPolicy { spins: AtomicU32::new(spins), yields: AtomicU32::new(yields), sleep: AtomicU32::new(1) }
    }

    /// The policy for ranks that a network connects: sleep at once, because an arriving record wakes the thread.
    pub(crate) fn for_network() -> WaitPolicy {
        WaitPolicy { spins: AtomicU32::new(0), yields: AtomicU32::new(0), sleep: AtomicU32::new(1) }
    }

    /// Polls before the core is yielded for the first time.
    pub fn spins(&self) -> u32 {
        self.spins.load(Relaxed)
    }

    /// Sets [`Self::spins`]; rounded up to multiples of 32.
    pub fn set_spins(&self, polls: u32) {
        self.spins.store(polls, Relaxed);
    }

    /// Yields, each followed by a poll, before sleeping.
    pub fn yields(&self) -> u32 {
        self.yields.load(Relaxed)
    }

    /// Sets [`Self::yields`].
    pub fn set_yields(&self, yields: u32) {
        self.yields.store(yields, Relaxed);
    }

    /// Whether waiting ends in sleep; otherwise it yields repeatedly.
    pub fn sleeps(&self) -> bool {
        self.sleep.load(Relaxed) != 0
    }

    /// Sets [`Self::sleeps`].
    pub fn set_sleeps(&self, sleep: bool) {
        self.sleep.store(sleep as u32, Relaxed);
    }
}
