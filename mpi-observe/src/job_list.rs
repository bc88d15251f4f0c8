//! The jobs of this user that run on this host.
//!
//! A job memory has no name. The processes of the job, and its launcher, have it open, and `/proc/<pid>/fd` shows their
//! descriptors to processes of the same user. So jobs under any launcher are found, and processes that were started
//! without one. The `mpiexec` of a job on several hosts has no job memory; that of its part on the same host has its process id.
//! Invariant: processes that end, or whose memory is damaged, are left out and change nothing for the others.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use mpi_fabric::job::LINK;

use crate::{OpenJob, process};

/// A job that was found.
#[derive(Debug)]
pub struct FoundJob {
    /// Its memory.
    pub job: OpenJob,
    /// The process that stands for the job: the `mpiexec` that the user has started, if it runs on this host; else one that has the
    /// memory open, the launcher if it is this library's, or the first rank that runs.
    pub pid: u32,
    /// The command line of that process; of a part of a job whose `mpiexec` runs on another host, that of its first rank.
    pub command: String,
    /// The process of another job of the list that has spawned it: its launcher, or a rank without one.
    pub spawned_by: Option<u32>,
}

impl FoundJob {
    /// A job that a process has open.
    fn new(job: OpenJob, holder: u32) -> FoundJob {
        let front = front(&job, holder);
        let pid = front.unwrap_or(holder);
        // The command line of a proxy does not name the program.
        let rank = || job.view().hosts().first().and_then(|here| here.ranks.first().copied());
        let first = if front.is_none() && job.view().launcher_pid() == holder { rank() } else { None };
        let of_rank = first.map(|rank| process::command(job.view().pid(rank))).filter(|command| !command.is_empty());
        FoundJob { command: of_rank.unwrap_or_else(|| process::command(pid)), job, pid, spawned_by: None }
    }
}

/// The `mpiexec` of the user for a job on several hosts: the process that the job memory names, if it runs the same program as the
/// launcher on this host, which has the job memory open, and for the same user.
fn front(job: &OpenJob, holder: u32) -> Option<u32> {
    let (front, launcher) = (job.view().front_pid(), job.view().launcher_pid());
    let is_alike = front != 0
        && launcher == holder
        && process::program(front).is_some_and(|program| Some(program) == process::program(launcher))
        && process::user(front).is_some_and(|user| Some(user) == process::user(holder));
    is_alike.then_some(front)
}

/// The jobs of this user, by their process ids.
/// # Errors
/// The system does not list the processes.
pub fn list() -> io::Result<Vec<FoundJob>> {
    of_user(effective_user()?)
}

/// The jobs of a user, by their process ids.
fn of_user(user: u32) -> io::Result<Vec<FoundJob>> {
    let mut found: BTreeMap<u64, (OpenJob, u32)> = BTreeMap::new();
    for pid in processes()? {
        if process::user(pid) != Some(user) {
            continue;
        }
        for job in memories_of(pid) {
            let (id, launcher) = (job.view().id(), job.view().launcher_pid());
            let is_better = found.get(&id).is_none_or(|(_, holder)| *holder != launcher && pid == launcher);
            if is_better {
                found.insert(id, (job, pid));
            }
        }
    }
    let mut jobs: Vec<FoundJob> = found.into_values().map(|(job, holder)| FoundJob::new(job, holder)).collect();
    jobs.sort_by_key(|found| found.pid);
    // The launcher of a spawned job is a child of the launcher, or of the process, that started it.
    let parents: Vec<Option<u32>> = jobs.iter().map(|found| process::parent(found.job.view().launcher_pid())).collect();
    let has = |found: &FoundJob, pid: u32| {
        let view = found.job.view();
        found.pid == pid || view.launcher_pid() == pid || (0..view.ranks()).any(|rank| view.pid(rank) == pid)
    };
    for at in 0..jobs.len() {
        let spawns = |parent: &u32| (0..jobs.len()).any(|other| other != at && has(&jobs[other], *parent));
        jobs[at].spawned_by = parents[at].filter(spawns);
    }
    Ok(jobs)
}

