//! Running a job: start the ranks, pass on what they say and what they are told, end all of them, tell the outcome.
//!
//! One thread, one `poll` loop (`supervise`) over signals and streams. Nothing in it blocks: what cannot be written
//! now is queued, and a full queue stops the reading of what would fill it further.
//!
//! - `spawn`: from a program's name to a running process with its environment.
//! - `guard`: a small process that ends the job when `mpiexec` itself is killed.
//! - `streams`: forwarding by lines.
//! - `outcome`: which rank failed first, and the sentence about it.
//! - `os`: the system calls of all of these.

mod guard;
mod os;
mod outcome;
mod program;
mod spawn;
mod streams;
mod supervise;
mod terminal;

use std::ffi::OsString;
use std::io::Write;

use mpi_fabric::{Job, JobOptions, host};

use crate::args::{self, Command, Run};

/// Exit code for a malformed command line or environment.
const USAGE: i32 = 2;
/// Exit code when the launcher itself cannot do its work.
const TROUBLE: i32 = 1;

/// Environment variable with the length of a ring in bytes.
const RING_BYTES: &str = "FERRUM_RING_BYTES";

/// Runs `mpiexec` with a command line (without its own name) and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    match args::parse(arguments) {
        Ok(Command::Help) => print(args::HELP),
        Ok(Command::Version) => print(&format!("mpiexec (Ferrum MPI) {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Command::Run(run)) => launch(&run),
        Err(error) => complain(USAGE, &error),
    }
}

fn print(text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => TROUBLE,
    }
}

/// One line on standard error, and the exit code that goes with it.
fn complain(code: i32, what: &dyn std::fmt::Display) -> i32 {
    // Nobody to tell if standard error is closed.
    let _ = writeln!(std::io::stderr(), "mpiexec: {what}");
    code
}

fn launch(run: &Run) -> i32 {
    let ring_bytes = match ring_bytes(std::env::var_os(RING_BYTES)) {
        Ok(bytes) => bytes,
        Err(error) => return complain(USAGE, &error),
    };
    let program = match program::find(&run.program) {
        Ok(path) => path,
        Err(error) => return complain(error.exit_code(), &error),
    };
    let options = JobOptions { ranks: run.processes, ring_bytes, cores: host::usable_cores() };
    let job = match Job::create(&options) {
        Ok(job) => job,
        Err(error) => return complain(TROUBLE, &error),
    };
    match supervise::run(run, &program, &job) {
        Ok(code) => code,
        Err(error) => complain(error.exit_code(), &error),
    }
}

/// Reads the ring length; `Job::create` checks its range again, together with the number of ranks.
fn ring_bytes(value: Option<OsString>) -> Result<Option<usize>, String> {
    use mpi_fabric::layout::{MAX_RING_BYTES, MIN_RING_BYTES};
    let Some(value) = value else { return Ok(None) };
    let bytes = value.to_str().and_then(|text| text.parse::<usize>().ok());
    match bytes.filter(|n| n.is_power_of_two() && (MIN_RING_BYTES..=MAX_RING_BYTES).contains(n)) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(format!(
            "{RING_BYTES} is {value:?}, but has to be a power of two from {MIN_RING_BYTES} to {MAX_RING_BYTES}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_lengths_are_powers_of_two_in_range() {
        assert_eq!(ring_bytes(None), Ok(None));
        assert_eq!(ring_bytes(Some("65536".into())), Ok(Some(65536)));
        for bad in ["", "x", "65537", "8192", "33554432", "-65536", "99999999999999999999999"] {
            assert!(ring_bytes(Some(bad.into())).unwrap_err().contains(RING_BYTES), "{bad}");
        }
    }
}
