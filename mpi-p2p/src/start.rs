//! Making, starting, cancelling and freeing requests with a recipe (MPI-5.0, 3.9).
//!
//! Invariant: a recipe holds its context from when it is made until it is removed.
//! Not here: how operations move (`send`, `receive`, `transfer`), completion (`complete`), generalized requests
//! (`generalized`).
#![allow(unsafe_code)] // each start of a persistent receive borrows the buffer again

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle, Kind, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::RecordHead;

use crate::chains::Key;
use crate::context::{unknown_context, user_side};
use crate::copying::is_long;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::instruments::size_class;
use crate::recipe::{Activity, EagerSend, LineData, PersistentReceive, PersistentSend, Recipe, RecipeRequest};
use crate::request::{
    Completion, Ending, Mode, NO_CONTEXT, PAIRED, Request, Work, no_such_request, token, too_many_requests,
};
use crate::send::Started;
use crate::wire;

impl Engine {
    /// A persistent send (`MPI_Send_init` and its other forms), inactive. The buffer stays borrowed until the request
    /// is freed and its last operation is complete. Errors: `MPI_ERR_COMM` for an unknown context, `MPI_ERR_INTERN`
    /// without room.
    pub fn send_init(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
        mode: Mode,
    ) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        let send = PersistentSend { dest, tag, buffer, mode };
        core.add_recipe(context, |core, handle| (core.send_recipe(context, send, handle), Activity::Inactive))
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
        let core = &mut self.state.get_mut(guard).core;
        let operation = core.requests.insert(Request::done(context)).map_err(|_| too_many_requests())?;
        let recipe = PersistentReceive { key: Key { source, tag }, buffer, operation };
        core.add_recipe(context, |_, _| (Recipe::Receive(recipe), Activity::Inactive)).inspect_err(|_| {
            core.requests.remove(operation);
        })
    }

    /// Starts the operation of an inactive request (`MPI_Start`). May release the lock as [`Engine::irecv`] does.
    /// Errors: `MPI_ERR_REQUEST` for a request that cannot be started, or is active; those of the operation.
    #[inline]
    pub fn start(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        self.start_recorded(guard, request, |_| ())
    }

    /// As [`Engine::start`]; calls `record` before the operation begins, once, with the facts of the request. `record`
    /// must not wait or fail.
    #[inline(always)] // its callers are `MPI_Start` and `start`
    pub fn start_recorded(
        &self,
        guard: &mut Guard<'_>,
        request: Handle,
        record: impl Fn(StartedRequest) + Copy,
    ) -> Result<()> {
        let state = self.state.get_mut(guard);
        let State { endpoint, core } = state;
        if let Some(RecipeRequest { activity, recipe, context, .. }) = core.recipes.get_mut(request)
            && *activity == Activity::Inactive
        {
            match recipe {
                Recipe::Eager(send) if core.backlogged == 0 => {
                    record(StartedRequest { context: *context, peer: send.send.dest, tag: send.send.tag });
                    if send.send_line(endpoint, core.instruments) {
                        *activity = Activity::Over;
                        return Ok(());
                    }
                    return self.start_otherwise(guard, request, AtOnce::Not);
                }
                Recipe::Receive(PersistentReceive { key, buffer, operation }) => {
                    // SAFETY: the recipe's buffer is touched by one operation at a time, and the recipe itself leaves
                    // it alone.
                    let again = unsafe { buffer.reborrow().detach() };
                    let (context, key, operation) = (*context, *key, *operation);
                    record(StartedRequest { context, peer: key.source, tag: key.tag });
                    *activity = Activity::UnderWay(operation);
                    return match state.restart_receive(context, key, again, operation) {
                        Ok(started) if started == operation => Ok(()),
                        other => self.start_otherwise(guard, request, AtOnce::Received(other)),
                    };
                }
                Recipe::Collective(_) => {
                    record(StartedRequest { context: *context, peer: -1, tag: 0 });
                    return self.start_collective(guard, request);
                }
                _ => {}
            }
        }
        record(self.facts_of(guard, request));
        self.start_otherwise(guard, request, AtOnce::Not)
    }

    /// The facts of a request for the record of its start; those of no communicator for a request without a recipe.
    #[cold]
    #[inline(never)]
    pub fn facts_of(&self, guard: &Guard<'_>, request: Handle) -> StartedRequest {
        let found = self.state.get(guard).core.recipes.get(request);
        let facts = found.and_then(|found| {
            let (peer, tag) = found.recipe.peer_and_tag()?;
            Some(StartedRequest { context: found.context, peer, tag })
        });
        facts.unwrap_or(StartedRequest::NONE)
    }

    /// The rest of a start that [`Engine::start_recorded`] has not carried out.
    #[inline(never)]
    fn start_otherwise(&self, guard: &mut Guard<'_>, request: Handle, begun: AtOnce) -> Result<()> {
        let state = self.state.get_mut(guard);
        match begun {
            AtOnce::Received(started) => state.core.started_otherwise(request, started)?,
            AtOnce::Not => match state.start_slowly(request) {
                Ok(()) => {}
                Err(Unstarted::Failed(error)) => return Err(error),
                Err(Unstarted::ToBeCopied) => return self.start_buffered_recipe(guard, request),
            },
        }
        if self.state.get(guard).core.copies.open > 0 {
            self.copy_at_start(guard);
        }
        Ok(())
    }

    /// Starts the operations of several inactive requests, in the order of the list (`MPI_Startall`). Errors: as
    /// [`Engine::start`], and the index of the request. A request that cannot be started is found before any operation
    /// is started, unless the list has it twice. May release the lock as [`Engine::irecv`] does.
    pub fn start_all(&self, guard: &mut Guard<'_>, requests: &[Handle]) -> Result<(), (usize, Error)> {
        let at = |index: usize| move |error: Error| (index, error.in_element(index));
        let core = &self.state.get(guard).core;
        for (index, request) in requests.iter().enumerate() {
            core.check_startable(*request).map_err(at(index))?;
        }
        for (index, request) in requests.iter().enumerate() {
            self.start(guard, *request).map_err(at(index))?;
        }
        Ok(())
    }

    /// Requests the cancel of an operation; its completion reports whether it was cancelled (MPI-5.0, 3.8.4). Errors:
    /// `MPI_ERR_REQUEST` for an inactive request, or one that is never cancelled; those of the program's callback.
    pub fn cancel(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let state = self.state.get_mut(guard);
        if state.core.request_context(request).is_none() {
            return Err(no_such_request(request));
        }
        state.core.refuse_collective(request, "cancelled")?;
        if let Some(Request { work, marks, .. }) = state.core.requests.get(request)
            && (matches!(work, Work::Pair { .. }) || marks & PAIRED != 0)
        {
            return Err(not_cancelled(request, "a send and a receive under one request cannot be cancelled"));
        }
        let Some(RecipeRequest { recipe, activity, .. }) = state.core.recipes.get(request) else {
            state.cancel(request);
            return Ok(());
        };
        if recipe.is_partitioned() {
            return Err(not_cancelled(request, "a partitioned operation cannot be cancelled"));
        }
        let operation = match activity {
            Activity::Inactive => {
                return Err(not_cancelled(request, "an inactive request has no operation to cancel"));
            }
            Activity::Over => request,
            Activity::UnderWay(operation) => *operation,
        };
        match recipe.callbacks().cloned() {
            None => state.cancel(operation),
            Some(callbacks) => {
                let complete = state.core.requests.get(operation).is_none_or(|operation| operation.is_done());
                guard.unlocked(|| callbacks.cancel(complete))?;
            }
        }
        Ok(())
    }

    /// Frees a request with a recipe: its operation goes on, if one is under way.
    pub(crate) fn free_recipe(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let found = core.recipes.get(request).filter(|found| !found.freed);
        let found = found.ok_or_else(|| no_such_request(request))?;
        if found.recipe.callbacks().is_some() {
            return self.free_generalized(guard, request);
        }
        if found.recipe.is_partitioned() {
            return core.free_partitioned(request);
        }
        if matches!(found.recipe, Recipe::Collective(_)) {
            return self.free_collective(guard, request);
        }
        let kept = match &found.recipe {
            Recipe::Receive(receive) => Some(receive.operation),
            _ => None,
        };
        let under_way = found.under_way();
        if let Some(operation) = under_way
            && let Some(None) = core.take_if_done(operation)
        {
            core.detach(operation);
        }
        if let Some(kept) = kept.filter(|kept| Some(*kept) != under_way) {
            core.requests.remove(kept);
        }
        core.remove_recipe(request);
        Ok(())
    }
}

