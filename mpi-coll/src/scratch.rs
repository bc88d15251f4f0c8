//! Working memory of a collective: on the stack when short, aligned as a C compiler aligns.
//!
//! User operations get addresses in this memory and may read `long double`s from them.

use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_core::aligned::AlignedMemory;
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

const STACK: usize = 128;
const ALIGNMENT: usize = 64;

/// Zeroed bytes.
pub(crate) struct Scratch {
    stack: Stack,
    /// Bytes that are too many for the stack.
    heap: Option<AlignedMemory>,
    /// Where the bytes begin.
    start: usize,
    length: usize,
}

#[repr(align(64))]
struct Stack([u8; STACK]);

impl Scratch {
    /// Room for `length` bytes. Errors: `MPI_ERR_NO_MEM`.
    #[inline]
    pub fn new(length: u64) -> Result<Scratch> {
        Scratch::starting_at(0, length)
    }

    /// Room for elements of a type, from the lowest to the highest data byte; the address of the first element is
    /// aligned. Errors: `MPI_ERR_NO_MEM`.
    #[inline]
    pub fn elements(datatype: &Datatype, count: u64) -> Result<Scratch> {
        Scratch::starting_at(datatype.lowest_byte(count).rem_euclid(ALIGNMENT as i64) as usize, datatype.span(count))
    }

    #[inline]
    fn starting_at(start: usize, length: u64) -> Result<Scratch> {
        let stack = Stack([0; STACK]);
        let whole = length.saturating_add(start as u64);
        let heap = if whole <= STACK as u64 { None } else { Some(on_heap(whole)?) };
        Ok(Scratch { stack, heap, start, length: length as usize })
    }

    /// The bytes, to read.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.heap {
            None => &self.stack.0[self.start..self.start + self.length],
            Some(memory) => &memory.bytes()[self.start..],
        }
    }

    /// The bytes, to write.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.heap {
            None => &mut self.stack.0[self.start..self.start + self.length],
            Some(memory) => &mut memory.bytes_mut()[self.start..],
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
            let scratch = Scratch::new(length).expect("little memory");
            assert_eq!(scratch.bytes().len() as u64, length);
            assert_eq!(scratch.bytes().as_ptr() as usize % ALIGNMENT, 0);
            assert!(scratch.bytes().iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn the_first_element_is_aligned_wherever_its_data_begin() {
        let double = mpi_datatype::predefined(mpi_core::abi::MPI_DOUBLE).expect("predefined");
        let down = Datatype::vector(3, 1, -3, double, mpi_datatype::Form::Small).expect("small");
        let up = Datatype::hindexed(&[1], &[40], double, mpi_datatype::Form::Small).expect("small");
        for (datatype, count) in [(down, 1), (up, 100)] {
            let scratch = Scratch::elements(&datatype, count).expect("little memory");
            assert_eq!(scratch.bytes().len() as u64, datatype.span(count));
            let first = scratch.bytes().as_ptr() as i64 - datatype.lowest_byte(count);
            assert_eq!(first % ALIGNMENT as i64, 0);
        }
    }

    #[test]
    fn too_much_memory_is_an_error() {
        assert_eq!(Scratch::new(u64::MAX).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
        assert_eq!(Scratch::new(1 << 60).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
    }
}
