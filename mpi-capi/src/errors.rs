//! From an error to its code: which handler takes it, and calling that (MPI-5.0, 9.3).
//!
//! Invariant: a user's handler is called while no lock of the library is held.
//! Not here: the table of handlers (mpi-errors), which communicator has which (mpi-comm).

use core::ffi::c_int;

use mpi_core::{Handle, abi, functions};
use mpi_env::Process;
use mpi_errors::{Errhandler, Error};

/// What an implementation returns.
pub type Outcome = Result<(), Raised>;

/// An error on its way to a handler.
#[derive(Debug)]
pub struct Raised {
    error: Error,
    /// The context of the operation that failed, where that is not the call's own communicator.
    context: Option<u32>,
}

impl From<Error> for Raised {
    #[cold]
    fn from(error: Error) -> Raised {
        Raised { error, context: None }
    }
}

impl Raised {
    /// An error of an operation that was started on the communicator with this context.
    #[cold]
    pub fn on_context(error: Error, context: Option<u32>) -> Raised {
        Raised { error, context }
    }
}
