//! A queue that is a list while its searches are short and chains when they are long.
//!
//! An item near the front of a list is found faster by looking at one after the other than by hashing, whatever the
//! length of the list; one far behind is not. An item keeps its node when the queue changes from one to the other.
//! Invariant: the list is in order of insertion; either all items are in it and none is linked, or all are linked and
//! it is empty. A queue that has become chains stays so until it is empty.
//! Not here: the chains (`chains`), which of several candidates wins (`matching`).

use std::mem::offset_of;

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};

use crate::chains::{Chains, Key, Node};

/// Items by source and tag, in order.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    pub chains: Chains<T>,
    list: Vec<Entry>,
    /// The list begins here in `list`: items leave at the front, as a rule, which moves none of those behind.
    first: usize,
    linked: bool,
    /// Where in the list the last search ended: its item is the next to be removed, as a rule.
    found: usize,
}

/// Offsets, for readers outside.
impl<T> Queue<T> {
    pub const CHAINS: usize = offset_of!(Queue<T>, chains);
    pub const LIST: usize = offset_of!(Queue<T>, list);
    pub const FIRST: usize = offset_of!(Queue<T>, first);
    pub const LINKED: usize = offset_of!(Queue<T>, linked);
    pub const ENTRY_BYTES: usize = size_of::<Entry>();
    pub const ENTRY_NODE: usize = offset_of!(Entry, node);
}

/// An item of a list: its source and tag, and which bits of them have to agree.
#[derive(Debug, Clone, Copy)]
struct Entry {
    word: u64,
    mask: u64,
    node: Node,
}

/// The result of a search of a list.
pub(crate) struct Found {
    pub node: Option<Node>,
    /// How many items it looked at.
    pub steps: u64,
}

/// The mask of a pair without wildcards.
pub(crate) const EXACT: u64 = u64::MAX;
const SOURCE: u64 = 0xffff_ffff_0000_0000;

/// A source and tag as one word, and its bits that are not of a wildcard.
#[inline(always)]
pub(crate) fn pattern(key: Key) -> (u64, u64) {
    let word = u64::from(key.source as u32) << 32 | u64::from(key.tag as u32);
    let source = if key.source == MPI_ANY_SOURCE { 0 } else { SOURCE };
    let tag = if key.tag == MPI_ANY_TAG { 0 } else { !SOURCE };
    (word, source | tag)
}

impl<T: Copy> Queue<T> {
    pub fn new() -> Self {
        Queue { chains: Chains::new(), list: Vec::new(), first: 0, linked: false, found: 0 }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Whether items are found by hashing.
    #[inline(always)]
    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// Adds an item behind all others; `stamp` must grow from call to call.
    #[inline]
    pub fn push(&mut self, key: Key, stamp: u64, item: T) -> Node {
        let node = self.chains.keep(key, stamp, item);
        if self.linked {
            self.chains.link(node);
        } else {
            if self.list.len() == self.list.capacity() {
                self.move_to_front();
            }
            let (word, mask) = pattern(key);
            self.list.push(Entry { word, mask, node });
        }
        node
    }

    /// Moves the items to the beginning of a full list if at least half of it is free, so that moves cost a constant for each
    /// item.
    #[cold]
    fn move_to_front(&mut self) {
        if self.first > self.list.len() / 2 {
            self.list.drain(..self.first);
            self.first = 0;
        }
    }

    /// Whether the queue is a list that is to become chains: the last search looked at more items than these, or no item
    /// is to be looked at. Not for an empty queue.
    #[inline]
    pub fn is_list_beyond(&self, limit: usize, steps: u64) -> bool {
        !self.linked && steps > limit as u64
    }

    /// The queue becomes chains; calls `linked` with each item, oldest first.
    #[cold]
    pub fn link_all(&mut self, mut linked: impl FnMut(Node)) {
        if self.first == self.list.len() {
            return;
        }
        self.linked = true;
        for entry in self.list.drain(..).skip(std::mem::take(&mut self.first)) {
            self.chains.link(entry.node);
            linked(entry.node);
        }
    }

    /// The oldest item of a list that fits this source and tag, wildcards on either side; not for chains. `wild_items`:
    /// whether there are items with wildcards.
    #[inline]
    pub fn scan(&mut self, key: Key, wild_items: bool) -> Found {
        let (word, mask) = pattern(key);
        let items = &self.list[self.first..];
        let at = match (mask, wild_items) {
            (EXACT, false) => items.iter().position(|entry| entry.word == word),
            _ => items.iter().position(|entry| (entry.word ^ word) & entry.mask & mask == 0),
        };
        let steps = at.map_or(items.len(), |at| at + 1) as u64;
        let node = at.map(|at| items[at].node);
        self.found = self.first + at.unwrap_or(0);
        Found { node, steps }
    }

    /// Removes an item.
    #[inline]
    pub fn remove(&mut self, node: Node) -> T {
        if self.linked {
            let item = self.chains.remove(node);
            self.linked = self.chains.len() != 0;
            return item;
        }
        match self.list.get(self.found) {
            Some(entry) if entry.node == node && self.found == self.first => self.first += 1,
            _ => self.remove_later(node),
        }
        if self.first == self.list.len() {
            self.list.clear();
            self.first = 0;
        }
        self.chains.release(node)
    }

    /// Removes an item of a list that is not its first one.
    #[inline(never)]
    fn remove_later(&mut self, node: Node) {
        let is_it = |entry: &Entry| entry.node == node;
        let at = match self.list.get(self.found) {
            Some(entry) if self.found >= self.first && is_it(entry) => self.found,
            _ => {
                let at = self.list[self.first..].iter().position(is_it);
                self.first + at.expect("an item that is not linked is in the list")
            }
        };
        if at - self.first < self.list.len() - at {
            self.list.copy_within(self.first..at, self.first + 1);
            self.first += 1;
        } else {
            self.list.remove(at);
        }
    }
}
