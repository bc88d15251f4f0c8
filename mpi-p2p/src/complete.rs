//! Completing requests: wait and test, for one, any, some and all (MPI-4.1, 3.7.3 to 3.7.5).
//!
//! `MPI_REQUEST_NULL` stands for an operation long complete. A handle that names no request is an error before
//! anything else happens. A handle that a list has twice completes at its first place and is null at the others.
//! Completion is the same for every kind of request. Where the program is called to fill a status (generalized
//! requests), that happens last, with no lock held.
//! Invariant: a request whose completion was returned is no longer in its table, or persistent and inactive.

use std::collections::HashMap;

use mpi_core::abi::MPI_REQUEST_NULL;
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_errors::Result;
use mpi_fabric::Mark;

use crate::awaited::Awaited;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::request::{Completion, Request, no_such_request};

const NULL: Handle = Handle(MPI_REQUEST_NULL);

impl Engine {
    /// Waits for one request.
    #[inline]
    pub fn wait(&self, guard: Guard<'_>, request: Handle) -> Result<Completion> {
        self.wait_recorded(guard, request, None)
    }

    /// As [`Engine::wait`]; a wait that gets long records what it waits for in the call's entry.
    #[inline(always)] // an operation that was complete when it was started is complete here
    pub fn wait_recorded(&self, mut guard: Guard<'_>, request: Handle, entry: Option<Mark<'_>>) -> Result<Completion> {
        match self.state.get_mut(&mut guard).core.take_at_once(request) {
            Some(completion) => Ok(completion),
            None => self.wait_for_one(guard, request, entry),
        }
    }

    #[inline(never)]
    fn wait_for_one(&self, mut guard: Guard<'_>, request: Handle, entry: Option<Mark<'_>>) -> Result<Completion> {
        if request == NULL {
            return Ok(Completion::empty());
        }
        self.state.get_mut(&mut guard).core.await_end(&[request]);
        // Beside the result of the wait, so that it is moved once.
        let mut completion = None;
        self.block(guard, Awaited::One(request).recorded(entry), |state| match state.core.take_if_done(request) {
            None => Some(()),
            Some(None) => None,
            done => {
                completion = done.flatten();
                Some(())
            }
        })?;
        match completion {
            Some(completion) => Ok(self.called_back(request, completion)),
            None => Err(no_such_request(request)),
        }
    }

    /// Tests one request; its completion if it is done.
    #[inline]
    pub fn test(&self, guard: &mut Guard<'_>, request: Handle) -> Result<Option<Completion>> {
        if request == NULL {
            return Ok(Some(Completion::empty()));
        }
        self.advance_for_test(guard)?;
        let state = self.state.get_mut(guard);
        let taken = state.core.take_if_done(request).ok_or_else(|| no_such_request(request))?;
        match taken {
            None => {
                self.failed_test(guard);
            }
            Some(mut completion) if completion.has_callbacks() => {
                self.end_generalized(guard, request, &mut completion);
                return Ok(Some(completion));
            }
            Some(_) => {}
        }
        Ok(taken)
    }

    /// Waits for one of several. `None` when all are null; else the index of the one, and its completion.
    pub fn wait_any(&self, guard: Guard<'_>, requests: &[Handle]) -> Result<Option<(usize, Completion)>> {
        self.wait_any_recorded(guard, requests, None)
    }

