//! The predefined datatypes that one-sided operations combine: their handle words have the same meaning in all
//! processes.
//!
//! Not here: elements of derived types (`elements`).

use mpi_core::abi::{MPI_BYTE, MPI_ERR_TYPE};
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

    /// `MPI_BYTE`.
    pub fn byte() -> Basic {
        Basic::predefined(MPI_BYTE).expect("it is predefined")
    }

    /// The predefined type whose elements all data of a type are; `MPI_BYTE` for a type without data. Errors:
    /// `MPI_ERR_TYPE` for a type of several, which cannot be accumulated (MPI-5.0, 12.3.4).
    #[inline]
    pub fn in_all_of(name: &'static str, handle: usize, datatype: &Datatype) -> Result<Basic> {
        match Basic::predefined(handle) {
            Some(basic) => Ok(basic),
            None => Basic::in_derived(name, handle, datatype),
        }
    }

    #[cold]
    fn in_derived(name: &'static str, handle: usize, datatype: &Datatype) -> Result<Basic> {
        if datatype.size() == 0 {
            return Ok(Basic::byte());
        }
        datatype.only_type().and_then(Basic::predefined).ok_or_else(|| {
            let rule = "an accumulation needs a datatype whose elements are all of one predefined datatype";
            Error::new(MPI_ERR_TYPE, rule).arg(name, &format_args!("{handle:#x}"))
        })
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
                let rule = "this operation takes predefined datatypes and duplicates of them";
                Err(Error::new(MPI_ERR_TYPE, rule).arg(name, &format_args!("{handle:#x}")))
            }
        }
    }
}

/// Whether elements of a type, the first at `offset`, lie inside `size` bytes. True where there are no data.
#[inline]
pub(crate) fn inside(offset: u64, count: u64, datatype: &Datatype, size: u64) -> bool {
    let span = datatype.span(count);
    if span == 0 {
        return true;
    }
    let backwards = i128::from(datatype.extent().min(0)) * i128::from(count - 1);
    let lowest = i128::from(offset) + i128::from(datatype.true_lower_bound()) + backwards;
    // A span that saturates is longer than any memory.
    lowest >= 0 && span <= size && lowest + i128::from(span) <= i128::from(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_DOUBLE, MPI_DOUBLE_INT, MPI_LONG};
    use mpi_datatype::Form;

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

    #[test]
    fn data_of_one_predefined_type_are_combined_and_those_of_several_are_not() {
        let [double, long] = [MPI_DOUBLE, MPI_LONG].map(|word| predefined(word).expect("predefined").clone());
        let of = |datatype: &Datatype| Basic::in_all_of("t", 1 << 60, datatype);
        let vector = Datatype::vector(3, 2, 5, &double, Form::Small).expect("small");
        assert_eq!(of(&vector).expect("doubles").handle, MPI_DOUBLE);
        let of_both = |longs: i64| {
            let both = [vector.clone(), long.clone()];
            Datatype::structure(&[2, longs], &[0, 512], &both, Form::Small).expect("small")
        };
        assert_eq!(of(&of_both(0)).expect("no long").handle, MPI_DOUBLE);
        assert_eq!(of(&of_both(1)).expect_err("two types").class(), MPI_ERR_TYPE);
        assert_eq!(of(&vector.dup()).expect("doubles").handle, MPI_DOUBLE);
    }

    #[test]
    fn data_before_the_address_have_to_lie_inside_too() {
        let double = predefined(MPI_DOUBLE).expect("predefined");
        let before = Datatype::hindexed(&[1, 1], &[-16, 8], double, Form::Small).expect("small").committed();
        assert!(inside(16, 1, &before, 32) && !inside(15, 1, &before, 32) && !inside(17, 1, &before, 32));
        let backwards = Datatype::resized(0, -8, double, Form::Small).expect("small").committed();
        assert!(inside(16, 3, &backwards, 24) && !inside(16, 4, &backwards, 24) && !inside(24, 3, &backwards, 24));
        assert!(!inside(0, u64::MAX, &backwards, 24));
        let far = Datatype::hindexed(&[1], &[i64::MIN], double, Form::Small).expect("placed").committed();
        assert!(!inside(0, 1, &far, 24) && !inside(u64::MAX, 1, &far, 24));
        assert!(inside(1 << 63, 1, &far, 24), "the displacement leads back to the start");
    }
}
