//! The assertions of calls that begin and end epochs (MPI-5.0, 12.5.5).

use mpi_core::abi::MPI_ERR_ASSERT;
use mpi_errors::{Error, Result};

/// Errors: `MPI_ERR_ASSERT` for any but those that a call accepts; `names` are theirs.
pub(crate) fn check(call: &str, assert: i32, accepted: i32, names: &str) -> Result<()> {
    if assert & !accepted == 0 { Ok(()) } else { Err(bad(call, assert, names)) }
}

#[cold]
fn bad(call: &str, assert: i32, names: &str) -> Error {
    Error::new(MPI_ERR_ASSERT, format!("{call} takes {names}, or 0")).arg("assert", &assert)
}