    /// As [`Engine::wait_any`]; the entry as for [`Engine::wait_recorded`].
    pub fn wait_any_recorded(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        entry: Option<Mark<'_>>,
    ) -> Result<Option<(usize, Completion)>> {
        self.check_all(&guard, requests)?;
        let mut seen = None;
        self.block(guard, Awaited::Any(requests).recorded(entry), move |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            state.take_any(requests)
        })
        .map(|taken| taken.map(|(index, completion)| (index, self.called_back(requests[index], completion))))
    }

    /// Tests several for one. `Some(None)` when all are null, `None` when none is done.
    pub fn test_any(&self, guard: &mut Guard<'_>, requests: &[Handle]) -> Result<Option<Option<(usize, Completion)>>> {
        self.check_all(guard, requests)?;
        self.advance_for_test(guard)?;
        let state = self.state.get_mut(guard);
        match state.take_any(requests) {
            None => {
                self.failed_test(guard);
                Ok(None)
            }
            Some(Some((index, mut completion))) if completion.has_callbacks() => {
                self.end_generalized(guard, requests[index], &mut completion);
                Ok(Some(Some((index, completion))))
            }
            taken => Ok(taken),
        }
    }

    /// Waits for at least one of several and passes the completions of all that are done to `each`, with their indices;
    /// `None` for a place that names a request of an earlier place once more. Returns `None` when all are null; else
    /// how many completions were passed.
    pub fn wait_some(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        each: impl FnMut(usize, Option<Completion>),
    ) -> Result<Option<usize>> {
        self.wait_some_recorded(guard, requests, None, each)
    }

    /// As [`Engine::wait_some`]; the entry as for [`Engine::wait_recorded`].
    pub fn wait_some_recorded(
        &self,
        guard: Guard<'_>,
        requests: &[Handle],
        entry: Option<Mark<'_>>,
        mut each: impl FnMut(usize, Option<Completion>),
    ) -> Result<Option<usize>> {
        if !self.check_for_active(&guard, requests)? {
            return Ok(None);
        }
        let (mut seen, mut later) = (None, Vec::new());
        let taken = self.block(guard, Awaited::Any(requests).recorded(entry), |state| {
            if seen == Some(state.core.completions) {
                return None;
            }
            seen = Some(state.core.completions);
            let taken = state.take_some(requests, &mut each, &mut later);
            (taken > 0).then_some(Some(taken))
        });
        self.report_completions(requests, later, &mut |index, completion| each(index, Some(completion)));
        taken
    }

    /// Tests several; otherwise as [`Engine::wait_some`].
    pub fn test_some(
        &self,
        guard: &mut Guard<'_>,
        requests: &[Handle],
        mut each: impl FnMut(usize, Option<Completion>),
    ) -> Result<Option<usize>> {
        if !self.check_for_active(guard, requests)? {
            return Ok(None);
        }
        self.advance_for_test(guard)?;
        let state = self.state.get_mut(guard);
        let mut later = Vec::new();
        let taken = state.take_some(requests, &mut each, &mut later);
        if taken == 0 {
            self.failed_test(guard);
        }
        if !later.is_empty() {
            guard.unlocked(|| {
                self.report_completions(requests, later, &mut |index, completion| each(index, Some(completion)))
            });
        }
        Ok(Some(taken))
    }

    /// Waits for all and passes each completion to `each`, in the order of the list.
    #[inline]
    pub fn wait_all(&self, guard: Guard<'_>, requests: &[Handle], each: impl FnMut(usize, Completion)) -> Result<()> {
        self.wait_all_recorded(guard, requests, None, each)
    }

    /// As [`Engine::wait_all`]; the entry as for [`Engine::wait_recorded`].
    #[inline]
    pub fn wait_all_recorded(
        &self,
        mut guard: Guard<'_>,
        requests: &[Handle],
        entry: Option<Mark<'_>>,
        mut each: impl FnMut(usize, Completion),
    ) -> Result<()> {
        self.check_all(&guard, requests)?;
        self.state.get_mut(&mut guard).core.await_end(requests);
        let (mut next, mut later, mut repeats) = (0, Vec::new(), Repeats::default());
        let waited = self.block(guard, Awaited::All(requests).recorded(entry), |state| {
            while next < requests.len() {
                if requests[next] == NULL {
                    each(next, Completion::empty());
                } else if let Some(completion) = state.core.take_short(requests[next]) {
                    // The usual end of short messages, inline.
                    each(next, completion);
                } else {
                    match state.core.take_if_done(requests[next]) {
                        Some(None) => return None,
                        Some(Some(completion)) if completion.has_callbacks() => later.push((next, completion)),
                        Some(Some(completion)) => each(next, completion),
                        None if repeats.has_before(requests, next) => each(next, Completion::empty()),
                        // Another thread has completed it.
                        None => return Some(Err(no_such_request(requests[next]))),
                    }
                }
                next += 1;
            }
            Some(Ok(()))
        });
        self.report_completions(requests, later, &mut each);
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
        self.advance_for_test(guard)?;
        let state = self.state.get_mut(guard);
        let core = &mut state.core;
        let done = |request: &Handle| *request == NULL || matches!(core.status_if_done(*request), Some(Some(_)));
        if !requests.iter().all(done) {
            self.failed_test(guard);
            return Ok(false);
        }
        let (mut later, mut missing, mut repeats) = (Vec::new(), None, Repeats::default());
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL {
                each(index, Completion::empty());
                continue;
            }
            match core.take_if_done(*request) {
                Some(Some(completion)) if completion.has_callbacks() => later.push((index, completion)),
                Some(Some(completion)) => each(index, completion),
                _ if repeats.has_before(requests, index) => each(index, Completion::empty()),
                _ => {
                    missing = Some(*request);
                    break;
                }
            }
        }
        if !later.is_empty() {
            guard.unlocked(|| self.report_completions(requests, later, &mut each));
        }
        missing.map_or(Ok(true), |request| Err(no_such_request(request)))
    }

    /// Frees a request without waiting for it: its operation completes by itself (MPI-4.1, 3.7.3).
    pub fn request_free(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        if request.is(Kind::Recipe) {
            return self.free_recipe(guard, request);
        }
        let core = &mut self.state.get_mut(guard).core;
        core.refuse_collective(request, "freed")?;
        match core.take_if_done(request) {
            None => Err(no_such_request(request)),
            Some(Some(_)) => Ok(()),
            Some(None) => {
                core.detach(request);
                Ok(())
            }
        }
    }

    /// Calls the program for a completion where it is to be called; with no lock held.
    #[inline]
    fn called_back(&self, request: Handle, mut completion: Completion) -> Completion {
        if completion.has_callbacks() {
            self.end_generalized(&mut self.lock(), request, &mut completion);
        }
        completion
    }

    /// Passes completions to `each` once the program was called for them; with no lock held.
    #[inline]
    fn report_completions(
        &self,
        requests: &[Handle],
        later: Vec<(usize, Completion)>,
        each: &mut impl FnMut(usize, Completion),
    ) {
        for (index, completion) in later {
            each(index, self.called_back(requests[index], completion));
        }
    }

    /// Checks that each handle is null or names a request.
    #[inline]
    pub(crate) fn check_all(&self, guard: &Guard<'_>, requests: &[Handle]) -> Result<()> {
        let core = &self.state.get(guard).core;
        match requests.iter().position(|request| *request != NULL && !core.is_request(*request)) {
            None => Ok(()),
            Some(index) => Err(no_such_request(requests[index]).in_element(index)),
        }
    }

    /// As [`Engine::check_all`]; returns whether any of the requests is active.
    pub(crate) fn check_for_active(&self, guard: &Guard<'_>, requests: &[Handle]) -> Result<bool> {
        self.check_all(guard, requests)?;
        let core = &self.state.get(guard).core;
        Ok(requests.iter().any(|request| *request != NULL && !core.is_inactive(*request)))
    }
}

