//! Split collective accesses to files (MPI-5.0, 14.4.5).
//!
//! Not here: data transfer (mpi-io).

use core::ffi::c_void;
use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_io::{File, SplitKind, Typed};

use super::file_collective::{data, room};
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
pub fn file_read_all_begin(
    cx: CallContext,
    file: Arc<File>,
    buffer: *mut c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Outcome {
    let room = room(&cx, buffer, count, datatype);
    drop(cx);
    let address = room.as_ref().ok().and_then(|room| room.buffer().address());
    Ok(file.begin(SplitKind::ReadAll, address, || file.read_all(room))?)
}

/// `MPI_File_read_all_end`
pub fn file_read_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAll, buffer, status)
}

/// `MPI_File_read_at_all_begin`
pub fn file_read_at_all_begin(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    buffer: *mut c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Outcome {
    let room = room(&cx, buffer, count, datatype);
    drop(cx);
    let address = room.as_ref().ok().and_then(|room| room.buffer().address());
    Ok(file.begin(SplitKind::ReadAtAll, address, || file.read_at_all(offset, room))?)
}

/// `MPI_File_read_at_all_end`
pub fn file_read_at_all_end(cx: CallContext, file: Arc<File>, buffer: *mut c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::ReadAtAll, buffer, status)
}

/// `MPI_File_write_all_begin`
pub fn file_write_all_begin(
    cx: CallContext,
    file: Arc<File>,
    buffer: *const c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Outcome {
    let data = data(&cx, buffer, count, datatype);
    drop(cx);
    let address = data.as_ref().ok().and_then(|data| data.buffer().address());
    Ok(file.begin(SplitKind::WriteAll, address, || file.write_all(data))?)
}

/// `MPI_File_write_all_end`
pub fn file_write_all_end(cx: CallContext, file: Arc<File>, buffer: *const c_void, status: StatusOut) -> Outcome {
    end(cx, &file, SplitKind::WriteAll, buffer, status)
}

/// `MPI_File_write_at_all_begin`
pub fn file_write_at_all_begin(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    buffer: *const c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Outcome {
    let data = data(&cx, buffer, count, datatype);
    drop(cx);
    let address = data.as_ref().ok().and_then(|data| data.buffer().address());
    Ok(file.begin(SplitKind::WriteAtAll, address, || file.write_at_all(offset, data))?)
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
