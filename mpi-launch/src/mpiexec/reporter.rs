//! The reports of `mpiexec`: one line each on standard error, as text or JSON.

use std::io::Write;

use super::cvar_values::CvarValues;
use crate::args::Options;
use mpi_core::json::Object;
use mpi_observe::hang::HangReport;

/// Which reports are written, and in which form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reporter {
    quiet: bool,
    verbose: bool,
    json: bool,
    /// The name of the job, if another one spawned it.
    job: Option<&'static str>,
}

impl Reporter {
    /// By the options and the values of control variables.
    pub(super) fn new(options: &Options, values: &CvarValues) -> Reporter {
        let json = values.followed.json;
        Reporter { quiet: options.quiet, verbose: options.verbose && !options.quiet, json, job: None }
    }

    /// The same for a spawned job with this name.
    pub(super) fn for_job(self, name: &str) -> Reporter {
        // One name in the life of the process.
        Reporter { job: Some(String::leak(name.to_owned())), ..self }
    }

    /// The name of the job, if another one spawned it.
    pub(super) fn job(&self) -> Option<&'static str> {
        self.job
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
        self.say("warning", text);
    }

    /// A sentence of some kind.
    pub(super) fn say(&self, kind: &str, text: &str) {
        if !self.quiet && self.json {
            let object = Object::new().text("source", "mpiexec").text("kind", kind).text("message", text);
            write(&self.whole(object));
        } else if !self.quiet {
            write(&format!("{}{text}", self.beginning()));
        }
    }

    /// An analysis of a job that continues, behind these words.
    pub(super) fn note(&self, kind: &str, words: &str, report: &HangReport) {
        if !self.quiet && self.json {
            let object = report.fields(Object::new().text("source", "mpiexec").text("kind", kind));
            write(&self.whole(object.text("message", &format!("{words}{}", report.cause))));
        } else if !self.quiet {
            write(&format!("{}{words}{}", self.beginning(), report.lines().join("\n")));
        }
    }

    /// A report for verbose runs only.
    pub(super) fn verbose(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            write(&format!("{}{}", self.beginning(), text()));
        }
    }

    fn report(&self, code: i32, sentence: &str, facts: impl FnOnce(Object) -> Object) {
        match self.json {
            true => {
                let object = facts(Object::new().text("source", "mpiexec"));
                write(&self.whole(object.number("exit_code", code).text("message", sentence)));
            }
            false => write(&format!("{}{sentence}", self.beginning())),
        }
    }

    fn whole(&self, object: Object) -> String {
        match self.job {
            Some(name) => object.text("job", name).end(),
            None => object.end(),
        }
    }

    fn beginning(&self) -> String {
        self.job.map_or_else(|| "mpiexec: ".into(), |name| format!("mpiexec: spawned job {name}: "))
    }
}

/// One line in one write.
fn write(line: &str) {
    // If standard error is closed there is no place for a report.
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
