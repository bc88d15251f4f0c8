//! Errors about a buffer that a rooted collective needs and that the caller did not pass.

use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_errors::Error;

/// `MPI_IN_PLACE` in a process that is not the root.
#[cold]
pub(crate) fn in_place_elsewhere(name: &'static str) -> Error {
    Error::new(MPI_ERR_BUFFER, "only the root may pass MPI_IN_PLACE").arg(name, &"MPI_IN_PLACE")
}

/// No buffer at the root.
#[cold]
pub(crate) fn absent_at_root(name: &'static str) -> Error {
    Error::new(MPI_ERR_BUFFER, "the root needs this buffer").arg(name, &"absent")
}
