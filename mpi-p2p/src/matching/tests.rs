//! Matching against plain lists.

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};

use super::*;
use crate::posted_queue::Posted;
use mpi_core::{Handle, Kind};

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

    /// Whether the next step adds an item: the queues grow to a good hundred and become empty, over and over.
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
            assert_eq!(posted.take_match(key(1, 5), || limit).0, Some(request(n)));
        }
        assert_eq!(posted.take_match(key(1, 5), || limit).0, None);
    }
}

/// How often each random test changes its queue; Miri takes a thousand times longer for a step.
const STEPS: u32 = if cfg!(miri) { 60 } else { 20_000 };

/// Agrees with a plain list of messages, with a limit that may change on the way.
fn unexpected_agrees(seed: u64, mut limit: impl FnMut(&mut Random) -> usize) {
    let mut random = Random(seed);
    let mut model: Vec<(Key, u32)> = Vec::new();
    let (mut queue, mut switched) = (Unexpected::new(), [0; 2]);
    for number in 0..STEPS {
        let was_linked = queue.queue.is_linked();
        if random.comes(number) {
            let message = random.message();
            queue.add(message, number, limit(&mut random));
            model.push((message, number));
        } else if random.below(10) == 0 && !model.is_empty() {
            // A message that its sender cancels.
            let (message, number) = model.remove(random.below(model.len() as u64) as usize);
            assert_eq!(queue.take_where(|other| *other == number), Some((message, number)));
        } else {
            let wanted = random.pattern();
            let expected = model.iter().position(|(message, _)| fits(wanted, *message));
            let (slot, steps) = queue.find(wanted, limit(&mut random));
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
    // So few steps as under Miri do not reach every limit.
    assert!(cfg!(miri) || switched.iter().all(|times| *times > 10) == limits_matter, "{switched:?}");
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
    let mut model: Vec<(Key, u32)> = Vec::new();
    let mut posted = Posted::new();
    for number in 0..STEPS {
        if random.comes(number) {
            let pattern = random.pattern();
            posted.post(pattern, request(number), limit(&mut random));
            model.push((pattern, number));
        } else if random.below(5) == 0 && !model.is_empty() {
            let (pattern, number) = model.remove(random.below(model.len() as u64) as usize);
            posted.withdraw(pattern, request(number));
        } else {
            let message = random.message();
            let expected = model.iter().position(|(pattern, ..)| fits(*pattern, message));
            let expected = expected.map(|at| request(model.remove(at).1));
            let limit = limit(&mut random);
            assert_eq!(posted.take_match(message, || limit).0, expected);
        }
        assert_eq!((posted.len(), posted.is_empty()), (model.len(), model.is_empty()));
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
    let steps = |queue: &mut Unexpected<i32>, tag| queue.find(key(0, tag), 4).1;
    (0..9).for_each(|tag| queue.add(key(0, tag), tag, 4));
    assert_eq!([3, 0, 2].map(|tag| steps(&mut queue, tag)), [4, 1, 3], "short searches of a long list");
    assert_eq!([8, 8, 9].map(|tag| steps(&mut queue, tag)), [9, 1, 1], "the first long search is the last");
    let mut posted = Posted::new();
    assert_eq!(posted.take_match(key(0, 0), || 0).1, 0);
    [key(0, 1), key(MPI_ANY_SOURCE, 2), key(0, ANY)].iter().for_each(|pattern| {
        posted.post(*pattern, request(0), 0);
    });
    assert_eq!(posted.take_match(key(5, 5), || 0), (None, 3), "its own pair, and two kinds of wildcards");
}

#[test]
fn a_list_that_is_never_empty_does_not_grow() {
    let mut posted = Posted::new();
    for number in 0..10_000 {
        posted.post(key(0, 0), request(number), 4);
        if number >= 20 {
            assert_eq!(posted.take_match(key(0, 0), || 4), (Some(request(number - 20)), 1));
        }
    }
    assert!(posted.list_capacity() < 100);
}

#[test]
fn a_withdrawn_receive_matches_nothing() {
    for limit in LIMITS {
        let mut posted = Posted::new();
        let pattern = key(MPI_ANY_SOURCE, 2);
        posted.post(pattern, request(0), limit);
        posted.withdraw(pattern, request(0));
        assert_eq!(posted.take_match(key(0, 2), || limit).0, None);
    }
}

#[test]
fn a_message_that_is_put_back_keeps_its_place() {
    for limit in LIMITS {
        let mut unexpected = Unexpected::new();
        for n in 0..8u32 {
            unexpected.add(key(n as i32 % 2, 5), n, limit);
        }
        let any = key(MPI_ANY_SOURCE, ANY);
        let take = |unexpected: &mut Unexpected<u32>, pattern| {
            let slot = unexpected.find(pattern, limit).0.expect("there are more");
            let stamp = unexpected.stamp(slot);
            let (key, message) = unexpected.take(slot);
            (key, stamp, message)
        };
        let held: Vec<_> = [key(0, 5), key(1, 5), key(0, ANY)].map(|it| take(&mut unexpected, it)).into();
        assert_eq!(held.iter().map(|it| it.2).collect::<Vec<_>>(), [0, 1, 2]);
        for (key, stamp, message) in [held[2], held[0]] {
            unexpected.put_back(key, stamp, message, limit);
        }
        unexpected.add(key(0, 5), 8, limit);
        let order: Vec<u32> = (0..8).map(|_| take(&mut unexpected, any).2).collect();
        assert_eq!(order, [0, 2, 3, 4, 5, 6, 7, 8], "lists of {limit}");
        assert!(unexpected.is_empty());
    }
}
