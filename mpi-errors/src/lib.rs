//! Error classes, error codes that keep their instance, and error handlers (MPI-5.0, chapter 9).
//!
//! - [`Error`]: an error with its class, message, call and arguments; one machine word.
//! - [`ErrorClass`]: the classes as an enum, for `match`. [`classes`]: name, text and advice for every error class of the ABI.
//! - `of_program`: errors of programs and of the standard library as [`Error`]s.
//! - [`ErrorCodes`]: positive codes from which an error's text, or at least its class, is found again.
//! - [`AddedCodes`]: classes and codes that programs add.
//! - [`Errhandlers`]: predefined error handlers, and reference-counted handlers of the program.
//! - [`fatal_report`]: the report that a process prints when an error is fatal.
//!
//! Invariant: the code of an error is positive and above `MPI_ERR_LASTCODE`, and its class can always be recovered.
//! Not here: calls of the program's handlers (mpi-capi, with no lock held), the end of the job (mpi-env).

mod added;
pub mod classes;
mod code_layout;
mod codes;
mod errhandler;
mod error;
mod generated;
mod of_program;
mod report;
mod wording;

pub use added::AddedCodes;
pub use code_layout::LAST_INSTANCE_CODE;
pub use codes::{ErrorCodes, own_class};
pub use errhandler::{Attached, Errhandler, Errhandlers, HandlerKind};
pub use error::{Error, Result};
pub use generated::error_class::ErrorClass;
pub use of_program::of_any_result;
pub use report::{Detail, FatalReport, ReportFormat, fatal_report};
pub use wording::{counted, processes, processes_and_ranks};
