//! Running a job: start the ranks, forward their output, input and signals, end all of them, report the outcome.
//!
//! One thread, one `poll` loop (`supervise`) over signals and streams. Nothing in it blocks: output that cannot be
//! written yet is queued, and a full queue stops the reading of its sources.
//!
//! - `cvar_values`: the values of control variables. `describe`: the lists of variables.
//! - `plan`: programs found, hosts checked, ranks counted, before anything starts (`program`, `local_host`,
//!   `bind`).
//! - `start`, `spawn`, `environment`: from a plan to running processes.
//! - `tools`, `elf`: the tools in front of the library. `recordings`, `profile_table`: `--profile` and `--trace`.
//! - `last_calls`: `--timeline`.
//! - `stats`: the summary of `--stats`.
//! - `spawned`, `child_job`: jobs that ranks spawn, each with an `mpiexec` of its own.
//! - `placement`, `nodelist`: which rank is on which host. `over_hosts`: jobs on several hosts.
//! - `guard`: a small process that ends the job when `mpiexec` itself is killed.
//! - `streams`, `input`: forwarding what ranks write, by lines, and what they read.
//! - `ending`, `outcome`, `activity`: when the job ends, which rank failed first, and the sentence about it.
//! - `mpir`: the table of processes for debuggers.
//! - `hang`: reports on jobs that make no progress.
//! - `reporter`, `refusal`: the reports.
//! - `os`: the system calls of all of these.

mod activity;
mod bind;
mod child_job;
mod cvar_values;
mod debugging;
mod describe;
mod elf;
mod ending;
mod environment;
mod guard;
mod hang;
mod input;
mod last_calls;
mod local_host;
mod memory_limit;
mod mpir;
mod nodelist;
mod os;
mod outcome;
mod over_hosts;
mod placement;
mod plan;
mod profile_table;
mod program;
mod recordings;
mod refusal;
mod reporter;
mod spawn;
mod spawned;
mod start;
mod stats;
mod streams;
mod supervise;
mod tools;

use std::ffi::OsString;
use std::io::Write;
use std::time::Instant;

use mpi_fabric::{Job, JobOptions, host};
use mpi_observe::JobView;
use mpi_observe::summary::Summary;
use mpi_wireup::SERVE_SPAWN;

use crate::args::{self, Command, Run};
use crate::generated::CATALOG;
use child_job::Parent;
use cvar_values::CvarValues;
use plan::Plan;
use recordings::Recordings;
use refusal::Refusal;
use reporter::Reporter;

#[cfg(fuzzing)]
pub use over_hosts::fuzzed;

/// Exit code for a malformed command line or environment.
const USAGE: i32 = 2;
/// Exit code when the launcher itself cannot do its work.
const TROUBLE: i32 = 1;

/// Runs `mpiexec` with a command line (without its own name) and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    if let [option, descriptor] = &*words
        && option == SERVE_SPAWN
    {
        return child_job::serve(descriptor);
    }
    if let [option, variable] = &*words
        && option == over_hosts::SERVE_HOST
    {
        return over_hosts::serve(variable);
    }
    match args::parse(words.iter().cloned(), &args::read_file) {
        Ok(Command::Help) => print(args::HELP),
        Ok(Command::List(what, words)) => match describe::list(what, &words) {
            Some(text) => print(&text),
            None => Reporter::default().refuse(TROUBLE, &format!("nothing contains all of: {}", words.join(" "))),
        },
        Ok(Command::Version) => print(&format!("mpiexec (Ferrum MPI) {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Command::Run(mut run)) => {
            let mut values = CvarValues::read(&run.options);
            let reporter = Reporter::new(&run.options, &values);
            if run.options.timeout.is_none() {
                match args::time_limit(std::env::var_os(args::TIME_LIMIT)) {
                    Ok(limit) => run.options.timeout = Some(limit),
                    Err(sentence) => values.faults.push(sentence),
                }
            }
            if run.options.manager.is_none() {
                match args::manager_of(std::env::var_os(args::MANAGER)) {
                    Ok(manager) => run.options.manager = manager,
                    Err(sentence) => values.faults.push(sentence),
                }
            }
            if values.faults.is_empty() {
                last_calls::set_variables(&mut run.options, &values);
                return launch(&run, values, reporter, None)
                    .unwrap_or_else(|error| reporter.refuse(error.exit_code(), &error));
            }
            values.faults.iter().fold(USAGE, |code, fault| reporter.refuse(code, fault))
        }
        // The other options select the form of the report, and may have mistakes of their own.
        Err(error) => {
            let options = args::options_of(words);
            let values = CvarValues::read(&options);
            let reporter = Reporter::new(&options, &values);
            let code = reporter.refuse(USAGE, &error);
            values.faults.iter().fold(code, |code, fault| reporter.refuse(code, fault))
        }
    }
}

