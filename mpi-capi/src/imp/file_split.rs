//! Split collective accesses to files (MPI-5.0, 14.4.5).
//!
//! Not here: data transfer (mpi-io).

use core::ffi::c_void;
use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, SplitKind};

use crate::call_context::CallContext;
use crate::check::StatusOut;
use crate::errors::Outcome;

/// The end call of any kind.
fn end(cx: CallContext, file: &File, kind: SplitKind, buffer: *const c_void, status: StatusOut) -> Outcome {
    drop(cx);
    status.set(file.end(kind, buffer as usize)?);
    Ok(())
}

/// `MPI_File_read_all_begin`
pub fn file_read_all_begin(cx: CallContext, file: Arc<File>, buffer: RecvBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadAll, buffer.address(), || file.read(buffer))?)
}

/// `MPI_File_read_all_end`
pub fn file_read_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAll, buffer, status)
}

/// `MPI_File_read_at_all_begin`
pub fn file_read_at_all_begin(cx: CallContext, file: Arc<File>, offset: i64, buffer: RecvBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadAtAll, buffer.address(), || file.read_at(offset, buffer))?)
}

/// `MPI_File_read_at_all_end`
pub fn file_read_at_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAtAll, buffer, status)
}

/// `MPI_File_write_all_begin`
pub fn file_write_all_begin(cx: CallContext, file: Arc<File>, buffer: SendBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteAll, buffer.address(), || file.write(buffer))?)
}

/// `MPI_File_write_all_end`
pub fn file_write_all_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteAll, buffer, status)
}

/// `MPI_File_write_at_all_begin`
pub fn file_write_at_all_begin(cx: CallContext, file: Arc<File>, offset: i64, buffer: SendBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteAtAll, buffer.address(), || file.write_at(offset, buffer))?)
}

/// `MPI_File_write_at_all_end`
pub fn file_write_at_all_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteAtAll, buffer, status)
}

/// `MPI_File_read_ordered_begin`
pub fn file_read_ordered_begin(cx: CallContext, file: Arc<File>, buffer: RecvBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadOrdered, buffer.address(), || file.read_ordered(buffer))?)
}

/// `MPI_File_read_ordered_end`
pub fn file_read_ordered_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadOrdered, buffer, status)
}

/// `MPI_File_write_ordered_begin`
pub fn file_write_ordered_begin(cx: CallContext, file: Arc<File>, buffer: SendBuf<'_>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteOrdered, buffer.address(), || file.write_ordered(buffer))?)
}

/// `MPI_File_write_ordered_end`
pub fn file_write_ordered_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteOrdered, buffer, status)
}
