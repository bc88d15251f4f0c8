//! Progress: one pass advances all pending operations while the process is inside the library (MPI-4.1, 3.5 and 2.9).
//!
//! Invariant: while only receives are under way, a pass is one poll of the rings and three compares.
//! Not here: what a pass does with the lock released (`copying`), calls of services (`service`).

use mpi_errors::{Error, Result};
use mpi_fabric::Endpoint;

use crate::core::{Core, State};

impl State {
    /// Handles what arrived. Returns the number of records.
    #[inline]
    pub fn poll(&mut self) -> Result<usize> {
        self.core.instruments.polls.incr();
        self.endpoint.poll(&mut self.core).map_err(|fault| self.core.fail_waits(fault))
    }

    /// Answers what arrived and pushes queued records; does not copy long messages. Returns the number of steps that
    /// made progress, with the `moved` ones before.
    #[inline(never)]
    pub fn advance_pending(&mut self, moved: usize) -> Result<usize> {
        if let Some(fault) = self.core.fault.take() {
            return Err(self.core.fail_waits(fault));
        }
        let State { endpoint, core, .. } = self;
        let before = core.pending();
        let completions = core.completions;
        if core.lost_reported {
            core.fail_lost(endpoint);
        }
        endpoint.gathering(|endpoint| core.push_pending(endpoint));
        if !core.room_waits.is_empty() {
            core.serve_room_waits();
        }
        core.wake_leader_for_work();
        let worked = core.pending() != before || core.completions != completions || core.services.wait_for_call() > 0;
        Ok(moved + usize::from(worked))
    }
}

impl Core {
    /// Pushes what has waited, and what is to be answered.
    fn push_pending(&mut self, endpoint: &mut Endpoint) {
        if !self.copy_requests.is_empty() {
            self.begin_requested_copies(endpoint);
        }
        if !self.matched.is_empty() {
            self.start_matched_transfers(endpoint);
        }
        if !self.copies.list.is_empty() {
            self.complete_copies(endpoint);
        }
        if !self.replies.is_empty() {
            self.flush_replies(endpoint);
        }
        if self.backlogged > 0 {
            self.flush_backlog(endpoint);
        }
        if !self.streams.is_empty() {
            self.feed_streams(endpoint);
        }
        if !self.partitions.pending.is_empty() {
            self.send_pending_partitions(endpoint);
        }
    }

    /// Whether a pass has more to do than to poll.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.backlogged
            | self.replies.len()
            | self.streams.len()
            | self.matched.len()
            | self.copies.list.len()
            | self.copy_requests.len()
            | self.partitions.pending.len()
            | self.services.wait_for_call()
            | self.room_waits.len()
            | usize::from(self.fault.is_some() | self.lost_reported)
            != 0
    }

    /// Whether a pass has to call services or to copy.
    #[inline]
    pub fn has_calls(&self) -> bool {
        self.services.wait_for_call() | self.copies.open != 0
    }

    /// How often a waiting call polls before it begins to yield or sleep: for about a microsecond where every process
    /// has a core, a few times where another process needs this core; not at all beside a thread that copies over a network, for which
    /// the one that polls for others does not wait.
    #[inline]
    pub fn first_polls(&self) -> u32 {
        if self.copies.is_awaited() {
            return 0;
        }
        self.settings.wait_spins.get().clamp(2, 128)
    }

    /// Ends the waits of all threads of the process with a fault, which the calling thread reports.
    #[cold]
    pub fn fail_waits(&mut self, fault: Error) -> Error {
        self.waiters.fail_all(&fault);
        fault
    }

    /// The lengths of the queues; a pass compares them before and after to find out whether it made progress.
    fn pending(&self) -> (usize, usize, usize) {
        let queues = self.replies.len() + self.matched.len() + self.partitions.pending.len();
        (self.backlogged, queues, self.streams.len() + self.copies.list.len())
    }

    /// Whether something waits for room in a ring or for a chunk another process copies: no doorbell rings for those,
    /// so a thread that waits keeps polling.
    pub fn has_pushes_waiting(&self) -> bool {
        let pushes = self.backlogged > 0 || !self.replies.is_empty() || !self.streams.is_empty();
        pushes || !self.partitions.pending.is_empty() || self.copies.await_chunks() || self.copies.is_refused()
    }

    /// Wakes the leader if there is work for it: it may sleep, and no doorbell rings for that work.
    pub fn wake_leader_for_work(&mut self) {
        if self.waiters.any_watchful()
            && (self.has_pushes_waiting() || self.services.wait_for_call() > 0 || self.copies.open > 0)
        {
            self.waiters.wake_leader();
        }
    }
}