/// The handles that a list has twice.
#[derive(Default)]
struct Repeats {
    /// The first place of each handle of the list, once needed.
    first: Option<HashMap<Handle, usize>>,
}

impl Repeats {
    /// Whether the handle at `index` is in the list before.
    #[cold]
    fn has_before(&mut self, requests: &[Handle], index: usize) -> bool {
        let first = self.first.get_or_insert_with(|| {
            // Backwards, so that the first place is the one that stays.
            requests.iter().enumerate().rev().map(|(place, request)| (*request, place)).collect()
        });
        first.get(&requests[index]).is_some_and(|first| *first < index)
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

    /// Gives all that are done to `each`, also places whose request an earlier place has completed; those for which the
    /// program is to be called go to `later`.
    fn take_some(
        &mut self,
        requests: &[Handle],
        each: &mut impl FnMut(usize, Option<Completion>),
        later: &mut Vec<(usize, Completion)>,
    ) -> usize {
        let mut taken = 0;
        for (index, request) in requests.iter().enumerate() {
            if *request == NULL || self.core.is_inactive(*request) {
                continue;
            }
            match self.core.take_if_done(*request) {
                Some(None) => continue,
                Some(Some(completion)) if completion.has_callbacks() => later.push((index, completion)),
                Some(Some(completion)) => each(index, Some(completion)),
                None => {
                    each(index, None);
                    continue;
                }
            }
            taken += 1;
        }
        taken
    }
}

impl Core {
    /// A request that the program has not freed.
    #[inline]
    fn live(&self, handle: Handle) -> Option<&Request> {
        self.requests.get(handle).filter(|request| !request.is_detached())
    }

