//! Datatypes of one-sided operations: predefined ones, whose handle words have the same meaning in all processes.

use mpi_core::abi::MPI_ERR_TYPE;
use mpi_datatype::{Datatype, predefined};
use mpi_errors::{Error, Result};

/// A predefined datatype with its handle word, which has the same meaning in all processes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basic {
    pub handle: usize,
    pub datatype: &'static Datatype,
}

impl Basic {
    /// The predefined type with this word.
    #[inline]
    pub fn predefined(handle: usize) -> Option<Basic> {
        predefined(handle).map(|datatype| Basic { handle, datatype })
    }

    /// The predefined type that equals a type or that it is a duplicate of. Errors: `MPI_ERR_TYPE` for any other.
    #[inline]
    pub fn of(name: &'static str, handle: usize, datatype: &Datatype) -> Result<Basic> {
        match Basic::predefined(handle) {
            Some(basic) => Ok(basic),
            None => Basic::of_duplicate(name, handle, datatype),
        }
    }

    #[cold]
    fn of_duplicate(name: &'static str, handle: usize, datatype: &Datatype) -> Result<Basic> {
        let mut all = predefined::all();
        match all.find(|(_, each)| !each.name().is_empty() && each.name() == datatype.name()) {
            Some((handle, datatype)) => Ok(Basic { handle, datatype }),
            None => {
                let rule = "one-sided operations take predefined datatypes and duplicates of them";
                Err(Error::new(MPI_ERR_TYPE, rule).arg(name, &format_args!("{handle:#x}")))
            }
        }
    }
}

/// Whether elements of a type, the first at `offset`, lie inside `size` bytes.
#[inline]
pub(crate) fn inside(offset: u64, count: u64, datatype: &Datatype, size: u64) -> bool {
    // Predefined types have no data before their address.
    let span = datatype.span(count);
    span == 0 || offset.checked_add(span).is_some_and(|end| end <= size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_DOUBLE, MPI_DOUBLE_INT};

    #[test]
    fn the_last_element_may_end_with_the_window_even_before_its_padding() {
        let pair = predefined(MPI_DOUBLE_INT).expect("predefined");
        assert!(inside(0, 2, pair, 28) && !inside(0, 2, pair, 27) && inside(16, 1, pair, 28));
        let double = predefined(MPI_DOUBLE).expect("predefined");
        assert!(inside(8, 1, double, 16) && !inside(9, 1, double, 16));
        assert!(inside(1 << 40, 0, double, 0), "no element is in bounds");
    }

    #[test]
    fn no_number_is_large_enough_to_wrap_around() {
        let double = predefined(MPI_DOUBLE).expect("predefined");
        for (offset, count) in [(u64::MAX, 1), (8, u64::MAX), (u64::MAX - 7, u64::MAX), (0, u64::MAX / 8 + 2)] {
            assert!(!inside(offset, count, double, isize::MAX as u64), "{offset} {count}");
        }
    }

    #[test]
    fn a_duplicate_counts_as_what_it_is_made_of_and_a_derived_type_does_not() {
        let double = predefined(MPI_DOUBLE).expect("predefined");
        assert_eq!(Basic::of("t", 1 << 60, double).expect("a duplicate").handle, MPI_DOUBLE);
        let derived = Datatype::contiguous(1, double, mpi_datatype::Form::Small).expect("small").committed();
        assert_eq!(Basic::of("t", 1 << 60, &derived).expect_err("derived").class(), MPI_ERR_TYPE);
    }
}
