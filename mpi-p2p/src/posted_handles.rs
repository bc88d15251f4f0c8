//! Opening handles on the room in the posted receives of a communicator.
//!
//! Not here: keeping the level up to date (`posted`).

use mpi_core::Guard;
use mpi_t::{HeapMemory, Open, TError, TResult, place};

use crate::core::State;
use crate::engine::Engine;
use crate::posted::{PostedInstruments, room_of};

impl Engine {
    /// Opens a handle on the posted receives of the communicator with this context id, which the caller has looked up
    /// under the same guard. Errors: `MPI_T_ERR_INVALID` for an unknown or freed context.
    pub fn open_posted(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        open: &mut Open<'_, PostedInstruments>,
    ) -> TResult<()> {
        self.state.get_mut(guard).open_posted(context, open)
    }
}

impl State {
    fn open_posted(&mut self, id: u32, open: &mut Open<'_, PostedInstruments>) -> TResult<()> {
        let core = &mut self.core;
        let context = core.contexts.get_mut(id).filter(|context| !context.freed).ok_or(TError::INVALID)?;
        let block = *context.room.block.get_or_insert_with(|| place(&HeapMemory, ""));
        if !context.room.kept {
            let posted = core.requests.iter().filter(|(_, request)| request.context == id);
            block.bytes.follow(posted.map(|(_, request)| room_of(request)).sum());
            context.room.kept = true;
            core.posting += 1;
        }
        open(std::slice::from_ref(block))
    }
}