/// The job that a word names: a process of the job or its launcher by its id, or the job's number in hexadecimal, of which
/// the first digits suffice. Without a word the only job.
/// # Errors
/// A sentence: there is none, or several; they are listed.
pub fn find(word: Option<&str>) -> Result<FoundJob, String> {
    let number = word.and_then(|word| word.parse::<u32>().ok());
    // A process of another user, for one who may look at it.
    if let Some(pid) = number
        && let Some(job) = memories_of(pid).into_iter().next()
    {
        return Ok(FoundJob::new(job, pid));
    }
    let unlisted = |error: io::Error| format!("the processes cannot be listed: {error}");
    let own = effective_user().map_err(unlisted)?;
    let mut jobs = of_user(own).map_err(unlisted)?;
    let all = lines(&jobs);
    if let Some(other) = number.and_then(process::user).filter(|user| *user != own) {
        jobs.extend(of_user(other).map_err(unlisted)?);
    }
    let mut chosen: Vec<FoundJob> = match word {
        Some(word) => jobs.into_iter().filter(|found| is_named(found, number, word)).collect(),
        None => jobs,
    };
    match (chosen.len(), word) {
        (1, _) => Ok(chosen.remove(0)),
        (0, None) => Err("no job of this user runs on this host".into()),
        (0, Some(_)) if let Some(pid) = number.filter(|pid| is_mpiexec(*pid)) => Err(format!(
            "process {pid} has no rank on this host: {}; if its ranks run on other hosts, start mpitop on one of them",
            process::command(pid)
        )),
        (0, Some(word)) if all.is_empty() => {
            Err(format!("there is no job {word}; no job of this user runs on this host"))
        }
        (0, Some(word)) => Err(format!("there is no job {word}; these run:\n{all}")),
        _ => Err(format!("several jobs run; name one by its process id:\n{}", lines(&chosen))),
    }
}

fn is_named(found: &FoundJob, number: Option<u32>, word: &str) -> bool {
    let view = found.job.view();
    let of_process =
        |pid| found.pid == pid || view.launcher_pid() == pid || (0..view.ranks()).any(|rank| view.pid(rank) == pid);
    number.is_some_and(of_process) || word.len() >= 4 && id_text(view.id()).starts_with(&word.to_ascii_lowercase())
}

/// Whether a process runs a launcher of this name.
fn is_mpiexec(pid: u32) -> bool {
    process::program(pid).is_some_and(|program| program.file_name().is_some_and(|name| name == "mpiexec"))
}

/// The number of a job as text.
pub fn id_text(id: u64) -> String {
    format!("{id:016x}")
}

/// The jobs as a table: process id, number of ranks, job, who spawned it, command line.
pub fn lines(jobs: &[FoundJob]) -> String {
    let mut text = String::new();
    for found in jobs {
        let view = found.job.view();
        let command: String = found.command.chars().take(60).collect();
        let ranks = mpi_errors::counted(u64::from(view.ranks()), "rank");
        let spawned = found.spawned_by.map_or(String::new(), |parent| format!("spawned by {parent}: "));
        text += &format!("  {:>8}  {ranks:<10}  {}  {spawned}{command}\n", found.pid, id_text(view.id()));
    }
    text
}

/// The job memories that a process has open; those that are damaged or of another release are left out.
fn memories_of(pid: u32) -> Vec<OpenJob> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let mut jobs: Vec<OpenJob> = Vec::new();
    for entry in descriptors.flatten() {
        let is_job = fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().starts_with(LINK));
        let descriptor = entry.file_name().to_string_lossy().parse::<i32>().ok();
        let Some(descriptor) = descriptor.filter(|_| is_job) else { continue };
        let Ok(job) = OpenJob::open(pid, descriptor) else { continue };
        if jobs.iter().all(|other| other.view().id() != job.view().id()) {
            jobs.push(job);
        }
    }
    jobs
}

fn processes() -> io::Result<impl Iterator<Item = u32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()))
}

/// The user that owns what this process creates.
fn effective_user() -> io::Result<u32> {
    process::user(std::process::id()).ok_or_else(|| io::Error::other("/proc is not mounted"))
}
