//! Own parts of handles that do not fit into their state word: beyond 2^56, which only writes of such values produce.
//!
//! The state word then holds the index of a cell here and a serial number, so that it never repeats. The thread that
//! removes the name from the state word frees the cell.
//! Invariant: lock-free and async-signal-safe; a cell has one owner, the state word that names it.
//! Not here: which own parts are wide (`state`).

use crate::sync::{AtomicU64, Ordering};

/// The most wide values that can exist at a time.
const CELLS: usize = 4096;
const INDEX_BITS: u32 = CELLS.trailing_zeros();
/// Bits of a name.
pub(crate) const NAME_BITS: u32 = 57;

static CELLS_OF_ALL: Cells = Cells::new();

/// The cells, and which of them are taken.
struct Cells {
    values: [AtomicU64; CELLS],
    taken: [AtomicU64; CELLS / 64],
    serial: AtomicU64,
}

/// Stores a value and returns its name; `None` if there is no free cell.
pub(crate) fn keep(value: u64) -> Option<u64> {
    CELLS_OF_ALL.keep(value)
}

/// The value of a name, if the name is still in the word it was read from; otherwise any value.
pub(crate) fn value(name: u64) -> u64 {
    CELLS_OF_ALL.value(name)
}

/// Frees the cell of a name.
pub(crate) fn give_back(name: u64) {
    CELLS_OF_ALL.give_back(name);
}

impl Cells {
    const fn new() -> Cells {
        Cells {
            values: [const { AtomicU64::new(0) }; CELLS],
            taken: [const { AtomicU64::new(0) }; CELLS / 64],
            serial: AtomicU64::new(0),
        }
    }

    fn keep(&self, value: u64) -> Option<u64> {
        for (i, word) in self.taken.iter().enumerate() {
            let mut taken = word.load(Ordering::Relaxed);
            while taken != u64::MAX {
                let bit = taken.trailing_ones();
                // Acquire pairs with the Release in `give_back`.
                match word.compare_exchange(taken, taken | 1 << bit, Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) => {
                        let cell = i * 64 + bit as usize;
                        // Published by the step that puts the name into a state word, which is a SeqCst swap.
                        self.values[cell].store(value, Ordering::Relaxed);
                        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
                        return Some((serial << INDEX_BITS | cell as u64) & ((1 << NAME_BITS) - 1));
                    }
                    Err(now) => taken = now,
                }
            }
        }
        None
    }

    fn value(&self, name: u64) -> u64 {
        self.values[name as usize % CELLS].load(Ordering::Relaxed)
    }

    fn give_back(&self, name: u64) {
        let cell = name as usize % CELLS;
        self.taken[cell / 64].fetch_and(!(1 << (cell % 64)), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_cells_are_used_again_until_none_is_left() {
        let cells = Box::new(Cells::new());
        let names: Vec<u64> = (0..CELLS as u64).map(|value| cells.keep(value << 50).expect("a cell")).collect();
        assert_eq!(cells.keep(1), None);
        assert!(names.iter().enumerate().all(|(i, name)| cells.value(*name) == (i as u64) << 50));
        cells.give_back(names[7]);
        let again = cells.keep(u64::MAX).expect("the one given back");
        assert!(again != names[7] && cells.value(again) == u64::MAX && names.iter().all(|name| *name < 1 << NAME_BITS));
    }
}
