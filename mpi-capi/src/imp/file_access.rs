//! Reading and writing files (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! The collective forms are the same as those that are not: every process moves its own part, and the others' parts
//! need not have been moved when a call returns.
//! Not here: moving the data (mpi-io).

use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::File;

use crate::call_context::CallContext;
use crate::check::StatusOut;
use crate::errors::Outcome;

/// `MPI_File_read`, `MPI_File_read_all`
pub fn file_read(cx: CallContext, file: Arc<File>, buffer: RecvBuf<'_>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read(buffer)?);
    Ok(())
}

/// `MPI_File_read_at`, `MPI_File_read_at_all`
pub fn file_read_at(cx: CallContext, file: Arc<File>, offset: i64, buffer: RecvBuf<'_>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read_at(offset, buffer)?);
    Ok(())
}

/// `MPI_File_write`, `MPI_File_write_all`
pub fn file_write(cx: CallContext, file: Arc<File>, buffer: SendBuf<'_>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write(buffer)?);
    Ok(())
}

/// `MPI_File_write_at`, `MPI_File_write_at_all`
pub fn file_write_at(cx: CallContext, file: Arc<File>, offset: i64, buffer: SendBuf<'_>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write_at(offset, buffer)?);
    Ok(())
}
