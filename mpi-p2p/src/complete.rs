//! Completing requests: wait and test, for one, any, some and all (MPI-4.1, 3.7.3 to 3.7.5).
//!
//! `MPI_REQUEST_NULL` stands for an operation long complete. A handle that names no request is an error before
//! anything else happens.
//! Invariant: a request whose completion was given out is gone from the table.

use mpi_core::abi::{MPI_ERR_REQUEST, MPI_REQUEST_NULL};
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_errors::{Error, Result};

use crate::cancel::Sent;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::request::{Completion, Request, too_many_requests};

const NULL: Handle = Handle(MPI_REQUEST_NULL);

impl Engine {
    /// Waits for one request.
    #[inline]
    pub fn wait(&self, guard: Guard<'_>, request: Handle) -> Result<Completion> {
        if request == NULL {
            return Ok(Completion::empty());
        }
        self.block(guard, |state| match state.core.take_if_done(request) {
            None => Some(Err(no_such_request(request))),
            Some(None) => None,
            Some(Some(completion)) => Some(Ok(completion)),
        })?
    }

    /// Tests one request; its completion if it is done.
    #[inline]
    pub fn test(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Completion>> {
        if request == NULL {
            return Ok(Some(Completion::empty()));
        }
        let state = self.state.get_mut(guard);
        state.progress()?;
        let taken = state.core.take_if_done(request).ok_or_else(|| no_such_request(request))?;
        if taken.is_none() {
            state.core.instruments.failed_tests.incr();
        }
        Ok(taken)
    }

    /// The status of a request that is complete, leaving the request as it is.
    pub fn request_get_status(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Status>> {
        if request == NULL {
            return Ok(Some(Status::EMPTY));
        }
        let state = self.state.get_mut(guard);
        state.progress()?;
        let status = state.core.status_if_done(request).ok_or_else(|| no_such_request(request))?;
        if status.is_none() {
            state.core.instruments.failed_tests.incr();
        }
        Ok(status)
    }

    /// Waits for one of several. `None` when all are null; else the index of the one, and its completion.
    pub fn wait_any(&self, guard: Guard<'_>, requests: &[Handle]) -> Result<Option<(usize, Completion)>> {
        self.check_all(&guard, requests)?;
        let mut seen = None;
        self.block(guard, move |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            state.take_any(requests)
        })
    }

    /// Tests several for one. `Some(None)` when all are null, `None` when none is done.
    pub fn test_any(&self, guard: &mut Guard<'_>, requests: &[Handle]) -> Result<Option<Option<(usize, Completion)>>> {
        self.check_all(guard, requests)?;
        let state = self.state.get_mut(guard);
        state.progress()?;
        let taken = state.take_any(requests);
        if taken.is_none() {
            state.core.instruments.failed_tests.incr();
        }
        Ok(taken)
    }

    /// Waits for at least one of several and gives all that are done to `each`, with their indices.
    /// `None` when all are null; else how many were given.
    pub fn wait_some(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        self.check_all(&guard, requests)?;
        if requests.iter().all(|request| *request == NULL) {
            return Ok(None);
        }
        let mut seen = None;
        self.block(guard, |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            let taken = state.take_some(requests, &mut each);
            (taken > 0).then_some(Some(taken))
        })
    }

    /// Tests several and gives all that are done to `each`. `None` when all are null; else how many were given.
    pub fn test_some(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        self.check_all(guard, requests)?;
        if requests.iter().all(|request| *request == NULL) {
            return Ok(None);
        }
        let state = self.state.get_mut(guard);
        state.progress()?;
        let taken = state.take_some(requests, &mut each);
        if taken == 0 {
            state.core.instruments.failed_tests.incr();
        }
        Ok(Some(taken))
    }

