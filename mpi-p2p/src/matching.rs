//! Matching: which receive gets which message (MPI-4.1, 3.5), in constant time.
//!
//! Posted receives are kept under exactly the (source, tag) they were posted with, wildcards included; an arriving
//! message looks under its own pair and, only while such receives exist, under the three wildcard pairs, and takes
//! the one posted first. Unexpected messages are kept under their own pair; an index for a kind of wildcard is built
//! when a receive first uses that kind and kept up from then on.
//! Invariant: among candidates the smallest stamp wins, on both sides; that is the standard's ordering rule.

use mpi_core::Handle;
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};

use crate::chains::{Chains, Key, Node};

/// Posted receives of one context.
#[derive(Debug)]
pub(crate) struct Posted {
    chains: Chains<Handle>,
    /// Posted receives with any source, any tag, and both.
    wild: [u32; 3],
    next_stamp: u64,
}

const ANY_SOURCE: usize = 0;
const ANY_TAG: usize = 1;
const ANY_BOTH: usize = 2;

#[inline]
fn wildcard_kind(key: Key) -> Option<usize> {
    match (key.source == MPI_ANY_SOURCE, key.tag == MPI_ANY_TAG) {
        (false, false) => None,
        (true, false) => Some(ANY_SOURCE),
        (false, true) => Some(ANY_TAG),
        (true, true) => Some(ANY_BOTH),
    }
}

#[inline]
fn widened(key: Key, kind: usize) -> Key {
    match kind {
        ANY_SOURCE => Key { source: MPI_ANY_SOURCE, tag: key.tag },
        ANY_TAG => Key { source: key.source, tag: MPI_ANY_TAG },
        _ => Key { source: MPI_ANY_SOURCE, tag: MPI_ANY_TAG },
    }
}

impl Posted {
    pub fn new() -> Self {
        Posted { chains: Chains::new(), wild: [0; 3], next_stamp: 0 }
    }

    /// Posts a receive behind all others.
    #[inline]
    pub fn post(&mut self, key: Key, request: Handle) -> Node {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] += 1;
        }
        self.next_stamp += 1;
        self.chains.push(key, self.next_stamp, request)
    }

    /// Takes out the receive that a message with this source and tag matches.
    #[inline]
    pub fn take_match(&mut self, key: Key) -> Option<Handle> {
        if self.chains.len() == 0 {
            return None;
        }
        let mut best = self.chains.oldest(key).map(|node| (node, None));
        if self.wild != [0; 3] {
            best = self.best_with_wildcards(key, best);
        }
        let (node, kind) = best?;
        if let Some(kind) = kind {
            self.wild[kind] -= 1;
        }
        Some(self.chains.remove(node))
    }

    fn best_with_wildcards(&self, key: Key, exact: Option<(Node, Option<usize>)>) -> Option<(Node, Option<usize>)> {
        let mut best = exact;
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if self.wild[kind] == 0 {
                continue;
            }
            if let Some(node) = self.chains.oldest(widened(key, kind))
                && best.is_none_or(|(other, _)| self.chains.stamp(node) < self.chains.stamp(other))
            {
                best = Some((node, Some(kind)));
            }
        }
        best
    }

    /// How many queues a search looks at.
    #[inline(always)]
    pub fn search_steps(&self) -> u64 {
        match (self.chains.len(), self.wild) {
            (0, _) => 0,
            (_, [0, 0, 0]) => 1,
            (_, wild) => 1 + wild.iter().map(|kind| u64::from(*kind > 0)).sum::<u64>(),
        }
    }

    /// Whether no receive is posted.
    pub fn is_empty(&self) -> bool {
        self.chains.len() == 0
    }

    /// Takes a receive back (cancelled).
    pub fn withdraw(&mut self, key: Key, node: Node) {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] -= 1;
        }
        self.chains.remove(node);
    }
}

/// Unexpected messages of one context, each stored in a slot until a receive takes it.
#[derive(Debug)]
pub(crate) struct Unexpected<M> {
    exact: Chains<u32>,
    /// Indices for receives with any source, any tag and both, built on first use.
    wild: [Option<Chains<u32>>; 3],
    slots: Vec<Stored<M>>,
    free: Vec<u32>,
    next_stamp: u64,
}

#[derive(Debug)]
struct Stored<M> {
    key: Key,
    stamp: u64,
    exact: Node,
    wild: [Node; 3],
    message: Option<M>,
}

impl<M> Unexpected<M> {
    pub fn new() -> Self {
        Unexpected {
            exact: Chains::new(),
            wild: [None, None, None],
            slots: Vec::new(),
            free: Vec::new(),
            next_stamp: 0,
        }
    }

