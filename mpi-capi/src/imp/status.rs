//! Access to the fields of a status (MPI-5.0, 3.2.5, 3.8.4, 5.1.5, 13.3).

use mpi_core::{Status, abi};
use mpi_datatype::{Category, Datatype, Scalar};
use mpi_errors::Error;
use smallvec::{SmallVec, smallvec};

use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, CountOut, Out, StatusOut};
use crate::errors::Outcome;

/// `MPI_Test_cancelled`
pub fn test_cancelled(_cx: CallContext, status: Status, flag: Out<i32>) -> Outcome {
    flag.set(i32::from(status.cancelled()));
    Ok(())
}

/// `MPI_Get_count`: number of elements received; `MPI_UNDEFINED` if the bytes are not a whole number of elements.
pub fn get_count(_cx: CallContext, status: Status, datatype: TypeRef, count: CountOut) -> Outcome {
    count.set(whole_elements(status.bytes(), &datatype));
    Ok(())
}

fn whole_elements(bytes: u64, datatype: &Datatype) -> i64 {
    match datatype.size() {
        // For a type of size 0, 0 bytes are 0 elements; any other number of bytes has no count (MPI-5.0, 3.2.5).
        0 if bytes == 0 => 0,
        0 => i64::from(abi::MPI_UNDEFINED),
        size if bytes.is_multiple_of(size) => (bytes / size) as i64,
        _ => i64::from(abi::MPI_UNDEFINED),
    }
}

/// `MPI_Get_elements`: number of basic elements received; a pair has two.
pub fn get_elements(_cx: CallContext, status: Status, datatype: TypeRef, count: CountOut) -> Outcome {
    count.set(basic_elements(status.bytes(), &datatype));
    Ok(())
}

/// `MPI_Get_elements_x`
pub fn get_elements_x(_cx: CallContext, status: Status, datatype: TypeRef, count: Out<i64>) -> Outcome {
    count.set(basic_elements(status.bytes(), &datatype));
    Ok(())
}

fn basic_elements(bytes: u64, datatype: &Datatype) -> i64 {
    let size = datatype.size();
    if size == 0 {
        return whole_elements(bytes, datatype);
    }
    let parts = parts(datatype);
    let mut left = bytes % size;
    let mut elements = bytes / size * parts.len() as u64;
    // The remaining bytes are the first part of another pair, or have no count.
    if parts.len() == 2 && left == parts[0] {
        elements += 1;
        left = 0;
    }
    if left == 0 { elements as i64 } else { i64::from(abi::MPI_UNDEFINED) }
}

/// Sizes of the basic elements of one element of a predefined type: two for a pair, else one.
fn parts(datatype: &Datatype) -> SmallVec<[u64; 2]> {
    let size = datatype.size();
    match datatype.scalar() {
        Scalar::PairF32F32 | Scalar::PairF64F64 => smallvec![size / 2, size / 2],
        _ if datatype.category() == Category::Pair => smallvec![size - 4, 4],
        _ => smallvec![size],
    }
}

/// `MPI_Status_set_elements`
pub fn status_set_elements(_cx: CallContext, status: StatusOut, datatype: TypeRef, count: u64) -> Outcome {
    set_bytes(status, &datatype, count)
}

/// `MPI_Status_set_elements_x`
pub fn status_set_elements_x(_cx: CallContext, status: StatusOut, datatype: TypeRef, count: u64) -> Outcome {
    set_bytes(status, &datatype, count)
}

fn set_bytes(status: StatusOut, datatype: &Datatype, elements: u64) -> Outcome {
    let parts = parts(datatype);
    let rest = if elements.is_multiple_of(parts.len() as u64) { 0 } else { parts[0] };
    let whole = (elements / parts.len() as u64).checked_mul(datatype.size());
    let Some(bytes) = whole.and_then(|whole| whole.checked_add(rest)).filter(|bytes| *bytes <= i64::MAX as u64) else {
        return Err(check::too_many("count", elements, datatype).into());
    };
    change(status, |status| status.set_bytes(bytes))
}

/// `MPI_Status_set_cancelled`
pub fn status_set_cancelled(_cx: CallContext, status: StatusOut, flag: bool) -> Outcome {
    change(status, |status| status.set_cancelled(flag))
}

/// `MPI_Status_set_source`
pub fn status_set_source(_cx: CallContext, status: StatusOut, source: i32) -> Outcome {
    change(status, |status| status.source = source)
}

/// `MPI_Status_set_tag`
pub fn status_set_tag(_cx: CallContext, status: StatusOut, tag: i32) -> Outcome {
    change(status, |status| status.tag = tag)
}

/// `MPI_Status_set_error`
pub fn status_set_error(_cx: CallContext, status: StatusOut, error: i32) -> Outcome {
    change(status, |status| status.error = error)
}

/// `MPI_Status_get_source`
pub fn status_get_source(_cx: CallContext, status: Status, source: Out<i32>) -> Outcome {
    source.set(status.source);
    Ok(())
}

/// `MPI_Status_get_tag`
pub fn status_get_tag(_cx: CallContext, status: Status, tag: Out<i32>) -> Outcome {
    tag.set(status.tag);
    Ok(())
}

/// `MPI_Status_get_error`
pub fn status_get_error(_cx: CallContext, status: Status, error: Out<i32>) -> Outcome {
    error.set(status.error);
    Ok(())
}

fn change(place: StatusOut, change: impl FnOnce(&mut Status)) -> Outcome {
    let Some(mut status) = place.get() else {
        return Err(Error::new(abi::MPI_ERR_ARG, "a status is needed").arg("status", &"MPI_STATUS_IGNORE").into());
    };
    change(&mut status);
    place.set_all(status);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_datatype::predefined;

    #[test]
    fn bytes_that_are_no_whole_elements_have_no_count() {
        let int = predefined(abi::MPI_INT).expect("predefined");
        assert_eq!((whole_elements(8, int), whole_elements(7, int)), (2, i64::from(abi::MPI_UNDEFINED)));
    }

    #[test]
    fn half_a_pair_is_one_element() {
        let pair = predefined(abi::MPI_DOUBLE_INT).expect("predefined");
        assert_eq!((basic_elements(12, pair), basic_elements(8, pair), basic_elements(20, pair)), (2, 1, 3));
        assert_eq!(basic_elements(9, pair), i64::from(abi::MPI_UNDEFINED));
    }
}
