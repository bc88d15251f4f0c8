//! Compare and swap on one element.
//!
//! Invariant: an element changes only if all of its bytes are those expected.

use mpi_core::abi::MPI_ERR_TYPE;
use mpi_datatype::{Category, RecvBuf};
use mpi_errors::{Error, Result};

use crate::basic::Basic;

/// The largest element that can be compared and swapped.
pub(crate) const LARGEST: usize = 16;

/// Compares one element with the first half of `both` and, if they are equal, stores the second half; returns the
/// previous element, in as many bytes as half of `both` has.
pub(crate) fn swap(element: &mut RecvBuf<'_>, both: &[u8]) -> [u8; LARGEST] {
    let (compare, data) = both.split_at(both.len() / 2);
    let mut before = [0; LARGEST];
    let length = element.pack(0, &mut before[..compare.len().min(LARGEST)]);
    if before[..length] == *compare {
        element.unpack(0, data);
    }
    before
}

/// Errors: `MPI_ERR_TYPE` for a type whose elements are not compared bit by bit.
pub(crate) fn comparable(basic: Basic) -> Result<()> {
    use Category::*;
    let fits = matches!(basic.datatype.category(), CInteger | FortranInteger | Logical | MultiLanguage | Byte);
    if fits && basic.datatype.size() as usize <= LARGEST {
        return Ok(());
    }
    let rule = "only integers, truth values and MPI_BYTE can be compared and swapped";
    let advice = "Compare floating point numbers as integers of the same length, such as MPI_INT64_T for doubles.";
    Err(Error::new(MPI_ERR_TYPE, rule).arg("datatype", &basic.datatype.name()).hint(advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_swapped_only_if_it_is_the_same() {
        let mut memory = [5u32];
        let both = |compare: u32, data: u32| [compare.to_ne_bytes(), data.to_ne_bytes()].concat();
        let before = swap(&mut RecvBuf::from_slice(&mut memory), &both(4, 9));
        assert_eq!((memory, &before[..4]), ([5], &5u32.to_ne_bytes()[..]));
        let before = swap(&mut RecvBuf::from_slice(&mut memory), &both(5, 9));
        assert_eq!((memory, &before[..4]), ([9], &5u32.to_ne_bytes()[..]));
    }

    #[test]
    fn every_comparable_type_fits() {
        let all = mpi_datatype::predefined::all().filter_map(|(handle, _)| Basic::predefined(handle));
        let comparable: Vec<u64> =
            all.filter(|basic| comparable(*basic).is_ok()).map(|it| it.datatype.size()).collect();
        assert_eq!((comparable.iter().max(), comparable.len() > 30), (Some(&(LARGEST as u64)), true));
    }
}
