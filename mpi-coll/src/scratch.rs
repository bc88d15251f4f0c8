//! Working memory of a collective: on the stack when short, aligned as a C compiler aligns.
//!
//! Users' operations get addresses in here and read `long double`s from them.

use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_errors::{Error, Result};

const STACK: usize = 128;
const ALIGNMENT: usize = 64;

/// Zeroed bytes.
pub(crate) struct Scratch {
    stack: Stack,
    heap: Vec<u8>,
    /// Where the aligned bytes begin in `heap`.
    start: usize,
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
            return Ok(Scratch { stack, heap: Vec::new(), start: 0, length: length as usize });
        }
        let (heap, start) = on_heap(length)?;
        Ok(Scratch { stack, heap, start, length: length as usize })
    }

    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        if self.length <= STACK {
            &mut self.stack.0[..self.length]
        } else {
            &mut self.heap[self.start..self.start + self.length]
        }
    }
}

#[cold]
fn on_heap(length: u64) -> Result<(Vec<u8>, usize)> {
    let mut heap = Vec::new();
    let room = usize::try_from(length).ok().and_then(|length| length.checked_add(ALIGNMENT));
    let fits = room.is_some_and(|room| heap.try_reserve_exact(room).is_ok());
    match room {
        Some(room) if fits => {
            heap.resize(room, 0);
            let start = heap.as_ptr().align_offset(ALIGNMENT);
            Ok((heap, start))
        }
        _ => Err(Error::new(MPI_ERR_NO_MEM, format!("a collective needs {length} bytes of working memory"))),
    }
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
