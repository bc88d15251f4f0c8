//! The partitions of a receive that have arrived, readable without a lock (`MPI_Parrived`).
//!
//! For each partition a word counts the bytes that are still missing. Threads that hold the process's lock lower it,
//! after they have stored the bytes; 0 means that the partition is there. Any thread reads it at any time.
//! The words of a receive are found by its handle (`mpi_core::Facts`). Their memory is never freed, only used again
//! for another receive: a thread that reads the words of a request that is freed meanwhile, which is an error of the
//! program, reads a value without a meaning, from valid memory.
//! Invariants: a thread that reads 0 sees all bytes of the partition. One thread at a time writes, under the process's
//! lock.
//! Not here: which bytes arrive (`partitions`). Model: `tests/loom_arrivals.rs`.

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

/// The missing bytes of each partition of one receive.
#[derive(Debug)]
pub(crate) struct Arrivals {
    /// Partitions in use; at most as many as there are words.
    partitions: AtomicUsize,
    missing: Box<[AtomicU64]>,
}

impl Arrivals {
    /// Words for as many partitions at most, all there; `None` without memory for them.
    pub fn new(capacity: usize) -> Option<Arrivals> {
        let mut missing = Vec::new();
        missing.try_reserve_exact(capacity).ok()?;
        missing.resize_with(capacity, || AtomicU64::new(0));
        Some(Arrivals { partitions: AtomicUsize::new(0), missing: missing.into_boxed_slice() })
    }

    /// How many partitions there can be.
    pub fn capacity(&self) -> usize {
        self.missing.len()
    }

    /// Begins to serve a receive with as many partitions, all there. Under the lock.
    pub fn serve(&self, partitions: usize) {
        debug_assert!(partitions <= self.missing.len());
        self.end_all();
        // Relaxed: the program gets the handle of the receive afterwards.
        self.partitions.store(partitions, Ordering::Relaxed);
    }

    /// Number of partitions.
    #[inline]
    pub fn partitions(&self) -> usize {
        self.partitions.load(Ordering::Relaxed)
    }

    /// From now on each partition misses as many bytes. Under the lock.
    pub fn expect_all(&self, bytes: u64) {
        // Relaxed: the program starts the receive before it looks for partitions of this start.
        self.missing[..self.partitions()].iter().for_each(|word| word.store(bytes, Ordering::Relaxed));
    }

    /// All partitions are there. Under the lock.
    pub fn end_all(&self) {
        // Release pairs with the Acquire in `has_arrived`.
        self.missing[..self.partitions()].iter().for_each(|word| word.store(0, Ordering::Release));
    }

    /// Whether a partition misses at least so many bytes. Under the lock.
    pub fn misses(&self, partition: usize, bytes: u64) -> bool {
        // Relaxed: writers are ordered by the lock.
        self.missing[partition].load(Ordering::Relaxed) >= bytes
    }

    /// So many missing bytes of a partition have been stored. Under the lock.
    pub fn stored(&self, partition: usize, bytes: u64) {
        let word = &self.missing[partition];
        // Relaxed: writers are ordered by the lock.
        let left = word.load(Ordering::Relaxed) - bytes;
        // Release pairs with the Acquire in `has_arrived`. The bytes that other threads have stored before come before
        // this store through the lock.
        word.store(left, Ordering::Release);
    }

    /// Whether a partition is there; `None` if there is no such partition. Takes no lock.
    #[inline]
    pub fn has_arrived(&self, partition: usize) -> Option<bool> {
        if partition >= self.partitions() {
            return None;
        }
        // Acquire pairs with the Release in `stored` and `end_all`. The index is checked again, because the words may
        // serve another receive by now, with more partitions than before but never more than there are words.
        self.missing.get(partition).map(|word| word.load(Ordering::Acquire) == 0)
    }
}
