//! Calls for layers of Fortran: the properties of its types, which a layer sets, and datatypes by class and size
//! (MPI-5.0, 19.1.9 and 20.5).
//!
//! Not here: handles and statuses of Fortran (`int_handles`, `status_forms`).

use core::ffi::c_void;

use mpi_core::abi;
use mpi_env::fortran_abi;
use mpi_errors::{Error, Result};

use super::info;
use crate::call_context::CallContext;
use crate::check::{self, Out};
use crate::errors::Outcome;

/// `MPI_Abi_set_fortran_info`
pub fn abi_set_fortran_info(word: usize) -> Outcome {
    Ok(info::with("info", word, fortran_abi::set_info)??)
}

/// `MPI_Abi_get_fortran_info`: a new info object, or `MPI_INFO_NULL` if nothing was set.
pub fn abi_get_fortran_info(word: Out<usize>) -> Outcome {
    word.set(match fortran_abi::info() {
        Some(stated) => info::insert(stated)?,
        None => abi::MPI_INFO_NULL,
    });
    Ok(())
}

/// A value of a LOGICAL of `size` bytes.
fn logical(name: &'static str, address: *mut c_void, size: usize) -> Result<&'static mut [u8]> {
    check::slice(name, address.cast::<u8>(), size)
}

/// `MPI_Abi_set_fortran_booleans`
pub fn abi_set_fortran_booleans(size: i32, for_true: *mut c_void, for_false: *mut c_void) -> Outcome {
    let size = fortran_abi::logical_bytes(size)?;
    let mut booleans = fortran_abi::Booleans::default();
    booleans[0][..size].copy_from_slice(logical("logical_true", for_true, size)?);
    booleans[1][..size].copy_from_slice(logical("logical_false", for_false, size)?);
    Ok(fortran_abi::set_booleans(size, booleans)?)
}

/// `MPI_Abi_get_fortran_booleans`: the values stay as they are unless they were set for this size.
pub fn abi_get_fortran_booleans(size: i32, for_true: *mut c_void, for_false: *mut c_void, set: Out<i32>) -> Outcome {
    let size = fortran_abi::logical_bytes(size)?;
    let (for_true, for_false) = (logical("logical_true", for_true, size)?, logical("logical_false", for_false, size)?);
    let found = fortran_abi::booleans(size);
    if let Some([true_bytes, false_bytes]) = found {
        for_true.copy_from_slice(&true_bytes[..size]);
        for_false.copy_from_slice(&false_bytes[..size]);
    }
    set.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Type_match_size`: the predefined datatype of Fortran with this class and size in bytes.
pub fn type_match_size(_cx: CallContext, class: i32, size: i32, datatype: Out<usize>) -> Outcome {
    let found = match (class, size) {
        (abi::MPI_TYPECLASS_INTEGER, 1) => abi::MPI_INTEGER1,
        (abi::MPI_TYPECLASS_INTEGER, 2) => abi::MPI_INTEGER2,
        (abi::MPI_TYPECLASS_INTEGER, 4) => abi::MPI_INTEGER4,
        (abi::MPI_TYPECLASS_INTEGER, 8) => abi::MPI_INTEGER8,
        (abi::MPI_TYPECLASS_INTEGER, 16) => abi::MPI_INTEGER16,
        (abi::MPI_TYPECLASS_REAL, 2) => abi::MPI_REAL2,
        (abi::MPI_TYPECLASS_REAL, 4) => abi::MPI_REAL4,
        (abi::MPI_TYPECLASS_REAL, 8) => abi::MPI_REAL8,
        (abi::MPI_TYPECLASS_REAL, 16) => abi::MPI_REAL16,
        (abi::MPI_TYPECLASS_COMPLEX, 4) => abi::MPI_COMPLEX4,
        (abi::MPI_TYPECLASS_COMPLEX, 8) => abi::MPI_COMPLEX8,
        (abi::MPI_TYPECLASS_COMPLEX, 16) => abi::MPI_COMPLEX16,
        (abi::MPI_TYPECLASS_COMPLEX, 32) => abi::MPI_COMPLEX32,
        (abi::MPIX_TYPECLASS_LOGICAL, 1) => abi::MPI_LOGICAL1,
        (abi::MPIX_TYPECLASS_LOGICAL, 2) => abi::MPI_LOGICAL2,
        (abi::MPIX_TYPECLASS_LOGICAL, 4) => abi::MPI_LOGICAL4,
        (abi::MPIX_TYPECLASS_LOGICAL, 8) => abi::MPI_LOGICAL8,
        (abi::MPIX_TYPECLASS_LOGICAL, 16) => abi::MPI_LOGICAL16,
        (
            abi::MPI_TYPECLASS_INTEGER
            | abi::MPI_TYPECLASS_REAL
            | abi::MPI_TYPECLASS_COMPLEX
            | abi::MPIX_TYPECLASS_LOGICAL,
            _,
        ) => return Err(Error::new(abi::MPI_ERR_ARG, "no type of this class has that size").arg("size", &size).into()),
        _ => {
            let rule = "a class is MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX";
            return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("typeclass", &class).into());
        }
    };
    datatype.set(found);
    Ok(())
}
