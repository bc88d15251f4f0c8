//! The `mpiexec` of a spawned job: it runs the programs of the request as a job of its own.
//!
//! Its parent is the `mpiexec` of the job that spawned it, or, without a launcher, the process that did. It sends the
//! answer to the request to its parent, and ends its job when the parent requests it or is lost.
//!
//! Invariant: a request gets one answer, whether or not the job could be started.
//! Not here: the parent's side (`spawned`, `mpi_wireup::spawner`), the job itself (`supervise`).

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mpi_wireup::pmi::spawn::{BEGIN, Collected, Collector, FINALIZED, LONGEST_LINE};
use mpi_wireup::spawn_request::{PARENT_PORT, SpawnProgram, SpawnRequest, SpawnResult};
use mpi_wireup::{INITIAL_ERRHANDLER, PARENT};

use super::cvar_values::CvarValues;
use super::plan::Plan;
use super::reporter::Reporter;
use super::{TROUBLE, USAGE, os};
use crate::args::{self, Bind, Input, Options, Run};

/// Line of the parent: the job ends; nothing is reported about that.
pub(super) const END: &str = "end";
/// Line of the parent: its own job has failed. This one ends as by [`END`] if it is connected with it.
pub(super) const FAILED: &str = "failed";
/// Line of the parent: the job reports what its ranks are doing.
pub(super) const REPORT: &str = "report";

/// Line to the parent: the job has failed before its ranks could connect with those that spawned it.
pub(super) const UNCONNECTED: &str = "unconnected";

/// Line to the parent: the failure of one of the two jobs does not concern the other one, because they are not connected, or
/// because only a part of this one was aborted.
pub(super) const APART: &str = "apart";

/// Time limit for a request to come in full.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// The connection to the parent.
pub(super) struct Parent {
    link: UnixStream,
    /// The name of the job.
    pub(super) name: String,
    /// The number of the parent's job; `None` of a process without a launcher.
    job: Option<u64>,
    /// Bytes that are no whole line yet.
    input: Vec<u8>,
    /// What the started processes find by PMI.
    pub(super) values: Vec<(String, String)>,
    /// Number of processes that were requested, program by program.
    requested: Vec<u32>,
    /// Whether the process has reported its own end, so that the end of the connection is no failure.
    finalized: bool,
    closed: bool,
    answered: bool,
}

/// A request of the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromParent {
    /// End the job without a report.
    End,
    /// The parent's job has failed.
    Failed,
    /// Report what the ranks are doing.
    Report,
    /// The parent ended unexpectedly.
    Lost,
}

impl Parent {
    /// The connection to the parent, the `mpiexec` of the job with this number or a process without a launcher, whose reads
    /// do not wait.
    pub(super) fn launcher(link: UnixStream, name: String, job: Option<u64>) -> Parent {
        Parent {
            link,
            name,
            job,
            input: Vec::new(),
            values: Vec::new(),
            requested: Vec::new(),
            finalized: false,
            closed: false,
            answered: false,
        }
    }

    /// Sends the answer: all processes of the plan were started.
    pub(super) fn report_started(&mut self, plan: &Plan<'_>) {
        let requested = std::mem::take(&mut self.requested);
        let of_program = |(requested, program): (u32, &super::plan::Program<'_>)| {
            (0..requested).map(|number| number < program.ranks).collect::<Vec<_>>()
        };
        let started = requested.into_iter().zip(&plan.programs).flat_map(of_program).collect();
        self.answer(&SpawnResult { started, reason: String::new() });
    }

    /// Sends the answer, if none was sent: no process was started.
    pub(super) fn report_refused(&mut self, why: &dyn std::fmt::Display) {
        let all = self.requested.iter().map(|number| *number as usize).sum();
        self.answer(&SpawnResult { started: vec![false; all], reason: why.to_string() });
    }

    /// Reports that the job has failed before its ranks could connect: that is an error of the spawn only.
    pub(super) fn report_unconnected(&mut self) {
        // A parent that has ended needs no report; one line always has room.
        let _ = self.link.write_all(format!("{UNCONNECTED}\n").as_bytes());
    }

    /// The number of the parent's job.
    pub(super) fn job(&self) -> Option<u64> {
        self.job
    }

    /// Reports that the failure of one of the two jobs does not concern the other one.
    pub(super) fn report_apart(&mut self) {
        // As above.
        let _ = self.link.write_all(format!("{APART}\n").as_bytes());
    }

    fn answer(&mut self, result: &SpawnResult) {
        if std::mem::replace(&mut self.answered, true) {
            return;
        }
        let line = result.to_line(&self.name);
        let _ = self.link.set_nonblocking(false).and_then(|()| self.link.write_all(line.as_bytes()));
        // Without an answer the parent sees the end of this process.
        let _ = self.link.set_nonblocking(true);
    }

