//! Messages that complete operations of this process: those of operations with requests, and those that a thread's flush
//! waits for.
//!
//! Invariant: `parts` counts the messages of each target that are under way, so that every flush waits for all of them.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use super::{Operation, WinService};
use crate::replies::Part;

/// An operation with a request, of which messages are under way.
#[derive(Debug)]
pub(super) struct Requested {
    left: usize,
    error: Option<Error>,
}

impl WinService {
    /// Whether messages that complete operations on these ranks are under way.
    #[inline]
    pub fn has_parts(&self, ranks: Range<u32>) -> bool {
        let (all, sum) = self.parts.split_at(self.parts.len() - 1);
        let ranks = ranks.start as usize..ranks.end as usize;
        sum[0].load(Relaxed) > 0 && all[ranks].iter().any(|count| count.load(Relaxed) > 0)
    }

    /// So many more messages of operations on the memory of `rank` are under way, or fewer.
    pub fn count_parts(&self, _guard: &mut Guard<'_>, rank: u32, change: i64) {
        for count in [&self.parts[rank as usize], &self.parts[self.parts.len() - 1]] {
            count.store(count.load(Relaxed).wrapping_add_signed(change), Relaxed);
        }
    }

    /// The request of an operation whose messages are about to be sent, for [`WinService::begin_parts`]. Errors:
    /// `MPI_ERR_INTERN` when there are too many requests.
    pub fn request(&self, engine: &Engine, guard: &mut Guard<'_>) -> Result<Handle> {
        engine.collective_request(guard, [self.context; 2])
    }

    /// These messages of an operation on the memory of `rank` are under way; its request is complete when they are. `error`
    /// is that of a message that could not be sent.
    pub fn begin_parts(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        (rank, request): (u32, Handle),
        parts: Vec<Part>,
        error: Option<Error>,
    ) {
        if parts.is_empty() {
            engine.finish_collective(guard, request, [self.context; 2], error);
            return;
        }
        self.state.get_mut(guard).requested.insert(request, Requested { left: parts.len(), error });
        self.count_parts(guard, rank, parts.len() as i64);
        for Part { message, reply, kept } in parts {
            self.begin(engine, guard, message, Operation::Part { rank, request, reply, _kept: kept });
        }
    }

    /// A message of an operation with a request is complete; so is the request when it was the last one.
    pub(super) fn part_complete(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        (rank, request): (u32, Handle),
        error: Option<Error>,
    ) {
        self.count_parts(guard, rank, -1);
        let requested = &mut self.state.get_mut(guard).requested;
        let Some(operation) = requested.get_mut(&request) else { return };
        operation.left -= 1;
        if let Some(error) = error {
            operation.error.get_or_insert(error);
        }
        if operation.left == 0 {
            let error = requested.remove(&request).and_then(|operation| operation.error);
            engine.finish_collective(guard, request, [self.context; 2], error);
        }
    }
}
