//! Completing requests: wait and test, for one, any, some and all (MPI-4.1, 3.7.3 to 3.7.5).
//!
//! `MPI_REQUEST_NULL` stands for an operation long complete. A handle that names no request is an error before
//! anything else happens.
//! Completion is the same for every kind of request. Where the program is called to fill a status (generalized requests),
//! that happens last, with no lock held.
//! Invariant: a request whose completion was returned is no longer in its table, or persistent and inactive.

use mpi_core::abi::MPI_REQUEST_NULL;
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_errors::Result;

use crate::awaited::Awaited;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::request::{Completion, Request, Sent, no_such_request, too_many_requests};

const NULL: Handle = Handle(MPI_REQUEST_NULL);

impl Engine {
    /// Waits for one request.
    #[inline]
    pub fn wait(&self, guard: Guard<'_>, request: Handle) -> Result<Completion> {
        if request == NULL {
            return Ok(Completion::empty());
        }
        self.block(guard, Awaited::One(request), |state| match state.core.take_if_done(request) {
            None => Some(Err(no_such_request(request))),
            Some(None) => None,
            Some(Some(completion)) => Some(Ok(completion)),
        })?
        .map(Completion::queried)
    }

    /// Tests one request; its completion if it is done.
    #[inline]
    pub fn test(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Completion>> {
        if request == NULL {
            return Ok(Some(Completion::empty()));
        }
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        let taken = state.core.take_if_done(request).ok_or_else(|| no_such_request(request))?;
        match taken {
            None => state.core.instruments.failed_tests.incr(),
            Some(completion) if completion.has_callbacks() => return Ok(Some(guard.unlocked(|| completion.queried()))),
            Some(_) => {}
        }
        Ok(taken)
    }

    /// The status of a request that is complete, leaving the request as it is.
    pub fn request_get_status(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Status>> {
        if request == NULL {
            return Ok(Some(Status::EMPTY));
        }
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        let status = state.core.status_if_done(request).ok_or_else(|| no_such_request(request))?;
        match status {
            None => state.core.instruments.failed_tests.incr(),
            Some(status) if request.is(Kind::Recipe) => return self.queried(guard, request, status).map(Some),
            Some(_) => {}
        }
        Ok(status)
    }

    /// Waits for one of several. `None` when all are null; else the index of the one, and its completion.
    pub fn wait_any(&self, guard: Guard<'_>, requests: &[Handle]) -> Result<Option<(usize, Completion)>> {
        self.check_all(&guard, requests)?;
        let mut seen = None;
        self.block(guard, Awaited::Any(requests), move |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            state.take_any(requests)
        })
        .map(|taken| taken.map(|(index, completion)| (index, completion.queried())))
    }

    /// Tests several for one. `Some(None)` when all are null, `None` when none is done.
    pub fn test_any(&self, guard: &mut Guard<'_>, requests: &[Handle]) -> Result<Option<Option<(usize, Completion)>>> {
        self.check_all(guard, requests)?;
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        match state.take_any(requests) {
            None => {
                state.core.instruments.failed_tests.incr();
                Ok(None)
            }
            Some(Some((index, completion))) if completion.has_callbacks() => {
                Ok(Some(Some((index, guard.unlocked(|| completion.queried())))))
            }
            taken => Ok(taken),
        }
    }

    /// Waits for at least one of several and passes all that are done to `each`, with their indices. Returns `None`
    /// when all are null; else how many were passed.
    pub fn wait_some(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        if !self.check_all(&guard, requests)? {
            return Ok(None);
        }
        let (mut seen, mut later) = (None, Vec::new());
        let taken = self.block(guard, Awaited::Any(requests), |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            let taken = state.take_some(requests, &mut each, &mut later);
            (taken > 0).then_some(Some(taken))
        });
        later.into_iter().for_each(|(index, completion): (usize, Completion)| each(index, completion.queried()));
        taken
    }

    /// Tests several and passes all that are done to `each`. Returns `None` when all are null; else how many were
    /// passed.
    pub fn test_some(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        if !self.check_all(guard, requests)? {
            return Ok(None);
        }
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        let mut later = Vec::new();
        let taken = state.take_some(requests, &mut each, &mut later);
        if taken == 0 {
            state.core.instruments.failed_tests.incr();
        }
        give(guard, later, &mut each);
        Ok(Some(taken))
    }

