//! What `mpiexec` itself says: one line on standard error, in the form asked for.

use std::ffi::OsString;
use std::io::Write;

use super::json::Object;
use crate::args::Options;

/// How to say it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Voice {
    quiet: bool,
    verbose: bool,
    json: bool,
}

impl Voice {
    pub(super) fn new(options: &Options, json: bool) -> Voice {
        Voice { quiet: options.quiet, verbose: options.verbose && !options.quiet, json }
    }

    /// For what is said before all is read that could say how: as the environment or one of these words has it.
    pub(super) fn early(words: &[OsString]) -> Voice {
        let set = std::env::var("FERRUM_ERROR_FORMAT").is_ok_and(|value| is_json(value.trim()));
        let json = words.iter().enumerate().rev().find_map(|(at, word)| {
            let (name, value) = match word.to_str()?.split_once('=') {
                Some((name, value)) => (name, value),
                None => (word.to_str()?, words.get(at + 1)?.to_str()?),
            };
            matches!(name, "--error-format" | "-error-format").then(|| is_json(value))
        });
        Voice { json: json.unwrap_or(set), ..Voice::default() }
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

fn is_json(value: &str) -> bool {
    value.eq_ignore_ascii_case("json") || value == "1"
}

/// One line in one piece.
fn write(line: &str) {
    // Nobody to tell if standard error is closed.
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}
