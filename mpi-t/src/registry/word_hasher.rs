//! The hash of the registry's tables, whose keys are words that the library returned to programs: handles, indices,
//! types.
//!
//! Input from outside cannot choose the keys, so one multiplication for each word is enough.

use std::hash::{BuildHasherDefault, Hasher};

/// For `HashMap`.
pub(super) type BuildWordHasher = BuildHasherDefault<WordHasher>;

#[derive(Debug, Default)]
pub(super) struct WordHasher(u64);

impl Hasher for WordHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }

    #[inline]
    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u32 as u64);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
