//! Working memory of a collective: on the stack when short, aligned as a C compiler aligns.
//!
//! User operations get addresses in this memory and may read `long double`s from them.

use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_core::aligned::AlignedMemory;
use mpi_errors::{Error, Result};

const STACK: usize = 128;
const ALIGNMENT: usize = 64;

/// Zeroed bytes.
pub(crate) struct Scratch {
    stack: Stack,
    /// Bytes that are too many for the stack.
    heap: Option<AlignedMemory>,
    length: usize,
}

#[repr(align(64))]
struct Stack([u8; STACK]);

impl Scratch {
    /// Room for `length` bytes. Errors: `MPI_ERR_NO_MEM`.
    #[inline]
    pub fn new(length: u64) -> Result<Scratch> {
        let stack = Stack([0; STACK]);
        if length <= STACK as u64 {
            return Ok(Scratch { stack, heap: None, length: length as usize });
        }
        let heap = Some(on_heap(length)?);
        Ok(Scratch { stack, heap, length: length as usize })
    }

    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        match &mut self.heap {
            None => &mut self.stack.0[..self.length],
            Some(memory) => memory.bytes_mut(),
        }
    }
}

#[cold]
fn on_heap(length: u64) -> Result<AlignedMemory> {
    AlignedMemory::zeroed(length, 0, ALIGNMENT)
        .ok_or_else(|| Error::new(MPI_ERR_NO_MEM, format!("a collective needs {length} bytes of working memory")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_length_is_aligned_and_zero() {
        for length in [0, 1, 8, 127, 128, 129, 1000, 100_000] {
            let mut scratch = Scratch::new(length).expect("little memory");
            assert_eq!(scratch.bytes().len() as u64, length);
            assert_eq!(scratch.bytes().as_ptr() as usize % ALIGNMENT, 0);
            assert!(scratch.bytes().iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn too_much_memory_is_an_error() {
        assert_eq!(Scratch::new(u64::MAX).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
        assert_eq!(Scratch::new(1 << 60).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
    }
}