/// The facts of a request that is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedRequest {
    /// Its context id; 0 without one.
    pub context: u32,
    /// Rank of the other process, or what stands for it; -1 without one.
    pub peer: i32,
    /// Its tag, or what stands for it.
    pub tag: i32,
}

impl StartedRequest {
    /// The facts of no communicator.
    pub const NONE: StartedRequest = StartedRequest { context: 0, peer: -1, tag: 0 };
}

/// Why a request was not started.
enum Unstarted {
    Failed(Error),
    /// The data of a buffered send are long: they are copied with the lock released. The request is still inactive.
    ToBeCopied,
}

impl From<Error> for Unstarted {
    fn from(error: Error) -> Unstarted {
        Unstarted::Failed(error)
    }
}

/// What the short way to start an operation has come to.
enum AtOnce {
    /// A receive has been started under another request than its own, or not at all.
    Received(Result<Handle>),
    /// Nothing has happened.
    Not,
}

impl State {
    fn start_slowly(&mut self, request: Handle) -> Result<(), Unstarted> {
        let Some(RecipeRequest { context, activity: Activity::Inactive, freed: false, recipe }) =
            self.core.recipes.get_mut(request)
        else {
            return Ok(self.core.check_startable(request)?);
        };
        let context = *context;
        let activity = match recipe {
            Recipe::Eager(eager)
                if self.core.backlogged == 0 && eager.send_at_once(&mut self.endpoint, self.core.instruments) =>
            {
                Activity::Over
            }
            Recipe::Send(send) if send.mode == Mode::Buffered && is_long(send.buffer.bytes()) => {
                return Err(Unstarted::ToBeCopied);
            }
            Recipe::Eager(EagerSend { send, .. }) | Recipe::Send(send) => {
                let (to, buffer, mode) = ((send.dest, send.tag), send.buffer.clone(), send.mode);
                match self.start_persistent_send(context, to, buffer, mode, token(request))? {
                    Started::Complete => Activity::Over,
                    Started::Under(operation) => Activity::UnderWay(operation),
                }
            }
            // `start_recorded` starts receives and collective operations.
            Recipe::PartitionedSend(_) | Recipe::PartitionedReceive(_) => return Ok(self.start_partitioned(request)?),
            Recipe::Receive(_) | Recipe::Collective(_) | Recipe::Generalized(_) => {
                return Ok(self.core.check_startable(request)?);
            }
        };
        if let Some(found) = self.core.recipes.get_mut(request) {
            found.activity = activity;
        }
        Ok(())
    }
}

