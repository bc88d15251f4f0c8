//! Generalized requests: operations of the program's own (MPI-5.0, 13.2).
//!
//! The program completes the operation; `query_fn`, `free_fn` and `cancel_fn` are the methods of [`Generalized`]. A
//! call that completes the request calls `query`, then `free`; a request that was freed is ended by whichever comes
//! last of `MPI_Request_free` and `MPI_Grequest_complete`, with `free` alone.
//! Invariants: callbacks of the program run with no lock held. `free` runs once, and is the last.
//! Not here: waits and tests (`complete`), cancelling (`start`).

use std::sync::Arc;

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle, Status};
use mpi_errors::{Error, Result};

use crate::engine::Engine;
use crate::recipe::{Activity, Recipe, RecipeRequest};
use crate::request::{Completion, Generalized, NO_CONTEXT, Request, Work, no_such_request};

impl Engine {
    /// A generalized request (`MPI_Grequest_start`), active until [`Engine::complete_generalized`]. It belongs to no
    /// communicator. Errors: `MPI_ERR_INTERN` when there are too many requests.
    pub fn start_generalized(&self, guard: &mut Guard<'_>, callbacks: Arc<dyn Generalized>) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        let operation = core.add_request(Request::waiting(NO_CONTEXT, Work::External))?;
        let added = core.add_recipe(NO_CONTEXT, |_, _| (Recipe::Generalized(callbacks), Activity::UnderWay(operation)));
        added.inspect_err(|_| {
            core.drop_request(operation);
        })
    }

    /// Completes the operation of a generalized request (`MPI_Grequest_complete`). Errors: `MPI_ERR_REQUEST` for a
    /// request of another kind, or one that is complete; that of `free` if the request was freed.
    pub fn complete_generalized(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let Some(RecipeRequest { activity: Activity::UnderWay(operation), freed, .. }) = core.recipes.get(request)
        else {
            return match core.request_context(request) {
                Some(_) => Err(not_to_be_completed(request)),
                None => Err(no_such_request(request)),
            };
        };
        let (operation, freed) = (*operation, *freed);
        if !core.requests.get(operation).is_some_and(|operation| matches!(operation.work, Work::External)) {
            return Err(not_to_be_completed(request));
        }
        core.finish(operation);
        core.wake_on_any_change();
        if !freed {
            return Ok(());
        }
        core.drop_request(operation);
        self.call_free(guard, request)
    }

    /// Frees a generalized request: at once if its operation is complete, otherwise when it is.
    pub(crate) fn free_generalized(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let found = core.recipes.get_mut(request).ok_or_else(|| no_such_request(request))?;
        found.freed = true;
        if let Some(operation) = found.under_way() {
            if !core.requests.get(operation).is_none_or(Request::is_done) {
                core.wake_waiter_of(operation);
                return Ok(());
            }
            core.drop_request(operation);
        }
        self.call_free(guard, request)
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

    /// Ends a generalized request whose completion was taken: calls the program for the status, and to free. An error
    /// of a callback is the completion's; of two the last.
    #[cold]
    pub(crate) fn end_generalized(&self, guard: &mut Guard<'_>, request: Handle, completion: &mut Completion) {
        let Some(removed) = self.state.get_mut(guard).core.remove_recipe(request) else { return };
        let Some(callbacks) = removed.recipe.callbacks() else { return };
        let failed = guard.unlocked(|| {
            let queried = callbacks.query(&mut completion.status).err();
            callbacks.free().err().or(queried)
        });
        guard.unlocked(|| drop(removed));
        if failed.is_some() {
            completion.error = failed;
        }
    }

    /// Removes a generalized request and calls its `free`.
    fn call_free(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let Some(removed) = self.state.get_mut(guard).core.remove_recipe(request) else { return Ok(()) };
        guard.unlocked(move || removed.recipe.callbacks().map_or(Ok(()), |callbacks| callbacks.free()))
    }
}

#[cold]
fn not_to_be_completed(request: Handle) -> Error {
    Error::new(MPI_ERR_REQUEST, "it is no generalized request that waits to be completed").arg("request", &request)
}
