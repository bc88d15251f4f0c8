//! Requests of collective operations, which a module above the engine carries out (MPI-5.0, 6.12 and 6.13).
//!
//! The module is a service ([`Engine::serve_collectives`]): it starts messages, is called when they are complete, and completes the
//! request of the operation. A persistent request is a recipe that starts such operations.
//! Invariants: the contexts of an operation exist until it is complete, also when the program frees the communicator. A
//! request of a collective operation is neither cancelled nor freed while it is active.
//! Not here: the messages of an operation (`mpi-coll`), completion (`complete`).

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};

use crate::context::unknown_context;
use crate::core::Core;
use crate::engine::Engine;
use crate::recipe::{Activity, PersistentCollective, Recipe, RecipeRequest};
use crate::request::{COLLECTIVE, Completion, Request, SCHEDULED, Work, too_many_requests};
use crate::service_queue::{Event, What};

/// The context id of events for the service of collective operations; no communicator has it.
pub(crate) const SCHEDULES: u32 = u32::MAX - 6;

impl Engine {
    /// The request of a collective operation that begins, for [`Engine::finish_collective`]. `contexts` are those that
    /// it sends messages in; errors are reported on the first. Errors: `MPI_ERR_COMM` for an unknown context,
    /// `MPI_ERR_INTERN` without room.
    pub fn collective_request(&self, guard: &mut Guard<'_>, contexts: [u32; 2]) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        if let Some(unknown) = contexts.into_iter().find(|context| core.contexts.get(*context).is_none()) {
            return Err(unknown_context(unknown));
        }
        let mut request = Request::waiting(contexts[0], Work::Collective);
        request.marks = COLLECTIVE;
        let request = core.add_request(request)?;
        for context in contexts {
            core.contexts.get_mut(context).expect("it was found just now").holds += 1;
        }
        Ok(request)
    }

    /// Completes a collective operation; `contexts` as for [`Engine::collective_request`].
    pub fn finish_collective(&self, guard: &mut Guard<'_>, request: Handle, contexts: [u32; 2], error: Option<Error>) {
        let core = &mut self.state.get_mut(guard).core;
        if let Some(found) = core.requests.get_mut(request) {
            found.error = error;
            core.finish(request);
        }
        contexts.into_iter().for_each(|context| core.contexts.release(context));
        core.wake_on_any_change();
    }

    /// Completes an operation of a persistent request.
    pub fn finish_persistent(&self, guard: &mut Guard<'_>, operation: Handle, error: Option<Error>) {
        let core = &mut self.state.get_mut(guard).core;
        if let Some(found) = core.requests.get_mut(operation) {
            found.error = error;
            core.finish(operation);
        }
        core.wake_on_any_change();
    }

    /// A persistent request of a collective operation, inactive, and the request that all its operations have; they use
    /// `contexts`. The service of collective operations starts them. Errors: as [`Engine::send_init`].
    pub fn collective_init(&self, guard: &mut Guard<'_>, contexts: [u32; 2]) -> Result<[Handle; 2]> {
        let core = &mut self.state.get_mut(guard).core;
        let operation = core.requests.insert(Request::done(contexts[0])).map_err(|_| too_many_requests())?;
        let recipe = PersistentCollective { contexts, operation };
        let request = core
            .add_recipe(contexts[0], |_, _| (Recipe::Collective(recipe), Activity::Inactive))
            .inspect_err(|_| drop(core.requests.remove(operation)))?;
        if let Some(other) = core.contexts.get_mut(contexts[1]) {
            other.holds += 1;
        }
        Ok([request, operation])
    }

    /// The completion of a message's request if it is done; else the service of collective operations is called when it
    /// is.
    pub fn completion_or_schedule(&self, guard: &mut Guard<'_>, request: Handle) -> Option<Completion> {
        let core = &mut self.state.get_mut(guard).core;
        match core.take_if_done(request) {
            Some(None) => {
                if let Some(under_way) = core.requests.get_mut(request) {
                    under_way.marks |= SCHEDULED;
                }
                None
            }
            done => done.flatten(),
        }
    }

    /// Starts the operation of a persistent request that is inactive; the lock may be released as for reduction functions.
    /// Errors: `MPI_ERR_REQUEST` for a request of another kind.
    #[inline(never)]
    pub(crate) fn start_collective(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        let Some(RecipeRequest { recipe: Recipe::Collective(recipe), activity, .. }) = core.recipes.get_mut(request)
        else {
            return core.check_startable(request);
        };
        let operation = recipe.operation;
        // Its request is needed only if it is not over at once, which the service finds without a look at it.
        *activity = Activity::Over;
        let service = self.schedules.get().expect("the service has made the request");
        if service.start_at_once(guard, operation) {
            return Ok(());
        }
        let core = &mut self.state.get_mut(guard).core;
        if let Some(found) = core.recipes.get_mut(request) {
            found.activity = Activity::UnderWay(operation);
        }
        if let Some(found) = core.requests.get_mut(operation) {
            (found.work, found.marks, found.error) = (Work::Collective, COLLECTIVE, None);
        }
        core.instruments.requests.raise(1);
        service.start(self, guard, operation);
        Ok(())
    }

    /// Frees a persistent request that is inactive. Errors: `MPI_ERR_REQUEST` for one that is active.
    pub(crate) fn free_collective(&self, guard: &mut Guard<'_>, request: Handle) -> Result<()> {
        let core = &mut self.state.get_mut(guard).core;
        core.refuse_collective(request, "freed")?;
        let Some(RecipeRequest { recipe: Recipe::Collective(recipe), .. }) = core.remove_recipe(request) else {
            return Ok(());
        };
        core.contexts.release(recipe.contexts[1]);
        core.requests.remove(recipe.operation);
        if let Some(service) = self.schedules.get() {
            service.freed(guard, recipe.operation);
        }
        Ok(())
    }
}

impl Core {
    /// A request that the service of collective operations waits for is complete.
    #[cold]
    pub fn completed_for_schedule(&mut self, handle: Handle) {
        self.services.queue.push_back(Event { context: SCHEDULES, what: What::Completed(handle) });
    }

    /// Refuses to cancel or free the request of a collective operation that is active. Errors: `MPI_ERR_REQUEST`.
    pub fn refuse_collective(&self, handle: Handle, what: &str) -> Result<()> {
        let is_collective = |request: &Request| request.marks & COLLECTIVE != 0;
        let is_active = match self.recipes.get(handle) {
            Some(RecipeRequest { recipe: Recipe::Collective(_), activity, .. }) => *activity != Activity::Inactive,
            _ => self.requests.get(handle).is_some_and(is_collective),
        };
        match is_active {
            false => Ok(()),
            true => {
                let rule = format!("a collective operation that was started cannot be {what}: wait for it");
                let advice = "Complete it first, with MPI_Wait or MPI_Test.";
                Err(Error::new(MPI_ERR_REQUEST, rule).arg("request", &handle).hint(advice))
            }
        }
    }
}
