//! Matching: which receive gets which message (MPI-4.1, 3.5), in constant time.
//!
//! A queue is searched item by item until a search gets long, and hashed from then on. Posted receives are in
//! `posted_queue`. Unexpected messages are kept under their own pair; an index for a kind of wildcard is built when a
//! receive first uses that kind and kept up from then on.
//! Invariant: among candidates the smallest stamp wins, on both sides; that is the standard's ordering rule.

use std::mem::offset_of;

use crate::chains::{Chains, Key, Node};
use crate::queue::{Found, Queue};
use crate::wildcards::{ANY_BOTH, ANY_SOURCE, ANY_TAG, widened, wildcard_kind};

/// Unexpected messages of one context, each stored in a slot until a receive takes it.
#[derive(Debug)]
pub(crate) struct Unexpected<M> {
    queue: Queue<()>,
    /// Indices for receives with any source, any tag and both, built on first use; for chains only.
    wild: [Option<Chains<u32>>; 3],
    /// By node of the queue.
    slots: Vec<Stored<M>>,
    next_stamp: u64,
}

#[derive(Debug)]
struct Stored<M> {
    wild: [Node; 3],
    message: Option<M>,
}

/// Offsets, for readers outside.
impl<M> Unexpected<M> {
    pub const QUEUE: usize = offset_of!(Unexpected<M>, queue);
    pub const SLOTS: usize = offset_of!(Unexpected<M>, slots);
    pub const SLOT_BYTES: usize = size_of::<Stored<M>>();
    pub const SLOT_MESSAGE: usize = offset_of!(Stored<M>, message);
}

const TAKEN: &str = "a slot named by `find` holds a message";

impl<M> Unexpected<M> {
    pub fn new() -> Self {
        Unexpected { queue: Queue::new(), wild: [None, None, None], slots: Vec::new(), next_stamp: 0 }
    }

    /// Whether no message waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.len() == 0
    }

    /// Adds an arrived message behind all others; with a `limit` of 0 all are hashed.
    #[inline]
    pub fn add(&mut self, key: Key, message: M, limit: usize) {
        self.next_stamp += 1;
        self.add_stamped(key, self.next_stamp, message, limit);
    }

    /// Adds a message that was taken out to the place that its stamp has in the order of all.
    #[cold]
    pub fn put_back(&mut self, key: Key, stamp: u64, message: M, limit: usize) {
        let mut waiting: Vec<u32> =
            (0..self.slots.len() as u32).filter(|slot| self.slots[*slot as usize].message.is_some()).collect();
        waiting.sort_unstable_by_key(|slot| self.stamp(*slot));
        let mut all = Vec::with_capacity(waiting.len() + 1);
        for slot in waiting {
            let stamp = self.stamp(slot);
            let (key, message) = self.take(slot);
            all.push((stamp, key, message));
        }
        let place = all.partition_point(|(other, ..)| *other < stamp);
        all.insert(place, (stamp, key, message));
        for (stamp, key, message) in all {
            self.add_stamped(key, stamp, message, limit);
        }
    }

    /// The place of the message in a slot that `find` returned in the order of all.
    pub fn stamp(&self, slot: u32) -> u64 {
        self.queue.chains.stamp(slot)
    }

    #[inline]
    fn add_stamped(&mut self, key: Key, stamp: u64, message: M, limit: usize) {
        let slot = self.queue.push(key, stamp, ());
        match self.slots.get_mut(slot as usize) {
            Some(stored) => stored.message = Some(message),
            None => self.slots.push(Stored { wild: [0; 3], message: Some(message) }),
        }
        if self.queue.is_linked() {
            self.add_to_indices(slot);
        } else if limit == 0 {
            self.become_chains();
        }
    }

    /// Adds a message to the indices that exist.
    #[inline]
    fn add_to_indices(&mut self, slot: u32) {
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if let Some(chains) = &mut self.wild[kind] {
                let (key, stamp) = (self.queue.chains.key(slot), self.queue.chains.stamp(slot));
                self.slots[slot as usize].wild[kind] = chains.push(widened(key, kind), stamp, slot);
            }
        }
    }

    #[cold]
    fn become_chains(&mut self) {
        let mut slots = Vec::with_capacity(self.queue.len());
        self.queue.link_all(|slot| slots.push(slot));
        slots.into_iter().for_each(|slot| self.add_to_indices(slot));
    }

    /// The slot of the message that a receive for this source and tag (wildcards allowed) matches, and the steps of the
    /// search: messages compared in a list, or chains. After a search of more than `limit` steps all are hashed.
    #[inline]
    pub fn find(&mut self, key: Key, limit: usize) -> (Option<u32>, u64) {
        if self.queue.len() == 0 {
            return (None, 0);
        }
        if !self.queue.is_linked() {
            let Found { node, steps } = self.queue.scan(key, false);
            if self.queue.is_list_beyond(limit, steps) {
                self.become_chains();
            }
            return (node, steps);
        }
        let slot = match wildcard_kind(key) {
            None => self.queue.chains.oldest(key),
            Some(kind) => {
                let chains = self.index(kind);
                chains.oldest(key).map(|node| chains.item(node))
            }
        };
        (slot, 1)
    }

    /// The source and tag of the message in a slot that `find` named, and the message.
    #[inline]
    pub fn get(&mut self, slot: u32) -> (Key, &mut M) {
        (self.queue.chains.key(slot), self.slots[slot as usize].message.as_mut().expect(TAKEN))
    }

    /// Removes the message in a slot that `find` returned.
    #[inline]
    pub fn take(&mut self, slot: u32) -> (Key, M) {
        let key = self.queue.chains.key(slot);
        self.unlink(slot);
        (key, self.slots[slot as usize].message.take().expect(TAKEN))
    }

    /// Drops the message in a slot that `find` returned.
    #[inline]
    pub fn discard(&mut self, slot: u32) {
        self.unlink(slot);
        self.slots[slot as usize].message = None;
    }

    #[inline]
    fn unlink(&mut self, slot: u32) {
        if self.queue.is_linked() {
            for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
                if let Some(chains) = &mut self.wild[kind] {
                    chains.remove(self.slots[slot as usize].wild[kind]);
                }
            }
        }
        self.queue.remove(slot);
    }

    /// Removes the youngest of the messages for which `meant` is true; searches all slots.
    pub fn take_where(&mut self, mut meant: impl FnMut(&M) -> bool) -> Option<(Key, M)> {
        let slots = (0..).zip(&self.slots).filter(|(_, stored)| stored.message.as_ref().is_some_and(&mut meant));
        let (slot, _) = slots.max_by_key(|(slot, _)| self.queue.chains.stamp(*slot))?;
        Some(self.take(slot))
    }

    /// The index for a kind of wildcard; built from all waiting messages, oldest first, when first used.
    fn index(&mut self, kind: usize) -> &Chains<u32> {
        let (slots, waiting) = (&mut self.slots, &self.queue.chains);
        self.wild[kind].get_or_insert_with(|| {
            let mut order: Vec<u32> =
                (0..slots.len() as u32).filter(|slot| slots[*slot as usize].message.is_some()).collect();
            order.sort_unstable_by_key(|slot| waiting.stamp(*slot));
            let mut chains = Chains::new();
            for slot in order {
                let (key, stamp) = (waiting.key(slot), waiting.stamp(slot));
                slots[slot as usize].wild[kind] = chains.push(widened(key, kind), stamp, slot);
            }
            chains
        })
    }
}

#[cfg(test)]
mod tests;
