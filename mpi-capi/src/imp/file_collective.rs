//! Collective reads and writes of files (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! A process with a wrong argument takes part in what the others wait for, so arguments are passed on as errors.
//! Not here: data transfer (mpi-io), split forms (`file_split`), non-blocking forms, which wait for no other process
//! (`file_start`).

use core::ffi::c_void;
use std::sync::Arc;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_io::{File, Typed};

use crate::call_context::CallContext;
use crate::check::{self, StatusOut};
use crate::errors::Outcome;

/// The memory of a read, if its description is right.
pub fn room(
    cx: &CallContext,
    buffer: *mut c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Result<Typed<RecvBuf<'static>>> {
    let count = check::count("count", count.into())?;
    cx.file_room("buf", buffer, count, cx.datatype("datatype", datatype)?)
}

/// The data of a write, if its description is right.
pub fn data(
    cx: &CallContext,
    buffer: *const c_void,
    count: impl Into<i64>,
    datatype: usize,
) -> Result<Typed<SendBuf<'static>>> {
    let count = check::count("count", count.into())?;
    cx.file_data("buf", buffer, count, cx.datatype("datatype", datatype)?)
}

/// `MPI_File_read_all`
pub fn file_read_all(
    cx: CallContext,
    file: Arc<File>,
    buffer: *mut c_void,
    count: impl Into<i64>,
    datatype: usize,
    status: StatusOut,
) -> Outcome {
    let room = room(&cx, buffer, count, datatype);
    drop(cx);
    status.set(file.read_all(room)?);
    Ok(())
}

/// `MPI_File_read_at_all`
pub fn file_read_at_all(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    buffer: *mut c_void,
    count: impl Into<i64>,
    datatype: usize,
    status: StatusOut,
) -> Outcome {
    let room = room(&cx, buffer, count, datatype);
    drop(cx);
    status.set(file.read_at_all(offset, room)?);
    Ok(())
}

/// `MPI_File_write_all`
pub fn file_write_all(
    cx: CallContext,
    file: Arc<File>,
    buffer: *const c_void,
    count: impl Into<i64>,
    datatype: usize,
    status: StatusOut,
) -> Outcome {
    let data = data(&cx, buffer, count, datatype);
    drop(cx);
    status.set(file.write_all(data)?);
    Ok(())
}

/// `MPI_File_write_at_all`
pub fn file_write_at_all(
    cx: CallContext,
    file: Arc<File>,
    offset: i64,
    buffer: *const c_void,
    count: impl Into<i64>,
    datatype: usize,
    status: StatusOut,
) -> Outcome {
    let data = data(&cx, buffer, count, datatype);
    drop(cx);
    status.set(file.write_at_all(offset, data)?);
    Ok(())
}
