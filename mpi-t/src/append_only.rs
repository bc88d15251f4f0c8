//! A list that only grows, and that readers use without a lock.
//!
//! Invariant: an entry's index and address never change. Not here: the lock under which entries are added (the user's).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Entries of the first chunk; each further chunk has twice as many as the one before it, so that an empty list is
/// small: it is built on the stack of the thread that starts the library.
const FIRST: usize = 128;
const CHUNKS: usize = 10;
/// The first indices of the second and of the third chunk.
const SECOND: usize = FIRST;
const THIRD: usize = 3 * FIRST;
const _: () = assert!(place_of(SECOND).0 == 1 && place_of(THIRD - 1).0 == 1 && place_of(THIRD).0 == 2);
/// Most entries of a list.
pub(crate) const CAPACITY: usize = FIRST * ((1 << CHUNKS) - 1);

/// Entries by index.
#[derive(Debug)]
pub(crate) struct AppendOnly<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
    len: AtomicUsize,
}

impl<T> AppendOnly<T> {
    pub(crate) const fn new() -> Self {
        AppendOnly { chunks: [const { OnceLock::new() }; CHUNKS], len: AtomicUsize::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        // Acquire pairs with the Release in `push`.
        self.len.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        // Two compares cost less than the position of the highest bit, and most lists have no further entries.
        let (chunk, place) = match index {
            0..SECOND => (0, index),
            SECOND..THIRD => (1, index - SECOND),
            _ => return self.further(index),
        };
        self.chunks[chunk].get()?.get(place)?.get()
    }

    /// An entry of any chunk.
    #[inline(never)]
    fn further(&self, index: usize) -> Option<&T> {
        let (chunk, place) = place_of(index);
        self.chunks.get(chunk)?.get()?.get(place)?.get()
    }

    /// Adds an entry and returns its index, or the entry if the list is full. One thread at a time.
    pub(crate) fn push(&self, value: T) -> Result<usize, T> {
        let index = self.len();
        let (chunk, place) = place_of(index);
        let Some(entries) = self.chunks.get(chunk) else { return Err(value) };
        entries.get_or_init(|| (0..FIRST << chunk).map(|_| OnceLock::new()).collect())[place].set(value)?;
        // Release pairs with the Acquire in `len`.
        self.len.store(index + 1, Ordering::Release);
        Ok(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// The chunk of an index, and its place there. An index beyond the last chunk gives a chunk that does not exist.
#[inline]
const fn place_of(index: usize) -> (usize, usize) {
    // Shifted by the size of the first chunk, the indices of each chunk have their highest bit in common. A sum that
    // wraps is below that size: its chunk wraps too. The least bit is below the highest one of all others.
    let shifted = index.wrapping_add(FIRST);
    let highest = (shifted | 1).ilog2();
    (highest.wrapping_sub(FIRST.ilog2()) as usize, shifted & !(1 << highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_are_while_the_list_grows() {
        let list = AppendOnly::new();
        assert_eq!(list.push(0), Ok(0));
        let first: *const _ = list.get(0).expect("just added");
        for i in 1..20 * FIRST {
            assert_eq!(list.push(i), Ok(i));
        }
        assert!(std::ptr::eq(first, list.get(0).expect("still there")));
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..20 * FIRST).collect::<Vec<_>>());
        assert_eq!((list.len(), list.get(20 * FIRST), list.get(usize::MAX)), (20 * FIRST, None, None));
        assert_eq!(
            (list.get(usize::MAX - FIRST), list.get(usize::MAX - FIRST + 1), list.get(CAPACITY)),
            (None, None, None)
        );
    }

    #[test]
    fn a_full_list_gives_the_entry_back() {
        let list = AppendOnly::new();
        for _ in 0..CAPACITY {
            list.push(()).expect("room");
        }
        assert_eq!(list.push(()), Err(()));
    }
}
