//! A list that only grows, read without a lock while it does.
//!
//! Invariant: an entry's index and address never change. Not here: who may add (the registry's growth lock).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const CHUNK: usize = 128;
const CHUNKS: usize = 512;

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

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)?.get()
    }

    /// Adds an entry and tells its index; gives it back when the list is full. One thread at a time.
    pub(crate) fn push(&self, value: T) -> Result<usize, T> {
        let index = self.len();
        let Some(chunk) = self.chunks.get(index / CHUNK) else { return Err(value) };
        chunk.get_or_init(|| (0..CHUNK).map(|_| OnceLock::new()).collect())[index % CHUNK].set(value)?;
        // Release pairs with the Acquire in `len`.
        self.len.store(index + 1, Ordering::Release);
        Ok(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_are_while_the_list_grows() {
        let list = AppendOnly::new();
        assert_eq!(list.push(0), Ok(0));
        let first: *const _ = list.get(0).expect("just added");
        for i in 1..3 * CHUNK {
            assert_eq!(list.push(i), Ok(i));
        }
        assert!(std::ptr::eq(first, list.get(0).expect("still there")));
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..3 * CHUNK).collect::<Vec<_>>());
        assert_eq!((list.len(), list.get(3 * CHUNK), list.get(usize::MAX)), (3 * CHUNK, None, None));
    }

    #[test]
    fn a_full_list_gives_the_entry_back() {
        let list = AppendOnly::new();
        for _ in 0..CHUNK * CHUNKS {
            list.push(()).expect("room");
        }
        assert_eq!(list.push(()), Err(()));
    }
}
