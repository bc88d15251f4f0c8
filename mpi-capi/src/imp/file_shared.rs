//! Accesses to files by the shared file pointer (MPI-5.0, 14.4.4).
//!
//! Not here: data transfer (mpi-io), split collective accesses (`file_split`).

use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, Typed, Whence};

use super::file_start::started;
use crate::call_context::CallContext;
use crate::check::{Out, StatusOut};
use crate::errors::Outcome;

/// `MPI_File_read_shared`
pub fn file_read_shared(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read_shared(data)?);
    Ok(())
}

/// `MPI_File_write_shared`
pub fn file_write_shared(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write_shared(data)?);
    Ok(())
}

/// `MPI_File_iread_shared`
pub fn file_iread_shared(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, request: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.read_shared(data), request)
}

/// `MPI_File_iwrite_shared`
pub fn file_iwrite_shared(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, request: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    started(process, &file, file.write_shared(data), request)
}

/// `MPI_File_read_ordered`
pub fn file_read_ordered(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.read_ordered(data)?);
    Ok(())
}

/// `MPI_File_write_ordered`
pub fn file_write_ordered(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.write_ordered(data)?);
    Ok(())
}

/// `MPI_File_seek_shared`
pub fn file_seek_shared(cx: CallContext, file: Arc<File>, offset: i64, whence: i32) -> Outcome {
    drop(cx);
    Ok(file.seek_shared(offset, Whence::new(whence)?)?)
}

/// `MPI_File_get_position_shared`
pub fn file_get_position_shared(cx: CallContext, file: Arc<File>, offset: Out<i64>) -> Outcome {
    drop(cx);
    offset.set(file.position_shared()? as i64);
    Ok(())
}
