//! Room in the buffers of posted receives, by communicator, kept while somebody asks (MPI-5.0, 15.3.7).
//!
//! A communicator gets the block when a handle is first allocated for it, with what is posted then. From there on what
//! is posted or leaves changes it, until a change finds all handles gone; the next handle begins anew.
//! Invariant: while a block is kept its level is right. While any is kept no receive is direct, so that all are posted.
//! Not here: the number of posted receives, which is always kept (`instruments`).

use mpi_core::{Guard, Handle, Table};
use mpi_t::{HeapMemory, Open, TError, TResult, WatchedLevel, end_handles, place, retire};

use crate::core::State;
use crate::engine::Engine;
use crate::request::{Request, Work};

mpi_t::instruments! {
    /// The posted receives of one communicator.
    pub struct PostedInstruments: Comm, verbosity: UserDetail {
        /// Bytes of data that the buffers of the receives that are posted and wait for their message have room for.
        /// Kept while a handle of this variable exists; blocking receives cost a little more then.
        pub bytes: WatchedLevel =
            { name: "p2p_posted_bytes", class: Level, type: u64, unit: "bytes", category: "p2p.posted" }
            { name: "p2p_posted_bytes", class: HighWatermark, type: u64, unit: "bytes", category: "p2p.posted",
              doc: "Most bytes of data that the buffers of receives had room for that were posted at once." },
    }
}

/// What a context knows of its block.
#[derive(Debug, Default)]
pub(crate) struct Room {
    block: Option<&'static PostedInstruments>,
    kept: bool,
}

impl Room {
    /// Whether changes are to be told.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// A receive with room for so many bytes was posted; `kept` counts the contexts whose block is kept.
    #[cold]
    pub fn more(&mut self, bytes: u64, kept: &mut usize) {
        if let Some(block) = self.still_asked(kept) {
            block.bytes.raise(bytes);
        }
    }

    /// One with room for so many bytes is not posted any more.
    #[cold]
    pub fn less(&mut self, bytes: u64, kept: &mut usize) {
        if let Some(block) = self.still_asked(kept) {
            block.bytes.lower(bytes);
        }
    }

    fn still_asked(&mut self, kept: &mut usize) -> Option<&'static PostedInstruments> {
        let asked = self.block.filter(|block| block.bytes.is_watched());
        if asked.is_none() {
            self.leave(kept);
        }
        asked
    }

    fn leave(&mut self, kept: &mut usize) {
        *kept -= usize::from(std::mem::take(&mut self.kept));
    }

    /// The communicator's handle is stale: handles of its block end.
    pub fn end(&mut self, kept: &mut usize) {
        self.leave(kept);
        if let Some(block) = self.block.take() {
            end_handles(block);
            retire(&HeapMemory, block);
        }
    }
}

/// Room for data in the buffer of a posted receive.
pub(crate) fn room(requests: &Table<Request>, receive: Handle) -> u64 {
    requests.get(receive).map_or(0, room_of)
}

fn room_of(request: &Request) -> u64 {
    match &request.work {
        Work::Posted { buffer, .. } => buffer.bytes(),
        _ => 0,
    }
}

impl Engine {
    /// Opens a handle on the posted receives of the communicator with this context id, which the caller has looked up
    /// under the same guard. `MPI_T_ERR_INVALID` for a context that is none, or freed.
    pub fn lend_posted(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        open: &mut Open<'_, PostedInstruments>,
    ) -> TResult<()> {
        self.state.get_mut(guard).lend_posted(context, open)
    }
}

impl State {
    fn lend_posted(&mut self, id: u32, open: &mut Open<'_, PostedInstruments>) -> TResult<()> {
        let core = &mut self.core;
        let context = core.contexts.get_mut(id).filter(|context| !context.freed).ok_or(TError::INVALID)?;
        let block = *context.room.block.get_or_insert_with(|| place(&HeapMemory, ""));
        if !context.room.kept {
            let posted = core.requests.iter().filter(|(_, request)| request.context == id);
            block.bytes.follow(posted.map(|(_, request)| room_of(request)).sum());
            context.room.kept = true;
            core.rooms_kept += 1;
        }
        open(std::slice::from_ref(block))
    }
}
