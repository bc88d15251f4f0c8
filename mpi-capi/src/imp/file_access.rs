//! Independent reads and writes of files (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! Not here: data transfer (mpi-io), collective forms (`file_collective`).

use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, Typed};

use crate::call_context::CallContext;
use crate::check::StatusOut;
use crate::errors::Outcome;

/// `MPI_File_read`
pub fn file_read(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read(data)?);
    Ok(())
}

/// `MPI_File_read_at`
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

/// `MPI_File_write`
pub fn file_write(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write(data)?);
    Ok(())
}

/// `MPI_File_write_at`
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