    /// Adds an arrived message behind all others.
    #[inline]
    pub fn add(&mut self, key: Key, message: M) {
        self.next_stamp += 1;
        let stamp = self.next_stamp;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let mut stored = Stored { key, stamp, exact: 0, wild: [0; 3], message: Some(message) };
        stored.exact = self.exact.push(key, stamp, slot);
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if let Some(chains) = &mut self.wild[kind] {
                stored.wild[kind] = chains.push(widened(key, kind), stamp, slot);
            }
        }
        if slot as usize == self.slots.len() {
            self.slots.push(stored);
        } else {
            self.slots[slot as usize] = stored;
        }
    }

    /// How many queues a search looks at.
    #[inline(always)]
    pub fn search_steps(&self) -> u64 {
        u64::from(self.exact.len() > 0)
    }

    /// The slot of the message that a receive for this source and tag (wildcards allowed) matches.
    #[inline]
    pub fn find(&mut self, key: Key) -> Option<u32> {
        if self.exact.len() == 0 {
            return None;
        }
        match wildcard_kind(key) {
            None => self.exact.oldest(key).map(|node| self.exact.item(node)),
            Some(kind) => {
                let chains = self.index(kind);
                chains.oldest(key).map(|node| chains.item(node))
            }
        }
    }

    /// The source and tag of the message in a slot that `find` named, and the message.
    pub fn get(&self, slot: u32) -> (Key, &M) {
        let stored = &self.slots[slot as usize];
        (stored.key, stored.message.as_ref().expect("a slot named by `find` holds a message"))
    }

    /// Takes out the message in a slot that `find` named.
    #[inline]
    pub fn take(&mut self, slot: u32) -> (Key, M) {
        let stored = &mut self.slots[slot as usize];
        self.exact.remove(stored.exact);
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if let Some(chains) = &mut self.wild[kind] {
                chains.remove(stored.wild[kind]);
            }
        }
        self.free.push(slot);
        (stored.key, stored.message.take().expect("a slot named by `find` holds a message"))
    }

    /// Takes out the message that is meant, wherever it is; looks at all.
    pub fn take_where(&mut self, mut meant: impl FnMut(&M) -> bool) -> Option<(Key, M)> {
        let slot = self.slots.iter().position(|stored| stored.message.as_ref().is_some_and(&mut meant))?;
        Some(self.take(slot as u32))
    }

    /// The index for a kind of wildcard; built from all waiting messages, oldest first, when first asked for.
    fn index(&mut self, kind: usize) -> &Chains<u32> {
        let slots = &mut self.slots;
        self.wild[kind].get_or_insert_with(|| {
            let mut order: Vec<u32> =
                (0..slots.len() as u32).filter(|slot| slots[*slot as usize].message.is_some()).collect();
            order.sort_unstable_by_key(|slot| slots[*slot as usize].stamp);
            let mut chains = Chains::new();
            for slot in order {
                let stored = &mut slots[slot as usize];
                stored.wild[kind] = chains.push(widened(stored.key, kind), stored.stamp, slot);
            }
            chains
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::Kind;

    fn key(source: i32, tag: i32) -> Key {
        Key { source, tag }
    }

    fn request(n: u32) -> Handle {
        Handle::pack(Kind::Request, n, 1)
    }

    const ANY: i32 = MPI_ANY_TAG;

    #[test]
    fn the_receive_posted_first_wins_whatever_its_wildcards() {
        let orders: [[Key; 4]; 3] = [
            [key(1, 5), key(MPI_ANY_SOURCE, 5), key(1, ANY), key(MPI_ANY_SOURCE, ANY)],
            [key(MPI_ANY_SOURCE, ANY), key(1, ANY), key(1, 5), key(MPI_ANY_SOURCE, 5)],
            [key(1, ANY), key(1, 5), key(MPI_ANY_SOURCE, ANY), key(MPI_ANY_SOURCE, 5)],
        ];
        for order in orders {
            let mut posted = Posted::new();
            for (n, pattern) in order.iter().enumerate() {
                posted.post(*pattern, request(n as u32));
            }
            for n in 0..4 {
                assert_eq!(posted.take_match(key(1, 5)), Some(request(n)));
            }
            assert_eq!(posted.take_match(key(1, 5)), None);
        }
    }

    #[test]
    fn unexpected_messages_agree_with_a_plain_list() {
        // A deterministic random walk against the obvious model.
        let mut seed = 12345u64;
        let mut random = move |bound: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % bound
        };
        let mut model: Vec<(Key, u32)> = Vec::new();
        let mut queue = Unexpected::new();
        for number in 0..20_000 {
            if random(2) == 0 {
                let message = key(random(3) as i32, random(3) as i32);
                queue.add(message, number);
                model.push((message, number));
            } else {
                let source = random(4) as i32;
                let tag = random(4) as i32;
                let wanted =
                    key(if source == 3 { MPI_ANY_SOURCE } else { source }, if tag == 3 { MPI_ANY_TAG } else { tag });
                let expected = model.iter().position(|(message, _)| {
                    (wanted.source == MPI_ANY_SOURCE || wanted.source == message.source)
                        && (wanted.tag == MPI_ANY_TAG || wanted.tag == message.tag)
                });
                let found = queue.find(wanted).map(|slot| queue.take(slot));
                assert_eq!(found, expected.map(|at| model.remove(at)));
            }
            assert_eq!(queue.exact.len(), model.len());
        }
    }

    #[test]
    fn a_withdrawn_receive_matches_nothing() {
        let mut posted = Posted::new();
        let pattern = key(MPI_ANY_SOURCE, 2);
        let node = posted.post(pattern, request(0));
        posted.withdraw(pattern, node);
        assert_eq!(posted.take_match(key(0, 2)), None);
    }
}
