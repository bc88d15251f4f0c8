//! Error handling of calls: selects and calls the error handler, and returns the error's code (MPI-5.0, 9.3).
//!
//! Invariant: no lock of the library is held during a call of the program's error handler.
//! Not here: the table of handlers (mpi-errors), the handler of each object (mpi-env).

use core::ffi::c_int;

use mpi_core::{Callee, Guard, Handle, Language, abi, functions};
use mpi_env::{Object, Process, Route};
use mpi_errors::{Errhandler, Error, HandlerKind};

use crate::nesting;

/// The result of an implementation.
pub type Outcome = Result<(), Raised>;

/// An error that has not yet been passed to its error handler.
#[derive(Debug)]
pub struct Raised {
    error: Error,
    to: To,
    /// The code of the error, if it already has one: from a callback of the program, or from a status.
    code: Option<c_int>,
    /// The code that the call returns, if it differs from `code`.
    returned: Option<c_int>,
}

/// Selects the object whose handler handles an error.
#[derive(Debug)]
enum To {
    /// The call's own object.
    Call,
    /// The communicator or window with this context, on which the failed operation was started.
    Context(u32),
    /// No object: this handler, which the program passed to a call that creates an object of this kind.
    Passed(Handle, HandlerKind),
    /// An object that the call has freed, with its handler.
    Ended(Object, Errhandler),
}

impl From<Error> for Raised {
    #[cold]
    fn from(error: Error) -> Raised {
        Raised { error, to: To::Call, code: None, returned: None }
    }
}

impl Raised {
    /// An error of an operation that was started on the communicator or window with this context.
    #[cold]
    pub fn on_context(error: Error, context: Option<u32>) -> Raised {
        Raised { error, to: context.map_or(To::Call, To::Context), code: None, returned: None }
    }

    /// An error of one of several operations, with the code in its status. The handler gets that code, and the call
    /// returns `MPI_ERR_IN_STATUS` (MPI-5.0, 9.3).
    #[cold]
    pub fn in_status(error: Error, context: Option<u32>, code: c_int) -> Raised {
        Raised { code: Some(code), returned: Some(abi::MPI_ERR_IN_STATUS), ..Raised::on_context(error, context) }
    }

    /// An error that a callback of the program returned as this code.
    #[cold]
    pub fn with_code(error: Error, code: c_int) -> Raised {
        Raised { error, to: To::Call, code: Some(code), returned: None }
    }

    /// An error of a call that has nevertheless freed its object (`MPI_File_close`), with the object's handler.
    #[cold]
    pub fn ended(error: Error, object: Object, handler: Errhandler) -> Raised {
        Raised { error, to: To::Ended(object, handler), code: None, returned: None }
    }

    /// An error of a call that creates an object of a kind and has its handler as an argument (`MPI_Session_init`,
    /// `MPI_Comm_create_from_group`). A handler of the program gets the null handle. The caller has checked the
    /// handler.
    #[cold]
    pub fn to_passed(error: Error, errhandler: Handle, kind: HandlerKind) -> Raised {
        Raised { error, to: To::Passed(errhandler, kind), code: None, returned: None }
    }
}

/// Calls the handler of an error. If the handler returns, the result is the code that the call returns. `object` is the
/// call's own object.
#[cold]
#[inline(never)]
pub fn raise(function: u16, object: Option<Object>, raised: Raised) -> c_int {
    let Raised { error, to, code, returned } = raised;
    let call = functions::name(function).unwrap_or("MPI");
    let error = error.call(call);
    let Some(process) = mpi_env::joined() else {
        // The reason for the missing process record is the cause of the failure.
        let error = mpi_env::cause_of_absence().map_or(error, |cause| cause.call(call));
        return without_process(call, error);
    };
    let (about, target) = {
        let guard = process.engine.lock();
        // Most errors are detected before the flight recorder has the call.
        process.recorder.refused(function);
        process.metrics.counts.errors.incr();
        let own = match to {
            To::Context(context) => process.object_of_context(&guard, context).or(object),
            _ => object,
        };
        let target = match to {
            To::Passed(handler, kind) => {
                process.on_errhandler_called(&guard, handler);
                Target { object: Some(Object::null(kind)), handler: process.errhandlers.get(&guard).attached(handler) }
            }
            To::Ended(object, handler) => Target { object: Some(object), handler },
            To::Call | To::Context(_) => responsible(process, &guard, own),
        };
        (
            own.filter(|own| own.handle.0 != Object::null(own.kind).handle.0)
                .and_then(|own| process.describe(&guard, own)),
            target,
        )
    };
    let error = match about {
        Some(about) => error.on(about),
        None => error,
    };
    let code = code.unwrap_or_else(|| process.codes.code_for(&error));
    let object = target.object.map_or(0, |object| object.handle.0 as u64);
    process.metrics.events.error_raised.emit(|| (error.class(), code, object));
    target.take(process, || error, code);
    returned.unwrap_or(code)
}

