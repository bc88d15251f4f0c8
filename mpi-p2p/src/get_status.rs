//! Reading the status of requests, which stay as they are (MPI-5.0, 3.7.6).
//!
//! A null or inactive request counts as complete with an empty status where all are meant, and is passed over where any
//! or some are.
//! Invariant: a call here completes, frees and starts no request. Callbacks of the program run with no lock held.
//! Not here: waits and tests that complete requests (`complete`).

use mpi_core::abi::MPI_REQUEST_NULL;
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_errors::Result;

use crate::awaited::Awaited;
use crate::core::Core;
use crate::engine::Engine;
use crate::request::no_such_request;

const NULL: Handle = Handle(MPI_REQUEST_NULL);

/// What a request has that counts as complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// The empty status, with an error field of `MPI_SUCCESS` (MPI-5.0, 3.7.3): the request is null or inactive.
    Empty,
    /// The status of its operation.
    Complete(Status),
}

impl Engine {
    /// The status of a request that is complete (`MPI_Request_get_status`). Errors: `MPI_ERR_REQUEST`; those of the
    /// program's callback.
    pub fn request_get_status(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Found>> {
        if !self.is_active(guard, request) {
            return Ok(Some(Found::Empty));
        }
        self.advance(guard)?;
        let status = self.status_of(guard, request)?;
        if status.is_none() {
            self.failed_test(guard);
        }
        Ok(status.map(Found::Complete))
    }

    /// The statuses of all requests if all are complete (`MPI_Request_get_status_all`): each is passed to `each` with
    /// its index. Returns whether they are. Errors: as [`Engine::request_get_status`].
    pub fn request_get_status_all(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Found),
    ) -> Result<bool> {
        self.check_all(guard, requests)?;
        self.advance(guard)?;
        let core = &mut self.state.get_mut(guard).core;
        if !requests.iter().all(|request| *request == NULL || matches!(core.status_if_done(*request), Some(Some(_)))) {
            self.failed_test(guard);
            return Ok(false);
        }
        for (index, request) in requests.iter().enumerate() {
            match self.is_active(guard, *request) {
                false => each(index, Found::Empty),
                true => each(index, self.status_of(guard, *request)?.map_or(Found::Empty, Found::Complete)),
            }
        }
        Ok(true)
    }

    /// The first of several active requests that is complete (`MPI_Request_get_status_any`), with its index.
    /// `Some(None)` when none is active, `None` when none is complete. Errors: as [`Engine::request_get_status`].
    pub fn request_get_status_any(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
    ) -> Result<Option<Option<(usize, Status)>>> {
        if !self.check_for_active(guard, requests)? {
            return Ok(Some(None));
        }
        self.advance(guard)?;
        for (index, request) in requests.iter().enumerate() {
            if self.is_active(guard, *request)
                && let Some(status) = self.status_of(guard, *request)?
            {
                return Ok(Some(Some((index, status))));
            }
        }
        self.failed_test(guard);
        Ok(None)
    }

    /// The statuses of those active requests that are complete (`MPI_Request_get_status_some`): each is passed to
    /// `each` with its index. Returns their number; `None` when no request is active. Errors: as
    /// [`Engine::request_get_status`].
    pub fn request_get_status_some(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Status),
    ) -> Result<Option<usize>> {
        if !self.check_for_active(guard, requests)? {
            return Ok(None);
        }
        self.advance(guard)?;
        let mut complete = 0;
        for (index, request) in requests.iter().enumerate() {
            if self.is_active(guard, *request)
                && let Some(status) = self.status_of(guard, *request)?
            {
                each(index, status);
                complete += 1;
            }
        }
        if complete == 0 {
            self.failed_test(guard);
        }
        Ok(Some(complete))
    }

    /// Waits until at least one of several requests is complete, and returns the indices of all that are; empty when there
    /// are none. The requests stay as they are. An inactive or null request counts as complete. Errors:
    /// `MPI_ERR_REQUEST`.
    pub fn await_some(&self, guard: Guard<'_>, requests: &[Handle]) -> Result<Vec<usize>> {
        self.check_all(&guard, requests)?;
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.block(guard, Awaited::Any(requests), |state| {
            let complete = (0..requests.len()).filter(|index| state.core.is_over(requests[*index]));
            Some(complete.collect::<Vec<_>>()).filter(|complete| !complete.is_empty())
        })
    }

    /// As [`Engine::await_some`], without waiting.
    pub fn complete_requests(&self, guard: &mut Guard<'_>, requests: &[Handle]) -> Result<Vec<usize>> {
        self.check_all(guard, requests)?;
        self.advance(guard)?;
        let core = &mut self.state.get_mut(guard).core;
        let complete: Vec<usize> = (0..requests.len()).filter(|index| core.is_over(requests[*index])).collect();
        if complete.is_empty() && !requests.is_empty() {
            self.failed_test(guard);
        }
        Ok(complete)
    }

    /// Waits until all of several requests are complete. The requests stay as they are. Errors: as
    /// [`Engine::await_some`].
    pub fn await_all(&self, guard: Guard<'_>, requests: &[Handle]) -> Result<()> {
        self.check_all(&guard, requests)?;
        let mut next = 0;
        self.block(guard, Awaited::All(requests), |state| {
            while next < requests.len() && state.core.is_over(requests[next]) {
                next += 1;
            }
            (next == requests.len()).then_some(())
        })
    }

    pub(crate) fn is_active(&self, guard: &Guard<'_>, request: Handle) -> bool {
        request != NULL && !self.state.get(guard).core.is_inactive(request)
    }

    /// The status of a request if it is complete, as its callbacks fill it.
    fn status_of(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Status>> {
        let core = &mut self.state.get_mut(guard).core;
        match core.status_if_done(request).ok_or_else(|| no_such_request(request))? {
            Some(status) if request.is(Kind::Recipe) => self.queried(guard, request, status).map(Some),
            status => Ok(status),
        }
    }
}

impl Core {
    /// Whether a request is complete, inactive, null, or gone because another thread has completed it.
    fn is_over(&mut self, request: Handle) -> bool {
        request == NULL || self.is_inactive(request) || !matches!(self.status_if_done(request), Some(None))
    }
}