impl Core {
    /// A receive has been started under another request than its own, or not at all.
    #[cold]
    fn started_otherwise(&mut self, request: Handle, started: Result<Handle>) -> Result<()> {
        let found = self.recipes.get_mut(request).expect("it was found just now");
        found.activity = started.as_ref().map_or(Activity::Inactive, |operation| Activity::UnderWay(*operation));
        started.map(drop)
    }

    /// Adds a request whose recipe is made from its handle.
    pub fn add_recipe(
        &mut self,
        context: u32,
        make: impl FnOnce(&Core, Handle) -> (Recipe, Activity),
    ) -> Result<Handle> {
        if context != NO_CONTEXT {
            self.contexts.get_mut(context).ok_or_else(|| unknown_context(context))?.holds += 1;
        }
        let handle = match self.recipes.reserve() {
            Ok(handle) => handle,
            Err(_) => {
                self.contexts.release(context);
                return Err(too_many_requests());
            }
        };
        let (recipe, activity) = make(self, handle);
        self.recipes.fill(handle, RecipeRequest { context, activity, freed: false, recipe });
        Ok(handle)
    }

    /// Removes a request with a recipe, which no operation needs any more.
    pub fn remove_recipe(&mut self, request: Handle) -> Option<RecipeRequest> {
        let removed = self.recipes.remove(request)?;
        self.contexts.release(removed.context);
        Some(removed)
    }

    /// The recipe of a send whose request has this handle.
    fn send_recipe(&self, context_id: u32, send: PersistentSend, request: Handle) -> Recipe {
        let context = self.contexts.get(context_id).expect("the recipe holds it");
        let (Mode::Standard | Mode::Ready, Some(route)) = (send.mode, context.routes.get(send.dest as u32 as usize))
        else {
            return Recipe::Send(send);
        };
        let (tag, a) = (send.tag, u64::from(context.spec.rank));
        Recipe::Eager(EagerSend {
            head: RecordHead { kind: wire::EAGER, flags: 0, context: context_id, tag, a, b: token(request) },
            route: *route,
            eager_limit: context.eager_limit,
            comm: user_side(context_id).then_some(context.spec.instruments.block),
            size: size_class(self.sizes, send.buffer.bytes()),
            line: LineData::of(&send.buffer),
            send,
        })
    }

