//! Access to the fields of a status (MPI-5.0, 3.2.5, 3.8.4, 5.1.5, 13.3).

use mpi_core::{Status, abi};
use mpi_datatype::Datatype;
use mpi_errors::Error;

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
    datatype.basic_elements_in(bytes).map_or(i64::from(abi::MPI_UNDEFINED), |elements| elements as i64)
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
    let bytes = if datatype.size() == 0 { Some(0) } else { datatype.bytes_of_basic_elements(elements) };
    let Some(bytes) = bytes else { return Err(check::too_many("count", elements, datatype).into()) };
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