/// Handles an error of a process without a record with the initial error handler. A fatal error joins the job first, so
/// that it can end the job, unless joining has failed or the process is a child of `fork`, which ends alone.
fn without_process(call: &'static str, error: Error) -> c_int {
    if mpi_env::returns_errors_without_process() {
        return mpi_env::codes().code_for(&error);
    }
    match mpi_env::join_job() {
        Ok(process) => process.fatal(&error, Route::default()),
        Err(cause) => mpi_env::fatal_without_process(&cause.call(call)),
    }
}

/// Assigns a code, for a status, to the error of an operation that was started on the communicator or window with this
/// context. Returns the code and the error, which now names the object. No guard is held.
#[cold]
pub fn in_status(error: Error, context: Option<u32>) -> (Error, c_int) {
    let Some(process) = mpi_env::joined() else {
        let code = mpi_env::codes().code_for(&error);
        return (error, code);
    };
    let about = {
        let guard = process.engine.lock();
        let object = context.and_then(|context| process.object_of_context(&guard, context));
        object.and_then(|object| process.describe(&guard, object))
    };
    let error = match about {
        Some(about) => error.on(about),
        None => error,
    };
    let code = process.codes.code_for(&error);
    (error, code)
}

/// The error handler that handles an error.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The object whose handler it is; `None` for the initial handler.
    pub object: Option<Object>,
    /// The handler.
    pub handler: Errhandler,
}

/// Selects the handler of an error: that of the call's object if it exists. Otherwise, errors of file calls go to the
/// default handler of files (MPI-5.0, 14.7) and all others to the handler of the default object. If there is no default
/// object, the initial error handler of the process handles the error (MPI-5.0, 9.3).
fn responsible(process: &Process, guard: &Guard<'_>, own: Option<Object>) -> Target {
    let default = match own {
        Some(Object { kind: HandlerKind::File, .. }) => Object::null(HandlerKind::File),
        _ => process.default_object(),
    };
    let mut candidates = own.into_iter().chain([default]);
    let found = candidates
        .find_map(|object| Some(Target { object: Some(object), handler: process.handler_to_call(guard, object)? }));
    found.unwrap_or_else(|| {
        let initial = Errhandler::predefined(mpi_env::initial_errhandler());
        Target { object: None, handler: initial.unwrap_or(Errhandler::Fatal) }
    })
}

/// A handler of the program. The standard's type is variadic; no variable arguments are passed.
type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);
/// The same in Fortran.
type FortranHandler = unsafe extern "C" fn(*mut c_int, *mut c_int);

/// Calls a handler of the program. No guard is held.
#[inline]
pub fn call_function(function: usize, object: Object, mut code: c_int) {
    let callee = Callee(function);
    if callee.language() != Language::C {
        return call_fortran(callee, object, code);
    }
    let mut word = object.handle.0;
    let address = core::ptr::with_exposed_provenance::<()>(function);
    // SAFETY: the program passed a function of this type when it created the handler; it is not NULL.
    let function = unsafe { core::mem::transmute::<*const (), UserHandler>(address) };
    // SAFETY: the handler gets the addresses of a handle and a code, as the standard requires.
    unsafe { function(&mut word, &mut code) }
}

#[cold]
fn call_fortran(callee: Callee, object: Object, mut code: c_int) {
    // An object that the program has a handle of has an integer, too.
    let mut word = object.handle.to_fortran().unwrap_or_default();
    let address = core::ptr::with_exposed_provenance::<()>(callee.address());
    // SAFETY: the Fortran layer passed a procedure with two INTEGER arguments.
    let function = unsafe { core::mem::transmute::<*const (), FortranHandler>(address) };
    // SAFETY: the handler gets the addresses of two integers, as the standard requires.
    unsafe { function(&mut word, &mut code) }
}

impl Target {
    /// Calls the handler and returns if the handler returns. False if the call would nest too deeply and was not made
    /// (`nesting`). `error` is called only if a report needs the error.
    #[inline]
    pub fn take(self, process: &'static Process, error: impl FnOnce() -> Error, code: c_int) -> bool {
        match self.handler {
            Errhandler::Return => true,
            Errhandler::User { function, .. } => {
                let object = self.object.unwrap_or(Object::comm(0));
                nesting::within(|| call_function(function, object, code))
            }
            Errhandler::Fatal | Errhandler::Abort => self.end(process, &error()),
        }
    }

    /// Ends the job, or for `MPI_ERRORS_ABORT` the processes of the object.
    #[cold]
    fn end(self, process: &'static Process, error: &Error) -> ! {
        let guard = process.engine.lock();
        let name = self.object.and_then(|object| process.describe(&guard, object));
        let aborted = self.object.filter(|_| matches!(self.handler, Errhandler::Abort));
        let members = aborted.and_then(|object| process.members_of(&guard, object));
        drop(guard);
        let handled_by = self.object.map(|object| match object.kind {
            HandlerKind::Comm => "MPI_Comm_set_errhandler",
            HandlerKind::Win => "MPI_Win_set_errhandler",
            HandlerKind::File => "MPI_File_set_errhandler",
            HandlerKind::Session => "MPI_Session_set_errhandler",
        });
        let handler_of = name.as_deref().filter(|name| error.object() != Some(name));
        process.fatal_to(error, Route { handler_of, handled_by }, members.as_deref())
    }
}
