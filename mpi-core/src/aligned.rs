//! Heap memory at a given alignment, for blocks of programs, windows and the library's own working memory.
//!
//! Invariant: every block is freed with the size and the alignment that it was allocated with.
#![allow(unsafe_code)] // calls the allocator

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::{NonNull, with_exposed_provenance_mut};
use std::slice;

/// The largest alignment that a hint can set.
const MOST: u64 = 1 << 30;

/// Size and alignment of a block of `bytes`, or of 1 byte for 0. A hint that is not a power of two, or is larger than a
/// gibibyte, is ignored; the alignment is at least `least`, a power of two.
fn layout(bytes: u64, hint: u64, least: usize) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(bytes.max(1)).ok()?, alignment(hint, least)).ok()
}

/// The alignment that a hint sets, at least `least`.
#[inline]
pub fn alignment(hint: u64, least: usize) -> usize {
    let usable = hint.is_power_of_two() && hint <= MOST;
    if usable { least.max(hint as usize) } else { least }
}

/// Allocates an uninitialised block; returns its exposed address and its alignment. `None` if the system does not have
/// enough memory. The alignment is at least `least`, a power of two, and the hint if that is a power of two of at most
/// a gibibyte.
#[inline]
pub fn allocate(bytes: u64, hint: u64, least: usize) -> Option<(usize, usize)> {
    let layout = layout(bytes, hint, least)?;
    // SAFETY: the layout's size is not 0.
    let block = NonNull::new(unsafe { alloc(layout) })?;
    Some((block.as_ptr().expose_provenance(), layout.align()))
}

/// Frees a block of [`allocate`].
///
/// # Safety
/// The block was allocated with these bytes, has this address and alignment, and is no longer used.
#[inline]
pub unsafe fn free(address: usize, bytes: u64, alignment: usize) {
    // SAFETY: the layout is that of `allocate`, so it is valid; the caller promises the rest.
    unsafe {
        let layout = Layout::from_size_align_unchecked(bytes.max(1) as usize, alignment);
        dealloc(with_exposed_provenance_mut(address), layout);
    }
}

/// Zeroed memory, freed when dropped.
#[derive(Debug)]
pub struct AlignedMemory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the value owns its memory, as a `Box<[u8]>` does.
unsafe impl Send for AlignedMemory {}
// SAFETY: as above; a shared reference does not give access to the memory.
unsafe impl Sync for AlignedMemory {}

impl AlignedMemory {
    /// New memory; arguments and result as for [`allocate`].
    pub fn zeroed(bytes: u64, hint: u64, least: usize) -> Option<AlignedMemory> {
        let layout = layout(bytes, hint, least)?;
        // SAFETY: the layout's size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(AlignedMemory { start, layout })
    }

    /// The address, exposed: for memory that other code accesses by its address.
    pub fn expose(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// The bytes of the memory; one byte if 0 were requested.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the memory is initialised, has this length and is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    /// As [`AlignedMemory::bytes`], to write.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the memory is initialised, has this length and is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedMemory {
    fn drop(&mut self) {
        // SAFETY: the block was allocated with this layout, and is freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_that_are_no_alignment_are_ignored() {
        for (hint, least) in [(0, 64), (16, 64), (64, 64), (4096, 4096), (1 << 20, 1 << 20), (48, 64), (1 << 31, 64)] {
            let mut memory = AlignedMemory::zeroed(1000, hint, 64).expect("little memory");
            assert!(memory.expose().is_multiple_of(least), "{hint}");
            assert!(memory.bytes_mut().len() == 1000 && memory.bytes_mut().iter().all(|byte| *byte == 0));
            let (address, alignment) = allocate(0, hint, 64).expect("little memory");
            assert!(address.is_multiple_of(least) && alignment.is_multiple_of(least), "{hint}");
            // SAFETY: allocated just above.
            unsafe { free(address, 0, alignment) };
        }
    }

    #[test]
    fn more_memory_than_there_is_gives_none() {
        for bytes in [u64::MAX, i64::MAX as u64, 1 << 60] {
            assert!(AlignedMemory::zeroed(bytes, 0, 64).is_none() && allocate(bytes, 64, 16).is_none());
        }
    }
}
