//! Error handlers, and what error codes say (MPI-5.0, 9.3 to 9.5).

use core::ffi::c_char;

use mpi_core::{Handle, abi};
use mpi_env::Process;
use mpi_errors::{Error, HandlerKind, Result};

use crate::check::{self, Function, Out};
use crate::cx::{CommView, Cx};
use crate::errors::{self, Outcome};

/// `MPI_Comm_create_errhandler`
pub fn comm_create_errhandler(cx: Cx, function: Function, errhandler: Out<usize>) -> Outcome {
    let Cx { process, mut guard, .. } = cx;
    let handlers = process.errhandlers.get_mut(&mut guard);
    errhandler.set(handlers.create(HandlerKind::Comm, function.address)?.0);
    Ok(())
}

/// `MPI_Comm_set_errhandler`
pub fn comm_set_errhandler(cx: Cx, comm: CommView, errhandler: usize) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let Cx { process, mut guard, .. } = cx;
    let handlers = process.errhandlers.get_mut(&mut guard);
    handlers.attach(Handle(errhandler), HandlerKind::Comm)?;
    handlers.detach(whole.replace_errhandler(Handle(errhandler)));
    Ok(())
}

/// `MPI_Comm_get_errhandler`
pub fn comm_get_errhandler(cx: Cx, comm: CommView, errhandler: Out<usize>) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let Cx { process, mut guard, .. } = cx;
    errhandler.set(process.errhandlers.get_mut(&mut guard).hold(whole.errhandler()).0);
    Ok(())
}

/// `MPI_Comm_call_errhandler`: succeeds when the handler returns.
pub fn comm_call_errhandler(cx: Cx, comm: CommView, code: i32) -> Outcome {
    let process = cx.process;
    let class = class_of(process, code)?;
    // The handler is the program's: no lock is held while it runs.
    drop(cx);
    let error = || {
        let text = process.codes.string_of(code).unwrap_or_default();
        Error::new(class, text).call("MPI_Comm_call_errhandler")
    };
    errors::call_handler(process, comm.handle, error, code);
    Ok(())
}

/// `MPI_Errhandler_free`
pub fn errhandler_free(errhandler: Out<usize>) -> Outcome {
    let process = mpi_env::process()?;
    let mut guard = process.engine.lock();
    process.errhandlers.get_mut(&mut guard).free(Handle(errhandler.get()))?;
    errhandler.set(abi::MPI_ERRHANDLER_NULL);
    Ok(())
}

/// `MPI_Error_class`
pub fn error_class(code: i32, class: Out<i32>) -> Outcome {
    class.set(class_of(mpi_env::process()?, code)?);
    Ok(())
}

/// `MPI_Error_string`
pub fn error_string(code: i32, text: *mut c_char, length: Out<i32>) -> Outcome {
    let Some(found) = mpi_env::process()?.codes.string_of(code) else {
        return Err(no_such_code(code).into());
    };
    // SAFETY: the program passed MPI_MAX_ERROR_STRING characters (MPI-5.0, 9.4).
    let stored = unsafe { check::store_text(text, abi::MPI_MAX_ERROR_STRING as usize, &found) };
    length.set(stored as i32);
    Ok(())
}

fn class_of(process: &Process, code: i32) -> Result<i32> {
    process.codes.class_of(code).ok_or_else(|| no_such_code(code))
}

#[cold]
fn no_such_code(code: i32) -> Error {
    Error::new(abi::MPI_ERR_ARG, "this library gave out no such error code").arg("errorcode", &code)
}
