//! Info objects as arguments and results of the tools interface, whose errors are plain codes.
//!
//! Not here: the functions on info objects (`info`).

use mpi_core::{Handle, Info, abi};
use mpi_t::{TError, TResult};

use crate::imp::info;

/// Passes the hints of an argument to `look`; no hints for `MPI_INFO_NULL`.
pub fn with_info<R>(word: usize, look: impl FnOnce(&Info) -> TResult<R>) -> TResult<R> {
    match word {
        abi::MPI_INFO_NULL => look(&Info::new()),
        _ => {
            let hints = info::with("info", word, Info::clone).map_err(|_| bad_info(word))?;
            look(&hints)
        }
    }
}

/// Creates an info object for an output address, which must not be NULL.
pub fn new_info(address: *mut usize, make: impl FnOnce() -> Info) -> TResult<usize> {
    if address.is_null() {
        return Ok(abi::MPI_INFO_NULL);
    }
    info::insert(make()).map_err(|_| TError::MEMORY.because("no more info objects can exist"))
}

/// The error of a word that is not a live info object.
#[cold]
fn bad_info(word: usize) -> TError {
    TError::INVALID.argument("info", Handle(word), "no live info object has that handle")
}
