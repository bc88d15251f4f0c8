//! From a name to an index, without a lock: a hash table that only grows.
//!
//! Names are added under the registry's growth lock. A table that is half full is followed by one twice as large with
//! all names; the old ones stay, because readers may be in them.
//! Invariant: an index, once in a table, stays there; a reader that misses a name began before it was added.
//! Not here: the names themselves (the lists that the indices lead to).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The places of the first table.
const FIRST: usize = 256;
/// Tables: the last has more than twice the places that a list has entries.
const TABLES: usize = 11;

#[derive(Debug)]
pub(super) struct Names {
    tables: [OnceLock<Box<[AtomicU32]>>; TABLES],
    current: AtomicUsize,
    len: AtomicUsize,
}

impl Names {
    pub const fn new() -> Names {
        Names { tables: [const { OnceLock::new() }; TABLES], current: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    /// The index of a name, which `is` recognizes.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        // Acquire pairs with the Release in `add`: a table is current when it is full of all names.
        let table = self.tables[self.current.load(Ordering::Acquire)].get()?;
        let mask = table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            // Acquire pairs with the Release in `put`: an index comes with its entry.
            match table[at].load(Ordering::Acquire) {
                0 => return None,
                found if is(found as usize - 1) => return Some(found as usize - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds an index, whose entry is in its list; `hash_of` tells the hashes of those before. One thread at a time.
    pub fn add(&self, index: usize, hash_of: impl Fn(usize) -> u64) {
        let (current, len) = (self.current.load(Ordering::Relaxed), self.len.load(Ordering::Relaxed) + 1);
        self.len.store(len, Ordering::Relaxed);
        let table = self.tables[current].get_or_init(|| empty(FIRST << current));
        if len * 2 <= table.len() || current + 1 == TABLES {
            put(table, hash_of(index), index);
            return;
        }
        let larger = self.tables[current + 1].get_or_init(|| empty(FIRST << (current + 1)));
        for found in table.iter().map(|place| place.load(Ordering::Relaxed)).filter(|found| *found != 0) {
            put(larger, hash_of(found as usize - 1), found as usize - 1);
        }
        put(larger, hash_of(index), index);
        self.current.store(current + 1, Ordering::Release);
    }
}

fn empty(places: usize) -> Box<[AtomicU32]> {
    (0..places).map(|_| AtomicU32::new(0)).collect()
}

fn put(table: &[AtomicU32], hash: u64, index: usize) {
    let mask = table.len() - 1;
    let mut at = hash as usize & mask;
    while table[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    table[at].store(index as u32 + 1, Ordering::Release);
}

/// The hash of a name, with a number that tells names apart which are alike.
#[inline]
pub(super) fn hash(name: &str, number: i32) -> u64 {
    let mut hash = number as u32 as u64 ^ (name.len() as u64) << 32;
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    };
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last));
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_while_the_table_grows() {
        let all: Vec<String> = (0..5000).map(|i| format!("p2p_variable_number_{i}")).collect();
        let names = Names::new();
        let find = |name: &str| names.find(hash(name, 0), |index| all[index] == name);
        assert_eq!(find("p2p_variable_number_0"), None);
        for index in 0..all.len() {
            names.add(index, |index| hash(&all[index], 0));
            assert_eq!(find(&all[index]), Some(index));
        }
        assert!(all.iter().enumerate().all(|(index, name)| find(name) == Some(index)));
        assert_eq!((find("p2p_variable_number_5000"), find("")), (None, None));
        assert_ne!(hash("a", 1), hash("a", 2));
    }

    #[test]
    fn a_reader_finds_what_was_there_before_it_began() {
        let all: Vec<String> = (0..20_000).map(|i| format!("v{i}")).collect();
        let (names, added) = (Names::new(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..all.len() {
                    names.add(index, |index| hash(&all[index], 0));
                    added.store(index + 1, Ordering::Release);
                }
            });
            let mut before = 0;
            while before < all.len() {
                before = added.load(Ordering::Acquire);
                if let Some(last) = before.checked_sub(1) {
                    assert_eq!(names.find(hash(&all[last], 0), |index| all[index] == all[last]), Some(last));
                }
            }
        });
    }
}
