//! Every kernel in every width of vectors gives the bytes that the elements give one by one.

use mpi_datatype::predefined::all;
use mpi_datatype::{Category, Scalar};

use super::super::{BUILTINS, Kernel};
use super::Width;
use crate::op::kernels::kernel_of_width;

/// More elements than a loop takes at a time, in every remainder.
const LENGTHS: [usize; 12] = [0, 1, 2, 3, 7, 16, 31, 33, 64, 65, 127, 259];

/// Bytes that follow from a number; as floating-point numbers of any width few of them are NaN.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    };
    (0..length).map(|_| next() & 0b1011_1111).collect()
}

/// Combines from addresses with these offsets from a boundary of 64 bytes.
fn run(kernel: Kernel, left: &[u8], right: &[u8], offsets: (usize, usize)) -> Vec<u8> {
    let place = |data: &[u8], offset: usize| {
        let mut memory = vec![0xee_u8; data.len() + 192];
        let start = memory.as_ptr().align_offset(64) + offset;
        memory[start..start + data.len()].copy_from_slice(data);
        (memory, start)
    };
    let ((left_memory, l), (mut right_memory, r)) = (place(left, offsets.0), place(right, offsets.1));
    kernel(&left_memory[l..l + left.len()], &mut right_memory[r..r + right.len()]);
    let result = right_memory[r..r + right.len()].to_vec();
    right_memory[r..r + right.len()].fill(0xee);
    assert!(right_memory.iter().all(|byte| *byte == 0xee), "a kernel wrote outside of its elements");
    result
}

#[test]
fn every_width_gives_what_single_elements_give() {
    let mut checked = 0;
    for (_, builtin, name) in BUILTINS {
        for (handle, datatype) in all().filter(|(_, datatype)| builtin.takes(datatype.category())) {
            let (scalar, category) = (datatype.scalar(), datatype.category());
            let single = kernel_of_width(Width::Baseline, builtin, scalar, category).expect("defined");
            let extent = datatype.extent() as usize;
            for width in Width::available() {
                let kernel = kernel_of_width(width, builtin, scalar, category).expect("defined");
                for (case, count) in LENGTHS.into_iter().enumerate() {
                    let span = datatype.span(count as u64) as usize;
                    let (left, right) = (bytes(span, handle as u64), bytes(span, !(handle as u64)));
                    let mut expected = right.clone();
                    for element in (0..span).step_by(extent) {
                        let end = span.min(element + extent);
                        single(&left[element..end], &mut expected[element..end]);
                    }
                    for offsets in [(0, 0), (case % 5, 3 * case % 7)] {
                        let got = run(kernel, &left, &right, offsets);
                        assert_eq!(got, expected, "{name} {} {width:?} {count} {offsets:?}", datatype.name());
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 5000, "only {checked} cases");
}

#[test]
fn a_padded_pair_keeps_its_padding_in_every_width() {
    for width in Width::available() {
        let kernel =
            kernel_of_width(width, super::super::Builtin::Minloc, Scalar::PairF64I32, Category::Pair).expect("defined");
        let element = |value: f64, index: i32, padding: u8| {
            [&value.to_ne_bytes()[..], &index.to_ne_bytes(), &[padding; 4]].concat()
        };
        let left = element(1.0, 7, 1).repeat(9);
        let got = run(kernel, &left, &element(2.0, 3, 2).repeat(9), (0, 0));
        assert_eq!(got, element(1.0, 7, 2).repeat(9), "{width:?}");
    }
}
