//! What all entry points have in common: is the library there, and what becomes of an error.
//!
//! Invariant: an entry point returns `MPI_SUCCESS`, or the code that the error handler let through; no panic and no
//! NULL pointer crosses it.

use core::ffi::c_int;

use mpi_core::abi;

use crate::cx::Cx;
use crate::errors::{self, Outcome};

/// A call that needs the library between initialisation and finalisation. `object` is the communicator whose error
/// handler takes an error of this call; 0 where there is none.
#[inline]
pub fn running(function: u16, object: usize, body: impl FnOnce(Cx) -> Outcome) -> c_int {
    let outcome = match Cx::new() {
        Ok(cx) => body(cx),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, object, raised),
    }
}

/// A call that is allowed at any time.
#[inline]
pub fn anytime(function: u16, body: impl FnOnce() -> Outcome) -> c_int {
    match body() {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, 0, raised),
    }
}
