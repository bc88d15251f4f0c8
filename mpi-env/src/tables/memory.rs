//! Memory that programs allocate through the library (MPI-5.0, 9.2).
//!
//! On request (`memory_share_alloc_mem`) long blocks come from the process's arena, because receivers copy messages from it themselves; short ones, and those
//! that cannot be shared, from the system's allocator. The table detects addresses that were never allocated, or are freed
//! already, without accessing them.
//! Invariant: a block is in the table exactly while it is allocated.
//! Not here: the arena (`mpi_fabric::Arena`).
#![allow(unsafe_code)] // frees blocks by address

use mpi_core::abi::{MPI_ERR_BASE, MPI_ERR_NO_MEM};
use mpi_core::aligned;
use mpi_errors::{Error, Result};
use mpi_fabric::{Arena, ProcessId};

use crate::tables::blocks::{Block, BlockTable};

/// The smallest alignment of a block: that of C's largest type.
const LEAST: usize = 16;

/// The shortest block of the arena: no shorter message is copied from shared memory, unless `p2p_copy_shared_from` is less
/// than its initial value.
pub(crate) const SHARED_FROM: u64 = 64 << 10;

/// The alignment in the table of a block of the arena; no block of the allocator has it.
const IN_ARENA: usize = 0;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Memory of this process alone.
    Private,
    /// Shared memory.
    Shared,
}

/// The allocated blocks, by address.
#[derive(Debug, Default)]
pub struct Blocks {
    live: BlockTable,
    bytes: u64,
    /// `None` inside: the process cannot have one.
    arena: Option<Option<Arena>>,
    /// Those of `bytes` that lie in the arena.
    shared_bytes: u64,
}

impl Blocks {
    /// `MPI_Alloc_mem`: the address of a new private block, at least as aligned as requested. An alignment that is not a
    /// power of two, or is larger than a gibibyte, is ignored. A block of 0 bytes also has a unique address.
    /// Errors: `MPI_ERR_NO_MEM`.
    #[inline]
    pub fn allocate(&mut self, bytes: u64, alignment: u64) -> Result<usize> {
        let block = aligned::allocate(bytes, alignment, LEAST);
        let Some((address, alignment)) = block else { return Err(no_memory(bytes)) };
        self.live.insert(Block { address, bytes, alignment });
        self.bytes += bytes;
        Ok(address)
    }

    /// As [`Self::allocate`], of shared memory of this process, `owner`. `None`: that cannot be had.
    pub fn allocate_shared(&mut self, bytes: u64, alignment: u64, owner: ProcessId) -> Option<usize> {
        let arena = self.arena.get_or_insert_with(|| Arena::new(owner)).as_mut()?;
        let address = arena.allocate(bytes, aligned::alignment(alignment, LEAST))?;
        self.live.insert(Block { address, bytes, alignment: IN_ARENA });
        self.bytes += bytes;
        self.shared_bytes += bytes;
        Some(address)
    }

    /// `MPI_Free_mem`; returns what the block was. Errors: `MPI_ERR_BASE` if no block has the address.
    #[inline]
    pub fn free(&mut self, address: usize) -> Result<Memory> {
        let Some(block) = self.live.remove(address) else { return Err(no_block(address)) };
        self.bytes -= block.bytes;
        if block.alignment == IN_ARENA {
            self.free_shared(block);
            return Ok(Memory::Shared);
        }
        // SAFETY: the block was allocated with this size and alignment, is removed from the table once, and the program
        // no longer uses it.
        unsafe { aligned::free(address, block.bytes, block.alignment) };
        Ok(Memory::Private)
    }

    #[inline(never)]
    fn free_shared(&mut self, block: Block) {
        self.shared_bytes -= block.bytes;
        let arena = self.arena.as_mut().and_then(Option::as_mut).expect("the block is in it");
        // SAFETY: the block was allocated there with this size, is removed from the table once, and the program no longer
        // uses it.
        unsafe { arena.free(block.address, block.bytes) };
    }

    /// Sum of the requested sizes of the blocks that are shared memory, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        self.shared_bytes
    }

    /// Sum of the requested sizes of all blocks, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cold]
fn no_memory(bytes: u64) -> Error {
    Error::new(MPI_ERR_NO_MEM, "the system has not that much memory to give").arg("size", &bytes)
}

#[cold]
fn no_block(address: usize) -> Error {
    let rule = "no block that MPI_Alloc_mem gave out, and that is not freed yet, begins there";
    Error::new(MPI_ERR_BASE, rule).arg("base", &format_args!("{address:#x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_freed_once_and_by_their_first_byte() {
        let mut blocks = Blocks::default();
        let (a, b) = (blocks.allocate(64, 0).expect("memory"), blocks.allocate(0, 0).expect("memory"));
        assert_ne!(a, b);
        for foreign in [0, a + 1, a - 16, usize::MAX, std::ptr::from_ref(&blocks).addr()] {
            assert_eq!(blocks.free(foreign).expect_err("foreign").class(), MPI_ERR_BASE);
        }
        assert_eq!(blocks.bytes(), 64);
        assert!(blocks.free(a).is_ok() && blocks.free(b).is_ok());
        assert_eq!(blocks.bytes(), 0);
        assert_eq!(blocks.free(a).expect_err("freed").class(), MPI_ERR_BASE);
    }

    #[test]
    fn alignment_is_kept_and_nonsense_ignored() {
        let mut blocks = Blocks::default();
        for (alignment, least) in
            [(0, 16), (8, 16), (64, 64), (4096, 4096), (1 << 20, 1 << 20), (48, 16), (1 << 31, 16)]
        {
            let address = blocks.allocate(100, alignment).expect("memory");
            assert!(address.is_multiple_of(least), "{alignment}");
            blocks.free(address).expect("live");
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let mut blocks = Blocks::default();
        for bytes in [u64::MAX, i64::MAX as u64, 1 << 60] {
            assert_eq!(blocks.allocate(bytes, 64).expect_err("too much").class(), MPI_ERR_NO_MEM);
        }
    }

    #[test]
    fn blocks_of_both_kinds_are_freed_once_and_count_together() {
        let mut blocks = Blocks::default();
        let owner = ProcessId { job: 1, rank: 0 };
        let private = blocks.allocate(SHARED_FROM, 0).expect("memory");
        assert_eq!((blocks.bytes(), blocks.shared_bytes()), (SHARED_FROM, 0));
        for (alignment, least) in [(0, 4096), (64, 4096), (1 << 20, 1 << 20), (48, 4096), (1 << 31, 4096)] {
            let address = blocks.allocate_shared(SHARED_FROM, alignment, owner).expect("memory");
            assert!(address.is_multiple_of(least), "{alignment}");
            assert_eq!((blocks.bytes(), blocks.shared_bytes()), (2 * SHARED_FROM, SHARED_FROM));
            assert_eq!(blocks.free(address + 4096).expect_err("inside").class(), MPI_ERR_BASE);
            assert_eq!(blocks.free(address).expect("live"), Memory::Shared);
            assert_eq!(blocks.free(address).expect_err("freed").class(), MPI_ERR_BASE);
        }
        for bytes in [u64::MAX, i64::MAX as u64, 1 << 60] {
            assert!(blocks.allocate_shared(bytes, 64, owner).is_none());
        }
        assert_eq!(blocks.free(private).expect("live"), Memory::Private);
        assert_eq!((blocks.bytes(), blocks.shared_bytes()), (0, 0));
    }
}
