//! Matching: which receive gets which message (MPI-4.1, 3.5), in constant time.
//!
//! Queues of few are looked through, longer ones hashed (`queue`). Then posted receives are kept under exactly the
//! (source, tag) they were posted with, wildcards included; an arriving message looks under its own pair and, only
//! while such receives exist, under the three wildcard pairs, and takes the one posted first. Unexpected messages are
//! kept under their own pair; an index for a kind of wildcard is built when a receive first uses that kind and kept up
//! from then on.
//! Invariant: among candidates the smallest stamp wins, on both sides; that is the standard's ordering rule.

use mpi_core::Handle;
use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};

use crate::chains::{Chains, Key, Node};
use crate::queue::{Found, Queue};

/// Posted receives of one context.
#[derive(Debug)]
pub(crate) struct Posted {
    queue: Queue<Handle>,
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
        Posted { queue: Queue::new(), wild: [0; 3], next_stamp: 0 }
    }

    /// Posts a receive behind all others; more than `limit` are hashed.
    #[inline]
    pub fn post(&mut self, key: Key, request: Handle, limit: usize) -> Node {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] += 1;
        }
        self.next_stamp += 1;
        let node = self.queue.push(key, self.next_stamp, request);
        if self.queue.is_list_beyond(limit) {
            self.queue.link_all(|_| {});
        }
        node
    }

    /// Takes out the receive that a message with this source and tag matches, and says how many steps the search took:
    /// receives looked at in a list, or chains.
    #[inline]
    pub fn take_match(&mut self, key: Key) -> (Option<Handle>, u64) {
        if self.is_empty() {
            return (None, 0);
        }
        let Found { node, steps } =
            if self.queue.is_linked() { self.hashed(key) } else { self.queue.scan(key, self.wild != [0; 3]) };
        let Some(node) = node else { return (None, steps) };
        if self.wild != [0; 3] {
            self.forget_wild(self.queue.chains.key(node));
        }
        (Some(self.queue.remove(node)), steps)
    }

    /// Looks where hashing leads: under the message's own pair, and under those of wildcards.
    fn hashed(&self, key: Key) -> Found {
        let chains = &self.queue.chains;
        let mut found = Found { node: chains.oldest(key), steps: 1 };
        for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
            if self.wild[kind] == 0 {
                continue;
            }
            found.steps += 1;
            if let Some(node) = chains.oldest(widened(key, kind))
                && found.node.is_none_or(|other| chains.stamp(node) < chains.stamp(other))
            {
                found.node = Some(node);
            }
        }
        found
    }

    #[inline]
    fn forget_wild(&mut self, key: Key) {
        if let Some(kind) = wildcard_kind(key) {
            self.wild[kind] -= 1;
        }
    }

    /// Whether no receive is posted.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.len() == 0
    }

    /// Takes a receive back (cancelled).
    pub fn withdraw(&mut self, key: Key, node: Node) {
        self.forget_wild(key);
        self.queue.remove(node);
    }
}

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

const TAKEN: &str = "a slot named by `find` holds a message";

impl<M> Unexpected<M> {
    pub fn new() -> Self {
        Unexpected { queue: Queue::new(), wild: [None, None, None], slots: Vec::new(), next_stamp: 0 }
    }

    /// Adds an arrived message behind all others; more than `limit` are hashed.
    #[inline]
    pub fn add(&mut self, key: Key, message: M, limit: usize) {
        self.next_stamp += 1;
        let slot = self.queue.push(key, self.next_stamp, ());
        match self.slots.get_mut(slot as usize) {
            Some(stored) => stored.message = Some(message),
            None => self.slots.push(Stored { wild: [0; 3], message: Some(message) }),
        }
        if self.queue.is_linked() {
            self.add_to_indices(slot);
        } else if self.queue.is_list_beyond(limit) {
            self.become_chains();
        }
    }

    /// The indices that there are get a message.
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

