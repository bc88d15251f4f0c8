//! The last calls of a running job with their times, as a file.
//!
//! Invariant: the file appears only if there is something to write. Not here: what is in it (`mpi_observe::timeline`).

use std::fs::File;
use std::path::Path;

use mpi_observe::timeline::Timeline;
use mpi_observe::{job_list, process};

/// Writes the file; returns a sentence on what is in it.
pub fn write(job: Option<&str>, file: &Path) -> Result<String, String> {
    let found = job_list::find(job)?;
    let view = found.job.view();
    let timeline = Timeline::capture(view, &[]);
    let untimed = timeline.untimed().to_vec();
    if timeline.is_empty() {
        return Err(match &untimed[..] {
            [] => "no rank of the job has recorded a call".into(),
            _ => "the ranks record no times: start the job with mpiexec --timeline FILE, or with the control variable \
                  fabric_recorder_times=on (FERRUM_FABRIC_RECORDER_TIMES=on in the environment)"
                .into(),
        });
    }
    let of_rank = |rank: u32| (process::command(view.pid(rank)), None);
    let out = File::create(file).map_err(|error| format!("{file:?} cannot be written: {error}"))?;
    let written = timeline.write(out, &of_rank, "read by mpitop");
    let written = written.map_err(|error| format!("{file:?} could not be written: {error}"))?;
    Ok(written.sentence(file, &untimed) + "\n")
}
