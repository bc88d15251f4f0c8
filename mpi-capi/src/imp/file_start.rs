//! Non-blocking accesses to files (MPI-5.0, 14.4.2 and 14.4.3). The starting call transfers the data, as the standard
//! allows; so the starting call reports errors, and its request is complete.
//!
//! Not here: data transfer (mpi-io).

use std::sync::Arc;

use mpi_core::Status;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_env::Process;
use mpi_errors::Result;
use mpi_io::{File, Typed};

use crate::call_context::CallContext;
use crate::check::Out;
use crate::errors::Outcome;

/// Creates the request of a completed access.
pub fn started(process: &Process, file: &File, status: Result<Status>, request: Out<usize>) -> Outcome {
    let status = status?;
    let guard = &mut process.engine.lock();
    request.set(process.engine.completed(guard, file.comm().context(), status)?.0);
    Ok(())
}

/// `MPI_File_iread`, `MPI_File_iread_all`
pub fn file_iread(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, request: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.read(data), request)
}

/// `MPI_File_iread_at`, `MPI_File_iread_at_all`
pub fn file_iread_at(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    data: Typed<RecvBuf<'_>>,
    request: Out<usize>,
) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.read_at(offset, data), request)
}

/// `MPI_File_iwrite`, `MPI_File_iwrite_all`
pub fn file_iwrite(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, request: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.write(data), request)
}

/// `MPI_File_iwrite_at`, `MPI_File_iwrite_at_all`
pub fn file_iwrite_at(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    data: Typed<SendBuf<'_>>,
    request: Out<usize>,
) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.write_at(offset, data), request)
}
