//! Running a job: start the ranks, pass on what they say and what they are told, end all of them, tell the outcome.
//!
//! One thread, one `poll` loop (`supervise`) over signals and streams. Nothing in it blocks: what cannot be written
//! now is queued, and a full queue stops the reading of what would fill it further.
//!
//! - `surroundings`: the values that control variables are given. `describe`: the lists of variables.
//! - `plan`: programs found, places checked, ranks counted, before anything starts (`program`, `place`, `memory`,
//!   `bind`).
//! - `start`, `spawn`, `environment`: from a plan to running processes.
//! - `guard`: a small process that ends the job when `mpiexec` itself is killed.
//! - `streams`, `input`: forwarding what ranks write, by lines, and what they read.
//! - `ending`, `outcome`, `activity`: when the job ends, which rank failed first, and the sentence about it.
//! - `voice`, `refusal`: what is said, and how.
//! - `os`: the system calls of all of these.

mod activity;
mod bind;
mod describe;
mod ending;
mod environment;
mod guard;
mod input;
mod memory;
mod os;
mod outcome;
mod place;
mod plan;
mod program;
mod refusal;
mod spawn;
mod start;
mod streams;
mod supervise;
mod surroundings;
mod voice;

use std::ffi::OsString;
use std::io::Write;

use mpi_fabric::{Job, JobOptions, host};

use crate::args::{self, Command, Run};
use crate::generated::CATALOG;
use plan::Plan;
use refusal::Refusal;
use surroundings::Surroundings;
use voice::Voice;

/// Exit code for a malformed command line or environment.
const USAGE: i32 = 2;
/// Exit code when the launcher itself cannot do its work.
const TROUBLE: i32 = 1;

/// Runs `mpiexec` with a command line (without its own name) and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    match args::parse(words.iter().cloned(), &|file| std::fs::read(file)) {
        Ok(Command::Help) => print(args::HELP),
        Ok(Command::List(what, words)) => match describe::list(what, &words) {
            Some(text) => print(&text),
            None => Voice::default().refuse(TROUBLE, &format!("nothing contains all of: {}", words.join(" "))),
        },
        Ok(Command::Version) => print(&format!("mpiexec (Ferrum MPI) {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Command::Run(mut run)) => {
            let mut surroundings = Surroundings::read(&run.options);
            let voice = Voice::new(&run.options, &surroundings);
            if run.options.timeout.is_none() {
                match args::time_limit(std::env::var_os(args::TIME_LIMIT)) {
                    Ok(limit) => run.options.timeout = limit,
                    Err(sentence) => surroundings.faults.push(sentence),
                }
            }
            if surroundings.faults.is_empty() {
                return launch(&run, surroundings, voice)
                    .unwrap_or_else(|error| voice.refuse(error.exit_code(), &error));
            }
            surroundings.faults.iter().fold(USAGE, |code, fault| voice.refuse(code, fault))
        }
        // What else stands there says how the mistake is told, and may have mistakes of its own.
        Err(error) => {
            let options = args::options_of(words);
            let surroundings = Surroundings::read(&options);
            let voice = Voice::new(&options, &surroundings);
            let code = voice.refuse(USAGE, &error);
            surroundings.faults.iter().fold(code, |code, fault| voice.refuse(code, fault))
        }
    }
}

fn print(text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => TROUBLE,
    }
}

fn launch(run: &Run, surroundings: Surroundings, voice: Voice) -> Result<i32, Refusal> {
    let ring_bytes = surroundings.known.fabric.ring_length();
    let statistics = surroundings.known.statistics;
    let plan = Plan::new(run, surroundings.file)?;
    plan.warnings.iter().for_each(|warning| voice.warn(warning));
    let options = JobOptions { ranks: plan.ranks, ring_bytes, cores: host::usable_cores() };
    let job = Job::create(&options).map_err(|error| Refusal::Job(error.to_string()))?;
    let code = supervise::run(&plan, &run.options, &job, voice)?;
    let state_name = |variable: &str, value| CATALOG.state_name(variable, value);
    Ok(match statistics.write(&job, &state_name) {
        Ok(()) => code,
        Err(sentence) if code == 0 => voice.fail(TROUBLE, &sentence, |object| object.text("kind", "output_lost")),
        // The job's own failure counts.
        Err(sentence) => {
            voice.warn(&sentence);
            code
        }
    })
}
