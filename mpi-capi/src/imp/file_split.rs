//! Split collective accesses to files (MPI-5.0, 14.4.5).
//!
//! Not here: data transfer (mpi-io).

use core::ffi::c_void;
use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, SplitKind, Typed};

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
pub fn file_read_all_begin(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadAll, data.buffer().address(), || file.read(data))?)
}

/// `MPI_File_read_all_end`
pub fn file_read_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAll, buffer, status)
}

/// `MPI_File_read_at_all_begin`
pub fn file_read_at_all_begin(cx: CallContext, file: Arc<File>, offset: i64, data: Typed<RecvBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadAtAll, data.buffer().address(), || file.read_at(offset, data))?)
}

/// `MPI_File_read_at_all_end`
pub fn file_read_at_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAtAll, buffer, status)
}

/// `MPI_File_write_all_begin`
pub fn file_write_all_begin(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteAll, data.buffer().address(), || file.write(data))?)
}

/// `MPI_File_write_all_end`
pub fn file_write_all_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteAll, buffer, status)
}

/// `MPI_File_write_at_all_begin`
pub fn file_write_at_all_begin(cx: CallContext, file: Arc<File>, offset: i64, data: Typed<SendBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteAtAll, data.buffer().address(), || file.write_at(offset, data))?)
}

/// `MPI_File_write_at_all_end`
pub fn file_write_at_all_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteAtAll, buffer, status)
}

/// `MPI_File_read_ordered_begin`
pub fn file_read_ordered_begin(cx: CallContext, file: Arc<File>, data: Typed<RecvBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::ReadOrdered, data.buffer().address(), || file.read_ordered(data))?)
}

/// `MPI_File_read_ordered_end`
pub fn file_read_ordered_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadOrdered, buffer, status)
}

/// `MPI_File_write_ordered_begin`
pub fn file_write_ordered_begin(cx: CallContext, file: Arc<File>, data: Typed<SendBuf<'_>>) -> Outcome {
    drop(cx);
    Ok(file.begin(SplitKind::WriteOrdered, data.buffer().address(), || file.write_ordered(data))?)
}

/// `MPI_File_write_ordered_end`
pub fn file_write_ordered_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteOrdered, buffer, status)
}