    /// The descriptor to wait for, while there may be requests.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        (!self.closed).then(|| self.link.as_fd())
    }

    /// The requests that have come.
    pub(super) fn requests(&mut self) -> Vec<FromParent> {
        let mut buffer = [0u8; 512];
        let mut requests = Vec::new();
        while !self.closed {
            match self.link.read(&mut buffer) {
                Ok(0) => self.closed = true,
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.closed = true,
            }
            while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.input.drain(..=end).collect();
                match String::from_utf8_lossy(&line).trim_end() {
                    END => requests.push(FromParent::End),
                    FAILED => requests.push(FromParent::Failed),
                    REPORT => requests.push(FromParent::Report),
                    FINALIZED => self.finalized = true,
                    _ => {}
                }
            }
            if self.input.len() > LONGEST_LINE {
                self.closed = true;
            }
        }
        // The kernel ends this process together with a parent that is an `mpiexec`.
        if self.closed && self.job.is_none() && !self.finalized {
            self.finalized = true;
            requests.push(FromParent::Lost);
        }
        requests
    }

    /// The port of the process that spawned the job.
    pub(super) fn port(&self) -> Option<&str> {
        self.values.iter().find(|(key, _)| key == PARENT_PORT).map(|(_, value)| &**value)
    }

    /// The variables of a started process, beside those of its place.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        variables(Some(self.port().unwrap_or_default()))
    }
}

/// The variables of a process of a job that the owner of a port has spawned, if one has.
pub(super) fn variables(port: Option<&str>) -> Vec<(&'static str, String)> {
    let Some(port) = port else { return Vec::new() };
    let port = (!port.is_empty()).then(|| (PARENT, port.to_owned()));
    port.into_iter().chain([("PMI_SPAWNED", "1".to_owned())]).collect()
}

/// Runs a spawned job in this process, whose only connection to the parent is `parent`, with the options of the job
/// that spawned it; returns the exit code.
pub(super) fn run(mut parent: Parent, request: SpawnRequest, options: &Options) -> i32 {
    parent.requested = request.programs.iter().map(|program| program.processes).collect();
    parent.values = request.values.clone();
    let words = request.programs.iter().map(words_of);
    let run = match args::spawned(words, inherited(options, &parent.name), &args::read_file) {
        Ok(run) => with_errhandlers(run, &request),
        Err(error) => {
            parent.report_refused(&error);
            return USAGE;
        }
    };
    let values = CvarValues::read(&run.options);
    if let Some(fault) = values.faults.first() {
        parent.report_refused(fault);
        return USAGE;
    }
    let reporter = Reporter::new(&run.options, &values).for_job(&parent.name);
    super::launch(&run, values, reporter, Some(&mut parent)).unwrap_or_else(|error| {
        parent.report_refused(&error);
        error.exit_code()
    })
}

/// Serves the request that comes over a descriptor from a process without a launcher. This process forks, so
/// that the caller's child, which it waits for, ends at once.
pub(super) fn serve(descriptor: &OsStr) -> i32 {
    let reporter = Reporter::default();
    let Some(link) = descriptor.to_str().and_then(|text| text.parse().ok()).and_then(stream) else {
        return reporter.refuse(USAGE, &format!("--serve-spawn takes a connection, and {descriptor:?} is none"));
    };
    match os::fork_daemon() {
        Ok(os::Fork::Child) => {}
        Ok(os::Fork::Parent(_)) => return 0,
        Err(error) => return reporter.refuse(TROUBLE, &format!("cannot start a process: {error}")),
    }
    if link.set_nonblocking(true).is_err() {
        return TROUBLE;
    }
    let mut parent = Parent::launcher(link, "1".into(), None);
    match receive(&parent.link) {
        Ok(Collected { request: Ok(request), .. }) => run(parent, request, &Options::default()),
        Ok(Collected { request: Err(bad), .. }) => {
            parent.report_refused(&format!("the request to start processes is bad: {bad}"));
            USAGE
        }
        Err(error) => {
            parent.report_refused(&format!("the request to start processes did not come: {error}"));
            TROUBLE
        }
    }
}

/// The socket behind a number.
fn stream(fd: i32) -> Option<UnixStream> {
    if fd <= 2 || !mpi_wireup::pmi::client::is_connection(fd) {
        return None;
    }
    Some(UnixStream::from(os::take_over(fd)))
}

