//! Memory that programs allocate through the library (MPI-5.0, 9.2).
//!
//! All memory is equally fast for this library, so blocks come from the system's allocator. The table detects addresses
//! that were never allocated, or are freed already, without accessing them.
//! Invariant: a block is in the table exactly while it is allocated.
#![allow(unsafe_code)] // frees blocks by address

use mpi_core::abi::{MPI_ERR_BASE, MPI_ERR_NO_MEM};
use mpi_core::aligned;
use mpi_errors::{Error, Result};

use crate::tables::blocks::{Block, BlockTable};

/// The smallest alignment of a block: that of C's largest type.
const LEAST: usize = 16;

/// The allocated blocks, by address.
#[derive(Debug, Default)]
pub struct Blocks {
    live: BlockTable,
    bytes: u64,
}

impl Blocks {
    /// `MPI_Alloc_mem`: the address of a new block, at least as aligned as requested. An alignment that is not a power
    /// of two, or is larger than a gibibyte, is ignored. A block of 0 bytes also has a unique address.
    /// Errors: `MPI_ERR_NO_MEM`.
    #[inline]
    pub fn allocate(&mut self, bytes: u64, alignment: u64) -> Result<usize> {
        let block = aligned::allocate(bytes, alignment, LEAST);
        let Some((address, alignment)) = block else { return Err(no_memory(bytes)) };
        self.live.insert(Block { address, bytes, alignment });
        self.bytes += bytes;
        Ok(address)
    }

    /// `MPI_Free_mem`. Errors: `MPI_ERR_BASE` if no block has the address.
    #[inline]
    pub fn free(&mut self, address: usize) -> Result<()> {
        let Some(block) = self.live.remove(address) else { return Err(no_block(address)) };
        self.bytes -= block.bytes;
        // SAFETY: the block was allocated with this size and alignment, is removed from the table once, and the program
        // no longer uses it.
        unsafe { aligned::free(address, block.bytes, block.alignment) };
        Ok(())
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
}
