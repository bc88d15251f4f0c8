//! Memory for long rows of instruments; the kernel creates each page when a word in it is first written.
//!
//! A communicator of thousands of processes has a row for each of them, and most processes communicate with few: the
//! rows of the others take addresses and no memory.
//! Invariant: memory is never unmapped, because a handle of the tool interface may still read it; freed memory reads as
//! zero.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use mpi_t::{BlockDescription, InstrumentMemory};

use crate::layout::PAGE;

/// Allocates whole pages. Thread-safe; all values are the same memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesOnDemand;

/// Blocks that are in use, by address, and freed blocks, by their number of words.
struct Blocks {
    used: BTreeMap<usize, usize>,
    free: BTreeMap<usize, Vec<&'static [AtomicU64]>>,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { used: BTreeMap::new(), free: BTreeMap::new() });

impl PagesOnDemand {
    /// From this many bytes on, pages are used instead of the heap.
    pub const LEAST_BYTES: usize = 2 * PAGE;
}

impl InstrumentMemory for PagesOnDemand {
    fn allocate(&self, words: usize, _: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        // Each step leaves the maps consistent, so a panic elsewhere does not matter.
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        let block = match blocks.free.get_mut(&words).and_then(Vec::pop) {
            Some(block) => block,
            None => map(words)?,
        };
        blocks.used.insert(block.as_ptr().addr(), words);
        Some(block)
    }

    fn release(&self, words: &'static [AtomicU64]) -> bool {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.used.remove(&words.as_ptr().addr()).is_none() {
            return false;
        }
        // SAFETY: pages that `map` made, private and anonymous: they read as zero afterwards.
        unsafe { libc::madvise(words.as_ptr().cast_mut().cast(), size_of_val(words), libc::MADV_DONTNEED) };
        blocks.free.entry(words.len()).or_default().push(words);
        true
    }
}

fn map(words: usize) -> Option<&'static [AtomicU64]> {
    let bytes = words.checked_mul(8).filter(|bytes| *bytes > 0)?;
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new mapping at an address the kernel picks.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    let address = NonNull::new(address.cast::<AtomicU64>()).filter(|_| address != libc::MAP_FAILED)?;
    // SAFETY: mapped for ever, zeroed, aligned to a page, and shared as atomics only.
    Some(unsafe { std::slice::from_raw_parts(address.as_ptr(), words) })
}
