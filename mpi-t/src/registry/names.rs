//! A lock-free hash table from names to indices, which only grows.
//!
//! Names are added under the registry's lock. A table that is half full is followed by one twice as large with
//! all names; the old ones stay, because readers may be in them.
//! Invariant: an index, once in a table, stays there; a reader that misses a name began before it was added.
//! Not here: the names themselves (the lists that the indices lead to).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::append_only::CAPACITY;

/// The places of the first table.
const FIRST: usize = 256;
/// Tables: the last has at least twice as many places as a list has entries, so that each search ends at an empty one.
const TABLES: usize = 11;
const _: () = assert!(FIRST << (TABLES - 1) >= 2 * CAPACITY);

#[derive(Debug)]
pub(super) struct Names {
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    current: AtomicUsize,
    len: AtomicUsize,
}

/// The word in a place: the upper half of the hash, and the index + 1; 0: empty.
#[derive(Clone, Copy)]
struct Place(u64);

impl Place {
    fn new(hash: u64, index: usize) -> Place {
        Place(hash & !u64::from(u32::MAX) | (index as u64 + 1))
    }

    #[inline]
    const fn index(self) -> usize {
        self.0 as u32 as usize - 1
    }

    #[inline]
    const fn may_be(self, hash: u64) -> bool {
        (self.0 ^ hash) >> 32 == 0
    }
}

impl Names {
    pub const fn new() -> Names {
        Names { tables: [const { OnceLock::new() }; TABLES], current: AtomicUsize::new(0), len: AtomicUsize::new(0) }
    }

    /// The index of a name, for which `is` is true.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<usize> {
        // Acquire pairs with the Release in `add`: a table is published when it has all names.
        let table = self.tables[self.current.load(Ordering::Acquire)].get()?;
        let mask = table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            // Acquire pairs with the Release in `put`: an index comes with its entry.
            match Place(table[at].load(Ordering::Acquire)) {
                Place(0) => return None,
                place if place.may_be(hash) && is(place.index()) => return Some(place.index()),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds an index, whose entry is in its list; `hash_of` returns the hashes of those before. One thread at a time.
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
            let found = Place(found).index();
            put(larger, hash_of(found), found);
        }
        put(larger, hash_of(index), index);
        self.current.store(current + 1, Ordering::Release);
    }
}

fn empty(places: usize) -> Box<[AtomicU64]> {
    (0..places).map(|_| AtomicU64::new(0)).collect()
}

fn put(table: &[AtomicU64], hash: u64, index: usize) {
    let mask = table.len() - 1;
    let mut at = hash as usize & mask;
    while table[at].load(Ordering::Relaxed) != 0 {
        at = (at + 1) & mask;
    }
    table[at].store(Place::new(hash, index).0, Ordering::Release);
}

/// The hash of a name, with a number that distinguishes equal names: of its length, its first eight bytes, its
/// last and those in the middle, side by side. Names that agree in all of these differ when compared.
#[inline]
pub(super) fn hash(name: &[u8], number: i32) -> u64 {
    let (first, middle, last) = match name.len() {
        length @ 8.. => (word(name), word(&name[length / 2 - 4..]), word(&name[length - 8..])),
        length @ 4.. => (half(name), 0, half(&name[length - 4..])),
        _ => (name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0, 0),
    };
    let mixed = (first ^ number as u32 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ middle.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(31)
        ^ (last ^ name.len() as u64).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(17);
    mixed ^ mixed >> 32
}

/// Whether a variable's name is this one.
#[inline]
pub(super) fn same(own: &str, name: &[u8]) -> bool {
    let own = own.as_bytes();
    if own.len() != name.len() {
        return false;
    }
    // Words in place of bytes: names are short, and a call of `memcmp` would take longer. The last word overlaps the
    // one before.
    match (own.last_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(own_last), Some(last)) => {
            let mut words = own.as_chunks::<8>().0.iter().zip(name.as_chunks::<8>().0);
            words.all(|(own, word)| own == word) && own_last == last
        }
        _ => own.iter().eq(name),
    }
}

/// The first eight bytes as a number.
#[inline]
fn word(name: &[u8]) -> u64 {
    name.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The first four bytes as a number.
#[inline]
fn half(name: &[u8]) -> u64 {
    name.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_while_the_table_grows() {
        let all: Vec<String> = (0..5000).map(|i| format!("p2p_variable_number_{i}")).collect();
        let names = Names::new();
        let find = |name: &str| names.find(hash(name.as_bytes(), 0), |index| same(&all[index], name.as_bytes()));
        assert_eq!(find("p2p_variable_number_0"), None);
        for index in 0..all.len() {
            names.add(index, |index| hash(all[index].as_bytes(), 0));
            assert_eq!(find(&all[index]), Some(index));
        }
        assert!(all.iter().enumerate().all(|(index, name)| find(name) == Some(index)));
        assert_eq!((find("p2p_variable_number_5000"), find("")), (None, None));
        assert_ne!(hash(b"a", 1), hash(b"a", 2));
    }

    #[test]
    fn names_are_the_same_exactly_when_every_byte_is() {
        let long = "p2p_messages_sent_to_every_single_one_of_them";
        for length in 0..=long.len() {
            let name = &long[..length];
            assert!(same(name, name.as_bytes()));
            assert!(!same(name, &[name.as_bytes(), b"x"].concat()));
            for at in 0..length {
                let mut other = name.as_bytes().to_vec();
                other[at] ^= 1;
                assert!(!same(name, &other), "{length} bytes, another at {at}");
            }
        }
        // Hashes need not differ, but are no good if they often do not.
        let hashes: std::collections::HashSet<u64> = (0..=long.len()).map(|n| hash(&long.as_bytes()[..n], 0)).collect();
        assert_eq!(hashes.len(), long.len() + 1);
    }

    #[test]
    fn a_reader_finds_what_was_there_before_it_began() {
        let all: Vec<String> = (0..20_000).map(|i| format!("v{i}")).collect();
        let (names, added) = (Names::new(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..all.len() {
                    names.add(index, |index| hash(all[index].as_bytes(), 0));
                    added.store(index + 1, Ordering::Release);
                }
            });
            let mut before = 0;
            while before < all.len() {
                before = added.load(Ordering::Acquire);
                if let Some(last) = before.checked_sub(1) {
                    assert_eq!(
                        names.find(hash(all[last].as_bytes(), 0), |index| same(&all[index], all[last].as_bytes())),
                        Some(last)
                    );
                }
            }
        });
    }
}
