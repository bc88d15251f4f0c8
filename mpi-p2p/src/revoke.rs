//! Revoking requests after a fault, before their buffers become invalid.
//!
//! Invariant: when a revoke returns, no other process copies into the buffers of the requests, and no thread of this
//! process copies from or into them.
//! Not here: cancelling (`cancel`), the pins of copiers (`copy_job`).

use std::thread::yield_now;

use mpi_core::Handle;

use crate::core::State;
use crate::engine::Engine;
use crate::request::Work;

impl State {
    /// Revokes a request. While a thread or another process may still copy from or into its buffer, the request stays
    /// in its table, detached; the count of the last part, or [`crate::core::Core::complete_copies`], drops it.
    #[cold]
    fn revoke(&mut self, request: Handle) {
        self.take_back(request);
        let State { core, endpoint, .. } = self;
        core.matched.retain(|matched| matched.request != request);
        if core.close_copies(endpoint, request) {
            return;
        }
        if let Some(under_way) = core.requests.get_mut(request)
            && let Work::Receiving { from, wanted, got, .. } = under_way.work
        {
            under_way.work = Work::Discarding { from, wanted, got };
            core.detach(request);
            return;
        }
        core.drop_request(request);
    }
}

impl Engine {
    /// Revokes requests after a fault, before their buffers become invalid. Waits, without the process's lock, while a
    /// thread or another process copies from or into one of the buffers; after the call none does.
    #[cold]
    pub fn revoke(&self, requests: &[Handle]) {
        let mut guard = self.lock();
        let state = self.state.get_mut(&mut guard);
        for request in requests {
            state.revoke(*request);
        }
        loop {
            let State { core, endpoint, .. } = self.state.get_mut(&mut guard);
            core.complete_copies(endpoint);
            if !requests.iter().any(|request| core.copies.has(*request)) {
                return;
            }
            // A claimed part takes microseconds, unless the thread that claimed it is stopped.
            drop(guard);
            yield_now();
            guard = self.lock();
        }
    }
}
