//! The event instances that callbacks read: one for each source at a time.
//!
//! An instance's handle is a serial number that is never used again, so a callback that keeps one finds it stale.
//! Invariant: the fields change only while `word` is 0, by the one thread that serves the source's queue.
//! Reading is async-signal-safe and thread-safe. Not here: the queues (`dispatcher`).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use super::WORDS;
use super::dispatcher::{Data, Item};

#[derive(Debug, Default)]
pub(crate) struct Live {
    word: AtomicUsize,
    event: AtomicUsize,
    time: AtomicU64,
    data: [AtomicU64; WORDS],
}

/// A consistent copy of an instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub event: usize,
    pub time: u64,
    pub data: Data,
}

impl Live {
    /// Makes the event the source's instance.
    pub fn open(&self, word: usize, item: &Item) {
        self.event.store(item.event, Ordering::Relaxed);
        self.time.store(item.time, Ordering::Relaxed);
        for (to, from) in self.data.iter().zip(item.data) {
            to.store(from, Ordering::Relaxed);
        }
        // Pairs with the Acquire in `look`.
        self.word.store(word, Ordering::Release);
    }

    /// Ends the instance, whose callback has returned.
    pub fn close(&self) {
        self.word.store(0, Ordering::Relaxed);
        // Pairs with the Acquire fence in `look`: fields of a later instance come with a later word.
        fence(Ordering::Release);
    }

    /// The instance, if it is this one.
    pub fn look(&self, word: usize) -> Option<Seen> {
        if word == 0 || self.word.load(Ordering::Acquire) != word {
            return None;
        }
        let seen = Seen {
            event: self.event.load(Ordering::Relaxed),
            time: self.time.load(Ordering::Relaxed),
            data: std::array::from_fn(|i| self.data[i].load(Ordering::Relaxed)),
        };
        fence(Ordering::Acquire);
        (self.word.load(Ordering::Relaxed) == word).then_some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::Handle;

    #[test]
    fn an_instance_is_seen_only_by_its_own_word_and_only_while_it_is_open() {
        let live = Live::default();
        let item = Item { registration: Handle(1), event: 3, time: 5, data: [7; WORDS] };
        assert!(live.look(0).is_none() && live.look(9).is_none());
        live.open(9, &item);
        let seen = live.look(9).expect("open");
        assert_eq!((seen.event, seen.time, seen.data), (3, 5, [7; WORDS]));
        assert!(live.look(10).is_none());
        live.close();
        assert!(live.look(9).is_none() && live.look(0).is_none());
    }
}
