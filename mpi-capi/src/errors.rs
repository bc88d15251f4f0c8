//! From an error to its code: which handler takes it, and calling that (MPI-5.0, 9.3).
//!
//! Invariant: a user's handler is called while no lock of the library is held.
//! Not here: the table of handlers (mpi-errors), which object has which (mpi-env).

use core::ffi::c_int;

use mpi_core::{Guard, Handle, abi, functions};
use mpi_env::{Object, Process};
use mpi_errors::{Errhandler, Error, FatalReport, HandlerKind, fatal_report};

/// What an implementation returns.
pub type Outcome = Result<(), Raised>;

/// An error on its way to a handler.
#[derive(Debug)]
pub struct Raised {
    error: Error,
    to: To,
    /// The code that one of the program's callbacks returned: it is passed on as it is.
    code: Option<c_int>,
}

/// Whose handler takes an error.
#[derive(Debug)]
enum To {
    /// That of the call's own object.
    Call,
    /// That of the communicator with this context, where the failed operation was started.
    Context(u32),
    /// This one, which the program passed to a call that makes an object of this kind.
    Passed(Handle, HandlerKind),
    /// That of an object that the call has ended.
    Ended(Object, Errhandler),
}

impl From<Error> for Raised {
    #[cold]
    fn from(error: Error) -> Raised {
        Raised { error, to: To::Call, code: None }
    }
}

impl Raised {
    /// An error of an operation that was started on the communicator with this context.
    #[cold]
    pub fn on_context(error: Error, context: Option<u32>) -> Raised {
        Raised { error, to: context.map_or(To::Call, To::Context), code: None }
    }

    /// An error that a callback of the program's reported with this code.
    #[cold]
    pub fn with_code(error: Error, code: c_int) -> Raised {
        Raised { error, to: To::Call, code: Some(code) }
    }

    /// An error of a call that has ended its object all the same (`MPI_File_close`), and the handler that this had.
    #[cold]
    pub fn ended(error: Error, object: Object, handler: Errhandler) -> Raised {
        Raised { error, to: To::Ended(object, handler), code: None }
    }

    /// An error of a call that makes an object of a kind and was given the handler for it (`MPI_Session_init`,
    /// `MPI_Comm_create_from_group`); a user's handler gets the null handle. The caller has checked the handler.
    #[cold]
    #[allow(dead_code)] // for calls that are not there yet
    pub fn to_passed(error: Error, errhandler: Handle, kind: HandlerKind) -> Raised {
        Raised { error, to: To::Passed(errhandler, kind), code: None }
    }
}

/// A handler of the program's; the standard's type has further arguments, which nobody passes.
type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// Gives an error to the handler it belongs to; the code that the call returns, if it returns. `object` is the call's
/// own.
#[cold]
#[inline(never)]
pub fn raise(function: u16, object: Option<Object>, raised: Raised) -> c_int {
    let Raised { error, to, code } = raised;
    let error = error.call(functions::name(function).unwrap_or("MPI"));
    let process = match mpi_env::process() {
        Ok(process) => process,
        Err(_) => die(&error),
    };
    let code = match (code, error.class()) {
        (Some(code), _) => code,
        // What failed stands in the statuses, and programs compare this one with the class itself.
        (_, abi::MPI_ERR_IN_STATUS) => abi::MPI_ERR_IN_STATUS,
        _ => process.codes.code_for(&error),
    };
    let (object, handler) = {
        let guard = process.engine.lock();
        process.tells.counts.errors.incr();
        match to {
            To::Passed(handler, kind) => {
                process.tell_handler_called(&guard, handler);
                (Object::null(kind), process.errhandlers.get(&guard).attached(handler))
            }
            To::Ended(object, handler) => (object, handler),
            To::Call => responsible(process, &guard, object),
            To::Context(context) => {
                let comm = process.handle_of_context(&guard, context);
                responsible(process, &guard, comm.map(|comm| Object::comm(comm.0)))
            }
        }
    };
    process.tells.events.error_raised.emit(|| (error.class(), code, object.handle.0 as u64));
    call_handler(process, object, handler, || error, code);
    code
}

/// Whose handler takes an error, and the handler: that of the call's object where there is one. Files have a default
/// for calls without one (MPI-5.0, 14.7), all others go to the handler of MPI_COMM_SELF (MPI-5.0, 9.3).
fn responsible(process: &Process, guard: &Guard<'_>, object: Option<Object>) -> (Object, Errhandler) {
    let fallback = match object {
        Some(Object { kind: HandlerKind::File, .. }) => Object::null(HandlerKind::File),
        _ => Object::comm(abi::MPI_COMM_SELF),
    };
    let mut candidates = object.into_iter().chain([fallback]);
    let found = candidates.find_map(|object| Some((object, process.handler_of(guard, object)?)));
    if let Some((object, _)) = found {
        process.tell_handler_asked(guard, object);
    }
    found.unwrap_or((fallback, Errhandler::Fatal))
}

/// Ends a process that has no record, so that there is no handler to ask and no launcher to tell.
fn die(error: &Error) -> ! {
    let report = FatalReport {
        rank: None,
        host: mpi_env::processor_name(),
        pid: std::process::id(),
        object: None,
        error,
        consequence: "The process ends.",
    };
    eprint!("{}", fatal_report(&report));
    std::process::exit(1)
}

/// The code of an error that goes into a status.
#[cold]
pub fn code(error: Error) -> c_int {
    match mpi_env::process() {
        Ok(process) => process.codes.code_for(&error),
        Err(_) => error.class(),
    }
}

/// Calls a handler for an object; returns when that lets the program go on. The error is asked for only when it is to
/// be told.
#[cold]
pub fn call_handler(
    process: &'static Process,
    object: Object,
    handler: Errhandler,
    error: impl FnOnce() -> Error,
    code: c_int,
) {
    let (mut word, mut code) = (object.handle.0, code);
    match handler {
        Errhandler::Return => {}
        Errhandler::Fatal | Errhandler::Abort => {
            let name = process.describe(&process.engine.lock(), object);
            process.fatal(&error(), Some(&name))
        }
        Errhandler::User { function, .. } => {
            let address = core::ptr::with_exposed_provenance::<()>(function);
            // SAFETY: the program passed a function of this type when it made the handler; it is not NULL.
            let function = unsafe { core::mem::transmute::<*const (), UserHandler>(address) };
            // SAFETY: the handler gets the addresses of a handle and a code, as the standard says.
            unsafe { function(&mut word, &mut code) }
        }
    }
}
