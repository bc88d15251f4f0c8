//! From an error to its code: which handler takes it, and calling that (MPI-5.0, 9.3).
//!
//! Invariant: a user's handler is called while no lock of the library is held.
//! Not here: the table of handlers (mpi-errors), which communicator has which (mpi-comm).

use core::ffi::c_int;

use mpi_comm::Comm;
use mpi_core::{Handle, abi, functions};
use mpi_env::Process;
use mpi_errors::{Errhandler, Error, FatalReport, fatal_report};

/// What an implementation returns.
pub type Outcome = Result<(), Raised>;

/// An error on its way to a handler.
#[derive(Debug)]
pub struct Raised {
    error: Error,
    /// The context of the operation that failed, where that is not the call's own communicator.
    context: Option<u32>,
    /// The code that one of the program's callbacks returned: it is passed on as it is.
    code: Option<c_int>,
}

impl From<Error> for Raised {
    #[cold]
    fn from(error: Error) -> Raised {
        Raised { error, context: None, code: None }
    }
}

impl Raised {
    /// An error of an operation that was started on the communicator with this context.
    #[cold]
    pub fn on_context(error: Error, context: Option<u32>) -> Raised {
        Raised { error, context, code: None }
    }

    /// An error that a callback of the program's reported with this code.
    #[cold]
    pub fn with_code(error: Error, code: c_int) -> Raised {
        Raised { error, context: None, code: Some(code) }
    }
}

/// A handler of the program's; the standard's type has further arguments, which nobody passes.
type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// Gives an error to the handler it belongs to; the code that the call returns, if it returns. `object` is the word
/// of the call's communicator, or 0.
#[cold]
#[inline(never)]
pub fn raise(function: u16, object: usize, raised: Raised) -> c_int {
    let Raised { error, context, code } = raised;
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
    let comm = {
        let guard = process.engine.lock();
        match context {
            Some(context) => process.handle_of_context(&guard, context),
            None => Some(Handle(object)).filter(|handle| process.comm(&guard, *handle).is_some()),
        }
    };
    // Errors without an object go to the handler of MPI_COMM_SELF (MPI-5.0, 9.3).
    call_handler(process, comm.unwrap_or(Handle(abi::MPI_COMM_SELF)), || error, code);
    code
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

/// Calls the handler of a communicator; returns when that lets the program go on. The error is asked for only when
/// it is to be told.
#[cold]
pub fn call_handler(process: &'static Process, comm: Handle, error: impl FnOnce() -> Error, code: c_int) {
    let (handler, name) = {
        let guard = process.engine.lock();
        let Some(found) = process.comm(&guard, comm) else { return };
        let handler = process.errhandlers.get(&guard).attached(found.errhandler());
        let name = match handler {
            Errhandler::Fatal | Errhandler::Abort => described(found),
            _ => String::new(),
        };
        (handler, name)
    };
    let (mut word, mut code) = (comm.0, code);
    match handler {
        Errhandler::Return => {}
        Errhandler::Fatal | Errhandler::Abort => process.fatal(&error(), Some(&name)),
        Errhandler::User { function, .. } => {
            let address = core::ptr::with_exposed_provenance::<()>(function);
            // SAFETY: the program passed a function of this type to MPI_Comm_create_errhandler; it is not NULL.
            let function = unsafe { core::mem::transmute::<*const (), UserHandler>(address) };
            // SAFETY: the handler gets the addresses of a handle and a code, as the standard says.
            unsafe { function(&mut word, &mut code) }
        }
    }
}

/// A communicator, for people.
fn described(comm: &Comm) -> String {
    match comm.name() {
        name if name.is_empty() => format!("a communicator of {} processes without a name", comm.size()),
        name => format!("communicator \"{name}\""),
    }
}
