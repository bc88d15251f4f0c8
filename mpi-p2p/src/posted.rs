//! Room in the buffers of posted receives, by communicator, kept while an MPI_T handle is bound to it (MPI-5.0,
//! 15.3.7).
//!
//! A communicator gets the block when a handle is first allocated for it, with the room that is posted then. From then
//! on each receive that is posted or removed updates the block, until an update finds no handle left; the next handle
//! starts a new block.
//! Invariant: while a block is kept its level is right. While any is kept no receive is direct, so that all are posted.
//! Not here: the number of posted receives, which is always kept (`instruments`).

use mpi_core::{Handle, Table};
use mpi_t::{HeapMemory, WatchedLevel, end_handles, retire};

use crate::request::{Request, Work};

mpi_t::instruments! {
    /// The posted receives of one communicator.
    pub struct PostedInstruments: Comm, verbosity: UserDetail {
        /// Bytes of data for which the buffers of the posted receives have room. Maintained while a handle of this
        /// variable exists; blocking receives then take a little longer.
        pub bytes: WatchedLevel =
            { name: "p2p_posted_bytes", class: Level, type: u64, unit: "bytes", category: "p2p.posted" }
            { name: "p2p_posted_bytes", class: HighWatermark, type: u64, unit: "bytes", category: "p2p.posted",
              doc: "Greatest number of bytes for which the buffers of receives that were posted at once had room." },
    }
}

/// The block of a context, if it has one.
#[derive(Debug, Default)]
pub(crate) struct Room {
    pub block: Option<&'static PostedInstruments>,
    pub kept: bool,
}

impl Room {
    /// Whether changes are to be recorded.
    #[inline(always)]
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// A receive with room for so many bytes was posted; `kept` counts the contexts whose block is kept.
    #[cold]
    pub fn more(&mut self, bytes: u64, kept: &mut usize) {
        if let Some(block) = self.watched_block(kept) {
            block.bytes.raise(bytes);
        }
    }

    /// One with room for so many bytes is not posted any more.
    #[cold]
    pub fn less(&mut self, bytes: u64, kept: &mut usize) {
        if let Some(block) = self.watched_block(kept) {
            block.bytes.lower(bytes);
        }
    }

    fn watched_block(&mut self, kept: &mut usize) -> Option<&'static PostedInstruments> {
        let watched = self.block.filter(|block| block.bytes.is_watched());
        if watched.is_none() {
            self.leave(kept);
        }
        watched
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

pub(crate) fn room_of(request: &Request) -> u64 {
    match &request.work {
        Work::Posted { buffer, .. } => buffer.bytes(),
        _ => 0,
    }
}
