//! The memory of elements of a derived type in a record: a list of rows of blocks, which does not depend on the objects
//! of a process.
//!
//! Invariant: what another process sent becomes a datatype by its constructors, which check all numbers.
//! Not here: the check against the window (`serve`).

use mpi_core::abi::MPI_BYTE;
use mpi_datatype::{Datatype, Form, predefined};
use mpi_errors::Result;

/// Longest list in a record.
pub(crate) const MOST: usize = 512;

/// Some blocks of the same length, at regular places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// Bytes from the start of the window.
    pub offset: u64,
    /// Bytes of each.
    pub length: u64,
    /// Bytes from each to the next.
    pub stride: i64,
    /// Number of blocks.
    pub count: u64,
}

impl Block {
    /// Bytes in a record.
    pub const BYTES: usize = 32;

    /// The memory of the data bytes `at .. at + length` of elements, the first at `offset`, as far as a record can
    /// have it; and the number of those bytes.
    pub fn list(offset: u64, datatype: &Datatype, at: u64, length: u64) -> (Vec<Block>, u64) {
        let (mut blocks, mut bytes) = (Vec::<Block>::new(), 0);
        datatype.each_run(at, length, |place, length| {
            let place = offset.wrapping_add_signed(place);
            let full = blocks.len() == MOST;
            match blocks.last_mut() {
                Some(last) if last.goes_on_at(place, length) => last.count += 1,
                Some(last) if last.count == 1 && last.length == length => {
                    (last.stride, last.count) = (place.wrapping_sub(last.offset) as i64, 2);
                }
                _ if full => return false,
                _ => blocks.push(Block { offset: place, length, stride: 0, count: 1 }),
            }
            bytes += length;
            true
        });
        (blocks, bytes)
    }

    fn goes_on_at(&self, place: u64, length: u64) -> bool {
        let way = self.stride.wrapping_mul(self.count as i64);
        self.count > 1 && self.length == length && place == self.offset.wrapping_add_signed(way)
    }

    /// The block's part of a record.
    pub fn encode(&self) -> [u8; Block::BYTES] {
        let mut bytes = [0; Block::BYTES];
        let words = [self.offset, self.length, self.stride as u64, self.count];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8; Block::BYTES]) -> Block {
        let word = |index: usize| {
            let bytes: [u8; 8] = bytes[index * 8..index * 8 + 8].try_into().expect("eight bytes of 32");
            u64::from_ne_bytes(bytes)
        };
        Block { offset: word(0), length: word(1), stride: word(2) as i64, count: word(3) }
    }

    /// The datatype of the memory that a list in a record names, with displacements from the start of the window,
    /// committed. Errors: those of the constructors, for numbers that no type can have.
    pub fn datatype(list: &[u8]) -> Result<Datatype> {
        let byte = predefined(MPI_BYTE).expect("it is predefined");
        let blocks: Vec<Block> = list.as_chunks().0.iter().map(Block::decode).collect();
        let places: Vec<i64> = blocks.iter().map(|block| block.offset as i64).collect();
        let datatype = if blocks.iter().all(|block| block.count == 1) {
            let lengths: Vec<i64> = blocks.iter().map(|block| block.length as i64).collect();
            Datatype::hindexed(&lengths, &places, byte, Form::Large)?
        } else {
            let row = |block: &Block| Datatype::hvector(block.count, block.length, block.stride, byte, Form::Large);
            let rows = blocks.iter().map(row).collect::<Result<Vec<_>>>()?;
            Datatype::structure(&vec![1; rows.len()], &places, &rows, Form::Large)?
        };
        Ok(datatype.committed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_INT, MPI_SHORT_INT};

    fn encoded(blocks: &[Block]) -> Vec<u8> {
        blocks.iter().flat_map(Block::encode).collect()
    }

    fn runs(datatype: &Datatype, at: u64, length: u64) -> Vec<(i64, u64)> {
        let mut runs = Vec::new();
        datatype.each_run(at, length, |place, length| {
            runs.push((place, length));
            true
        });
        runs
    }

    #[test]
    fn a_list_names_the_memory_of_the_elements() {
        let int = predefined(MPI_INT).expect("predefined");
        let vector = Datatype::vector(1000, 2, 5, int, Form::Small).expect("small").committed();
        let (blocks, bytes) = Block::list(100, &vector, 8, 800);
        assert_eq!((blocks, bytes), (vec![Block { offset: 120, length: 8, stride: 20, count: 100 }], 800));
        let uneven = Datatype::indexed(&[1, 3, 3, 3, 2, 1], &[40, 0, 10, 20, 31, 50], int, Form::Small)
            .expect("small")
            .committed();
        let pairs = predefined(MPI_SHORT_INT).expect("predefined");
        for (datatype, at, length) in [(&vector, 0, 8000), (&vector, 3, 6000), (&uneven, 0, 520), (pairs, 0, 60)] {
            let (blocks, bytes) = Block::list(100, datatype, at, length);
            assert_eq!(bytes, length);
            let there = Block::datatype(&encoded(&blocks)).expect("small");
            let expected: Vec<_> = runs(datatype, at, length).iter().map(|run| (run.0 + 100, run.1)).collect();
            assert_eq!((there.size(), runs(&there, 0, length)), (length, expected));
        }
    }

    #[test]
    fn a_list_ends_when_it_is_full() {
        let byte = predefined(MPI_BYTE).expect("predefined");
        let places: Vec<i64> = (0..4000).map(|index| index * index).collect();
        let squares = Datatype::indexed_block(1, &places, byte, Form::Small).expect("small").committed();
        let (mut at, mut lists) = (0, 0);
        while at < 4000 {
            let (blocks, bytes) = Block::list(0, &squares, at, 4000 - at);
            assert!(blocks.len() <= MOST && bytes > 0);
            let there = Block::datatype(&encoded(&blocks)).expect("small");
            assert_eq!(runs(&there, 0, bytes), runs(&squares, at, bytes));
            (at, lists) = (at + bytes, lists + 1);
        }
        assert!(at == 4000 && lists > 3, "{lists}");
    }

    #[test]
    fn forged_numbers_are_errors() {
        for (offset, length, stride, count) in [
            (0, u64::MAX, 0, 1),
            (0, u64::MAX, 8, 2),
            (0, 1 << 62, 1, 1 << 62),
            (0, 8, i64::MIN, 1 << 40),
            (u64::MAX >> 1, 8, 1 << 62, 9),
            (0, 1, 1, u64::MAX),
        ] {
            let block = Block { offset, length, stride, count };
            assert!(Block::datatype(&block.encode()).is_err(), "{block:?}");
        }
    }
}