    /// Waits for all and gives each completion to `each`, in the order of the list.
    #[inline]
    pub fn wait_all(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<()> {
        self.check_all(&guard, requests)?;
        let mut next = 0;
        self.block(guard, move |state| {
            while next < requests.len() {
                if requests[next] == NULL {
                    each(next, Completion::empty());
                } else {
                    match state.core.take_if_done(requests[next]) {
                        Some(None) => return None,
                        Some(Some(completion)) => each(next, completion),
                        // The list named it twice, or another thread completed it.
                        None => return Some(Err(no_such_request(requests[next]))),
                    }
                }
                next += 1;
            }
            Some(Ok(()))
        })?
    }

    /// If all are done, gives each completion to `each` and says so; else changes nothing.
    pub fn test_all(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<bool> {
        self.check_all(guard, requests)?;
        let state = self.state.get_mut(guard);
        state.progress()?;
        let core = &mut state.core;
        let done = |request: &Handle| *request == NULL || matches!(core.status_if_done(*request), Some(Some(_)));
        if !requests.iter().all(done) {
            core.instruments.failed_tests.incr();
            return Ok(false);
        }
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL {
                each(index, Completion::empty());
                continue;
            }
            match core.take_if_done(*request) {
                Some(Some(completion)) => each(index, completion),
                _ => return Err(no_such_request(*request)),
            }
        }
        Ok(true)
    }

    /// Gives a request up: it completes by itself (MPI-4.1, 3.7.3).
    pub fn request_free(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        match core.take_if_done(request) {
            None => Err(no_such_request(request)),
            Some(Some(_)) => Ok(()),
            Some(None) => {
                core.detach(request);
                Ok(())
            }
        }
    }

    /// Asks for an operation to be cancelled; its completion tells whether it was (MPI-4.1, 3.8.4).
    pub fn cancel(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let state = self.state.get_mut(guard);
        if state.core.request_context(request).is_none() {
            return Err(no_such_request(request));
        }
        state.cancel(request);
        Ok(())
    }

    #[inline]
    fn check_all(&self, guard: &Guard<'_>, requests: &[Handle]) -> Result<()> {
        let core = &self.state.get(guard).core;
        match requests.iter().position(|request| *request != NULL && core.request_context(*request).is_none()) {
            None => Ok(()),
            Some(index) => Err(no_such_request(requests[index]).arg("index", &index)),
        }
    }
}

impl State {
    /// `Some(None)` when all are null; the first that is done; `None` when none is.
    fn take_any(&mut self, requests: &[Handle]) -> Option<Option<(usize, Completion)>> {
        let mut active = false;
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL {
                continue;
            }
            active = true;
            if let Some(Some(completion)) = self.core.take_if_done(*request) {
                return Some(Some((index, completion)));
            }
        }
        if active { None } else { Some(None) }
    }

    fn take_some(&mut self, requests: &[Handle], each: &mut impl FnMut(usize, Completion)) -> usize {
        let mut taken = 0;
        for (index, request) in requests.iter().enumerate() {
            if *request != NULL
                && let Some(Some(completion)) = self.core.take_if_done(*request)
            {
                each(index, completion);
                taken += 1;
            }
        }
        taken
    }
}

impl Core {
    /// A request for a send that is over already.
    #[inline]
    pub fn sent_request(&mut self, context: u32, dest: i32, bytes: u64) -> Result<Handle> {
        self.sent.insert(Sent { context, dest, bytes, asked: false }).map_err(|_| too_many_requests())
    }

    /// A request that the program has not let go of.
    #[inline]
    fn live(&self, handle: Handle) -> Option<&Request> {
        self.requests.get(handle).filter(|request| !request.is_detached())
    }

    /// The context of a request's operation; `None` for no such request.
    #[inline]
    pub fn request_context(&self, handle: Handle) -> Option<u32> {
        match handle.is(Kind::Sent) {
            true => self.sent.get(handle).map(|sent| sent.context),
            false => self.live(handle).map(|request| request.context),
        }
    }

    /// The status of a request, once it is done. `None` for no such request.
    #[inline]
    fn status_if_done(&mut self, handle: Handle) -> Option<Option<Status>> {
        match handle.is(Kind::Sent) {
            true if self.cancel_requests.is_empty() => self.sent.get(handle).map(|_| Some(Status::EMPTY)),
            true => self.sent.get(handle).copied().map(|_| self.answer(handle, false)),
            false => self.live(handle).map(|request| request.is_done().then_some(request.status)),
        }
    }

    /// The completion of a request, if it is done; the request is gone then. `None` for no such request.
    #[inline]
    pub fn take_if_done(&mut self, handle: Handle) -> Option<Option<Completion>> {
        if handle.is(Kind::Sent) {
            let mut status = Status::EMPTY;
            if !self.cancel_requests.is_empty() {
                self.sent.get(handle)?;
                match self.answer(handle, true) {
                    None => return Some(None),
                    Some(answer) => status = answer,
                }
            }
            let sent = self.sent.remove(handle)?;
            if sent.asked {
                self.end_asked(handle);
            }
            return Some(Some(Completion { status, error: None, context: Some(sent.context) }));
        }
        if !self.live(handle)?.is_done() {
            return Some(None);
        }
        Some(self.drop_request(handle).map(Request::into_completion))
    }
}

#[cold]
fn no_such_request(request: Handle) -> Error {
    Error::new(MPI_ERR_REQUEST, "it names no request of this process: it was completed, freed, or never made")
        .arg("request", &format_args!("{:#x}", request.0))
}
