//! Files: open, close and inquiry (MPI-5.0, 14.2, 14.4.3 and 14.6).
//!
//! Invariant: no lock is held during a system call on a file.
//! Not here: reads and writes (`file_access`), views (`file_view`), error handlers of files (`errhandler`).

use core::ffi::{CStr, c_char};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use mpi_core::{Info, abi};
use mpi_env::Object;
use mpi_errors::{Errhandler, Result};
use mpi_io::{AccessMode, File, OpenArgs, Whence};

use super::info;
use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::{Outcome, Raised};

fn name_of(name: &CStr) -> OsString {
    OsStr::from_bytes(name.to_bytes()).to_owned()
}

/// The hints of a call; none for `MPI_INFO_NULL`.
pub fn hints(word: usize) -> Result<Info> {
    match word {
        abi::MPI_INFO_NULL => Ok(Info::new()),
        _ => info::with("info", word, Info::clone),
    }
}

/// `MPI_File_open`: an invalid argument in one process makes the call fail in all processes, so it is passed on as an
/// error.
pub fn file_open(
    cx: CallContext,
    comm: CommView,
    name: *const c_char,
    amode: i32,
    info: usize,
    fh: Out<usize>,
) -> Outcome {
    let args = OpenArgs {
        name: check::text("filename", name).map(name_of),
        amode: AccessMode::new(amode),
        hints: hints(info),
    };
    let process = cx.process;
    drop(cx);
    fh.set(process.file_open(comm.handle, args)?.0);
    Ok(())
}

/// `MPI_File_close`: the file is closed also after an error; the error goes to the handler that the file had.
pub fn file_close(mut cx: CallContext, fh: Out<usize>) -> Outcome {
    let object = Object::file(fh.get());
    cx.file("fh", object.handle.0)?;
    let handler = cx.process.handler_of(&cx.guard, object).unwrap_or(Errhandler::Return);
    let process = cx.process;
    drop(cx);
    let closed = process.file_close(object.handle);
    fh.set(abi::MPI_FILE_NULL);
    closed.map_err(|error| Raised::ended(error, object, handler))
}

/// `MPI_File_delete`
pub fn file_delete(cx: CallContext, name: &CStr, info: usize) -> Outcome {
    hints(info)?;
    let process = cx.process;
    drop(cx);
    Ok(process.file_delete(name_of(name))?)
}

/// `MPI_File_get_amode`
pub fn file_get_amode(_cx: CallContext, file: Arc<File>, amode: Out<i32>) -> Outcome {
    amode.set(file.amode().bits());
    Ok(())
}

/// `MPI_File_get_group`
pub fn file_get_group(cx: CallContext, file: Arc<File>, group: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    group.set(process.group_insert(&mut guard, file.group().clone())?.0);
    Ok(())
}

/// `MPI_File_get_info`
pub fn file_get_info(_cx: CallContext, file: Arc<File>, used: Out<usize>) -> Outcome {
    used.set(info::insert(file.hints())?);
    Ok(())
}

/// `MPI_File_set_info`: unknown hints are ignored. An invalid argument in one process makes the call fail in all
/// processes, so it is passed on as an error.
pub fn file_set_info(cx: CallContext, file: Arc<File>, info: usize) -> Outcome {
    drop(cx);
    Ok(file.set_hints(hints(info))?)
}

/// `MPI_File_get_size`
pub fn file_get_size(cx: CallContext, file: Arc<File>, size: Out<i64>) -> Outcome {
    drop(cx);
    size.set(file.size()? as i64);
    Ok(())
}

/// `MPI_File_set_size`
pub fn file_set_size(cx: CallContext, file: Arc<File>, size: i64) -> Outcome {
    drop(cx);
    Ok(file.set_size(size)?)
}

/// `MPI_File_preallocate`
pub fn file_preallocate(cx: CallContext, file: Arc<File>, size: i64) -> Outcome {
    drop(cx);
    Ok(file.preallocate(size)?)
}

/// `MPI_File_sync`
pub fn file_sync(cx: CallContext, file: Arc<File>) -> Outcome {
    drop(cx);
    Ok(file.sync()?)
}

/// `MPI_File_seek`
pub fn file_seek(cx: CallContext, file: Arc<File>, offset: i64, whence: i32) -> Outcome {
    drop(cx);
    Ok(file.seek(offset, Whence::new(whence)?)?)
}

/// `MPI_File_get_position`
pub fn file_get_position(cx: CallContext, file: Arc<File>, offset: Out<i64>) -> Outcome {
    // Another thread may be reading at the file pointer and hold the file's own lock, so the process lock is released
    // first.
    drop(cx);
    offset.set(file.position()? as i64);
    Ok(())
}

/// `MPI_File_get_atomicity`
pub fn file_get_atomicity(_cx: CallContext, file: Arc<File>, flag: Out<i32>) -> Outcome {
    flag.set(i32::from(file.is_atomic()));
    Ok(())
}

/// `MPI_File_set_atomicity`
pub fn file_set_atomicity(cx: CallContext, file: Arc<File>, flag: bool) -> Outcome {
    drop(cx);
    Ok(file.set_atomic(flag)?)
}