    /// Waits for all and passes each completion to `each`, in the order of the list.
    #[inline]
    pub fn wait_all(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<()> {
        self.check_all(&guard, requests)?;
        let (mut next, mut later) = (0, Vec::new());
        let waited = self.block(guard, Awaited::All(requests), |state| {
            while next < requests.len() {
                if requests[next] == NULL {
                    each(next, Completion::empty());
                } else {
                    match state.core.take_if_done(requests[next]) {
                        Some(None) => return None,
                        Some(Some(completion)) if completion.has_callbacks() => later.push((next, completion)),
                        Some(Some(completion)) => each(next, completion),
                        // The list named it twice, or another thread completed it.
                        None => return Some(Err(no_such_request(requests[next]))),
                    }
                }
                next += 1;
            }
            Some(Ok(()))
        });
        later.into_iter().for_each(|(index, completion): (usize, Completion)| each(index, completion.queried()));
        waited?
    }

    /// If all are done, passes each completion to `each` and returns true; else changes nothing.
    pub fn test_all(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<bool> {
        self.check_all(guard, requests)?;
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        let core = &mut state.core;
        let done = |request: &Handle| *request == NULL || matches!(core.status_if_done(*request), Some(Some(_)));
        if !requests.iter().all(done) {
            core.instruments.failed_tests.incr();
            return Ok(false);
        }
        let (mut later, mut missing) = (Vec::new(), None);
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL {
                each(index, Completion::empty());
                continue;
            }
            match core.take_if_done(*request) {
                Some(Some(completion)) if completion.has_callbacks() => later.push((index, completion)),
                Some(Some(completion)) => each(index, completion),
                _ => {
                    missing = Some(*request);
                    break;
                }
            }
        }
        give(guard, later, &mut each);
        missing.map_or(Ok(true), |request| Err(no_such_request(request)))
    }

    /// Frees a request without waiting for it: its operation completes by itself (MPI-4.1, 3.7.3).
    pub fn request_free(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        if request.is(Kind::Recipe) {
            return self.free_recipe(guard, request);
        }
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

    /// Checks that each handle is null or names a request, and returns whether any of the requests is active.
    #[inline]
    fn check_all(&self, guard: &Guard<'_>, requests: &[Handle]) -> Result<bool> {
        let core = &self.state.get(guard).core;
        let mut active = false;
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL {
                continue;
            }
            if core.request_context(*request).is_none() {
                return Err(no_such_request(*request).arg("index", &index));
            }
            active |= !core.is_inactive(*request);
        }
        Ok(active)
    }
}

impl State {
    /// `Some(None)` when all are null; the first that is done; `None` when none is.
    fn take_any(&mut self, requests: &[Handle]) -> Option<Option<(usize, Completion)>> {
        let mut active = false;
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL || self.core.is_inactive(*request) {
                continue;
            }
            active = true;
            if let Some(Some(completion)) = self.core.take_if_done(*request) {
                return Some(Some((index, completion)));
            }
        }
        if active { None } else { Some(None) }
    }

    /// Gives all that are done to `each`; those for which the program is to be called go to `later`.
    fn take_some(
        &mut self,
        requests: &[Handle],
        each: &mut impl FnMut(usize, Completion),
        later: &mut Vec<(usize, Completion)>,
    ) -> usize {
        let mut taken = 0;
        for (index, request) in requests.iter().enumerate() {
            if *request != NULL
                && !self.core.is_inactive(*request)
                && let Some(Some(completion)) = self.core.take_if_done(*request)
            {
                match completion.has_callbacks() {
                    true => later.push((index, completion)),
                    false => each(index, completion),
                }
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
        self.sent.insert(Sent { context, dest, bytes, has_handle: false }).map_err(|_| too_many_requests())
    }

    /// A request that the program has not freed.
    #[inline]
    fn live(&self, handle: Handle) -> Option<&Request> {
        self.requests.get(handle).filter(|request| !request.is_detached())
    }

    /// The context of a request's operation; `None` for no such request.
    #[inline]
    pub fn request_context(&self, handle: Handle) -> Option<u32> {
        match handle.is(Kind::Sent) {
            true => self.sent.get(handle).map(|sent| sent.context),
            false => match self.live(handle) {
                Some(request) => Some(request.context),
                None => self.recipe_context(handle),
            },
        }
    }

    /// The status of a request, once it is done. `None` for no such request.
    #[inline]
    pub fn status_if_done(&mut self, handle: Handle) -> Option<Option<Status>> {
        match handle.is(Kind::Sent) {
            true if self.cancel_requests.is_empty() => self.sent.get(handle).map(|_| Some(Status::EMPTY)),
            true => self.sent.get(handle).copied().map(|_| self.answer(handle, false)),
            false => match self.live(handle) {
                Some(request) => Some(request.is_done().then_some(request.status)),
                None => self.recipe_status(handle),
            },
        }
    }

    /// The completion of a request, if it is done; the request is removed then. `None` for no such request.
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
            if sent.has_handle {
                self.end_request_handles(handle);
            }
            return Some(Some(Completion { status, error: None, context: Some(sent.context), ending: None }));
        }
        match self.live(handle) {
            Some(request) if request.is_done() => {}
            Some(_) => return Some(None),
            None => return self.take_recipe_if_done(handle),
        }
        Some(self.drop_request(handle).map(Request::into_completion))
    }
}

/// Calls the program for these completions, without the lock, and gives them to `each`.
#[inline]
fn give(guard: &mut Guard<'_>, later: Vec<(usize, Completion)>, each: &mut impl FnMut(usize, Completion)) {
    if !later.is_empty() {
        guard.unlocked(|| {
            later.into_iter().for_each(|(index, completion)| each(index, completion.queried()));
        });
    }
}
