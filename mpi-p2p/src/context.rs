//! Contexts: the engine's data of each communicator, by context id (MPI-4.1, 6.2).
//!
//! A communicator has two contexts, its even id for the program's messages and the odd one beside it for
//! collectives, each with its own matching.
//! Invariant: ids in the table are even and unique.
//! Not here: how the context of an id is found (`id_table`).

use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_COMM;
use mpi_errors::Error;
use mpi_fabric::PeerPins;

use crate::freed_ids::FreedIds;
use crate::id_table::IdTable;
use crate::instruments::{CommMeters, PeerInstruments};
use crate::matching::Unexpected;
use crate::message::Message;
use crate::posted::Room;
use crate::posted_queue::Posted;

/// The context id of a communicator that has none yet; no communicator ever gets it, because ids end far below.
pub const PENDING_CONTEXT: u32 = u32::MAX - 1;

/// Context ids from here on are of communicators of processes of several jobs. They come in blocks: a block belongs to one
/// communicator and its duplicates, and is given out in all of its processes at once.
pub const SHARED_IDS: u32 = 1 << 31;
/// Distance between two blocks. A communicator of two groups uses two adjacent ids, so a block has a quarter as many
/// communicators.
pub const BLOCK_OF_IDS: u32 = 1 << 10;

/// The facts of a new communicator.
#[derive(Debug, Clone)]
pub struct ContextSpec {
    /// Context id for the program's messages: even. The id above it serves collectives.
    pub id: u32,
    /// The process's own rank in the communicator.
    pub rank: u32,
    /// World rank of each rank that messages go to and come from: of the communicator, of an intercommunicator the
    /// remote group.
    pub world_ranks: Arc<[u32]>,
    /// World ranks of all processes of an intercommunicator, in one order for all of them; `None` for an
    /// intracommunicator, whose processes are `world_ranks`.
    pub both_groups: Option<Arc<[u32]>>,
    /// The session that the communicator is derived from, whose buffer its buffered sends use.
    pub session: Option<Handle>,
    /// Keeps its processes of other jobs connected.
    pub pins: PeerPins,
    /// The communicator's instruments, with a row at least for each of its processes.
    pub instruments: CommMeters,
}

impl ContextSpec {
    /// World ranks of all processes of the communicator, in an order that is the same in all of them.
    pub fn members(&self) -> &Arc<[u32]> {
        self.both_groups.as_ref().unwrap_or(&self.world_ranks)
    }
}

#[derive(Debug)]
pub(crate) struct Context {
    pub spec: ContextSpec,
    /// Longest message in bytes that is sent eagerly.
    pub eager_limit: &'static AtomicU64,
    /// The route to each rank.
    pub routes: Box<[Route]>,
    /// Matching for the program's messages and for collectives.
    pub sides: [Side; 2],
    /// The communicator was freed; posted receives are still to be matched, or requests to be started.
    pub freed: bool,
    /// Requests with a recipe that use it, inactive ones included.
    pub holds: u32,
    /// The metrics of its posted receives, while a handle is bound to them.
    pub room: Room,
    /// Number of duplicates begun without waiting for them.
    pub duplicates: u32,
}

impl Context {
    /// Whether a message is short enough for the eager protocol.
    #[inline(always)]
    pub fn is_eager(&self, bytes: u64) -> bool {
        bytes <= self.eager_limit.load(Relaxed)
    }

    /// Counts a message of the program's that is on its way.
    #[inline(always)]
    pub fn count_sent(&self, id: u32, route: Route, bytes: u64) {
        if user_side(id) {
            self.count_users_sent(route, bytes);
        }
    }

    /// As [`Context::count_sent`], for a message that is known to be the program's.
    #[inline(always)]
    pub fn count_users_sent(&self, route: Route, bytes: u64) {
        let instruments = self.spec.instruments;
        instruments.messages_sent.incr();
        instruments.bytes_sent.add(bytes);
        route.peer.messages_sent.incr();
        route.peer.bytes_sent.add(bytes);
    }

    /// Counts a message of the program's that was matched with a receive.
    #[inline(always)]
    pub fn count_received_from(&self, id: u32, route: Route, bytes: u64) {
        if user_side(id) {
            self.spec.instruments.block.count_received(route.peer, bytes);
        }
    }

    /// As [`Context::count_received_from`], by the rank of the sender.
    #[inline(always)]
    pub fn count_received(&self, id: u32, source: i32, bytes: u64) {
        if let Some(route) = self.routes.get(source as usize) {
            self.count_received_from(id, *route, bytes);
        }
    }

    /// Counts a receive with this much room as no longer posted; `kept` counts the contexts whose room is kept.
    #[inline(always)]
    pub fn leaves_posted(&mut self, id: u32, room: impl FnOnce() -> u64, kept: &mut usize) {
        if user_side(id) {
            self.spec.instruments.posted_length.lower(1);
            if self.room.is_kept() {
                self.room.less(room(), kept);
            }
        }
    }