/// Receives a request in full.
fn receive(mut link: &UnixStream) -> io::Result<Collected> {
    let limit = Instant::now() + REQUEST_LIMIT;
    let (mut collector, mut line, mut buffer) = (Collector::default(), Vec::new(), [0u8; 4096]);
    loop {
        let left = limit.saturating_duration_since(Instant::now()).as_millis();
        let mut entries = [os::poll_entry(link.as_fd(), libc::POLLIN)];
        os::poll(&mut entries, Some(i32::try_from(left).unwrap_or(i32::MAX)))?;
        if left == 0 {
            return Err(ErrorKind::TimedOut.into());
        }
        let n = match link.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => n,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => continue,
            Err(error) => return Err(error),
        };
        for byte in &buffer[..n] {
            if *byte != b'\n' {
                line.push(*byte);
                if line.len() > LONGEST_LINE {
                    return Err(ErrorKind::InvalidData.into());
                }
            } else if collector.in_block() {
                if let Some(collected) = collector.line(&std::mem::take(&mut line)) {
                    return Ok(collected);
                }
            } else if std::mem::take(&mut line) == BEGIN.as_bytes() {
                collector.begin();
            }
        }
    }
}

/// The words of the command line that start one program.
fn words_of(program: &SpawnProgram) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["-n".into(), program.processes.to_string().into()];
    for (key, value) in &program.info {
        // The reserved keys (MPI-5.0, 11.8.4) have the names of the options; unknown keys have no effect.
        if matches!(&**key, "host" | "arch" | "wdir" | "path" | "file" | "soft") {
            let mut word = OsString::from(format!("-{key}="));
            word.push(value);
            words.push(word);
        }
    }
    words.push("--".into());
    words.push(program.program.clone());
    words.extend(program.arguments.iter().cloned());
    words
}

/// Sets the initial error handler of the programs that request one.
fn with_errhandlers(mut run: Run, request: &SpawnRequest) -> Run {
    for (group, program) in run.groups.iter_mut().zip(&request.programs) {
        let handler = program.info.iter().find(|(key, _)| key == "mpi_initial_errhandler");
        group.variables.extend(handler.map(|(_, value)| (INITIAL_ERRHANDLER.into(), value.clone())));
    }
    run
}

/// The options of the job that spawned another one, as the other one has them: its ranks read no input and are not
/// bound, because the first job has both; files have the name of the job at their ends, in place of that of the other one.
fn inherited(options: &Options, name: &str) -> Options {
    let parent = name.rsplit_once('.').map(|(parent, _)| parent);
    let with_name = |path: &Path| {
        let path = path.as_os_str().as_bytes();
        let first = parent.and_then(|parent| path.strip_suffix(format!(".job{parent}").as_bytes())).unwrap_or(path);
        PathBuf::from(OsString::from_vec([first, format!(".job{name}").as_bytes()].concat()))
    };
    let folder = |path: &Path| {
        let is_of_parent = parent.is_some_and(|parent| path.ends_with(format!("job{parent}")));
        path.parent().filter(|_| is_of_parent).unwrap_or(path).join(format!("job{name}"))
    };
    Options {
        variables: options.variables.clone(),
        cvars: options.cvars.clone(),
        settings: options.settings.clone(),
        tools: options.tools.clone(),
        profile: options.profile,
        trace: options.trace.as_deref().map(with_name),
        timeline: options.timeline.as_deref().map(with_name),
        // The file gets the name of the job when it is written.
        stats: options.stats.clone(),
        tag_output: options.tag_output,
        timestamp: options.timestamp,
        output: options.output.as_deref().map(folder),
        // The first job's limit is for all.
        timeout: Some(None),
        // Those of a job on several hosts.
        hostfile: options.hostfile.clone(),
        map_by: None,
        oversubscribe: true,
        manager: options.manager.clone(),
        hang_report: options.hang_report,
        gdb: None,
        bind: Bind::None,
        input: Input::None,
        quiet: options.quiet,
        verbose: options.verbose,
        error_format: options.error_format,
        initial_errhandler: options.initial_errhandler,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_spawned_jobs_have_the_name_of_their_job_alone() {
        let first = Options {
            trace: Some("a/t.json".into()),
            timeline: Some("l.json".into()),
            output: Some("out".into()),
            ..Options::default()
        };
        let names = |options: &Options| {
            let paths = [&options.trace, &options.timeline, &options.output];
            paths.map(|path| path.as_ref().map_or(String::new(), |path| path.display().to_string()))
        };
        let second = inherited(&first, "2");
        assert_eq!(names(&second), ["a/t.json.job2", "l.json.job2", "out/job2"]);
        let third = inherited(&second, "2.1");
        assert_eq!(names(&third), ["a/t.json.job2.1", "l.json.job2.1", "out/job2.1"]);
        assert_eq!(names(&inherited(&third, "2.1.3")), ["a/t.json.job2.1.3", "l.json.job2.1.3", "out/job2.1.3"]);
    }
}
