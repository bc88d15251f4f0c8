//! Heap memory that the library itself holds, counted where it is allocated.
//!
//! The C library makes [`Heap`] the allocator of all Rust code in it, so nothing it holds is left out. A program in
//! Rust has an allocator of its own choice: there these variables do not exist.
//! Invariant: nothing here allocates, and the values are the bytes that were requested, without the allocator's own overhead.
//! Not here: memory that the job's processes share (mpi-fabric), what the program requested (`tables::memory`).
#![allow(unsafe_code)] // an allocator is an unsafe trait

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicU64;

use mpi_t::Verbosity::DeveloperBasic;
use mpi_t::{BlockDescription, Counter, InstrumentMemory, Level};

mpi_t::instruments! {
    /// The heap of the library.
    pub struct HeapInstruments: NoObject, verbosity: UserDetail {
        /// Bytes of heap memory that the library holds, memory from MPI_Alloc_mem and of tools' handles included; as it
        /// asked for them, and none of the memory that processes share.
        pub held: Level =
            { name: "memory_heap", class: Level, type: u64, unit: "bytes", category: "memory" }
            { name: "memory_heap", class: HighWatermark, type: u64, unit: "bytes", category: "memory",
              doc: "Most bytes of heap memory that the library held at once. Unexpected messages are what makes it \
                    grow: see p2p_unexpected_bytes." },
        /// Times that the library allocated heap memory, or changed the size of what it had.
        pub allocations: Counter =
            { name: "memory_heap_allocations", class: Counter, type: u64, unit: "allocations", category: "memory",
              verbosity: DeveloperBasic },
    }
}

const WORDS: usize = size_of::<HeapInstruments>() / 8;

/// Memory that is there before anything is allocated.
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

/// The system's allocator, counted.
#[derive(Debug)]
pub struct Heap;

fn grew(bytes: usize) {
    let heap = instruments();
    heap.allocations.incr_shared();
    heap.held.raise_shared(bytes as u64);
}

// SAFETY: everything is done by the system's allocator, with the caller's promises; the counting allocates nothing and
// cannot panic.
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
