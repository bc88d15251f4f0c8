//! Posted receives of one context, in order: a list while searches are short, chains when they are long.
//!
//! Messages mostly come in the order of their receives, so the first item of the list is looked at first, alone. A list
//! is searched item by item until a search gets long. From then until the queue is empty all are chained under exactly
//! the (source, tag) they were posted with, wildcards included; for an arriving message its own pair is looked up and,
//! only while such receives exist, the three wildcard pairs.
//! Invariant: the list is in order of posting; either all receives are in it, or all are in the chains, which are not
//! empty then. The receive posted first wins.
//! Not here: requests of receives (`receive`), unexpected messages (`matching`).

use std::mem::offset_of;

use mpi_core::Handle;

use crate::chains::{Chains, Key};
use crate::queue::{EXACT, pattern};
use crate::wildcards::{ANY_BOTH, ANY_SOURCE, ANY_TAG, widened, wildcard_kind};

#[derive(Debug)]
pub(crate) struct Posted {
    list: Vec<Entry>,
    /// The list begins here in `list`: receives leave at the front, as a rule, which moves none of those behind.
    first: usize,
    chains: Chains<Handle>,
    linked: bool,
    /// Posted receives with any source, any tag, and both.
    wild: [u32; 3],
    next_stamp: u64,
}

/// Offsets, for readers outside.
impl Posted {
    pub const LIST: usize = offset_of!(Posted, list);
    pub const FIRST: usize = offset_of!(Posted, first);
    pub const CHAINS: usize = offset_of!(Posted, chains);
    pub const LINKED: usize = offset_of!(Posted, linked);
    pub const ENTRY_BYTES: usize = size_of::<Entry>();
    pub const ENTRY_WORD: usize = offset_of!(Entry, word);
    pub const ENTRY_MASK: usize = offset_of!(Entry, mask);
    pub const ENTRY_RECEIVE: usize = offset_of!(Entry, receive);
}

/// A receive of the list: its source and tag, and which bits of them have to agree.
#[derive(Debug, Clone, Copy)]
struct Entry {
    word: u64,
    mask: u64,
    receive: Handle,
}

impl Posted {
    pub fn new() -> Self {
        Posted { list: Vec::new(), first: 0, chains: Chains::new(), linked: false, wild: [0; 3], next_stamp: 0 }
    }