    /// The slot of the message that a receive for this source and tag (wildcards allowed) matches, and how many steps
    /// the search took: messages looked at in a list, or chains.
    #[inline]
    pub fn find(&mut self, key: Key) -> (Option<u32>, u64) {
        if self.queue.len() == 0 {
            return (None, 0);
        }
        if !self.queue.is_linked() {
            let Found { node, steps } = self.queue.scan(key, false);
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

    /// Takes out the message in a slot that `find` named.
    #[inline]
    pub fn take(&mut self, slot: u32) -> (Key, M) {
        let key = self.queue.chains.key(slot);
        self.forget(slot);
        (key, self.slots[slot as usize].message.take().expect(TAKEN))
    }

    /// Drops the message in a slot that `find` named.
    #[inline]
    pub fn discard(&mut self, slot: u32) {
        self.forget(slot);
        self.slots[slot as usize].message = None;
    }

    #[inline]
    fn forget(&mut self, slot: u32) {
        if self.queue.is_linked() {
            for kind in [ANY_SOURCE, ANY_TAG, ANY_BOTH] {
                if let Some(chains) = &mut self.wild[kind] {
                    chains.remove(self.slots[slot as usize].wild[kind]);
                }
            }
        }
        self.queue.remove(slot);
    }

    /// Takes out the message that is meant, wherever it is; looks at all.
    pub fn take_where(&mut self, mut meant: impl FnMut(&M) -> bool) -> Option<(Key, M)> {
        let slot = self.slots.iter().position(|stored| stored.message.as_ref().is_some_and(&mut meant))?;
        Some(self.take(slot as u32))
    }

    /// The index for a kind of wildcard; built from all waiting messages, oldest first, when first asked for.
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

    /// Limits of lists: always hashed, always lists, and switching on the way.
    const LIMITS: [usize; 5] = [0, 1, 4, 16, usize::MAX];

    /// A deterministic random walk.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % bound
        }

        /// A source and tag of few, wildcards among them.
        fn pattern(&mut self) -> Key {
            let [source, tag] = [self.below(4) as i32, self.below(4) as i32];
            key(if source == 3 { MPI_ANY_SOURCE } else { source }, if tag == 3 { MPI_ANY_TAG } else { tag })
        }

        fn message(&mut self) -> Key {
            key(self.below(3) as i32, self.below(3) as i32)
        }

        /// Whether something comes rather than goes: the queues grow to a good hundred and run empty, over and over.
        fn comes(&mut self, step: u32) -> bool {
            let growing = (step / 500u32).is_multiple_of(2);
            self.below(100) < if growing { 70 } else { 20 }
        }
    }

    fn fits(pattern: Key, message: Key) -> bool {
        (pattern.source == MPI_ANY_SOURCE || pattern.source == message.source)
            && (pattern.tag == MPI_ANY_TAG || pattern.tag == message.tag)
    }

    #[test]
    fn the_receive_posted_first_wins_whatever_its_wildcards() {
        let orders: [[Key; 4]; 3] = [
            [key(1, 5), key(MPI_ANY_SOURCE, 5), key(1, ANY), key(MPI_ANY_SOURCE, ANY)],
            [key(MPI_ANY_SOURCE, ANY), key(1, ANY), key(1, 5), key(MPI_ANY_SOURCE, 5)],
            [key(1, ANY), key(1, 5), key(MPI_ANY_SOURCE, ANY), key(MPI_ANY_SOURCE, 5)],
        ];
        for (order, limit) in orders.iter().flat_map(|order| LIMITS.map(|limit| (order, limit))) {
            let mut posted = Posted::new();
            for (n, pattern) in order.iter().enumerate() {
                posted.post(*pattern, request(n as u32), limit);
            }
            for n in 0..4 {
                assert_eq!(posted.take_match(key(1, 5)).0, Some(request(n)));
            }
            assert_eq!(posted.take_match(key(1, 5)).0, None);
        }
    }

