//! Progress: one pass advances all pending operations while the process is inside the library (MPI-4.1, 3.5 and 2.9).
//!
//! Invariant: with nothing under way but receives, a pass is one poll of the rings and three compares.

use mpi_errors::{Error, Result};

use crate::core::{Core, State};

impl State {
    /// One pass: takes what arrived, answers it, pushes what waited. Returns how many things moved.
    #[inline]
    pub fn progress(&mut self) -> Result<usize> {
        self.core.instruments.polls.incr();
        let mut moved = match self.endpoint.poll(&mut self.core) {
            Ok(moved) => moved,
            Err(fault) => return Err(self.core.fail_waits(fault)),
        };
        if self.core.has_work() {
            moved = self.carry_on(moved)?;
        }
        if moved > 0 {
            self.core.wake_on_any_change();
        }
        Ok(moved)
    }

    #[inline(never)]
    pub fn carry_on(&mut self, moved: usize) -> Result<usize> {
        let State { endpoint, core, .. } = self;
        if let Some(fault) = core.fault.take() {
            return Err(core.fail_waits(fault));
        }
        let before = core.pending();
        let completions = core.completions;
        if !core.copy_requests.is_empty() {
            core.copy_requested_chunks(endpoint);
        }
        if !core.matched.is_empty() {
            core.carry_out_matched(endpoint);
        }
        if !core.shares.is_empty() {
            core.complete_shared_copies(endpoint);
        }
        if !core.replies.is_empty() {
            core.flush_replies(endpoint);
        }
        if core.backlogged > 0 {
            core.flush_backlog(endpoint);
        }
        if !core.streams.is_empty() {
            core.feed_streams(endpoint);
        }
        if !core.partitions.pending.is_empty() {
            core.send_pending_partitions(endpoint);
        }
        if core.waiters.any_watchful() && (core.wants_to_push() || core.services.wait_for_call() > 0) {
            // It may sleep, and no doorbell announces this.
            core.waiters.wake_leader();
        }
        let worked = core.pending() != before || core.completions != completions || core.services.wait_for_call() > 0;
        Ok(moved + usize::from(worked))
    }
}

impl Core {
    /// Whether a pass has more to do than to poll.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.backlogged
            | self.replies.len()
            | self.streams.len()
            | self.matched.len()
            | self.shares.len()
            | self.copy_requests.len()
            | self.partitions.pending.len()
            | self.services.wait_for_call()
            | usize::from(self.fault.is_some())
            != 0
    }

    /// How often a waiting call polls at once, before it settles down to wait: a microsecond or so where every process
    /// has a core, next to nothing where another process needs this one.
    #[inline]
    pub fn first_polls(&self) -> u32 {
        self.settings.wait_spins.get().clamp(2, 128)
    }

    /// Ends the waits of all threads of the process with a fault, which the calling thread reports.
    #[cold]
    pub fn fail_waits(&mut self, fault: Error) -> Error {
        self.waiters.fail_all(&fault);
        fault
    }

    /// A measure of what waits, to see whether a pass moved anything.
    fn pending(&self) -> (usize, usize, usize) {
        let partitions = self.partitions.pending.len();
        (self.backlogged, self.replies.len() + self.matched.len() + partitions, self.streams.len() + self.shares.len())
    }

    /// Whether something waits for room in a ring or for a chunk another process copies: no doorbell rings for those, so
    /// a thread that waits keeps polling.
    pub fn wants_to_push(&self) -> bool {
        self.backlogged > 0
            || !self.replies.is_empty()
            || !self.streams.is_empty()
            || !self.shares.is_empty()
            || !self.partitions.pending.is_empty()
    }
}
