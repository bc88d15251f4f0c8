//! Making, starting, cancelling and freeing requests with a recipe (MPI-5.0, 3.9 and 13.2).
//!
//! Invariant: callbacks of the program run, and are dropped, with no lock held.
//! Not here: how operations move (`send`, `receive`, `transfer`), completion (`complete`).
#![allow(unsafe_code)] // each start of a persistent receive borrows the buffer again

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::context::unknown_context;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::recipe::{Recipe, RecipeRequest};
use crate::request::{Completion, Ending, Generalized, Mode, Request, Work, no_such_request, too_many_requests};

impl Engine {
    /// A persistent send (`MPI_Send_init` and its kin), inactive. The buffer stays borrowed until the request is freed and
    /// its last operation is complete. Errors: `MPI_ERR_COMM` for an unknown context, `MPI_ERR_INTERN` without room.
    pub fn send_init(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
        mode: Mode,
    ) -> Result<Handle> {
        self.state.get_mut(guard).core.add_recipe(context, Recipe::Send { dest, tag, buffer, mode }, None)
    }

    /// A persistent receive (`MPI_Recv_init`), inactive. As [`Engine::send_init`].
    pub fn recv_init(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        self.state.get_mut(guard).core.add_recipe(context, Recipe::Receive { source, tag, buffer }, None)
    }

    /// Starts the operation of an inactive request (`MPI_Start`). May release the lock as [`Engine::irecv`] does. Errors: `MPI_ERR_REQUEST` for a request that cannot be
    /// started, or is active.
    pub fn start(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        self.state.get_mut(guard).start(request)?;
        if self.state.get(guard).core.copies.open > 0 {
            self.copy_at_start(guard);
        }
        Ok(())
    }

    /// A generalized request (`MPI_Grequest_start`), active until [`Engine::complete_generalized`]. Errors of its
    /// callbacks are raised on `context`.
    pub fn start_generalized(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        callbacks: Arc<dyn Generalized>,
    ) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        let under_way = core.add_request(Request::waiting(context, Work::External))?;
        core.add_recipe(context, Recipe::Generalized(callbacks), Some(under_way)).inspect_err(|_| {
            core.drop_request(under_way);
        })
    }

    /// Completes the operation of a generalized request (`MPI_Grequest_complete`). Errors: `MPI_ERR_REQUEST` for a request
    /// of another kind, or one that is complete.
    pub fn complete_generalized(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let Some(RecipeRequest { under_way: Some(under_way), freed, .. }) = core.recipes.get(request) else {
            return Err(no_such_request(request));
        };
        let (under_way, freed) = (*under_way, *freed);
        if !core.requests.get(under_way).is_some_and(|request| matches!(request.work, Work::External)) {
            return Err(Error::new(MPI_ERR_REQUEST, "it is no generalized request that waits to be completed"));
        }
        core.finish(under_way);
        if freed {
            core.drop_request(under_way);
            let ended = core.recipes.remove(request);
            guard.unlocked(|| drop(ended));
        }
        Ok(())
    }

    /// Requests the cancel of an operation; its completion reports whether it was cancelled (MPI-5.0, 3.8.4).
    pub fn cancel(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let state = self.state.get_mut(guard);
        if state.core.request_context(request).is_none() {
            return Err(no_such_request(request));
        }
        let Some(RecipeRequest { recipe, under_way, .. }) = state.core.recipes.get(request) else {
            state.cancel(request);
            return Ok(());
        };
        let Some(under_way) = *under_way else {
            return Err(Error::new(MPI_ERR_REQUEST, "an inactive request has no operation to cancel"));
        };
        match recipe.callbacks().cloned() {
            None => state.cancel(under_way),
            Some(callbacks) => {
                let complete = state.core.requests.get(under_way).is_none_or(Request::is_done);
                guard.unlocked(|| callbacks.cancel(complete))?;
            }
        }
        Ok(())
    }

    /// Frees a request with a recipe: its operation goes on, if one is under way.
    pub(crate) fn free_recipe(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let found = core.recipes.get_mut(request).filter(|found| !found.freed);
        let found = found.ok_or_else(|| no_such_request(request))?;
        if let (Some(under_way), Some(_)) = (found.under_way, found.recipe.callbacks())
            && !core.requests.get(under_way).is_none_or(Request::is_done)
        {
            found.freed = true;
            core.wake_waiter_of(under_way);
            return Ok(());
        }
        let ended = core.recipes.remove(request);
        if let Some(under_way) = ended.as_ref().and_then(|ended| ended.under_way)
            && let Some(None) = core.take_if_done(under_way)
        {
            core.detach(under_way);
        }
        guard.unlocked(|| drop(ended));
        Ok(())
    }

    /// The status of a complete request, as its callbacks fill it.
    #[cold]
    pub(crate) fn queried(&self, guard: &mut Guard<'_>, request: Handle, mut status: Status) -> Result<Status> {
        let core = &self.state.get(guard).core;
        if let Some(callbacks) = core.recipes.get(request).and_then(|found| found.recipe.callbacks()).cloned() {
            guard.unlocked(|| callbacks.query(&mut status))?;
        }
        Ok(status)
    }
}

