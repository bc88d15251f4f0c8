//! Chains: items in order of arrival, found by (source, tag) in constant time.
//!
//! A hash table whose buckets are doubly linked chains through one slab of nodes, so that adding, finding the oldest
//! item of a key and removing any item neither allocate (once warm) nor depend on how many items wait.
//! Invariant: a bucket's chain is in order of insertion; the number of buckets is at least half the number of items.
//! Not here: what a wildcard means (`matching`), lists of few items (`queue`).

use std::mem::offset_of;

const NIL: u32 = u32::MAX;
const FIRST_BUCKETS: usize = 16;

/// A source and a tag, each a rank or tag, or the wildcard's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)] // read from outside
pub(crate) struct Key {
    pub source: i32,
    pub tag: i32,
}

/// Index of an item in its [`Chains`]; valid until the item is removed.
pub(crate) type Node = u32;

#[derive(Debug)]
pub(crate) struct Chains<T> {
    buckets: Vec<Ends>,
    /// `64 - log2(buckets.len())`: the hash's high bits choose the bucket.
    shift: u32,
    nodes: Vec<Slot<T>>,
    free: u32,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
#[repr(C)] // read from outside
struct Ends {
    head: u32,
    tail: u32,
}

#[derive(Debug)]
struct Slot<T> {
    key: Key,
    stamp: u64,
    next: u32,
    previous: u32,
    item: T,
}

/// Offsets, for readers outside.
impl<T> Chains<T> {
    pub const NODES: usize = offset_of!(Chains<T>, nodes);
    pub const BUCKETS: usize = offset_of!(Chains<T>, buckets);
    pub const NODE_BYTES: usize = size_of::<Slot<T>>();
    pub const NODE_KEY: usize = offset_of!(Slot<T>, key);
    pub const NODE_STAMP: usize = offset_of!(Slot<T>, stamp);
    pub const NODE_NEXT: usize = offset_of!(Slot<T>, next);
    pub const NODE_ITEM: usize = offset_of!(Slot<T>, item);
}

impl<T: Copy> Chains<T> {
    pub fn new() -> Self {
        Chains {
            buckets: vec![Ends { head: NIL, tail: NIL }; FIRST_BUCKETS],
            shift: 64 - FIRST_BUCKETS.trailing_zeros(),
            nodes: Vec::new(),
            free: NIL,
            len: 0,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn bucket_of(&self, key: Key) -> usize {
        let word = u64::from(key.source as u32) << 32 | u64::from(key.tag as u32);
        // Fibonacci hashing: consecutive tags and sources land in different buckets.
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Adds an item behind all others; `stamp` must grow from call to call.
    #[inline]
    pub fn push(&mut self, key: Key, stamp: u64, item: T) -> Node {
        let node = self.keep(key, stamp, item);
        self.link(node);
        node
    }

    /// Stores an item that no search finds until it is linked.
    #[inline]
    pub fn keep(&mut self, key: Key, stamp: u64, item: T) -> Node {
        let slot = Slot { key, stamp, next: NIL, previous: NIL, item };
        self.len += 1;
        if self.free == NIL {
            self.nodes.push(slot);
            return (self.nodes.len() - 1) as u32;
        }
        let node = self.free;
        self.free = self.nodes[node as usize].next;
        self.nodes[node as usize] = slot;
        node
    }

    /// Links a stored item behind all others of its key, so that searches find it.
    #[inline]
    pub fn link(&mut self, node: Node) {
        if self.len > self.buckets.len() * 2 {
            self.grow();
        }
        let bucket = self.bucket_of(self.nodes[node as usize].key);
        let tail = self.buckets[bucket].tail;
        self.nodes[node as usize].previous = tail;
        match tail {
            NIL => self.buckets[bucket].head = node,
            _ => self.nodes[tail as usize].next = node,
        }
        self.buckets[bucket].tail = node;
    }

    /// The oldest item with this key.
    #[inline]
    pub fn oldest(&self, key: Key) -> Option<Node> {
        if self.len == 0 {
            return None;
        }
        let mut node = self.buckets[self.bucket_of(key)].head;
        while node != NIL {
            let slot = &self.nodes[node as usize];
            if slot.key == key {
                return Some(node);
            }
            node = slot.next;
        }
        None
    }

    /// The node of a linked item. Looks from both ends of the chain, because items leave in the order in which they came
    /// or in the reverse one, as a rule.
    pub fn find(&self, key: Key, item: T) -> Option<Node>
    where
        T: PartialEq,
    {
        let ends = self.buckets[self.bucket_of(key)];
        let (mut from_head, mut from_tail) = (ends.head, ends.tail);
        while from_head != NIL && from_tail != NIL {
            for node in [from_head, from_tail] {
                if self.nodes[node as usize].item == item {
                    return Some(node);
                }
            }
            from_head = self.nodes[from_head as usize].next;
            from_tail = self.nodes[from_tail as usize].previous;
        }
        None
    }

    #[inline]
    pub fn stamp(&self, node: Node) -> u64 {
        self.nodes[node as usize].stamp
    }

    #[inline]
    pub fn item(&self, node: Node) -> T {
        self.nodes[node as usize].item
    }

    #[inline]
    pub fn key(&self, node: Node) -> Key {
        self.nodes[node as usize].key
    }

    /// Takes an item out of its chain.
    #[inline]
    pub fn remove(&mut self, node: Node) -> T {
        let Slot { key, next, previous, .. } = self.nodes[node as usize];
        let bucket = self.bucket_of(key);
        match previous {
            NIL => self.buckets[bucket].head = next,
            _ => self.nodes[previous as usize].next = next,
        }
        match next {
            NIL => self.buckets[bucket].tail = previous,
            _ => self.nodes[next as usize].previous = previous,
        }
        self.release(node)
    }

    /// Removes an item that was stored and never linked.
    #[inline]
    pub fn release(&mut self, node: Node) -> T {
        let slot = &mut self.nodes[node as usize];
        slot.next = self.free;
        self.free = node;
        self.len -= 1;
        slot.item
    }

    /// Doubles the buckets. Chains are walked oldest first and relinked at the tail, so order within a key stays.
    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![Ends { head: NIL, tail: NIL }; old.len() * 2];
        self.shift -= 1;
        for ends in old {
            let mut node = ends.head;
            while node != NIL {
                let next = self.nodes[node as usize].next;
                let bucket = self.bucket_of(self.nodes[node as usize].key);
                let tail = self.buckets[bucket].tail;
                self.nodes[node as usize].next = NIL;
                self.nodes[node as usize].previous = tail;
                match tail {
                    NIL => self.buckets[bucket].head = node,
                    _ => self.nodes[tail as usize].next = node,
                }
                self.buckets[bucket].tail = node;
                node = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(source: i32, tag: i32) -> Key {
        Key { source, tag }
    }

    #[test]
    fn the_oldest_of_a_key_comes_first_also_after_growth() {
        let mut chains = Chains::new();
        for stamp in 0..1000u64 {
            chains.push(key(1, (stamp % 10) as i32), stamp, stamp);
        }
        for tag in 0..10 {
            let mut last = None;
            while let Some(node) = chains.oldest(key(1, tag)) {
                let stamp = chains.remove(node);
                assert!(last < Some(stamp) && stamp % 10 == tag as u64);
                last = Some(stamp);
            }
        }
        assert_eq!(chains.len(), 0);
    }

    #[test]
    fn any_item_can_leave_the_middle_of_its_chain() {
        let mut chains = Chains::new();
        let nodes: Vec<_> = (0..5).map(|n| chains.push(key(0, 0), n, n)).collect();
        assert_eq!(chains.remove(nodes[2]), 2);
        assert_eq!(chains.remove(nodes[0]), 0);
        assert_eq!(chains.remove(nodes[4]), 4);
        let reused = chains.push(key(0, 0), 9, 9);
        assert_eq!(chains.remove(chains.oldest(key(0, 0)).expect("one")), 1);
        assert_eq!(chains.remove(chains.oldest(key(0, 0)).expect("one")), 3);
        assert_eq!((chains.oldest(key(0, 0)), chains.oldest(key(0, 1))), (Some(reused), None));
    }
}
