//! Whether the data of several processes fill a range of the file: each of its bytes once, by one process.
//!
//! Each process sums a pseudo-random number of each end of its runs, less that of each start. Where the data fill the
//! range, ends and starts cancel out, except the last end and the first start.
//! Invariant: the sums of data that fill a range are [`Cover::of_range`]; those of any other data differ from it, except
//! with a probability of 2^-64, because numbers of different places cancel out then.

use crate::view::View;

/// The sum of some runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cover(pub u64);

impl Cover {
    /// Of the view's data bytes `at .. at + bytes`.
    pub fn of_data(view: &View, at: u64, bytes: u64) -> Cover {
        let mut sum = 0u64;
        view.each_run(at, bytes, |place, length| {
            sum = sum.wrapping_add(number_of(place + length)).wrapping_sub(number_of(place));
        });
        Cover(sum)
    }

    /// Of the range `from .. to`.
    pub fn of_range(from: u64, to: u64) -> Cover {
        Cover(number_of(to).wrapping_sub(number_of(from)))
    }

    /// Of the data of several processes together.
    pub fn sum(parts: impl Iterator<Item = Cover>) -> Cover {
        Cover(parts.fold(0, |sum, part| sum.wrapping_add(part.0)))
    }
}

/// A number without pattern for a place: the last steps of the generator SplitMix64.
fn number_of(place: u64) -> u64 {
    let mut number = place.wrapping_add(0x9e37_79b9_7f4a_7c15);
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::MPI_BYTE;
    use mpi_datatype::{Datatype, Form, predefined};

    use super::*;
    use crate::datarep::Representation;
    use crate::view::ViewType;

    /// `length` bytes of every 12, from byte `first` on.
    fn every_twelve(first: i64, length: i64) -> View {
        let byte = predefined(MPI_BYTE).expect("predefined");
        let block = Datatype::hindexed(&[length], &[0], byte, Form::Small).expect("small");
        let filetype = Datatype::resized(0, 12, &block, Form::Small).expect("small").committed();
        let etype = ViewType { datatype: byte.clone(), word: MPI_BYTE };
        View::new(first, etype, ViewType { datatype: filetype, word: 0 }, Representation::Native).expect("ascending")
    }

    #[test]
    fn only_data_that_fill_the_range_have_its_sum() {
        let sum = |parts: &[(View, u64, u64)]| {
            Cover::sum(parts.iter().map(|(view, at, bytes)| Cover::of_data(view, *at, *bytes)))
        };
        let (one, two) = (every_twelve(0, 4), every_twelve(4, 8));
        assert_eq!(sum(&[(one.clone(), 0, 40), (two.clone(), 0, 80)]), Cover::of_range(0, 120));
        assert_eq!(sum(&[(one.clone(), 2, 38), (two.clone(), 0, 79)]), Cover::of_range(2, 119));
        assert_eq!(sum(&[(View::bytes(), 7, 9)]), Cover::of_range(7, 16));
        assert_eq!(sum(&[(View::bytes(), 7, 0)]), Cover::default());
        // A gap, an overlap, and as many bytes as the range has with both.
        assert_ne!(sum(&[(one.clone(), 0, 40), (two.clone(), 0, 72)]), Cover::of_range(0, 120));
        assert_ne!(sum(&[(one.clone(), 0, 40), (two, 0, 80), (View::bytes(), 5, 1)]), Cover::of_range(0, 120));
        assert_ne!(sum(&[(one, 0, 40), (every_twelve(0, 8), 0, 80)]), Cover::of_range(0, 120));
    }
}
