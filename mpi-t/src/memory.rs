//! The memory of instruments, which is never unmapped: the heap, or a page that other processes can read.
//!
//! Invariant: a block's words are zero when allocated, and are allocated again only after they were freed.
//! Not here: the page (mpi-fabric implements the trait for it).
#![allow(unsafe_code)] // a block is placed in words; the one cast is here

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::{Instruments, PvarDef};

/// The description of a block of instruments, for a reader in another process, which finds only words.
#[derive(Debug, Clone, Copy)]
pub struct BlockDescription<'a> {
    /// The name of the block's type.
    pub block: &'static str,
    /// Its variables; [`PvarDef::word`] is the word of the block that each one reads.
    pub variables: &'static [PvarDef],
    /// The object it belongs to, as text (`"MPI_COMM_WORLD"`); empty: the process.
    pub object: &'a str,
}

/// Allocates words for instruments.
pub trait InstrumentMemory: Send + Sync {
    /// `words` zeroed words, or `None` when there is no room left (the block then goes to the heap).
    fn allocate(&self, words: usize, description: &BlockDescription<'_>) -> Option<&'static [AtomicU64]>;

    /// Frees words that [`InstrumentMemory::allocate`] of this memory may have returned; returns whether they were its
    /// own. A reader may still load them for a moment, and then finds that its handle has ended.
    fn release(&self, words: &'static [AtomicU64]) -> bool;

    /// Zeroed rows of the same length, one for each of these peers of an object, by their numbers in the job; `None`
    /// where the memory has no rows with such names, or no room. Freed by [`InstrumentMemory::release`].
    fn allocate_rows(&self, _words: usize, _peers: &[u32]) -> Option<&'static [AtomicU64]> {
        None
    }

    /// Reports rows that lie elsewhere because [`InstrumentMemory::allocate_rows`] had no room: their release is reported
    /// by [`InstrumentMemory::release`], which then returns false.
    fn note_rows(&self, _words: &'static [AtomicU64], _peers: &[u32]) {}

    /// Changes the object's name of a block in use, for a reader in another process. Does nothing in memory without
    /// such readers.
    fn rename(&self, _words: &'static [AtomicU64], _object: &str) {}
}

/// The process's heap. Freed words are allocated again, so a program that creates and frees communicators for ever
/// needs no more than those that exist at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeapMemory;

/// Freed blocks, by their number of words.
static FREE: Mutex<BTreeMap<usize, Vec<&'static [AtomicU64]>>> = Mutex::new(BTreeMap::new());

impl InstrumentMemory for HeapMemory {
    fn allocate(&self, words: usize, _: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = free.get_mut(&words).and_then(Vec::pop) {
            return Some(block);
        }
        Some(Vec::leak((0..words).map(|_| AtomicU64::new(0)).collect()))
    }

    fn release(&self, words: &'static [AtomicU64]) -> bool {
        words.iter().for_each(|word| word.store(0, Relaxed));
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.entry(words.len()).or_default().push(words);
        true
    }
}

/// Places a block of instruments for an object (`""`: the process). Never fails: without room the heap takes it.
pub fn place<B: Instruments>(memory: &dyn InstrumentMemory, object: &str) -> &'static B {
    const { assert!(size_of::<B>().is_multiple_of(8) && align_of::<B>() == 8, "a block is made of words") }
    let count = size_of::<B>() / 8;
    let description = BlockDescription { block: B::NAME, variables: B::VARS, object };
    let words = memory
        .allocate(count, &description)
        .filter(|words| words.len() >= count)
        .or_else(|| HeapMemory.allocate(count, &description))
        .expect("the heap always has words");
    // SAFETY: the words are as many as the block has, aligned, static, shared only as atomics; the trait's promise
    // is that the block is nothing but atomic words, for which any bits are valid.
    unsafe { &*words.as_ptr().cast::<B>() }
}

/// Frees a block; it must not be written from now on. Unbind it from registries first.
pub fn retire<B: Instruments>(memory: &dyn InstrumentMemory, block: &'static B) {
    let words = words_of(block);
    if !memory.release(words) {
        HeapMemory.release(words);
    }
}

/// Changes the object's name of a block in use.
pub fn rename<B: Instruments>(memory: &dyn InstrumentMemory, block: &'static B, object: &str) {
    memory.rename(words_of(block), object);
}

/// Places `count` blocks one behind the other on the heap: one for each class of sizes, for example.
pub fn place_rows<B: Instruments>(count: usize) -> &'static [B] {
    place_rows_in(&HeapMemory, count)
}

/// The same in a memory that the caller chooses; if it is full, on the heap.
pub fn place_rows_in<B: Instruments>(memory: &dyn InstrumentMemory, count: usize) -> &'static [B] {
    const { assert!(size_of::<B>().is_multiple_of(8) && align_of::<B>() == 8, "a block is made of words") }
    let description = BlockDescription { block: B::NAME, variables: B::VARS, object: "" };
    let needed = count * size_of::<B>() / 8;
    let words = memory
        .allocate(needed, &description)
        .filter(|words| words.len() >= needed)
        .or_else(|| HeapMemory.allocate(needed, &description))
        .expect("the heap always has words");
    // SAFETY: as in `place`, for `count` blocks.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<B>(), count) }
}

/// Frees rows of the heap; no code may write them from now on. Unbind them from registries first.
pub fn retire_rows<B: Instruments>(rows: &'static [B]) {
    retire_rows_in(&HeapMemory, rows);
}

/// The same for rows that were placed in `memory`.
pub fn retire_rows_in<B: Instruments>(memory: &dyn InstrumentMemory, rows: &'static [B]) {
    let words = words_of_rows(rows);
    if !memory.release(words) {
        HeapMemory.release(words);
    }
}

/// Rows as words.
pub(crate) fn words_of_rows<B: Instruments>(rows: &'static [B]) -> &'static [AtomicU64] {
    // SAFETY: the reverse of the cast in `place_rows`.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast::<AtomicU64>(), size_of_val(rows) / 8) }
}

/// A block as words.
pub(crate) fn words_of<B: Instruments>(block: &'static B) -> &'static [AtomicU64] {
    // SAFETY: the reverse of the cast in `place`: the block is this many atomic words.
    unsafe { std::slice::from_raw_parts((block as *const B).cast::<AtomicU64>(), size_of::<B>() / 8) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Level, Timer};

    #[derive(Debug)]
    struct Full;

    impl InstrumentMemory for Full {
        fn allocate(&self, _: usize, _: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
            None
        }
        fn release(&self, _: &'static [AtomicU64]) -> bool {
            false
        }
    }

    crate::instruments! {
        /// A block of a size that no other test uses.
        struct Odd: NoObject {
            /// Things.
            things: Counter = { name: "odd_things", class: Counter, type: u64, unit: "things", category: "odd" },
            /// Stuff.
            stuff: Level = { name: "odd_stuff", class: Level, type: u64, unit: "bytes", category: "odd" },
            /// More.
            more: Timer = { name: "odd_more", class: Timer, type: f64, unit: "seconds", category: "odd" },
        }
    }

    #[test]
    fn a_full_memory_falls_back_to_the_heap_and_blocks_are_reused_zeroed() {
        let first: &'static Odd = place(&Full, "");
        first.things.add(5);
        first.stuff.raise(3);
        first.more.add_ns(1);
        retire(&Full, first);
        let second: &'static Odd = place(&Full, "");
        assert!(std::ptr::eq(first, second));
        assert_eq!((second.things.get(), second.stuff.get(), second.more.get_ns()), (0, 0, 0));
    }
}
