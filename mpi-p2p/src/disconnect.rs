//! Waiting for the operations of a communicator that are under way (`MPI_Comm_disconnect`; MPI-5.0, 11.10.4).
//!
//! Not here: freeing the communicator (the layers above).

use mpi_core::Guard;
use mpi_errors::Result;

use crate::awaited::Awaited;
use crate::context::unknown_context;
use crate::core::Core;
use crate::engine::Engine;
use crate::request::Work;

impl Engine {
    /// Waits until no operation of the communicator with this context is under way: of the program's messages, of
    /// collectives, and duplicates that have no context id yet. Operations whose requests were freed count, too;
    /// persistent requests count while they are active. Thread-safe. Errors: `MPI_ERR_COMM` for an unknown context.
    pub fn wait_for_operations(&self, guard: Guard<'_>, context: u32) -> Result<()> {
        if self.state.get(&guard).core.contexts.get(context).is_none() {
            return Err(unknown_context(context));
        }
        self.block(guard, Awaited::Change, |state| (!state.core.has_operation(context)).then_some(()))
    }
}

impl Core {
    fn has_operation(&self, context: u32) -> bool {
        let belongs = |id: u32| id & !1 == context & !1;
        self.requests.iter().any(|(_, request)| {
            belongs(request.context) && !request.is_done() && !matches!(request.work, Work::External)
        })
    }
}
