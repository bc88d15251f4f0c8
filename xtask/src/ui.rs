//! Output for the user: one progress line on a terminal, plain lines elsewhere.
//!
//! Invariant: the progress line is cleared before any other line is printed.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::time::Instant;

/// Announces a step that takes a while.
pub fn step(text: impl std::fmt::Display) {
    clear();
    eprintln!("==> {text}");
}

/// A line of result or explanation under the current step.
pub fn note(text: impl std::fmt::Display) {
    clear();
    eprintln!("    {text}");
}

/// Writes a line of what the command was asked for to standard output. The command ends with status 1 when nobody reads
/// it any more.
pub fn answer(text: impl std::fmt::Display) {
    if let Err(error) = writeln!(stdout(), "{text}") {
        if error.kind() != ErrorKind::BrokenPipe {
            eprintln!("xtask: cannot write to standard output: {error}");
        }
        std::process::exit(1);
    }
}

/// Clears the progress line.
pub fn clear() {
    if stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

/// Progress through a known number of parts. Printed on a terminal only.
pub struct Progress {
    total: usize,
    done: usize,
    start: Instant,
}

impl Progress {
    /// Starts at zero of `total` parts.
    pub fn new(total: usize) -> Progress {
        Progress { total, done: 0, start: Instant::now() }
    }

    /// Shows the part that runs now; the previous one counts as done.
    pub fn part(&mut self, name: &str) {
        if stderr().is_terminal() {
            eprint!("\r\x1b[K    [{}/{}, {} s] {name}", self.done, self.total, self.start.elapsed().as_secs());
            // A closed terminal needs no progress.
            let _ = stderr().flush();
        }
        self.done += 1;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        clear();
    }
}
