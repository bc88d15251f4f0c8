//! A fact, which is one word, for each object of a table, readable without the process lock.
//!
//! The fact of an object never changes while the object exists. So a reader only has to verify that a fact belongs to
//! its object (`slot`).
//! Invariant: memory of slots is never freed while the `Facts` exist.
//! Not here: the objects (`table`).

use std::sync::OnceLock;

use crate::Handle;

mod slot;

use slot::Slot;

/// Number of slots that exist from the beginning; each further chunk has as many slots as all before it.
const FIRST: usize = 256;
/// Number of chunks after the first slots, enough for all objects of a table.
const CHUNKS: usize = 20;

/// Facts by handle. Reading is thread-safe and async-signal-safe; writers hold the lock of the table's objects.
#[derive(Debug)]
pub struct Facts {
    first: [Slot; FIRST],
    chunks: [OnceLock<Box<[Slot]>>; CHUNKS],
}

impl Default for Facts {
    fn default() -> Self {
        Self::new()
    }
}

impl Facts {
    /// No facts.
    pub fn new() -> Facts {
        Facts { first: std::array::from_fn(|_| Slot::default()), chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// The fact of a live handle; `None` for any other word.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<u64> {
        let index = handle.index() as usize;
        match self.first.get(index) {
            Some(slot) => slot.get(handle),
            None => self.further(index)?.get(handle),
        }
    }

    /// As [`Facts::get`], for one of the first slots; `None` for any other word, also for live handles. The word is not
    /// 0; a program that passes a word which no call has returned to it gets `None`, or the fact of any object.
    #[inline(always)] // a short way of calls that have a longer one
    pub fn get_first(&self, handle: Handle) -> Option<u64> {
        self.first.get(handle.index() as usize)?.get_existing(handle)
    }

    /// Stores the fact of a new object.
    pub fn set(&self, handle: Handle, fact: u64) {
        let index = handle.index() as usize;
        let slot = match self.first.get(index) {
            Some(slot) => slot,
            None => {
                let (chunk, place) = place_of(index);
                let slots = || (0..FIRST << chunk).map(|_| Slot::default()).collect();
                &self.chunks[chunk].get_or_init(slots)[place]
            }
        };
        slot.set(handle, fact);
    }

    /// Removes the fact of an object.
    pub fn clear(&self, handle: Handle) {
        let index = handle.index() as usize;
        if let Some(slot) = self.first.get(index).or_else(|| self.further(index)) {
            slot.clear();
        }
    }

    #[inline(never)]
    fn further(&self, index: usize) -> Option<&Slot> {
        let (chunk, place) = place_of(index);
        self.chunks.get(chunk)?.get()?.get(place)
    }
}

/// The chunk of an index beyond the first slots, and the position in that chunk.
fn place_of(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST).ilog2() as usize;
    (chunk, index - (FIRST << chunk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::handle::MAX_OBJECTS;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut last = (0, 0);
        assert_eq!(place_of(FIRST), (0, 0));
        for index in FIRST + 1..FIRST * 40 {
            let (chunk, place) = place_of(index);
            assert!(place < FIRST << chunk && (chunk, place) > last, "{index}");
            last = (chunk, place);
        }
        let (chunk, place) = place_of(MAX_OBJECTS - 1);
        assert!(chunk < CHUNKS && place < FIRST << chunk);
    }

    #[test]
    fn only_the_live_handle_finds_its_fact() {
        let facts = Facts::new();
        for index in [0, FIRST as u32 - 1, FIRST as u32, 1000] {
            let [old, new] = [1, 2].map(|generation| Handle::pack(Kind::Comm, index, generation));
            assert_eq!(facts.get(old), None);
            facts.set(old, 7);
            assert_eq!((facts.get(old), facts.get(new)), (Some(7), None));
            assert_eq!((facts.get_first(old), facts.get_first(new)), ((index < FIRST as u32).then_some(7), None));
            facts.clear(old);
            facts.set(new, 8);
            assert_eq!((facts.get(old), facts.get(new)), (None, Some(8)));
            assert_eq!(facts.get(Handle(new.0 ^ (1 << 60))), None);
        }
        for word in [0, 1, usize::MAX] {
            assert_eq!(facts.get(Handle(word)), None, "{word:#x}");
        }
        assert_eq!(facts.get(Handle(0)), None, "an empty slot has no handle");
        assert_eq!(Facts::new().get(Handle(0)), None);
    }
}
