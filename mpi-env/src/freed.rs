//! Which call freed a handle, so that an error on a stale one can say so.
//!
//! Invariant: what is remembered of a word is true or nothing; a later freed object may take the place of an earlier
//! one.
//! Not here: whether a handle is stale (the tables know).

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use mpi_core::functions;

/// Handles remembered at a time.
const PLACES: usize = 512;

/// The last freed handles, each in a place that its kind and slot choose. Thread-safe; no lock, no allocation.
#[derive(Debug)]
pub struct Freed {
    places: [Place; PLACES],
}

#[derive(Debug)]
struct Place {
    word: AtomicUsize,
    function: AtomicU32,
}

impl Default for Freed {
    fn default() -> Self {
        Self::new()
    }
}

impl Freed {
    /// Nothing freed yet.
    pub const fn new() -> Freed {
        Freed { places: [const { Place { word: AtomicUsize::new(0), function: AtomicU32::new(0) } }; PLACES] }
    }

    /// Remembers that the function with this number freed the handle.
    pub fn note(&self, word: usize, function: u16) {
        let place = self.place(word);
        // Two threads that free at once may mix their entries: the word is taken away first and set last.
        place.word.store(0, Ordering::Relaxed);
        place.function.store(function.into(), Ordering::Release); // pairs with the Acquire in `by`
        place.word.store(word, Ordering::Release); // pairs with the Acquire in `by`
    }

    /// The number of the function that freed the handle, if that is still known.
    pub fn by(&self, word: usize) -> Option<u16> {
        let place = self.place(word);
        if word == 0 || place.word.load(Ordering::Acquire) != word {
            return None;
        }
        let function = place.function.load(Ordering::Acquire);
        (place.word.load(Ordering::Relaxed) == word).then_some(function as u16)
    }

    /// What became of a stale handle, for people: `it was freed by MPI_Comm_free`.
    #[cold]
    pub fn tale(&self, word: usize) -> String {
        match self.by(word).and_then(functions::name) {
            Some(call) => format!("it was freed by {call}"),
            None => "it was freed".to_owned(),
        }
    }

    fn place(&self, word: usize) -> &Place {
        // Slot numbers stand in the low bits of a word, its kind in the high ones.
        let spread = (word as u64 & 0x3ff_ffff).wrapping_add((word as u64 >> 57).wrapping_mul(37));
        &self.places[spread as usize % PLACES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::{Handle, Kind};

    #[test]
    fn a_freed_handle_is_known_by_its_own_word_only() {
        let freed = Freed::new();
        let word = Handle::pack(Kind::Comm, 3, 7).0;
        assert_eq!(freed.by(word), None);
        freed.note(word, 42);
        assert_eq!(freed.by(word), Some(42));
        for other in [0, Handle::pack(Kind::Comm, 3, 8).0, Handle::pack(Kind::Group, 3, 7).0] {
            assert_eq!(freed.by(other), None);
        }
    }

    #[test]
    fn a_later_use_of_the_place_forgets_the_earlier_one() {
        let freed = Freed::new();
        let (old, new) = (Handle::pack(Kind::Info, 5, 1).0, Handle::pack(Kind::Info, 5, 2).0);
        freed.note(old, 1);
        freed.note(new, 2);
        assert_eq!((freed.by(old), freed.by(new)), (None, Some(2)));
    }
}
