//! Error classes, error codes that keep their instance, and error handlers (MPI-5.0, chapter 9).
//!
//! - [`Error`]: what went wrong, in which call, with which argument; one machine word.
//! - [`classes`]: name and text of every error class of the ABI, and what to try.
//! - [`ErrorCodes`]: positive codes that bring back the instance, or at least its class, for ever.
//! - [`AddedCodes`]: classes and codes that programs add.
//! - [`Errhandlers`]: predefined and user error handlers, counted by who refers to them.
//! - [`fatal_report`]: the block a program leaves behind when an error is fatal.
//!
//! Invariant: a code given out is positive, above `MPI_ERR_LASTCODE`, and its class can always be recovered.
//! Not here: calling a user's handler (mpi-capi does, holding no lock), ending the job (mpi-env).

mod added;
pub mod classes;
mod codes;
mod errhandler;
mod error;
mod report;

pub use added::AddedCodes;
pub use codes::{ErrorCodes, LAST_INSTANCE_CODE, own_class};
pub use errhandler::{Attached, Errhandler, Errhandlers, HandlerKind};
pub use error::{Error, Result};
pub use report::{Detail, FatalReport, ReportFormat, fatal_report};
