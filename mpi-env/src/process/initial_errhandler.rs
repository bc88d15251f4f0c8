//! The initial error handler of a process (MPI-5.0, 9.3 and 11.8.4), as the launcher sets it in the environment.
//!
//! Invariant: it also handles errors of a process whose record could not be created.
//! Not here: the handlers of objects (`objects::handlers`).

use std::sync::OnceLock;

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_INFO_VALUE, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use mpi_errors::Error;
use mpi_wireup::INITIAL_ERRHANDLER as INITIAL;

use crate::process::running::parents_errhandler;

/// The names of the initial error handlers; comparison ignores case (MPI-5.0, 11.8.4).
const HANDLERS: [(&str, usize); 3] = [
    ("mpi_errors_are_fatal", MPI_ERRORS_ARE_FATAL),
    ("mpi_errors_abort", MPI_ERRORS_ABORT),
    ("mpi_errors_return", MPI_ERRORS_RETURN),
];

/// The error handler of errors while `MPI_COMM_SELF` does not exist, and the first error handler of the predefined
/// communicators: the one that the launcher set, else `MPI_ERRORS_ARE_FATAL`. Read once; thread-safe.
pub fn initial_errhandler() -> Handle {
    Handle(initial().as_ref().map_or(MPI_ERRORS_ARE_FATAL, |(_, word)| *word))
}

/// Whether calls return their error codes while no process record exists: according to the initial error handler, or,
/// in a child of `fork`, to the handler of its parent's `MPI_COMM_WORLD`: unless that is fatal, they return.
/// Thread-safe.
pub fn returns_errors_without_process() -> bool {
    let handler = parents_errhandler().unwrap_or_else(initial_errhandler);
    !matches!(handler.0, MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT)
}

/// The initial error handler's name in lower case, the value in `MPI_INFO_ENV`.
pub fn initial_errhandler_name() -> &'static str {
    initial().as_ref().map_or(HANDLERS[0].0, |(name, _)| *name)
}

/// An error message if the environment names no valid initial error handler.
pub(crate) fn bad_initial_errhandler() -> Option<String> {
    initial().as_ref().err().cloned()
}

fn initial() -> &'static Result<(&'static str, usize), String> {
    static INITIAL_HANDLER: OnceLock<Result<(&'static str, usize), String>> = OnceLock::new();
    INITIAL_HANDLER.get_or_init(|| match std::env::var_os(INITIAL) {
        None => Ok(HANDLERS[0]),
        Some(value) => named(&value.to_string_lossy()),
    })
}

fn named(value: &str) -> Result<(&'static str, usize), String> {
    known(value).ok_or_else(|| format!("{INITIAL} is {value:?}, but it takes one of {}", all_names()))
}

fn known(value: &str) -> Option<(&'static str, usize)> {
    HANDLERS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(value.trim()))
}

fn all_names() -> String {
    HANDLERS.map(|(name, _)| name).join(", ")
}

/// Checks the value of the info key `mpi_initial_errhandler` of a program to be started. Errors: `MPI_ERR_INFO_VALUE`.
pub(crate) fn check_requested(value: &str) -> Result<(), Error> {
    if known(value).is_some() {
        return Ok(());
    }
    let rule = format!("the info key mpi_initial_errhandler is {value:?}, but it takes one of {}", all_names());
    Err(Error::new(MPI_ERR_INFO_VALUE, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_handlers_are_compared_without_case() {
        assert_eq!(named("MPI_Errors_Return"), Ok(("mpi_errors_return", MPI_ERRORS_RETURN)));
        assert_eq!(named(" mpi_errors_abort ").map(|found| found.1), Ok(MPI_ERRORS_ABORT));
        for wrong in ["", "mpi_errors", "return", "MPI_ERRHANDLER_NULL"] {
            let sentence = named(wrong).expect_err("no name of one");
            assert!(
                sentence.contains(&format!("{wrong:?}")) && sentence.contains("mpi_errors_are_fatal"),
                "{sentence}"
            );
        }
    }
}
