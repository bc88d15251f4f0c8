//! Error handlers, and classes and texts of error codes (MPI-5.0, 9.3 to 9.5).

use core::ffi::c_char;

use mpi_core::{Guard, Handle, abi};
use mpi_env::{Object, Process};
use mpi_errors::{Error, HandlerKind, Result, classes, own_class};

use crate::call_context::{CallContext, CommView, LocklessContext};
use crate::check::{self, Function, Out};
use crate::errors::{self, Outcome, Raised, Target};
use crate::fortran_language;
use crate::handle_errors::{bad_errhandler, bad_object};
use crate::nesting;

/// `MPI_Comm_create_errhandler`
pub fn comm_create_errhandler(cx: CallContext, function: Function, errhandler: Out<usize>) -> Outcome {
    create(cx.process, cx.guard, HandlerKind::Comm, function, errhandler)
}

/// `MPI_Comm_set_errhandler`
pub fn comm_set_errhandler(cx: CallContext, comm: CommView, errhandler: usize) -> Outcome {
    set(cx.process, cx.guard, "comm", Object::comm(comm.handle.0), errhandler)
}

/// `MPI_Comm_get_errhandler`
pub fn comm_get_errhandler(cx: CallContext, comm: CommView, errhandler: Out<usize>) -> Outcome {
    get(cx.process, cx.guard, "comm", Object::comm(comm.handle.0), errhandler)
}

/// `MPI_Comm_call_errhandler`
#[inline]
pub fn comm_call_errhandler(cx: LocklessContext, comm: usize, code: i32) -> Outcome {
    let LocklessContext { process } = cx;
    let object = Object::comm(comm);
    let Some(function) = process.callee(Handle(comm)) else {
        return call(process, process.engine.lock(), "comm", object, code);
    };
    class_of(code)?;
    match nesting::within(|| errors::call_function(function, object, code)) {
        true => Ok(()),
        false => Err(too_deep()),
    }
}

/// `MPI_Win_create_errhandler`
pub fn win_create_errhandler(cx: CallContext, function: Function, errhandler: Out<usize>) -> Outcome {
    create(cx.process, cx.guard, HandlerKind::Win, function, errhandler)
}

/// `MPI_Win_set_errhandler`
pub fn win_set_errhandler(cx: CallContext, win: usize, errhandler: usize) -> Outcome {
    set(cx.process, cx.guard, "win", Object::win(win), errhandler)
}

/// `MPI_Win_get_errhandler`
pub fn win_get_errhandler(cx: CallContext, win: usize, errhandler: Out<usize>) -> Outcome {
    get(cx.process, cx.guard, "win", Object::win(win), errhandler)
}

/// `MPI_Win_call_errhandler`
pub fn win_call_errhandler(cx: CallContext, win: usize, code: i32) -> Outcome {
    call(cx.process, cx.guard, "win", Object::win(win), code)
}

/// `MPI_File_create_errhandler`
pub fn file_create_errhandler(cx: CallContext, function: Function, errhandler: Out<usize>) -> Outcome {
    create(cx.process, cx.guard, HandlerKind::File, function, errhandler)
}

/// `MPI_File_set_errhandler`
pub fn file_set_errhandler(cx: CallContext, file: usize, errhandler: usize) -> Outcome {
    set(cx.process, cx.guard, "file", Object::file(file), errhandler)
}

/// `MPI_File_get_errhandler`
pub fn file_get_errhandler(cx: CallContext, file: usize, errhandler: Out<usize>) -> Outcome {
    get(cx.process, cx.guard, "file", Object::file(file), errhandler)
}

/// `MPI_File_call_errhandler`
pub fn file_call_errhandler(cx: CallContext, fh: usize, code: i32) -> Outcome {
    call(cx.process, cx.guard, "fh", Object::file(fh), code)
}

/// `MPI_Session_create_errhandler`: allowed before a session exists.
pub fn session_create_errhandler(function: Function, errhandler: Out<usize>) -> Outcome {
    let process = mpi_env::join_job()?;
    create(process, process.engine.lock(), HandlerKind::Session, function, errhandler)
}

/// `MPI_Session_set_errhandler`
pub fn session_set_errhandler(cx: CallContext, session: usize, errhandler: usize) -> Outcome {
    set(cx.process, cx.guard, "session", Object::session(session), errhandler)
}

/// `MPI_Session_get_errhandler`
pub fn session_get_errhandler(cx: CallContext, session: usize, errhandler: Out<usize>) -> Outcome {
    get(cx.process, cx.guard, "session", Object::session(session), errhandler)
}

/// `MPI_Session_call_errhandler`
pub fn session_call_errhandler(session: usize, code: i32) -> Outcome {
    let process = mpi_env::joined().ok_or_else(no_process)?;
    call(process, process.engine.lock(), "session", Object::session(session), code)
}

/// `MPI_Errhandler_free`
pub fn errhandler_free(errhandler: Out<usize>) -> Outcome {
    let process = mpi_env::joined().ok_or_else(no_process)?;
    let mut guard = process.engine.lock();
    let word = Handle(errhandler.get());
    let freed = process.errhandlers.get_mut(&mut guard).free(word);
    freed.map_err(|error| stale(process, &guard, word, error))?;
    process.update_errhandlers(&mut guard);
    errhandler.set(abi::MPI_ERRHANDLER_NULL);
    Ok(())
}