    /// Whether a handle names a request.
    #[inline(always)]
    fn is_request(&self, handle: Handle) -> bool {
        match handle.is(Kind::AtOnce) {
            true => self.at_once.get(handle).is_some(),
            false => self.live(handle).is_some() || self.recipe_context(handle).is_some(),
        }
    }

    /// The context of a request's operation; `None` for no such request.
    #[inline]
    pub fn request_context(&self, handle: Handle) -> Option<u32> {
        match handle.is(Kind::AtOnce) {
            true => self.at_once.get(handle).map(|operation| operation.context),
            false => match self.live(handle) {
                Some(request) => Some(request.context),
                None => self.recipe_context(handle),
            },
        }
    }

    /// The status of a request, once it is done. `None` for no such request.
    #[inline]
    pub fn status_if_done(&mut self, handle: Handle) -> Option<Option<Status>> {
        match handle.is(Kind::AtOnce) {
            true => {
                let status = self.at_once.get(handle)?.status();
                Some(if self.cancel_requests.is_empty() { Some(status) } else { self.answer(handle, status, false) })
            }
            false => match self.live(handle) {
                Some(request) => Some(request.is_done().then_some(request.status)),
                None => self.recipe_status(handle),
            },
        }
    }

    /// As [`Core::take_if_done`], for a request that is done and needs nothing else; `None` for every other one.
    #[inline(always)] // the end of each short message
    fn take_short(&mut self, handle: Handle) -> Option<Completion> {
        if handle.is(Kind::AtOnce) {
            return self.take_at_once(handle);
        }
        let taken = self.requests.take_if(handle, |request| {
            let plain = request.is_done() && request.marks == 0 && request.error.is_none();
            plain.then(|| Completion::of(request.status, None, request.context))
        });
        let completion = taken??;
        self.instruments.requests.lower(1);
        Some(completion)
    }

    /// The completion of a request, if it is done; the request is removed then. `None` for no such request.
    #[inline]
    pub fn take_if_done(&mut self, handle: Handle) -> Option<Option<Completion>> {
        if handle.is(Kind::AtOnce) {
            if !self.cancel_requests.is_empty() {
                return self.take_cancelled(handle);
            }
            return self.take_at_once(handle).map(Some);
        }
        // One look-up, and only what the completion needs is moved.
        let taken = self.requests.take_if(handle, |request| {
            let done = request.is_done() && !request.is_detached();
            done.then(|| (Completion::of(request.status, request.error.take(), request.context), request.marks))
        });
        match taken {
            Some(Some((completion, marks))) => {
                self.instruments.requests.lower(1);
                if marks != 0 {
                    self.drop_marked(handle, marks);
                }
                Some(Some(completion))
            }
            Some(None) if self.requests.get(handle).is_some_and(Request::is_detached) => None,
            Some(None) => Some(None),
            None => self.take_recipe_if_done(handle),
        }
    }
}