    /// Whether no receive is posted.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.linked
    }

    /// Posts a receive behind all others; with a `limit` of 0 all are chained.
    #[inline(always)] // the usual case is a store behind the list
    pub fn post(&mut self, key: Key, receive: Handle, limit: usize) {
        let (word, mask) = pattern(key);
        if mask != EXACT || self.linked || limit == 0 || self.list.len() == self.list.capacity() {
            return self.post_slowly(key, receive, limit);
        }
        self.list.push(Entry { word, mask, receive });
    }

    #[inline(never)]
    fn post_slowly(&mut self, key: Key, receive: Handle, limit: usize) {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] += 1;
        }
        if self.linked {
            self.next_stamp += 1;
            self.chains.push(key, self.next_stamp, receive);
            return;
        }
        if self.list.len() == self.list.capacity() {
            self.move_to_front();
        }
        let (word, mask) = pattern(key);
        self.list.push(Entry { word, mask, receive });
        if limit == 0 {
            self.link_all();
        }
    }

    /// Moves the receives to the beginning of a full list if at least half of it is free, so that moves cost a constant
    /// for each.
    fn move_to_front(&mut self) {
        if self.first > self.list.len() / 2 {
            self.list.drain(..self.first);
            self.first = 0;
        }
    }

    /// The receive posted first, if it is in the list and its source and tag, without wildcards, are these.
    #[inline(always)]
    pub fn first(&self, key: Key) -> Option<Handle> {
        let first = self.list.get(self.first)?;
        (first.word == pattern(key).0 && first.mask == EXACT).then_some(first.receive)
    }

    /// Removes the receive that [`Posted::first`] has returned.
    #[inline(always)]
    pub fn remove_first(&mut self) {
        self.first += 1;
        if self.first == self.list.len() {
            self.list.clear();
            self.first = 0;
        }
    }

    /// Removes the receive that a message with this source and tag matches, and returns the steps of the search:
    /// receives compared in a list, or chains. After a search of more than `limit` steps all are chained.
    #[inline(always)] // the usual case is one compare
    pub fn take_match(&mut self, key: Key, limit: impl FnOnce() -> usize) -> (Option<Handle>, u64) {
        if let Some(receive) = self.first(key) {
            self.remove_first();
            return (Some(receive), 1);
        }
        match (self.list.is_empty(), self.linked) {
            (true, false) => (None, 0),
            (true, true) => self.take_chained(key),
            _ => self.take_listed(key, limit()),
        }
    }

    #[inline(never)]
    fn take_listed(&mut self, key: Key, limit: usize) -> (Option<Handle>, u64) {
        let (word, mask) = pattern(key);
        let items = &self.list[self.first..];
        let at = match self.wild {
            [0, 0, 0] => items.iter().position(|entry| entry.word == word),
            _ => items.iter().position(|entry| (entry.word ^ word) & entry.mask & mask == 0),
        };
        let steps = at.map_or(items.len(), |at| at + 1);
        let receive = at.map(|at| self.remove_listed(self.first + at).receive);
        if steps > limit && !self.list.is_empty() {
            self.link_all();
        }
        (receive, steps as u64)
    }

    /// Removes the receive at this place of the list.
    fn remove_listed(&mut self, at: usize) -> Entry {
        let removed = self.list[at];
        self.uncount_wildcard(removed.key());
        if at - self.first < self.list.len() - at {
            self.list.copy_within(self.first..at, self.first + 1);
            self.remove_first();
        } else {
            self.list.remove(at);
            if self.first == self.list.len() {
                self.list.clear();
                self.first = 0;
            }
        }
        removed
    }

    /// Searches the chains: that of the message's own pair, and those of the wildcards in use.
    #[inline(never)]
    fn take_chained(&mut self, key: Key) -> (Option<Handle>, u64) {
        let chains = &self.chains;
        let (mut found, mut steps) = (chains.oldest(key), 1);
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if self.wild[kind] == 0 {
                continue;
            }
            steps += 1;
            if let Some(node) = chains.oldest(widened(key, kind))
                && found.is_none_or(|other| chains.stamp(node) < chains.stamp(other))
            {
                found = Some(node);
            }
        }
        let receive = found.map(|node| {
            self.uncount_wildcard(self.chains.key(node));
            self.chains.remove(node)
        });
        self.linked = self.chains.len() != 0;
        (receive, steps)
    }

    /// Chains all receives of the list, which is not empty.
    #[cold]
    fn link_all(&mut self) {
        self.linked = true;
        for entry in self.list.drain(..).skip(std::mem::take(&mut self.first)) {
            self.next_stamp += 1;
            self.chains.push(entry.key(), self.next_stamp, entry.receive);
        }
    }

    fn uncount_wildcard(&mut self, key: Key) {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] -= 1;
        }
    }

    /// Removes a cancelled receive, which is posted with this key.
    pub fn withdraw(&mut self, key: Key, receive: Handle) {
        if self.linked {
            let node = self.chains.find(key, receive).expect("a posted receive that is not in the list is chained");
            self.uncount_wildcard(key);
            self.chains.remove(node);
            self.linked = self.chains.len() != 0;
            return;
        }
        let at = self.list[self.first..].iter().position(|entry| entry.receive == receive);
        self.remove_listed(self.first + at.expect("a posted receive that is not chained is in the list"));
    }

    /// Number of posted receives.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.list.len() - self.first + self.chains.len()
    }

    /// Number of receives that the list has memory for.
    #[cfg(test)]
    pub fn list_capacity(&self) -> usize {
        self.list.capacity()
    }
}

impl Entry {
    fn key(&self) -> Key {
        Key { source: (self.word >> 32) as i32, tag: self.word as i32 }
    }
}
