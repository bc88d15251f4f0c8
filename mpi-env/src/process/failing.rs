//! The form of warnings and of reports of fatal errors, with and without a process record.
//!
//! Invariant: the settings in file and environment also apply to a process whose record could not be created.
//! Not here: the report's text (mpi-errors), ending the job (`abort`).

use std::io::IsTerminal;
use std::sync::Once;

use mpi_core::json::Object;
use mpi_errors::{Detail, ReportFormat};
use mpi_t::Registry;

use crate::process::global::start_failure;
use crate::process::stderr::print;
use crate::record::error_settings::ErrorSettings;
use crate::record::process::Process;

impl Process {
    /// Prints a warning in the form of error reports.
    pub fn warn(&self, sentence: &str) {
        report(self.errors, "warning", sentence, &[("rank", self.rank().into())]);
    }

    /// Prints a note in the form of error reports.
    pub fn note(&self, sentence: &str) {
        report(self.errors, "note", sentence, &[("rank", self.rank().into())]);
    }
}

/// Prints a message as one line of text, or as one JSON object that also has the kind and these numbers.
pub(crate) fn report(settings: &ErrorSettings, kind: &str, sentence: &str, numbers: &[(&str, i64)]) {
    if !settings.is_json() {
        return print(&format!("Ferrum MPI: {sentence}\n"));
    }
    let object = Object::new().text("source", "library").text("kind", kind);
    let object = numbers.iter().fold(object, |object, (name, number)| object.number(name, *number));
    print(&(object.text("message", sentence).end() + "\n"));
}

/// The form of a report according to these settings.
pub(crate) fn report_format(settings: &ErrorSettings) -> ReportFormat {
    match (settings.is_json(), settings.color.get()) {
        (true, _) => ReportFormat::Json,
        (_, 1) => ReportFormat::Text { color: true },
        (_, 2) => ReportFormat::Text { color: false },
        _ => ReportFormat::Text { color: on_a_terminal() },
    }
}

/// The level of detail of a report according to these settings.
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

/// Prints once why the process record could not be created, for calls that return a code and call no error handler.
/// Prints nothing if the record exists or no call has tried to create it. Thread-safe.
pub fn report_start_failure() {
    static ONCE: Once = Once::new();
    let Some(failure) = start_failure() else { return };
    ONCE.call_once(|| {
        let rank = failure.job.as_ref().map(|(_, rank)| ("rank", i64::from(*rank)));
        let sentence = format!("the tool interface cannot be initialized: {}", failure.text);
        report(settings_without_process(), "not_started", &sentence, rank.as_slice());
    });
}

/// The form of a report of a process without a record, from the settings in file and environment.
pub(crate) fn report_without_process() -> (ReportFormat, Detail) {
    let settings = settings_without_process();
    (report_format(settings), detail(settings))
}

fn settings_without_process() -> &'static ErrorSettings {
    let settings = ErrorSettings::new();
    // An invalid setting is either the failure that is being reported, or has no effect on the report.
    let _ = Registry::from_surroundings().register_settings(settings);
    settings
}
