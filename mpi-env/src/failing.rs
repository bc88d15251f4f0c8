//! How errors are told: the form of a fatal one's report, and the handler that a process begins with (MPI-5.0, 9.3).
//!
//! Invariant: what the environment says of it holds for a process whose record could not be made, too.
//! Not here: the report's text (mpi-errors), ending the job (`abort`).

use std::io::IsTerminal;
use std::sync::OnceLock;

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use mpi_errors::ReportFormat;
use mpi_t::EnumDef;

/// The environment variable that names the initial error handler; `mpiexec --initial-errhandler` sets it.
pub(crate) const INITIAL: &str = "FERRUM_INITIAL_ERRHANDLER";

/// The names of the initial error handlers, which are compared without regard to case (MPI-5.0, 11.8.4).
const HANDLERS: [(&str, usize); 3] = [
    ("mpi_errors_are_fatal", MPI_ERRORS_ARE_FATAL),
    ("mpi_errors_abort", MPI_ERRORS_ABORT),
    ("mpi_errors_return", MPI_ERRORS_RETURN),
];

const FORMATS: EnumDef = EnumDef { name: "error_format", items: &[(0, "text"), (1, "json")] };
const COLORS: EnumDef = EnumDef { name: "error_color", items: &[(0, "auto"), (1, "on"), (2, "off")] };

mpi_t::cvars! {
    /// How a fatal error is told.
    pub struct ErrorSettings {
        /// The form of the report that a fatal error leaves on the standard error output: lines for people, or one
        /// JSON object on one line with the same facts. `mpiexec --error-format` sets it for all processes.
        pub format: i32 = 0 =>
            { name: "error_format", unit: "", category: "errors", scope: Local, states: &FORMATS },
        /// Whether the report has colours. With auto it has them on a terminal, unless NO_COLOR is set.
        pub color: i32 = 0 =>
            { name: "error_color", unit: "", category: "errors", scope: Local, states: &COLORS },
    }
}

impl ErrorSettings {
    /// The form that is set.
    pub(crate) fn report(&self) -> ReportFormat {
        match (self.format.get(), self.color.get()) {
            (1, _) => ReportFormat::Json,
            (_, 1) => ReportFormat::Text { color: true },
            (_, 2) => ReportFormat::Text { color: false },
            _ => ReportFormat::Text { color: on_a_terminal() },
        }
    }
}

fn on_a_terminal() -> bool {
    let refused = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !refused("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The form of a report when there is no record whose settings could say: as the environment has it.
pub(crate) fn report_without_process() -> ReportFormat {
    let is =
        |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value.trim().eq_ignore_ascii_case(wanted));
    match () {
        () if is("FERRUM_ERROR_FORMAT", "json") || is("FERRUM_ERROR_FORMAT", "1") => ReportFormat::Json,
        () if is("FERRUM_ERROR_COLOR", "on") => ReportFormat::Text { color: true },
        () if is("FERRUM_ERROR_COLOR", "off") => ReportFormat::Text { color: false },
        () => ReportFormat::Text { color: on_a_terminal() },
    }
}

/// The error handler that takes errors while there is no `MPI_COMM_SELF`, and that the predefined communicators begin
/// with: as the launcher said, else `MPI_ERRORS_ARE_FATAL`. Read once; thread-safe.
pub fn initial_errhandler() -> Handle {
    Handle(initial().as_ref().map_or(MPI_ERRORS_ARE_FATAL, |(_, word)| *word))
}

/// The initial error handler's name in lower case, as `MPI_INFO_ENV` has it.
pub fn initial_errhandler_name() -> &'static str {
    initial().as_ref().map_or(HANDLERS[0].0, |(name, _)| *name)
}

/// The sentence on a name in the environment that is no initial error handler's.
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
    let name = value.trim();
    let found = HANDLERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| {
        format!("{INITIAL} is \"{value}\", but it takes one of {}, {}, {}", HANDLERS[0].0, HANDLERS[1].0, HANDLERS[2].0)
    })
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
                sentence.contains(&format!("\"{wrong}\"")) && sentence.contains("mpi_errors_are_fatal"),
                "{sentence}"
            );
        }
    }
}