impl State {
    fn start(&mut self, request: Handle) -> Result<()> {
        let found = self.core.recipes.get_mut(request).filter(|found| found.recipe.is_persistent() && !found.freed);
        let Some(RecipeRequest { context, recipe, under_way, .. }) = found else {
            let rule = "it names no persistent request of this process";
            return Err(Error::new(MPI_ERR_REQUEST, rule).arg("request", &format_args!("{:#x}", request.0)));
        };
        if under_way.is_some() {
            return Err(Error::new(MPI_ERR_REQUEST, "the request is active: complete it before you start it again"));
        }
        let context = *context;
        let started = match recipe {
            Recipe::Send { dest, tag, buffer, mode } => {
                let (dest, tag, buffer, mode) = (*dest, *tag, buffer.clone(), *mode);
                self.isend(context, dest, tag, buffer, mode)
            }
            Recipe::Receive { source, tag, buffer } => {
                // SAFETY: the recipe's buffer is touched by one operation at a time, and the recipe itself leaves it alone.
                let again = unsafe { buffer.part(0, buffer.bytes()).detach() };
                let (source, tag) = (*source, *tag);
                self.start_receive(context, source, tag, again)
            }
            Recipe::Generalized(_) => unreachable!("filtered out above"),
        }?;
        if let Some(found) = self.core.recipes.get_mut(request) {
            found.under_way = Some(started);
        }
        Ok(())
    }
}

impl Core {
    fn add_recipe(&mut self, context: u32, recipe: Recipe, under_way: Option<Handle>) -> Result<Handle> {
        if self.contexts.get(context).is_none() {
            return Err(unknown_context(context));
        }
        let request = RecipeRequest { context, recipe, under_way, freed: false };
        self.recipes.insert(request).map_err(|_| too_many_requests())
    }

    /// The context of a request with a recipe.
    #[cold]
    pub fn recipe_context(&self, handle: Handle) -> Option<u32> {
        self.recipes.get(handle).filter(|found| !found.freed).map(|found| found.context)
    }

    /// Whether the request has a recipe and no operation under way: completion treats it like a null request.
    #[inline]
    pub fn is_inactive(&self, handle: Handle) -> bool {
        handle.is(Kind::Recipe) && self.recipes.get(handle).is_some_and(|found| found.under_way.is_none())
    }

    /// The request whose operation a handle stands for.
    pub fn under_way(&self, handle: Handle) -> Handle {
        self.recipes.get(handle).and_then(|found| found.under_way).unwrap_or(handle)
    }

    /// As [`Core::status_if_done`], for requests with a recipe.
    #[cold]
    pub fn recipe_status(&mut self, handle: Handle) -> Option<Option<Status>> {
        let found = self.recipes.get(handle).filter(|found| !found.freed)?;
        match found.under_way {
            None => Some(Some(Status::EMPTY)),
            Some(under_way) => self.status_if_done(under_way),
        }
    }

    /// As [`Core::take_if_done`], for requests with a recipe: a persistent one stays, inactive.
    #[cold]
    pub fn take_recipe_if_done(&mut self, handle: Handle) -> Option<Option<Completion>> {
        let found = self.recipes.get(handle).filter(|found| !found.freed)?;
        let (context, under_way) = (found.context, found.under_way);
        let mut completion = match under_way {
            None => Completion { context: Some(context), ..Completion::empty() },
            Some(under_way) => match self.take_if_done(under_way)? {
                None => return Some(None),
                Some(completion) => completion,
            },
        };
        let found = self.recipes.get_mut(handle)?;
        found.under_way = None;
        let ending = match found.recipe.callbacks().cloned() {
            None => Ending::Kept,
            Some(callbacks) => {
                // The completion has the callbacks now, so that they are not dropped under the lock.
                self.recipes.remove(handle);
                Ending::Callbacks(callbacks)
            }
        };
        completion.ending = Some(Box::new(ending));
        Some(Some(completion))
    }
}
