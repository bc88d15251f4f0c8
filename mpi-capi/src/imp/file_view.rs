//! Views of files (MPI-5.0, 14.3), and inquiries that depend on them.
//!
//! Not here: the view itself (mpi-io).

use core::ffi::c_char;
use std::sync::Arc;

use mpi_core::{Info, abi};
use mpi_errors::{Error, Result};
use mpi_io::{File, Io, View, ViewType};

use super::file::hints;
use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, CountOut, Out};
use crate::errors::Outcome;

/// A datatype of a view.
fn view_type(cx: &CallContext, name: &'static str, word: usize) -> Result<ViewType> {
    let datatype = cx.datatype(name, word)?;
    let word = if mpi_datatype::predefined(word).is_some() { word } else { 0 };
    Ok(ViewType { datatype: datatype.clone(), word })
}

/// The view that the arguments describe. May call a function of the program, so no lock is held.
fn view(
    io: &Io,
    file: &File,
    displacement: i64,
    (etype, filetype): (ViewType, ViewType),
    representation: *const c_char,
) -> Result<View> {
    let representation = io.representation(&check::text("datarep", representation)?.to_string_lossy())?;
    // `File::set_view` sets the view of a sequential file at the shared file pointer.
    let displacement = match (file.amode().is_sequential(), displacement) {
        (true, abi::MPI_DISPLACEMENT_CURRENT) => 0,
        (true, _) => {
            let rule = "for a file opened with MPI_MODE_SEQUENTIAL it must be MPI_DISPLACEMENT_CURRENT";
            return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("disp", &displacement));
        }
        (false, abi::MPI_DISPLACEMENT_CURRENT) => {
            let rule = "that is for files opened with MPI_MODE_SEQUENTIAL only";
            return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("disp", &"MPI_DISPLACEMENT_CURRENT"));
        }
        (false, place) => place,
    };
    View::new(displacement, etype, filetype, representation)
}

/// `MPI_File_set_view`: an invalid argument in one process makes the call fail in all processes, so it is passed on as
/// an error.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn file_set_view(
    cx: CallContext,
    file: Arc<File>,
    displacement: i64,
    etype: usize,
    filetype: usize,
    representation: *const c_char,
    info: usize,
) -> Outcome {
    let types = view_type(&cx, "etype", etype).and_then(|etype| Ok((etype, view_type(&cx, "filetype", filetype)?)));
    let hints = hints(info);
    let io = &cx.process.io;
    drop(cx);
    let view = types.and_then(|types| view(io, &file, displacement, types, representation));
    let (view, hints) = match (view, hints) {
        (Ok(view), Ok(hints)) => (Ok(view), hints),
        (Err(error), _) | (_, Err(error)) => (Err(error), Info::new()),
    };
    Ok(file.set_view(view, &hints)?)
}

/// `MPI_File_get_view`: for types that are not predefined the program gets duplicates, which it frees.
pub fn file_get_view(
    cx: CallContext,
    file: Arc<File>,
    displacement: Out<i64>,
    etype: Out<usize>,
    filetype: Out<usize>,
    representation: *mut c_char,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let view = file.view();
    let mut handle = |of: &ViewType| match of.word {
        0 => process.type_create(&mut guard, of.datatype.clone()).map(|handle| handle.0),
        word => Ok(word),
    };
    let (first, second) = (handle(view.etype())?, handle(view.filetype())?);
    displacement.set(view.displacement() as i64);
    etype.set(first);
    filetype.set(second);
    // SAFETY: the program passed MPI_MAX_DATAREP_STRING characters (MPI-5.0, 14.3).
    unsafe { check::store_text(representation, abi::MPI_MAX_DATAREP_STRING as usize, view.representation().name()) };
    Ok(())
}

/// `MPI_File_get_byte_offset`
pub fn file_get_byte_offset(_cx: CallContext, file: Arc<File>, offset: i64, place: Out<i64>) -> Outcome {
    place.set(file.byte_offset(offset)? as i64);
    Ok(())
}

/// `MPI_File_get_type_extent`
pub fn file_get_type_extent(cx: CallContext, file: Arc<File>, datatype: TypeRef, extent: CountOut) -> Outcome {
    // The representation may be one of the program, whose function runs without a lock.
    drop(cx);
    extent.set(file.type_extent(&datatype)?);
    Ok(())
}