    /// Counts queues looked at.
    #[inline(always)]
    pub fn count_search(&self, id: u32, steps: u64) {
        if user_side(id) && steps > 0 {
            self.spec.instruments.search_steps.add(steps);
        }
    }
}

/// Whether a context id is of the program's own messages, which the communicator's instruments count.
#[inline]
pub(crate) fn user_side(context: u32) -> bool {
    context & 1 == 0
}

/// The data that a send to a rank needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    /// World rank.
    pub world: u32,
    /// The traffic with it.
    pub peer: &'static PeerInstruments,
}

#[derive(Debug)]
pub(crate) struct Side {
    pub posted: Posted,
    pub unexpected: Unexpected<Message>,
}

impl Side {
    fn new() -> Self {
        Side { posted: Posted::new(), unexpected: Unexpected::new() }
    }
}

#[derive(Debug)]
pub(crate) struct Contexts {
    table: IdTable<Context>,
    freed: FreedIds,
}

impl Contexts {
    /// Offset of the table, for readers outside.
    pub const TABLE: usize = offset_of!(Contexts, table);

    pub fn new() -> Self {
        Contexts { table: IdTable::new(), freed: FreedIds::default() }
    }

    /// Whether the communicator with this id, or the id beside it, has been freed.
    pub fn was_freed(&self, id: u32) -> bool {
        self.freed.contains(id)
    }

    /// The context with this id or the id beside it.
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&Context> {
        self.table.get(id)
    }

    /// The context of the program's messages with this id, if it is found at once; `None` for every other id.
    #[inline(always)]
    pub fn get_first(&self, id: u32) -> Option<&Context> {
        self.table.get_first(id)
    }

    /// As [`Contexts::get`], for changing it.
    #[inline(always)]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Context> {
        self.table.get_mut(id)
    }

    pub fn insert(&mut self, spec: ContextSpec) {
        debug_assert!(spec.id.is_multiple_of(2) && self.get(spec.id).is_none());
        self.freed.remove(spec.id);
        debug_assert!(spec.world_ranks.len() <= spec.instruments.peers.len());
        let ranks = spec.world_ranks.iter().zip(spec.instruments.peers);
        let (routes, sides) =
            (ranks.map(|(world, peer)| Route { world: *world, peer }).collect(), [Side::new(), Side::new()]);
        let eager_limit = spec.instruments.settings.eager_limit.in_force();
        let room = Room::default();
        let context = Context { spec, eager_limit, routes, sides, freed: false, holds: 0, room, duplicates: 0 };
        self.table.insert(context.spec.id, Box::new(context));
    }

    /// A request with a recipe that used the context was freed.
    pub fn release(&mut self, id: u32) {
        if let Some(context) = self.get_mut(id) {
            context.holds -= 1;
            if context.freed {
                self.remove_if_idle(id);
            }
        }
    }

    /// Frees a context: at once, or when the last of its posted receives is matched and no request uses it.
    pub fn free(&mut self, id: u32) {
        if let Some(context) = self.get_mut(id) {
            context.freed = true;
            self.remove_if_idle(id);
        }
    }

    /// Removes a freed context that no posted receive and no request needs any more.
    #[cold]
    pub fn remove_if_idle(&mut self, id: u32) {
        let is_idle = |context: &Context| context.holds == 0 && context.sides.iter().all(|side| side.posted.is_empty());
        if self.get(id).is_some_and(|context| context.freed && is_idle(context)) {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: u32) -> Option<Box<Context>> {
        let removed = self.table.remove(id)?;
        match id >= SHARED_IDS && id.is_multiple_of(BLOCK_OF_IDS) && removed.duplicates == 0 {
            // Nothing else uses ids of its block, so that the freed ids of a process that connects again and again are
            // one range.
            true => self.freed.insert_range(id, id + (BLOCK_OF_IDS - 2)),
            false => self.freed.insert(id),
        }
        Some(removed)
    }
}

#[cold]
pub(crate) fn unknown_context(id: u32) -> Error {
    let why = match id & !1 {
        PENDING_CONTEXT => "the communicator is a duplicate whose request is not complete yet".to_owned(),
        _ => format!("the communicator with context id {id} has been freed"),
    };
    Error::new(MPI_ERR_COMM, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(id: u32) -> ContextSpec {
        let instruments = CommMeters::detached(1);
        ContextSpec {
            id,
            rank: 0,
            world_ranks: Arc::from([0]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        }
    }

    #[test]
    fn every_live_context_is_found_after_any_removals() {
        let mut contexts = Contexts::new();
        let ids: Vec<u32> = (0..200).map(|n| n * 16).collect();
        ids.iter().for_each(|id| contexts.insert(spec(*id)));
        for removed in (0..200).step_by(3) {
            assert!(contexts.remove(ids[removed]).is_some());
        }
        for (n, id) in ids.iter().enumerate() {
            assert_eq!(contexts.get(*id).is_some(), n % 3 != 0);
            assert_eq!(contexts.get(*id + 1).is_some(), n % 3 != 0);
        }
    }
}
