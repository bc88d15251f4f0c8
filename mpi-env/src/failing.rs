//! How errors are told: the form of a fatal one's report, and the handler that a process begins with (MPI-5.0, 9.3).
//!
//! Invariant: what the environment says of it holds for a process whose record could not be made, too.
//! Not here: the report's text (mpi-errors), ending the job (`abort`).

use std::io::IsTerminal;
use std::sync::{Once, OnceLock};

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use mpi_core::json::Object;
use mpi_errors::{Detail, ReportFormat};
use mpi_t::Registry;
use mpi_wireup::INITIAL_ERRHANDLER as INITIAL;

use crate::abort::say;
use crate::error_settings::ErrorSettings;
use crate::global::{parents_errhandler, start_failure};
use crate::process::Process;

/// The names of the initial error handlers, which are compared without regard to case (MPI-5.0, 11.8.4).
const HANDLERS: [(&str, usize); 3] = [
    ("mpi_errors_are_fatal", MPI_ERRORS_ARE_FATAL),
    ("mpi_errors_abort", MPI_ERRORS_ABORT),
    ("mpi_errors_return", MPI_ERRORS_RETURN),
];

impl Process {
    /// Writes what the user should know although nothing has failed, in the form of reports.
    pub fn warn(&self, sentence: &str) {
        tell(self.errors, "warning", sentence, &[("rank", self.rank().into())]);
    }
}

/// One line, or one object with the kind and these numbers as well.
pub(crate) fn tell(settings: &ErrorSettings, kind: &str, sentence: &str, numbers: &[(&str, i64)]) {
    if !settings.is_json() {
        return say(&format!("Ferrum MPI: {sentence}\n"));
    }
    let object = Object::new().text("source", "library").text("kind", kind);
    let object = numbers.iter().fold(object, |object, (name, number)| object.number(name, *number));
    say(&(object.text("message", sentence).end() + "\n"));
}

/// The form of a report that these settings ask for.
pub(crate) fn report_format(settings: &ErrorSettings) -> ReportFormat {
    match (settings.is_json(), settings.color.get()) {
        (true, _) => ReportFormat::Json,
        (_, 1) => ReportFormat::Text { color: true },
        (_, 2) => ReportFormat::Text { color: false },
        _ => ReportFormat::Text { color: on_a_terminal() },
    }
}

/// How much of an error these settings let be told.
pub(crate) fn detail(settings: &ErrorSettings) -> Detail {
    match settings.verbosity.get() {
        0 => Detail::Brief,
        2 => Detail::Full,
        _ => Detail::Normal,
    }
}

fn on_a_terminal() -> bool {
    let refused = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !refused("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Reports, once, why the process could not be made: for calls that have a code to return and no error handler to call.
/// Nothing when it could be made, or nobody has tried. Thread-safe.
pub fn report_start_failure() {
    static ONCE: Once = Once::new();
    let Some(failure) = start_failure() else { return };
    ONCE.call_once(|| {
        let rank = failure.job.as_ref().map(|(_, rank)| ("rank", i64::from(*rank)));
        let sentence = format!("the tool interface cannot be initialized: {}", failure.text);
        tell(settings_without_process(), "not_started", &sentence, rank.as_slice());
    });
}

/// The form of a report when there is no record whose settings could say: as file and environment have it.
pub(crate) fn report_without_process() -> (ReportFormat, Detail) {
    let settings = settings_without_process();
    (report_format(settings), detail(settings))
}

fn settings_without_process() -> &'static ErrorSettings {
    let settings = ErrorSettings::new();
    // What cannot be taken is the failure to be reported, or is beside it.
    let _ = Registry::from_surroundings().register_settings(settings);
    settings
}

/// The error handler that takes errors while there is no `MPI_COMM_SELF`, and that the predefined communicators begin
/// with: as the launcher said, else `MPI_ERRORS_ARE_FATAL`. Read once; thread-safe.
pub fn initial_errhandler() -> Handle {
    Handle(initial().as_ref().map_or(MPI_ERRORS_ARE_FATAL, |(_, word)| *word))
}

/// Whether errors of calls return while there is no process record: as the initial error handler says, and in a child of
/// `fork` unless errors of its parent's `MPI_COMM_WORLD` are fatal. Thread-safe.
pub fn returns_errors_without_process() -> bool {
    let handler = parents_errhandler().unwrap_or_else(initial_errhandler);
    !matches!(handler.0, MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT)
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
