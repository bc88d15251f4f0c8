//! Reads and writes of files (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! A collective form does the same as the independent form: every process transfers its own part, and the other
//! processes' parts may still be outstanding when the call returns.
//! Not here: data transfer (mpi-io).

use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, Typed};

use crate::call_context::CallContext;
use crate::check::StatusOut;
use crate::errors::Outcome;

/// `MPI_File_read`, `MPI_File_read_all`
pub fn file_read(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read(data)?);
    Ok(())
}

/// `MPI_File_read_at`, `MPI_File_read_at_all`
pub fn file_read_at(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    data: Typed<RecvBuf<'_>>,
    status: StatusOut,
) -> Outcome {
    drop(cx);
    status.set(file.read_at(offset, data)?);
    Ok(())
}

/// `MPI_File_write`, `MPI_File_write_all`
pub fn file_write(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write(data)?);
    Ok(())
}

/// `MPI_File_write_at`, `MPI_File_write_at_all`
pub fn file_write_at(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    data: Typed<SendBuf<'_>>,
    status: StatusOut,
) -> Outcome {
    drop(cx);
    status.set(file.write_at(offset, data)?);
    Ok(())
}
