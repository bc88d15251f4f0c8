//! `mpitop`: the ranks of a running job, live on a terminal, once as text or JSON, or as metrics for a monitoring system.
//!
//! - `args`: the command line. `rows`: what is shown of each rank, and its order.
//! - `screen`, `request`, `ranks_screen`, `jobs_screen`: the live view. `fit`: what of it fits the terminal. `once`: the same as text or JSON.
//! - `why`: who waits for whom. `timeline`: the last calls with their times.
//! - `metrics`: OpenMetrics. `serve`: the same over HTTP.
//!
//! Invariant: only reads; a job is not slowed, and whatever its memory contains, the program ends with a sentence or goes
//! on. Not here: finding and reading jobs (`mpi-observe`).

mod args;
mod fit;
mod jobs_screen;
mod metrics;
mod once;
mod ranks_screen;
mod request;
mod rows;
mod screen;
mod serve;
mod timeline;
mod why;

use std::io::Write;
use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let outcome = match args::parse() {
        Command::List { json } => once::list(json).and_then(print),
        Command::Once { job, json, interval } => once::ranks(job.as_deref(), json, interval).and_then(print),
        Command::Why { job, json } => why::print(job.as_deref(), json).and_then(print),
        Command::Timeline { job, file } => timeline::write(job.as_deref(), &file).and_then(print),
        Command::Metrics { job } => metrics::once(job.as_deref()).and_then(print),
        Command::Serve { job, address } => serve::run(job.as_deref(), address),
        Command::Screen { job, interval } => screen::run(job.as_deref(), interval),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("mpitop: {sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Writes a text; a reader that has ended is no failure.
fn print(text: String) -> Result<(), String> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("the output cannot be written: {error}"))
        }
        _ => Ok(()),
    }
}
