//! Errors about the buffers of one process: one that a rooted collective needs and that the caller did not pass, and data
//! for itself that do not fit.

use mpi_comm::Outcome;
use mpi_core::abi::{MPI_ERR_BUFFER, MPI_ERR_TRUNCATE};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

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

/// Copies what a process sends to itself. Too much data is an error, as in a message.
#[inline]
pub(crate) fn copy_own(mut into: RecvBuf<'_>, data: &SendBuf<'_>, outcome: &mut Outcome) -> Result<()> {
    into.copy_from(data);
    if data.bytes() <= into.bytes() { Ok(()) } else { outcome.record_data_error(Err(too_long(data, &into))) }
}

#[cold]
fn too_long(data: &SendBuf<'_>, into: &RecvBuf<'_>) -> Error {
    let (sent, room) = (mpi_errors::counted(data.bytes(), "byte"), mpi_errors::counted(into.bytes(), "byte"));
    let rule = format!("this process sends {sent} to itself, and has room for {room}");
    Error::new(MPI_ERR_TRUNCATE, rule)
}
