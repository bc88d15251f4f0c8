//! Maps by handles that this process has made.
//!
//! Not here: tables in which handles are looked up that the program passes (`mpi_core`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mpi_core::Handle;

/// A map whose keys are requests.
pub(crate) type HandleMap<T> = HashMap<Handle, T, BuildHasherDefault<HandleHasher>>;

/// Multiplies the word of a handle. Nobody outside of the process chooses the keys.
#[derive(Default)]
pub(crate) struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        // The map uses the highest and the lowest bits; the product has its best ones at the top.
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