    /// Agrees with a plain list of messages, with a limit that may change on the way.
    fn unexpected_agrees(seed: u64, mut limit: impl FnMut(&mut Random) -> usize) {
        let mut random = Random(seed);
        let mut model: Vec<(Key, u32)> = Vec::new();
        let (mut queue, mut switched) = (Unexpected::new(), [0; 2]);
        for number in 0..20_000 {
            let was_linked = queue.queue.is_linked();
            if random.comes(number) {
                let message = random.message();
                queue.add(message, number, limit(&mut random));
                model.push((message, number));
            } else if random.below(10) == 0 && !model.is_empty() {
                // One that is taken back by its sender.
                let (message, number) = model.remove(random.below(model.len() as u64) as usize);
                assert_eq!(queue.take_where(|other| *other == number), Some((message, number)));
            } else {
                let wanted = random.pattern();
                let expected = model.iter().position(|(message, _)| fits(wanted, *message));
                let (slot, steps) = queue.find(wanted);
                assert!(steps <= model.len() as u64 && (steps > 0 || model.is_empty()));
                match random.below(2) {
                    0 => assert_eq!(slot.map(|slot| queue.take(slot)), expected.map(|at| model.remove(at))),
                    _ => {
                        let got = slot.map(|slot| queue.get(slot)).map(|(key, number)| (key, *number));
                        assert_eq!(got, expected.map(|at| model.remove(at)));
                        slot.into_iter().for_each(|slot| queue.discard(slot));
                    }
                }
            }
            assert_eq!(queue.queue.len(), model.len());
            switched[usize::from(was_linked)] += u32::from(was_linked != queue.queue.is_linked());
        }
        let limits_matter = limit(&mut random) < 100;
        assert_eq!(switched.iter().all(|times| *times > 10), limits_matter, "{switched:?}");
    }

    #[test]
    fn unexpected_messages_agree_with_a_plain_list_at_every_limit() {
        for (seed, limit) in LIMITS.into_iter().enumerate() {
            unexpected_agrees(seed as u64, |_| limit);
        }
        unexpected_agrees(9, |random| random.below(40) as usize);
    }

    /// As for messages: posted receives, some of them withdrawn.
    fn posted_agrees(seed: u64, mut limit: impl FnMut(&mut Random) -> usize) {
        let mut random = Random(seed);
        let mut model: Vec<(Key, u32, Node)> = Vec::new();
        let mut posted = Posted::new();
        for number in 0..20_000 {
            if random.comes(number) {
                let pattern = random.pattern();
                let node = posted.post(pattern, request(number), limit(&mut random));
                model.push((pattern, number, node));
            } else if random.below(5) == 0 && !model.is_empty() {
                let (pattern, _, node) = model.remove(random.below(model.len() as u64) as usize);
                posted.withdraw(pattern, node);
            } else {
                let message = random.message();
                let expected = model.iter().position(|(pattern, ..)| fits(*pattern, message));
                let expected = expected.map(|at| request(model.remove(at).1));
                assert_eq!(posted.take_match(message).0, expected);
            }
            assert_eq!((posted.queue.len(), posted.is_empty()), (model.len(), model.is_empty()));
        }
    }

    #[test]
    fn posted_receives_agree_with_a_plain_list_at_every_limit() {
        for (seed, limit) in LIMITS.into_iter().enumerate() {
            posted_agrees(seed as u64, |_| limit);
        }
        posted_agrees(9, |random| random.below(40) as usize);
    }

    #[test]
    fn a_list_is_searched_item_by_item_and_chains_at_once() {
        let mut queue = Unexpected::new();
        (0..4).for_each(|tag| queue.add(key(0, tag), tag, 4));
        assert_eq!((queue.find(key(0, 3)).1, queue.find(key(0, 0)).1, queue.find(key(1, 0)).1), (4, 1, 4));
        queue.add(key(0, 4), 4, 4);
        assert_eq!((queue.find(key(0, 4)).1, queue.find(key(1, 0)).1), (1, 1));
        let mut posted = Posted::new();
        assert_eq!(posted.take_match(key(0, 0)).1, 0);
        [key(0, 1), key(MPI_ANY_SOURCE, 2), key(0, ANY)].iter().for_each(|pattern| {
            posted.post(*pattern, request(0), 0);
        });
        assert_eq!(posted.take_match(key(5, 5)), (None, 3), "its own pair, and two kinds of wildcards");
    }

    #[test]
    fn a_withdrawn_receive_matches_nothing() {
        for limit in LIMITS {
            let mut posted = Posted::new();
            let pattern = key(MPI_ANY_SOURCE, 2);
            let node = posted.post(pattern, request(0), limit);
            posted.withdraw(pattern, node);
            assert_eq!(posted.take_match(key(0, 2)).0, None);
        }
    }
}
