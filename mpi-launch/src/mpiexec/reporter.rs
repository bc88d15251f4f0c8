//! The reports of `mpiexec`: one line each on standard error, as text or JSON.

use std::io::Write;

use super::cvar_values::CvarValues;
use crate::args::Options;
use mpi_core::json::Object;

/// Which reports are written, and in which form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reporter {
    quiet: bool,
    verbose: bool,
    json: bool,
}

impl Reporter {
    /// By the options and the values of control variables.
    pub(super) fn new(options: &Options, values: &CvarValues) -> Reporter {
        let json = values.followed.json;
        Reporter { quiet: options.quiet, verbose: options.verbose && !options.quiet, json }
    }

    /// Whether reports are JSON.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Reports why no process was started; also in quiet runs.
    pub(super) fn refuse(&self, code: i32, what: &dyn std::fmt::Display) -> i32 {
        self.report(code, &what.to_string(), |object| object.text("kind", "refused"));
        code
    }

    /// Reports how a job failed: a sentence, and the further fields of JSON.
    pub(super) fn fail(&self, code: i32, sentence: &str, facts: impl FnOnce(Object) -> Object) -> i32 {
        if !self.quiet {
            self.report(code, sentence, facts);
        }
        code
    }

    /// A warning.
    pub(super) fn warn(&self, text: &str) {
        if !self.quiet && self.json {
            write(&Object::new().text("source", "mpiexec").text("kind", "warning").text("message", text).end());
        } else if !self.quiet {
            write(&format!("mpiexec: {text}"));
        }
    }

    /// A report for verbose runs only.
    pub(super) fn verbose(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            write(&format!("mpiexec: {}", text()));
        }
    }

    fn report(&self, code: i32, sentence: &str, facts: impl FnOnce(Object) -> Object) {
        match self.json {
            true => {
                let object = facts(Object::new().text("source", "mpiexec"));
                write(&object.number("exit_code", code).text("message", sentence).end());
            }
            false => write(&format!("mpiexec: {sentence}")),
        }
    }
}

/// One line in one write.
fn write(line: &str) {
    // If standard error is closed there is no place for a report.
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
