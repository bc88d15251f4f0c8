//! Jobs that ranks of a job on several hosts spawn, and this job as one that another job has spawned.
//!
//! As on one host: each spawned job has an `mpiexec` of its own, a child of this one (`spawned`, `child_job`). It places the ranks on
//! the hosts of this job, unless the request names others, and reaches them by the same launcher.
//! Invariant: a rank gets one answer to each request.

use std::ffi::OsString;
use std::time::Instant;

use mpi_fabric::Life;
use mpi_wireup::pmi::spawn::{BEGIN, Collected, Collector, ended_line};
use mpi_wireup::spawn_request::{SpawnRequest, SpawnResult};

use super::super::super::child_job::{self, FromParent};
use super::super::super::os::Inherited;
use super::super::super::outcome::Failure;
use super::super::super::spawned::{EndedJob, Line, SpawnedJobs};
use super::super::frame::Frame;
use super::super::hosts::Host;
use super::Front;
use crate::args::{HostEntry, HostFile, Options};

/// Most bytes of a request.
const LONGEST_REQUEST: usize = 16 << 20;

/// What the front has of the jobs that its ranks have spawned.
pub(super) struct Spawning {
    pub(super) jobs: SpawnedJobs,
    requests: Vec<(u32, Result<Collected, String>)>,
    inherited: Inherited,
    /// Number of ranks of this job that were started.
    pub(super) started: u32,
    /// Whether the end of this job is that of all that it has spawned, whether or not they are connected with it.
    all_end: bool,
}

impl Spawning {
    pub(super) fn new(own: Option<&str>, job: u64, inherited: Inherited) -> Spawning {
        let jobs = SpawnedJobs::new(own, job);
        Spawning { jobs, requests: Vec::new(), inherited, started: 0, all_end: false }
    }

    /// A rank has requested processes.
    pub(super) fn request(&mut self, rank: u32, ours: bool, lines: &[u8]) {
        let collected = collected(lines).ok_or_else(|| "the request to start processes is bad".to_owned());
        self.requests.push((rank, collected.map(|collected| Collected { ours, ..collected })));
    }

    /// The time limit is over.
    pub(super) fn time_over(&mut self) {
        self.jobs.report_all();
        self.all_end = true;
    }
}

/// The request in these lines, if they are one.
fn collected(lines: &[u8]) -> Option<Collected> {
    let mut collector = Collector::default();
    if lines.len() > LONGEST_REQUEST {
        return None;
    }
    for line in lines.split(|byte| *byte == b'\n') {
        match collector.in_block() {
            true => {
                if let Some(collected) = collector.line(line) {
                    return Some(collected);
                }
            }
            false if line == BEGIN.as_bytes() => collector.begin(),
            false => return None,
        }
    }
    None
}