/// The short way of `MPI_Error_class`: of the library's own codes, and of the program's code that was looked up last.
#[inline(always)] // one caller: the entry point
pub fn error_class_quickly(code: i32, class: *mut i32) -> bool {
    let found = own_class(code).or_else(|| mpi_env::codes().recent_class(code));
    found.is_some_and(|found| check::set_quickly(class, found))
}

/// `MPI_Error_class`
#[inline]
pub fn error_class(code: i32, class: Out<i32>) -> Outcome {
    class.set(class_of(code)?);
    Ok(())
}

/// `MPI_Error_string`
pub fn error_string(code: i32, text: *mut c_char, length: Out<i32>) -> Outcome {
    let put = |found: &str| {
        // SAFETY: the program passed MPI_MAX_ERROR_STRING characters (MPI-5.0, 9.4).
        let stored = unsafe { check::store_text(text, abi::MPI_MAX_ERROR_STRING as usize, found) };
        length.set(stored as i32);
    };
    match classes::code_text(code) {
        // A class's own text needs no process.
        Some(found) => put(found),
        None => mpi_env::codes().with_string_of(code, put).ok_or_else(|| no_such_code(code))?,
    }
    Ok(())
}

fn create(
    process: &Process,
    mut guard: Guard<'_>,
    kind: HandlerKind,
    function: Function,
    errhandler: Out<usize>,
) -> Outcome {
    let made = process.errhandlers.get_mut(&mut guard).create(kind, fortran_language::callee(function.address).0)?;
    process.on_errhandler_created(&mut guard, made);
    errhandler.set(made.0);
    Ok(())
}

fn set(process: &Process, mut guard: Guard<'_>, name: &'static str, object: Object, errhandler: usize) -> Outcome {
    let set = process.set_errhandler(&mut guard, object, Handle(errhandler));
    match set.map_err(|error| stale(process, &guard, Handle(errhandler), error))? {
        true => Ok(()),
        false => Err(bad_object(name, object).into()),
    }
}

/// The error of a stale handle, with the function that freed it.
#[cold]
fn stale(process: &Process, guard: &Guard<'_>, errhandler: Handle, error: Error) -> Error {
    match process.errhandlers.get(guard).get(errhandler) {
        Err(_) if process.freed.by(errhandler).is_some() => bad_errhandler("errhandler", errhandler.0),
        _ => error,
    }
}

fn get(process: &Process, mut guard: Guard<'_>, name: &'static str, object: Object, errhandler: Out<usize>) -> Outcome {
    let found = process.get_errhandler(&mut guard, object).ok_or_else(|| bad_object(name, object))?;
    errhandler.set(found.0);
    Ok(())
}

/// Calls an error handler of the program's choice; succeeds if the handler returns.
#[inline]
fn call(process: &'static Process, guard: Guard<'_>, name: &'static str, object: Object, code: i32) -> Outcome {
    let class = class_of(code)?;
    let handler = process.handler_to_call(&guard, object).ok_or_else(|| bad_object(name, object))?;
    // The handler is a function of the program, so no lock is held during its call.
    drop(guard);
    match (Target { object: Some(object), handler }).take(process, || fatal_error(process, object, class, code), code) {
        true => Ok(()),
        false => Err(too_deep()),
    }
}

/// The error that a fatal handler reports when the program calls it.
#[cold]
fn fatal_error(process: &Process, object: Object, class: i32, code: i32) -> Error {
    let text = match classes::text(code) {
        Some(text) => text.to_owned(),
        None => process.codes.string_of(code).unwrap_or_default(),
    };
    let call = match object.kind {
        HandlerKind::Comm => "MPI_Comm_call_errhandler",
        HandlerKind::Win => "MPI_Win_call_errhandler",
        HandlerKind::File => "MPI_File_call_errhandler",
        HandlerKind::Session => "MPI_Session_call_errhandler",
    };
    let what = format!("the program called the error handler with code {code}: {text}");
    let error = Error::new(class, what).call(call);
    match process.describe(&process.engine.lock(), object) {
        Some(about) => error.on(about),
        None => error,
    }
}

#[cold]
fn too_deep() -> Raised {
    let rule = format!("{} error handlers of the program run within each other already", nesting::DEEPEST);
    Error::new(abi::MPI_ERR_OTHER, rule).into()
}

/// The class of any code. Only codes that the program added need the process record.
#[inline]
fn class_of(code: i32) -> Result<i32> {
    match own_class(code) {
        Some(class) => Ok(class),
        None => added_class(code),
    }
}

/// The error of a call that uses a handle before any call could have created one.
#[cold]
fn no_process() -> Error {
    let error = mpi_env::cause_of_absence();
    error.unwrap_or_else(|| Error::new(abi::MPI_ERR_OTHER, "MPI is not initialized, and there is no session"))
}

#[inline(never)]
fn added_class(code: i32) -> Result<i32> {
    mpi_env::codes().class_of(code).ok_or_else(|| no_such_code(code))
}

#[cold]
fn no_such_code(code: i32) -> Error {
    Error::new(abi::MPI_ERR_ARG, "this library gave out no such error code").arg("errorcode", &code)
}
