//! A status in its three forms: of C, of the older Fortran bindings (an array of integers) and of `mpi_f08` (a derived
//! type); MPI-5.0, 19.3.5.
//!
//! Invariant: all three forms have the same memory, so that a conversion is a copy and keeps what is opaque.

use mpi_core::Status;
use mpi_errors::Result;

use crate::check;
use crate::errors::Outcome;

// The array has `MPI_F_STATUS_SIZE` integers.
const _: () = assert!(size_of::<Status>() == mpi_core::abi::MPI_F_STATUS_SIZE as usize * size_of::<i32>());

fn copy(from: Result<check::Out<Status>>, to: Result<check::Out<Status>>) -> Outcome {
    let (from, to) = (from?, to?);
    to.set(from.get());
    Ok(())
}

/// `MPI_Status_c2f`
pub fn status_c2f(from: *const Status, to: *mut i32) -> Outcome {
    copy(check::out("c_status", from.cast_mut()), check::out("f_status", to.cast()))
}

/// `MPI_Status_f2c`
pub fn status_f2c(from: *const i32, to: *mut Status) -> Outcome {
    copy(check::out("f_status", from.cast_mut().cast()), check::out("c_status", to))
}

/// `MPI_Status_c2f08`
pub fn status_c2f08(from: *const Status, to: *mut Status) -> Outcome {
    copy(check::out("c_status", from.cast_mut()), check::out("f08_status", to))
}

/// `MPI_Status_f082c`
pub fn status_f082c(from: *const Status, to: *mut Status) -> Outcome {
    copy(check::out("f08_status", from.cast_mut()), check::out("c_status", to))
}

/// `MPI_Status_f2f08`
pub fn status_f2f08(from: *const i32, to: *mut Status) -> Outcome {
    copy(check::out("f_status", from.cast_mut().cast()), check::out("f08_status", to))
}

/// `MPI_Status_f082f`
pub fn status_f082f(from: *const Status, to: *mut i32) -> Outcome {
    copy(check::out("f08_status", from.cast_mut()), check::out("f_status", to.cast()))
}
