//! Own parts of handles that do not fit into their state word: beyond 2^56, which only writing such values brings.
//!
//! The state word then names a cell here, and how often cells were taken, so that it never repeats. A cell is given
//! back by the thread that takes the name out of the state word.
//! Invariant: lock-free and async-signal-safe; a cell has one owner, the state word that names it.
//! Not here: which own parts are wide (`state`).

use crate::sync::{AtomicU64, Ordering};

/// How many there can be at a time.
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

/// Keeps a value and gives it a name; `None` if there is no cell left.
pub(crate) fn keep(value: u64) -> Option<u64> {
    CELLS_OF_ALL.keep(value)
}

/// The value of a name, if the name still stands where it was read; anything else if not.
pub(crate) fn value(name: u64) -> u64 {
    CELLS_OF_ALL.value(name)
}

/// The name is no more.
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