impl Front<'_> {
    /// Whether no process of the job, and of those that it has spawned, is left.
    pub(super) fn are_over(&self) -> bool {
        self.hosts.iter().all(Host::is_over) && self.spawning.jobs.living() == 0
    }

    /// After a failure, when only jobs are left that are not connected with this one, waits for them as long as they run: they
    /// end with this process.
    pub(super) fn rest_for_others(&mut self) {
        let jobs = &self.spawning.jobs;
        if self.hosts.iter().all(Host::is_over) && jobs.living() > 0 && jobs.are_apart() {
            self.ending.rest();
        }
    }

    /// Adds what to wait for.
    pub(super) fn spawn_interests(&self, entries: &mut Vec<libc::pollfd>) {
        self.spawning.jobs.interests(entries);
        let parent = self.parent.as_ref().and_then(|parent| parent.fd());
        entries.extend(parent.map(|fd| super::os::poll_entry(fd, libc::POLLIN)));
    }

    /// Starts the jobs that ranks have requested, passes the answers on, and does what the parent requests.
    pub(super) fn serve_spawned(&mut self, now: Instant) {
        for ended in self.spawning.jobs.collect() {
            self.job_ended(ended);
        }
        let mut entries = Vec::new();
        self.spawning.jobs.interests(&mut entries);
        if super::os::poll(&mut entries, Some(0)).is_ok() {
            for Line { rank, text } in self.spawning.jobs.serve(&entries) {
                self.send_line(rank, text);
            }
        }
        self.spawning.jobs.kill_late(now);
        self.obey_parent();
        for (rank, collected) in std::mem::take(&mut self.spawning.requests) {
            self.spawn(rank, collected);
        }
    }

    fn send_line(&mut self, rank: u32, line: String) {
        if let Some(host) = self.placement.of_rank.get(rank as usize) {
            self.hosts[*host as usize].send(&Frame::SpawnLine { rank, line });
        }
    }

    /// Starts the job that a rank requests.
    fn spawn(&mut self, rank: u32, collected: Result<Collected, String>) {
        let refusal =
            |processes: usize, reason: String| SpawnResult { started: vec![false; processes], reason }.to_line("0");
        let (request, ours): (SpawnRequest, bool) = match collected {
            Ok(Collected { request: Ok(request), ours }) => (request, ours),
            Ok(Collected { request: Err(bad), .. }) => {
                return self.send_line(rank, refusal(0, format!("the request to start processes is bad: {bad}")));
            }
            Err(reason) => return self.send_line(rank, refusal(0, reason)),
        };
        if self.ending.failure().is_some() {
            return self.send_line(rank, refusal(request.processes(), "the job is being ended".into()));
        }
        match self.spawning.jobs.fork(rank, ours, &self.spawning.inherited) {
            Ok(None) => {}
            Ok(Some(parent)) => std::process::exit(child_job::run(parent, request, &self.options_of_spawned())),
            Err(error) => {
                self.send_line(rank, refusal(request.processes(), format!("cannot start a process: {error}")))
            }
        }
    }

    /// The options of this job for those that it spawns: all with its hosts.
    fn options_of_spawned(&self) -> Options {
        let host = |name: &String| HostEntry { name: name.clone(), slots: None };
        let hosts = self.placement.hosts.iter().map(host).collect();
        Options { hostfile: Some(HostFile { file: OsString::new(), hosts }), ..self.options.clone() }
    }

    /// Handles the end of a spawned job.
    fn job_ended(&mut self, ended: EndedJob) {
        if let Some(Line { rank, text }) = ended.line {
            self.send_line(rank, text);
        }
        if ended.lost_answer {
            let reason = "the process that was to start the job ended".to_owned();
            let line = SpawnResult { started: Vec::new(), reason }.to_line(&ended.name);
            self.send_line(ended.rank, line);
        } else if ended.ours {
            self.send_line(ended.rank, ended_line(&ended.name));
        }
        if ended.code != 0 && !ended.unconnected {
            let failure = match self.forwarded {
                Some(signal) if ended.code == 128 + signal => Failure::Signalled { signal },
                _ if ended.apart => return self.ending.note_code(ended.code),
                _ => Failure::Spawned { rank: ended.rank, code: ended.code },
            };
            self.ending.fail_as_cause(failure, self.living, Instant::now());
        }
    }

    /// This job ends: requests that of the jobs that it has spawned.
    pub(super) fn end_spawned(&mut self) {
        match self.spawning.all_end || matches!(self.ending.failure(), Some(Failure::Signalled { .. })) {
            true => self.spawning.jobs.end_all(Instant::now()),
            false => self.spawning.jobs.end_connected(Instant::now()),
        }
    }

    /// Does what the parent requests. The ranks' connections are not known here, so a parent that fails ends this job too.
    fn obey_parent(&mut self) {
        let Some(parent) = &mut self.parent else { return };
        for request in parent.requests() {
            match request {
                FromParent::End => {
                    self.spawning.all_end = true;
                    self.ending.fail(Failure::ParentEnded, self.living, Instant::now());
                }
                FromParent::Failed => self.ending.fail(Failure::ParentEnded, self.living, Instant::now()),
                FromParent::Lost => self.ending.fail(Failure::ParentLost, self.living, Instant::now()),
                FromParent::Report => self.spawning.jobs.report_all(),
            }
        }
    }

    /// A rank has failed: reports to the parent if that was before it could connect with those that spawned it.
    pub(super) fn report_unconnected(&mut self, rank: u32) {
        if let Some(parent) = &mut self.parent
            && self.ending.failure().is_none()
            && self.job.life(rank) < Life::Initialised
        {
            parent.report_unconnected();
        }
    }

    /// Reports to the parent an end that does not concern its job.
    pub(super) fn report_apart(&mut self) {
        if let Some(parent) = &mut self.parent
            && self.ending.failure().is_none()
        {
            parent.report_apart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_hosts_are_read_whole_or_not_at_all() {
        let program = |name: &str| mpi_wireup::spawn_request::SpawnProgram {
            program: name.into(),
            arguments: vec!["a b".into()],
            processes: 2,
            info: Vec::new(),
        };
        let request =
            SpawnRequest { programs: vec![program("x"), program("y")], values: vec![("k".into(), "v".into())] };
        let lines = request.to_lines(true).unwrap();
        assert_eq!(collected(lines.as_bytes()).unwrap().request, Ok(request));
        for end in 0..lines.len() - 1 {
            assert_eq!(collected(&lines.as_bytes()[..end]), None, "{end}");
        }
        assert_eq!(collected(b"cmd=abort\n"), None);
        assert_eq!(collected(&[lines.as_bytes(), &vec![b'x'; LONGEST_REQUEST]].concat()), None, "too long");
    }
}
