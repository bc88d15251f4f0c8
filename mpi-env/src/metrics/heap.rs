//! Metrics of the heap memory that the library allocates for itself.
//!
//! The C library uses [`Heap`] as its global allocator, so the metrics cover all its heap memory. A Rust program
//! chooses its own allocator; there these variables do not exist.
//! Invariant: this module never allocates. Values count requested bytes, without the overhead of the system's
//! allocator.
//! Not here: memory that the job's processes share (mpi-fabric), memory that the program allocates (`tables::memory`).
#![allow(unsafe_code)] // `GlobalAlloc` is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicU64;

use mpi_t::Verbosity::DeveloperBasic;
use mpi_t::{BlockDescription, Counter, InstrumentMemory, Level};

mpi_t::instruments! {
    /// The heap of the library.
    pub struct HeapInstruments: NoObject, verbosity: UserDetail {
        /// Bytes of heap memory that the library has allocated, by the requested sizes; includes memory from
        /// MPI_Alloc_mem and of tools' handles, excludes memory that processes share (memory_alloc_mem_shared).
        pub held: Level =
            { name: "memory_heap", class: Level, type: u64, unit: "bytes", category: "memory" }
            { name: "memory_heap", class: HighWatermark, type: u64, unit: "bytes", category: "memory",
              doc: "Greatest number of bytes of heap memory that the library had allocated at once. Unexpected \
                    messages make it grow: see p2p_unexpected_bytes." },
        /// Number of times that the library allocated heap memory or changed the size of a block.
        pub allocations: Counter =
            { name: "memory_heap_allocations", class: Counter, type: u64, unit: "allocations", category: "memory",
              verbosity: DeveloperBasic },
    }
}

const WORDS: usize = size_of::<HeapInstruments>() / 8;

/// Static memory, available before the first allocation.
struct Static;

impl InstrumentMemory for Static {
    fn allocate(&self, words: usize, _: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        static BLOCK: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
        BLOCK.get(..words)
    }

    fn release(&self, _: &'static [AtomicU64]) -> bool {
        true
    }
}

/// The metrics of the heap; all zero where [`Heap`] is not the allocator.
#[inline]
pub(crate) fn instruments() -> &'static HeapInstruments {
    mpi_t::place(&Static, "")
}

/// The system's allocator with counters.
#[derive(Debug)]
pub struct Heap;

fn grew(bytes: usize) {
    let heap = instruments();
    heap.allocations.incr_shared();
    heap.held.raise_shared(bytes as u64);
}

// SAFETY: each method passes its arguments, and with them the caller's promises, to the system's allocator; the
// counters do not allocate and cannot panic.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            grew(layout.size());
        }
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            grew(layout.size());
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
        instruments().held.lower_shared(layout.size() as u64);
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(memory, layout, size) };
        if !moved.is_null() {
            grew(size.saturating_sub(layout.size()));
            instruments().held.lower_shared(layout.size().saturating_sub(size) as u64);
        }
        moved
    }
}