    /// Whether a request can be started now.
    pub fn check_startable(&self, request: Handle) -> Result<()> {
        let found = self.recipes.get(request).filter(|found| found.recipe.is_persistent() && !found.freed);
        match found {
            None if self.request_context(request).is_none() => Err(no_such_request(request)),
            None => {
                let rule = "that is no persistent request, and cannot be started again";
                Err(Error::new(MPI_ERR_REQUEST, rule).arg("request", &request))
            }
            Some(found) if found.activity != Activity::Inactive => {
                let rule = "the request is active: complete it before you start it again";
                Err(Error::new(MPI_ERR_REQUEST, rule)
                    .arg("request", &request)
                    .hint("Complete it with MPI_Wait or MPI_Test."))
            }
            Some(_) => Ok(()),
        }
    }

    /// The context of a request with a recipe.
    #[cold]
    pub fn recipe_context(&self, handle: Handle) -> Option<u32> {
        self.recipes.get(handle).filter(|found| !found.freed).map(|found| found.context)
    }

    /// Whether the request has a recipe and no operation under way: completion treats it like a null request.
    #[inline]
    pub fn is_inactive(&self, handle: Handle) -> bool {
        handle.is(Kind::Recipe) && self.recipes.get(handle).is_some_and(|found| found.activity == Activity::Inactive)
    }

    /// The request whose operation a handle stands for.
    pub fn under_way(&self, handle: Handle) -> Handle {
        self.recipes.get(handle).and_then(RecipeRequest::under_way).unwrap_or(handle)
    }

    /// The completion of an operation whose request is used again, if it is done.
    #[inline]
    fn take_reused(&mut self, operation: Handle) -> Option<Completion> {
        let request = self.requests.get_mut(operation).filter(|request| request.is_done())?;
        let completion = Completion::of(request.status, request.error.take(), request.context);
        let marks = std::mem::take(&mut request.marks);
        self.instruments.requests.lower(1);
        if marks != 0 {
            self.drop_marked(operation, marks);
        }
        Some(completion)
    }

    /// As [`Core::status_if_done`], for requests with a recipe.
    #[cold]
    pub fn recipe_status(&mut self, handle: Handle) -> Option<Option<Status>> {
        let found = self.recipes.get(handle).filter(|found| !found.freed)?;
        match found.activity {
            Activity::Inactive => Some(Some(Status::EMPTY)),
            Activity::Over => Some(self.answer(handle, Status::EMPTY, false)),
            Activity::UnderWay(operation) => self.status_if_done(operation),
        }
    }

    /// As [`Core::take_if_done`], for requests with a recipe: a persistent one stays, inactive.
    #[inline(never)]
    pub fn take_recipe_if_done(&mut self, handle: Handle) -> Option<Option<Completion>> {
        let found = self.recipes.get(handle).filter(|found| !found.freed)?;
        let was_inactive = matches!(found.activity, Activity::Inactive);
        let mut completion = match found.activity {
            Activity::Inactive => Completion::of(Status::EMPTY, None, found.context),
            Activity::Over if self.cancel_requests.is_empty() => Completion::of(Status::EMPTY, None, found.context),
            Activity::Over => {
                let context = found.context;
                match self.answer(handle, Status::EMPTY, true) {
                    None => return Some(None),
                    Some(status) => Completion::of(status, None, context),
                }
            }
            Activity::UnderWay(operation) => {
                let is_reused = match &found.recipe {
                    Recipe::Receive(receive) => receive.operation == operation,
                    Recipe::Collective(_) => true,
                    _ => false,
                };
                match if is_reused { self.take_reused(operation) } else { self.take_if_done(operation)? } {
                    None => return Some(None),
                    Some(completion) => completion,
                }
            }
        };
        let found = self.recipes.get_mut(handle)?;
        found.activity = Activity::Inactive;
        completion.ending = match found.recipe {
            Recipe::Generalized(_) => {
                // The caller removes it once it has called the program: no call finds it until then.
                found.freed = true;
                Ending::Callbacks
            }
            _ if was_inactive => Ending::Unchanged,
            _ => Ending::Kept,
        };
        Some(Some(completion))
    }
}

#[cold]
fn not_cancelled(request: Handle, rule: &'static str) -> Error {
    Error::new(MPI_ERR_REQUEST, rule).arg("request", &request)
}
