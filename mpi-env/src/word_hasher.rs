//! The hash of this crate's tables, whose keys are words that the library gave out itself: addresses, handles, numbers.
//!
//! Nobody outside can choose the keys, so one multiplication that spreads them is enough.

use std::hash::{BuildHasherDefault, Hasher};

/// For `HashMap`.
pub(crate) type BuildWordHasher = BuildHasherDefault<WordHasher>;

/// Spreads words whose low bits may be all alike.
#[derive(Debug, Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(*byte as usize));
    }

    #[inline]
    fn write_i32(&mut self, number: i32) {
        self.write_usize(number as u32 as usize);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}
