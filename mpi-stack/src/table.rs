//! The table of the entry points: for each function the address at which a call continues.
//!
//! Invariant: a place leads to its `ferrum_stack_first_N` until the stack is complete, then to a function of the same
//! type; it changes once. Not here: the addresses (`stack`), what the entry points call (`entry`).

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::generated::NAMES;

unsafe extern "C" {
    /// The places, in the order of `NAMES`.
    #[link_name = "ferrum_stack_table"]
    static TABLE: [AtomicUsize; NAMES.len()];
}

/// The number of a function by its name without `MPI_`.
pub(crate) fn number(name: &[u8]) -> Option<usize> {
    NAMES.binary_search_by(|known| known.as_bytes().cmp(name)).ok()
}

/// Makes the entry points lead to these addresses; null ones stay as they are.
pub(crate) fn set(addresses: &[usize]) {
    // SAFETY: defined in the assembly of `generated`, writable, of this length.
    let table = unsafe { &TABLE };
    for (place, address) in table.iter().zip(addresses).filter(|(_, address)| **address != 0) {
        // An aligned word; code behind the address was written before by this thread or by the dynamic linker.
        place.store(*address, Ordering::Release);
    }
}