/// The limit of memory of the control groups that this process is in, in bytes; `None` without one.
pub fn memory_limit() -> Option<u64> {
    memory_limit::Memory::of_this_process().map(|memory| memory.limit)
}

fn print(text: &str) -> i32 {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => TROUBLE,
    }
}

/// Runs a job, which another one has spawned if there is a parent; returns the exit code.
fn launch(run: &Run, values: CvarValues, reporter: Reporter, parent: Option<&mut Parent>) -> Result<i32, Refusal> {
    let ring_bytes = values.followed.fabric.ring_length();
    let statistics = values.followed.statistics;
    // Also of a job on this host: what its processes spawn, and what they read themselves, has it.
    over_hosts::silence_limit().map_err(Refusal::Variable)?;
    // A job that is spawned gets the hosts of one on several hosts, and is on this host otherwise.
    let has_hosts = parent.is_none() || run.options.hostfile.is_some();
    let placement = match has_hosts {
        true => placement::placement(run)?,
        false => {
            run.groups.iter().filter_map(|group| group.host.as_deref()).try_for_each(local_host::check_host)?;
            None
        }
    };
    let plan = match placement {
        None => Plan::new(run, values.file, None)?,
        Some(placement) => Plan::over_hosts(run, values.file, placement)?,
    };
    plan.warnings.iter().for_each(|warning| reporter.warn(warning));
    if plan.placement.is_some() && run.options.gdb.is_some() {
        reporter.warn("--gdb has no effect in a job on several hosts");
    }
    let options = JobOptions { ranks: plan.ranks, ring_bytes, cores: host::usable_cores() };
    let job = if plan.placement.is_none() { Job::create(&options) } else { Job::copies(plan.ranks) };
    let job = job.map_err(|error| Refusal::Job(error.to_string()))?;
    if run.options.stats.is_some() && plan.placement.is_none() {
        job.keep_peaks();
    }
    let recordings = Recordings::new(&run.options, plan.ranks)?;
    last_calls::check(&run.options)?;
    let started = Instant::now();
    let over_hosts::Outcome { code, shifts } = match plan.placement {
        None => {
            let code = supervise::run(&plan, &run.options, &job, &recordings, reporter, parent)?;
            over_hosts::Outcome { code, shifts: Vec::new() }
        }
        Some(_) => {
            let wanted = run.options.stats.is_some() || run.options.timeline.is_some();
            let blocks = statistics.at_end.get() != 0 || wanted;
            over_hosts::run(&plan, &run.options, (&job, &recordings), reporter, (ring_bytes, blocks), parent)?
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    if let Some(path) = run.options.timeline.as_deref().filter(|_| code != 0) {
        last_calls::write(path, &job, &plan, reporter, ("the job has ended", &shifts));
    }
    let (table, unwritten) = recordings.finish(&plan, reporter, &shifts);
    // If standard error is closed there is no place for the table.
    let _ = std::io::stderr().lock().write_all(table.as_bytes());
    let lost = |sentence: &str| reporter.fail(TROUBLE, sentence, |object| object.text("kind", "output_lost"));
    let code = match unwritten {
        Some(sentence) if code == 0 => lost(&sentence),
        Some(sentence) => {
            reporter.warn(&sentence);
            code
        }
        None => code,
    };
    let state_name = |variable: &str, value| CATALOG.state_name(variable, value);
    let written = run.options.stats.as_ref().map_or(Ok(()), |file| {
        let mut summary = Summary::new(JobView::of(&job), seconds, code, &state_name);
        summary.origin = Some(stats::origin(&plan, seconds));
        summary.hosts = plan.placement.as_ref().map_or(Vec::new(), |placement| {
            (0..).zip(&placement.hosts).map(|(host, name)| (name.clone(), placement.ranks_of(host))).collect()
        });
        stats::write(&summary, file.as_deref(), reporter.job())
    });
    let code = match written {
        Ok(()) => code,
        Err(sentence) if code == 0 => lost(&sentence),
        Err(sentence) => {
            reporter.warn(&sentence);
            code
        }
    };
    Ok(match statistics.write(&job, &state_name, reporter.job()) {
        Ok(()) => code,
        Err(sentence) if code == 0 => lost(&sentence),
        // The job's own failure counts.
        Err(sentence) => {
            reporter.warn(&sentence);
            code
        }
    })
}
