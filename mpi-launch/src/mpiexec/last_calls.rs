//! `--timeline`: the last calls of the ranks with their times, as a file, when the job has failed or makes no progress.
//!
//! Invariant: nothing is written of a job that has succeeded. Not here: what is read and written (`mpi_observe::timeline`).

use std::fs::File;
use std::path::Path;

use mpi_fabric::{Job, recorder};
use mpi_observe::JobView;
use mpi_observe::timeline::Timeline;
use mpi_t::{Cell, Value};

use super::cvar_values::CvarValues;
use super::os::check_writable;
use super::plan::Plan;
use super::refusal::Refusal;
use super::reporter::Reporter;
use crate::args::Options;

/// Calls that ranks record with `--timeline`, unless another number is set.
const DEPTH: &str = "512";

/// Sets the control variables that a timeline needs; values of the command line come later and count.
pub(super) fn set_variables(options: &mut Options, values: &CvarValues) {
    if options.timeline.is_none() {
        return;
    }
    let mut own = vec![("fabric_recorder_times".to_owned(), "on".to_owned())];
    if values.followed.fabric.recorder_depth.read() == Value::U64(recorder::DEPTH) {
        own.push(("fabric_recorder_depth".to_owned(), DEPTH.to_owned()));
    }
    options.cvars.splice(0..0, own);
}

/// Refuses a file that cannot be written; one that was not there is not left.
pub(super) fn check(options: &Options) -> Result<(), Refusal> {
    let Some(path) = &options.timeline else { return Ok(()) };
    let was_there = path.exists();
    check_writable(path).map_err(|error| Refusal::Timeline(path.clone(), error))?;
    if !was_there {
        // A file that stays is empty.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Writes the file, and reports what is in it. `shifts`: by rank, from the clock of its host to a common one.
pub(super) fn write(path: &Path, job: &Job, plan: &Plan<'_>, reporter: Reporter, (moment, shifts): (&str, &[i64])) {
    let timeline = Timeline::capture(JobView::of(job), shifts);
    let untimed = timeline.untimed().to_vec();
    if timeline.is_empty() {
        let why = if untimed.is_empty() { "no rank has recorded a call" } else { "no rank has recorded times" };
        return reporter.warn(&format!("--timeline: nothing is written: {why}"));
    }
    let host_of = |rank: u32| plan.placement.as_ref().map(|_| plan.host_of(rank));
    let of_rank = |rank: u32| (plan.program_of(rank).to_string_lossy().into_owned(), host_of(rank));
    match File::create(path).and_then(|file| timeline.write(file, &of_rank, moment)) {
        Ok(written) => reporter.say("timeline", &written.sentence(path, &untimed)),
        Err(error) => reporter.warn(&format!("--timeline {path:?} could not be written: {error}")),
    }
}
