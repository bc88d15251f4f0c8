//! Operations of this process that have requests: their messages, and the completion of the request with the last one.
//!
//! Invariant: `parts` counts the messages of each target that are under way.

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
    /// Whether messages of operations with requests on these ranks are under way.
    pub fn has_parts(&self, ranks: &[u32]) -> bool {
        ranks.iter().any(|rank| self.parts[*rank as usize].load(Relaxed) > 0)
    }

    /// The request of an operation on the memory of `rank` that is complete when these messages are. Errors:
    /// `MPI_ERR_INTERN` when there are too many requests.
    pub fn request(&self, engine: &Engine, guard: &mut Guard<'_>, rank: u32, parts: Vec<Part>) -> Result<Handle> {
        let request = engine.collective_request(guard, [self.context; 2])?;
        let requested = Requested { left: parts.len(), error: None };
        self.state.get_mut(guard).requested.insert(request, requested);
        let count = &self.parts[rank as usize];
        count.store(count.load(Relaxed) + parts.len() as u64, Relaxed);
        for Part { message, reply, kept } in parts {
            self.begin(engine, guard, message, Operation::Part { rank, request, reply, _kept: kept });
        }
        Ok(request)
    }

    /// A message of an operation with a request is complete; so is the request when it was the last one.
    pub(super) fn part_complete(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        (rank, request): (u32, Handle),
        error: Option<Error>,
    ) {
        let count = &self.parts[rank as usize];
        count.store(count.load(Relaxed) - 1, Relaxed);
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
