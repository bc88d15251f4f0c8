//! Contexts: the engine's data of each communicator, by context id (MPI-4.1, 6.2).
//!
//! A communicator has two contexts, its even id for the program's messages and the odd one beside it for
//! collectives, each with its own matching.
//! Invariant: ids in the map are even and unique; the map's load stays under one half, so a look-up is one probe
//! for ids given out in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_COMM;
use mpi_errors::Error;

use crate::freed_ids::FreedIds;
use crate::instruments::{CommMeters, PeerInstruments};
use crate::matching::{Posted, Unexpected};
use crate::message::Message;
use crate::posted::Room;

/// The context id of a communicator that has none yet; no communicator ever gets it, because ids end far below.
pub const PENDING_CONTEXT: u32 = u32::MAX - 1;

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
            let instruments = self.spec.instruments;
            instruments.messages_sent.incr();
            instruments.bytes_sent.add(bytes);
            route.peer.messages_sent.incr();
            route.peer.bytes_sent.add(bytes);
        }
    }

    /// Counts a message of the program's that was matched with a receive.
    #[inline(always)]
    pub fn count_received(&self, id: u32, source: i32, bytes: u64) {
        if user_side(id) {
            let instruments = self.spec.instruments;
            instruments.messages_received.incr();
            instruments.bytes_received.add(bytes);
            if let Some(peer) = instruments.peers.get(source as usize) {
                peer.messages_received.incr();
                peer.bytes_received.add(bytes);
            }
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
    /// Open addressing by `id / 2`; the box keeps entries small to probe.
    entries: Vec<Option<Box<Context>>>,
    live: usize,
    freed: FreedIds,
}

impl Contexts {
    pub fn new() -> Self {
        Contexts { entries: (0..8).map(|_| None).collect(), live: 0, freed: FreedIds::default() }
    }

    /// Whether the communicator with this id, or the id beside it, has been freed.
    pub fn was_freed(&self, id: u32) -> bool {
        self.freed.contains(id)
    }

    #[inline]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn position(&self, id: u32) -> Option<usize> {
        let mask = self.entries.len() - 1;
        let mut at = self.home(id);
        while let Some(context) = &self.entries[at] {
            if context.spec.id == id & !1 {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// The context with this id or the id beside it.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&Context> {
        match self.entries.get(self.home(id)) {
            Some(Some(context)) if context.spec.id == id & !1 => Some(context),
            _ => self.entries[self.position(id)?].as_deref(),
        }
    }

    /// As [`Contexts::get`], for changing it.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Context> {
        let at = self.position(id)?;
        self.entries[at].as_deref_mut()
    }

    pub fn insert(&mut self, spec: ContextSpec) {
        debug_assert!(spec.id.is_multiple_of(2) && self.get(spec.id).is_none());
        self.freed.remove(spec.id);
        if (self.live + 1) * 2 > self.entries.len() {
            let doubled = (0..self.entries.len() * 2).map(|_| None).collect();
            let old = std::mem::replace(&mut self.entries, doubled);
            self.live = 0;
            old.into_iter().flatten().for_each(|context| self.place(context));
        }
        debug_assert!(spec.world_ranks.len() <= spec.instruments.peers.len());
        let ranks = spec.world_ranks.iter().zip(spec.instruments.peers);
        let (routes, sides) =
            (ranks.map(|(world, peer)| Route { world: *world, peer }).collect(), [Side::new(), Side::new()]);
        let eager_limit = spec.instruments.settings.eager_limit.in_force();
        let room = Room::default();
        self.place(Box::new(Context { spec, eager_limit, routes, sides, freed: false, holds: 0, room, duplicates: 0 }));
    }

    fn place(&mut self, context: Box<Context>) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(context.spec.id);
        while self.entries[at].is_some() {
            at = (at + 1) & mask;
        }
        self.entries[at] = Some(context);
        self.live += 1;
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
        let at = self.position(id)?;
        let removed = self.entries[at].take();
        self.live -= 1;
        self.freed.insert(id);
        // Entries that probed past the hole move back to where a look-up finds them.
        let mask = self.entries.len() - 1;
        let mut next = (at + 1) & mask;
        while let Some(context) = self.entries[next].take() {
            self.live -= 1;
            self.place(context);
            next = (next + 1) & mask;
        }
        removed
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
        ContextSpec { id, rank: 0, world_ranks: Arc::from([0]), both_groups: None, session: None, instruments }
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
