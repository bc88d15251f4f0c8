//! What `mpiexec` itself says: one line on standard error, in the form asked for.

use std::io::Write;

use super::surroundings::Surroundings;
use crate::args::Options;
use mpi_core::json::Object;

/// How to say it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Voice {
    quiet: bool,
    verbose: bool,
    json: bool,
}

impl Voice {
    /// As these options and what surrounds them ask for.
    pub(super) fn new(options: &Options, surroundings: &Surroundings) -> Voice {
        let json = surroundings.known.json;
        Voice { quiet: options.quiet, verbose: options.verbose && !options.quiet, json }
    }

    /// Whether it speaks in objects.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Why nothing was started; said even if nothing else is to be.
    pub(super) fn refuse(&self, code: i32, what: &dyn std::fmt::Display) -> i32 {
        self.say(code, &what.to_string(), |object| object.text("kind", "refused"));
        code
    }

    /// How a job failed: a sentence, and what a program that reads it gets beside the sentence.
    pub(super) fn fail(&self, code: i32, sentence: &str, facts: impl FnOnce(Object) -> Object) -> i32 {
        if !self.quiet {
            self.say(code, sentence, facts);
        }
        code
    }

    /// What the user should know although nothing has failed.
    pub(super) fn warn(&self, text: &str) {
        if !self.quiet && self.json {
            write(&Object::new().text("source", "mpiexec").text("kind", "warning").text("message", text).end());
        } else if !self.quiet {
            write(&format!("mpiexec: {text}"));
        }
    }

    /// What is said only when much is to be said.
    pub(super) fn tell(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            write(&format!("mpiexec: {}", text()));
        }
    }

    fn say(&self, code: i32, sentence: &str, facts: impl FnOnce(Object) -> Object) {
        match self.json {
            true => {
                let object = facts(Object::new().text("source", "mpiexec"));
                write(&object.number("exit_code", code).text("message", sentence).end());
            }
            false => write(&format!("mpiexec: {sentence}")),
        }
    }
}

/// One line in one piece.
fn write(line: &str) {
    // Nobody to tell if standard error is closed.
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
