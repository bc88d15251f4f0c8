//! Working memory of a collective, aligned as a C compiler aligns, and used again by the next call of the thread.
//!
//! User operations get addresses in this memory and may read `long double`s from them.
//! Invariant: a thread keeps the memory of one call at most, and no block of more than [`MOST_KEPT`] bytes.

use std::cell::Cell;

use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_core::aligned::AlignedMemory;
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::steps::AREAS;

const ALIGNMENT: usize = 64;
/// Shortest block.
const LEAST: u64 = 512;
/// Longest block that is kept for the next call, of each area. Longer ones have new pages in each call (measured: an MPI_Exscan of
/// 1 MiB of two processes 1,400 µs without blocks that are kept, 310 with them).
const MOST_KEPT: usize = 4 << 20;

/// Initialised bytes of undefined content.
#[derive(Default)]
pub(crate) struct Scratch {
    memory: Option<AlignedMemory>,
    /// Where the bytes begin.
    start: usize,
    length: usize,
}

impl Scratch {
    /// Room for `length` bytes. Errors: `MPI_ERR_NO_MEM`.
    pub fn new(length: u64) -> Result<Scratch> {
        let mut scratch = Scratch::default();
        scratch.provide(length)?;
        Ok(scratch)
    }

    /// Provides room for `length` bytes in place of what there was. Errors: `MPI_ERR_NO_MEM`.
    pub fn provide(&mut self, length: u64) -> Result<()> {
        self.provide_from(0, length)
    }

    /// Provides room for elements of a type, from the lowest to the highest data byte; the address of the first element
    /// is aligned. Errors: `MPI_ERR_NO_MEM`.
    pub fn provide_elements(&mut self, datatype: &Datatype, count: u64) -> Result<()> {
        let start = datatype.lowest_byte(count).rem_euclid(ALIGNMENT as i64) as usize;
        self.provide_from(start, datatype.span(count))
    }

    fn provide_from(&mut self, start: usize, length: u64) -> Result<()> {
        let whole = length.saturating_add(start as u64);
        if self.capacity() as u64 <= whole {
            self.memory = None;
            self.memory = Some(on_heap(whole)?);
        }
        (self.start, self.length) = (start, length as usize);
        Ok(())
    }

    /// Bytes of its memory.
    fn capacity(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.bytes().len())
    }

    /// The bytes, to read.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.memory {
            None => &[],
            Some(memory) => &memory.bytes()[self.start..self.start + self.length],
        }
    }

    /// The bytes, to write.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            None => &mut [],
            Some(memory) => &mut memory.bytes_mut()[self.start..self.start + self.length],
        }
    }
}

/// The working memory of one call.
#[derive(Default)]
pub(crate) struct Areas([Area; AREAS]);

/// One area of it.
#[derive(Default)]
pub(crate) struct Area {
    pub memory: Scratch,
    /// Number of elements that it is for; `None` for plain bytes.
    pub elements: Option<u64>,
}

thread_local! {
    /// That of the last call of this thread.
    static KEPT: Cell<Option<Box<Areas>>> = const { Cell::new(None) };
}

impl Areas {
    /// That of the last call, or new memory.
    #[cold]
    pub fn take() -> Box<Areas> {
        KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Keeps the memory for the next call.
    #[cold]
    pub fn keep(mut self: Box<Areas>) {
        for area in &mut self.0 {
            area.elements = None;
            area.memory.length = 0;
            if area.memory.capacity() > MOST_KEPT {
                area.memory.memory = None;
            }
        }
        // At the end of a thread the memory is freed.
        let _ = KEPT.try_with(|kept| kept.set(Some(self)));
    }

    /// An area.
    #[inline]
    pub fn area(&self, number: u8) -> &Area {
        &self.0[usize::from(number)]
    }

    /// As [`Areas::area`], to write.
    #[inline]
    pub fn area_mut(&mut self, number: u8) -> &mut Area {
        &mut self.0[usize::from(number)]
    }
}

#[cold]
fn on_heap(length: u64) -> Result<AlignedMemory> {
    // One byte more, so that no bytes have an address too.
    AlignedMemory::zeroed(length.saturating_add(1).max(LEAST), 0, ALIGNMENT)
        .ok_or_else(|| Error::new(MPI_ERR_NO_MEM, format!("a collective needs {length} bytes of working memory")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_length_is_aligned() {
        for length in [0, 1, 8, 127, 128, 129, 511, 512, 1000, 100_000] {
            let scratch = Scratch::new(length).expect("little memory");
            assert_eq!(scratch.bytes().len() as u64, length);
            assert_eq!(scratch.bytes().as_ptr() as usize % ALIGNMENT, 0);
        }
    }

    #[test]
    fn the_first_element_is_aligned_wherever_its_data_begin() {
        let double = mpi_datatype::predefined(mpi_core::abi::MPI_DOUBLE).expect("predefined");
        let down = Datatype::vector(3, 1, -3, double, mpi_datatype::Form::Small).expect("small");
        let up = Datatype::hindexed(&[1], &[40], double, mpi_datatype::Form::Small).expect("small");
        let mut scratch = Scratch::default();
        for (datatype, count) in [(down, 1), (up, 100)] {
            scratch.provide_elements(&datatype, count).expect("little memory");
            assert_eq!(scratch.bytes().len() as u64, datatype.span(count));
            let first = scratch.bytes().as_ptr() as i64 - datatype.lowest_byte(count);
            assert_eq!(first % ALIGNMENT as i64, 0);
        }
    }

    #[test]
    fn the_next_call_of_a_thread_has_the_same_memory_unless_it_is_long() {
        let address = |bytes: u64| {
            let mut areas = Areas::take();
            areas.area_mut(1).memory.provide(bytes).expect("little memory");
            let address = areas.area(1).memory.bytes().as_ptr() as usize;
            areas.keep();
            address
        };
        let first = address(1000);
        assert_eq!(address(900), first);
        assert_eq!(address(0), first);
        address(MOST_KEPT as u64 + 1);
        assert_eq!(Areas::take().area(1).memory.capacity(), 0);
    }

    #[test]
    fn too_much_memory_is_an_error() {
        assert_eq!(Scratch::new(u64::MAX).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
        assert_eq!(Scratch::new(1 << 60).err().expect("no such memory").class(), MPI_ERR_NO_MEM);
    }
}
