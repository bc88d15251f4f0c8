//! The functions that freed handles, for the text of errors about stale handles.
//!
//! Invariant: an entry is one word, so its handle and its function are always consistent. A later entry may replace an
//! earlier one.
//! Not here: detection of stale handles (the tables).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::handle::{GENERATION_BITS, INDEX_BITS};
use mpi_core::{Handle, functions};

/// Number of handles that the table holds.
const ENTRIES: usize = 1 << ENTRY_BITS;
const ENTRY_BITS: u32 = 9;
/// An entry holds, from the high bits to the low ones, a kind, a generation, the bits of the index that do not follow
/// from its position, and a function.
const FUNCTION_BITS: u32 = 11;
const GENERATION_SHIFT: u32 = FUNCTION_BITS + INDEX_BITS - ENTRY_BITS;
const KIND_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;
const _: () = assert!(KIND_SHIFT + 5 == u64::BITS && (functions::COUNT as u32) < 1 << FUNCTION_BITS);

/// The handles that were freed last, each at a position that follows from its kind and slot. Thread-safe; takes no lock
/// and does not allocate.
#[derive(Debug)]
pub struct Freed {
    entries: Box<[AtomicU64]>,
}

impl Default for Freed {
    fn default() -> Self {
        Self::new()
    }
}

impl Freed {
    /// An empty table.
    pub fn new() -> Freed {
        // Built on the heap, because initialisation may run on a small stack.
        Freed { entries: (0..ENTRIES).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Records that the function with this number freed the handle.
    pub fn record(&self, handle: Handle, function: u16) {
        if let Some((position, entry)) = entry_of(handle) {
            // Relaxed: an entry is one word and refers to no other memory.
            self.entries[position].store(entry | u64::from(function), Relaxed);
        }
    }

    /// The number of the function that freed the handle, if that is still recorded.
    pub fn by(&self, handle: Handle) -> Option<u16> {
        let (position, entry) = entry_of(handle)?;
        let found = self.entries[position].load(Relaxed);
        (found >> FUNCTION_BITS == entry >> FUNCTION_BITS).then_some(found as u16 & ((1 << FUNCTION_BITS) - 1))
    }

    /// A sentence about a stale handle for messages: `it was freed by MPI_Comm_free`.
    #[cold]
    pub fn describe(&self, handle: Handle) -> String {
        match self.by(handle).and_then(functions::name) {
            Some(call) => format!("it was freed by {call}"),
            None => "it was freed".to_owned(),
        }
    }
}

/// The position of a handle, and its entry without a function; `None` for a word that packs no kind.
fn entry_of(handle: Handle) -> Option<(usize, u64)> {
    let kind = handle.kind()? as u64;
    if kind >= 1 << (u64::BITS - KIND_SHIFT) {
        return None;
    }
    let position = (handle.index() as usize + kind as usize * 37) % ENTRIES;
    let entry = kind << KIND_SHIFT
        | u64::from(handle.generation()) << GENERATION_SHIFT
        | u64::from(handle.index() >> ENTRY_BITS) << FUNCTION_BITS;
    Some((position, entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::Kind;
    use mpi_core::handle::{GENERATION_MASK, MAX_OBJECTS};

    #[test]
    fn a_freed_handle_is_found_by_its_own_word_only() {
        for handle in
            [Handle::pack(Kind::Comm, 3, 7), Handle::pack(Kind::File, MAX_OBJECTS as u32 - 1, GENERATION_MASK)]
        {
            let freed = Freed::new();
            assert_eq!(freed.by(handle), None);
            freed.record(handle, functions::COUNT);
            assert_eq!(freed.by(handle), Some(functions::COUNT));
            let [kind, index, generation] = [57, 9, 31].map(|bit| Handle(handle.0 ^ 1 << bit));
            for other in [Handle(0), Handle(usize::MAX), kind, index, generation] {
                assert_eq!(freed.by(other), None);
            }
        }
    }

    #[test]
    fn a_later_free_at_the_same_position_replaces_the_earlier_one() {
        let freed = Freed::new();
        let (old, new) = (Handle::pack(Kind::Info, 5, 1), Handle::pack(Kind::Info, 5, 2));
        freed.record(old, 1);
        freed.record(new, 2);
        assert_eq!((freed.by(old), freed.by(new)), (None, Some(2)));
    }

    #[test]
    fn concurrent_frees_never_mix_their_entries() {
        let freed = Freed::new();
        let handles = [1, 2].map(|generation| Handle::pack(Kind::Comm, 3, generation));
        std::thread::scope(|scope| {
            for (function, handle) in (1..).zip(handles) {
                let freed = &freed;
                scope.spawn(move || {
                    for _ in 0..500_000 {
                        freed.record(handle, function);
                        assert!(freed.by(handle).is_none_or(|found| found == function), "another call freed it");
                    }
                });
            }
        });
    }
}
