//! Columns: rows of far blocks whose neighbours in memory are in other rows, against the bytes picked one by one.

use mpi_core::abi::MPI_BYTE;
use mpi_datatype::{Datatype, Form, RecvBuf, SendBuf, predefined};

/// `rows` rows, `row_stride` bytes apart, of `count` blocks of `length` bytes, `stride` bytes apart.
struct Grid {
    length: i64,
    count: i64,
    stride: i64,
    rows: i64,
    row_stride: i64,
}

impl Grid {
    fn datatype(&self) -> Datatype {
        let byte = predefined(MPI_BYTE).expect("predefined");
        let row = Datatype::hvector(self.count as u64, self.length as u64, self.stride, byte, Form::Small);
        let rows = Datatype::hvector(self.rows as u64, 1, self.row_stride, &row.expect("small"), Form::Small);
        rows.expect("small").committed()
    }

    /// The places of the packed bytes, from the lowest on.
    fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        for row in 0..self.rows {
            for block in 0..self.count {
                places.extend((0..self.length).map(|byte| row * self.row_stride + block * self.stride + byte));
            }
        }
        let lowest = *places.iter().min().expect("there are blocks");
        places.into_iter().map(|place| (place - lowest) as usize).collect()
    }
}

fn check(grid: &Grid) {
    let (datatype, places) = (grid.datatype(), grid.places());
    let memory: Vec<u8> = (0..datatype.span(1)).map(|index| (index % 251) as u8).collect();
    let expected: Vec<u8> = places.iter().map(|place| memory[*place]).collect();
    let bytes = expected.len();
    for cut in [bytes, bytes / 2 + 1, 7 * grid.length as usize + 1, (grid.count * grid.length) as usize] {
        let buffer = SendBuf::in_span(&memory, 1, &datatype).expect("it fits");
        let mut packed = vec![0; bytes];
        for (index, part) in packed.chunks_mut(cut).enumerate() {
            assert_eq!(buffer.pack((index * cut) as u64, part), part.len());
        }
        assert!(packed == expected, "packed in parts of {cut}");
        let mut back = vec![0xff; memory.len()];
        let mut target = RecvBuf::in_span(&mut back, 1, &datatype).expect("it fits");
        for (index, part) in packed.chunks(cut).enumerate() {
            assert_eq!(target.unpack((index * cut) as u64, part), part.len());
        }
        let mut due = vec![0xff; memory.len()];
        for place in &places {
            due[*place] = memory[*place];
        }
        assert!(back == due, "unpacked in parts of {cut}");
    }
}

#[test]
fn columns_are_packed_and_unpacked_row_by_row() {
    let lengths: &[i64] =
        if cfg!(miri) { &[1, 8, 17] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 17, 20, 24, 31, 32] };
    for &length in lengths {
        for row_stride in [length, -length, length + 1, 32] {
            for stride in [511, 512, -640, 1000] {
                for rows in [2, 3, 8, 9, 14] {
                    check(&Grid { length, count: 5, stride, rows, row_stride });
                }
            }
        }
    }
}
