//! The loop: signals, children, streams, deadlines.

mod apart;
mod debugging;
mod hangs;
mod report;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use mpi_core::json::Object;
use mpi_fabric::{AbortCause, Job, Life};
use mpi_wireup::pmi::spawn::{Collected, ended_line};
use mpi_wireup::spawn_request::SpawnResult;

use super::child_job::{self, FromParent, Parent};
use super::debugging::Debugging;
use super::ending::{Ending, Order};
use super::guard::Guard;
use super::hang::{self, HangWatch};
use super::input::Inputs;
use super::memory_limit;
use super::os::{self, Ended, Inherited, Reaped};
use super::outcome::Failure;
use super::plan::Plan;
use super::recordings::Recordings;
use super::refusal::Refusal;
use super::reporter::Reporter;
use super::spawned::{EndedJob, Line, SpawnedJobs};
use super::start::Starter;
use super::streams::Streams;
use crate::args::Options;
use crate::pmi_server::{Abort, Server};

/// Signals that are forwarded to the ranks.
const FORWARDED: [i32; 8] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// One rank's process; process id and process group are the same number.
struct Rank {
    pid: i32,
    living: bool,
}

/// The activity of the ranks when the time limit was over.
struct TimeReport {
    text: String,
    cause: String,
    list: Vec<Object>,
}

struct Supervisor<'a> {
    plan: &'a Plan<'a>,
    job: &'a Job,
    options: &'a Options,
    recordings: &'a Recordings,
    reporter: Reporter,
    guard: Guard,
    streams: Streams,
    inputs: Inputs,
    pmi: Server,
    /// The jobs that ranks have spawned.
    spawned: SpawnedJobs,
    /// If another job spawned this one.
    parent: Option<&'a mut Parent>,
    inherited: Inherited,
    signals: OwnedFd,
    ranks: Vec<Rank>,
    living: u32,
    ending: Ending,
    /// The last forwarded signal that usually ends a program.
    forwarded: Option<i32>,
    /// Processes that the kernel ended for lack of memory before the job began.
    ended_for_memory: u64,
    time_report: Option<TimeReport>,
    hang_watch: HangWatch,
    debugging: Debugging<'a>,
    /// A rank that gdb sees before a signal ends it.
    crashed: Option<(i32, i32)>,
    /// What the others were doing to the first rank that failed.
    waiting: Vec<String>,
    /// Whether the end of this job is that of all that it has spawned, whether or not they are connected with it.
    all_end: bool,
}

/// Runs the job to its end; returns the exit code.
pub(super) fn run(
    plan: &Plan<'_>,
    options: &Options,
    job: &Job,
    recordings: &Recordings,
    reporter: Reporter,
    parent: Option<&mut Parent>,
) -> Result<i32, Refusal> {
    let guard = Guard::start(plan.ranks, job.id())?;
    os::adopt_orphans();
    let open_files = os::raise_open_files();
    let (signals, mask) = os::take_signals(&FORWARDED, libc::SIGCHLD)?;
    let inherited = Inherited { signals: mask, open_files };
    let mut pmi = Server::new(plan.ranks, job.id());
    if let Some(parent) = &parent {
        pmi.put_all(&parent.values).map_err(Refusal::Value)?;
    }
    let mut supervisor = Supervisor {
        plan,
        job,
        options,
        recordings,
        reporter,
        guard,
        streams: Streams::new()?,
        inputs: Inputs::new(options.input)?,
        pmi,
        spawned: SpawnedJobs::new(reporter.job(), job.id()),
        parent,
        inherited,
        signals,
        ranks: Vec::new(),
        living: 0,
        ending: Ending::new(options.timeout.flatten(), Instant::now()),
        forwarded: None,
        ended_for_memory: memory_limit::ended_for_memory(),
        time_report: None,
        hang_watch: HangWatch::new(options.hang_report, Instant::now()),
        debugging: Debugging::new(options.gdb.as_ref()),
        crashed: None,
        waiting: Vec::new(),
        all_end: false,
    };
    let started = supervisor.start_all(plan);
    if let (Ok(()), Some(parent)) = (&started, &mut supervisor.parent) {
        parent.report_started(plan);
    }
    if started.is_ok() {
        let pids: Vec<i32> = supervisor.ranks.iter().map(|rank| rank.pid).collect();
        super::mpir::publish(plan, &pids);
    }
    if started.is_err() {
        // An incomplete job must leave no process, and no failure of one of its ranks is reported.
        supervisor.signal_all(libc::SIGKILL);
    }
    supervisor.supervise()?;
    started?;
    if let Err(sentence) = supervisor.guard.dismiss() {
        reporter.warn(&sentence);
    }
    supervisor.report_apart();
    Ok(supervisor.report(plan))
}

impl Supervisor<'_> {
    fn start_all(&mut self, plan: &Plan<'_>) -> Result<(), Refusal> {
        let mut starter = Starter {
            plan,
            options: self.options,
            job: self.job,
            guard: &self.guard,
            streams: &mut self.streams,
            inputs: &mut self.inputs,
            pmi: &mut self.pmi,
            recordings: self.recordings,
            reporter: self.reporter,
            parent: self.parent.as_deref(),
        };
        if let Some(sentence) = self.debugging.warning() {
            self.reporter.warn(&sentence);
        }
        let (ranks, living, debugging, reporter) = (&mut self.ranks, &mut self.living, &self.debugging, self.reporter);
        starter.start_all(self.inherited, |pid| {
            debugging.started(ranks.len() as u32, pid).iter().for_each(|sentence| reporter.warn(sentence));
            ranks.push(Rank { pid, living: true });
            *living += 1;
        })
    }

    fn supervise(&mut self) -> io::Result<()> {
        let mut entries = Vec::new();
        loop {
            let children = self.reap() && !self.ending.hopeless(Instant::now());
            self.rest_for_others();
            if !children {
                // Every process of the job has ended: no more bytes come into its streams.
                self.streams.close();
                if self.streams.done() {
                    return Ok(());
                }
            }
            while let Some(order) = self.next_order(children) {
                self.execute(order);
            }
            self.report_hang();
            self.spawned.kill_late(Instant::now());
            self.streams.keep_pauses();
            entries.clear();
            entries.push(os::poll_entry(self.signals.as_fd(), libc::POLLIN));
            let fed = 1 + self.inputs.interests(&mut entries);
            let served = fed + self.pmi.interests(&mut entries);
            let answered = served + self.spawned.interests(&mut entries);
            let parent = self.parent.as_ref().and_then(|parent| parent.fd());
            entries.extend(parent.map(|fd| os::poll_entry(fd, libc::POLLIN)));
            entries.extend(self.guard.interest());
            let streamed = entries.len();
            self.streams.interests(&mut entries);
            os::poll(&mut entries, self.time_left())?;
            if entries[0].revents != 0 {
                while let Some(signal) = os::next_signal(self.signals.as_fd()) {
                    self.handle_signal(signal);
                }
            }
            self.inputs.serve(&entries[1..fed]);
            let abort = self.pmi.serve(&entries[fed..served]);
            self.apply_abort(abort);
            let lines = self.spawned.serve(&entries[served..answered]);
            lines.iter().for_each(|line| self.pmi.send(line.rank, &line.text));
            self.obey_parent();
            if let Some(sentence) = self.guard.renew(&entries[answered..streamed]) {
                self.reporter.warn(&sentence);
            }
            // After the descriptors of this turn: the new process has none of them.
            for (rank, request) in self.pmi.take_spawns() {
                self.spawn(rank, request);
            }
            self.streams.serve(&entries[streamed..]);
        }
    }

    /// Collects children that ended; false when no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match os::reap() {
                Reaped::Child(pid, how) => {
                    if let Some(rank) = self.ranks.iter().position(|rank| rank.living && rank.pid == pid) {
                        self.rank_ended(rank as u32, how);
                    } else if self.debugging.pane_closed(pid) {
                        self.let_crash();
                    } else {
                        self.job_ended(pid, how);
                    }
                }
                Reaped::Stopped(pid, stop) => self.stopped(pid, stop),
                Reaped::NoneYet => {
                    if self.living == 0 && self.spawned.living() == 0 {
                        // A process that a rank started still runs.
                        self.ending.background(Instant::now());
                    }
                    return true;
                }
                Reaped::NoChildren if self.living > 0 => return self.cannot_wait(libc::ECHILD),
                Reaped::NoChildren => return false,
                Reaped::Refused(error) => return self.cannot_wait(error.raw_os_error().unwrap_or(libc::EINVAL)),
            }
        }
    }

    /// The system does not report how ranks end: the job fails. Returns whether its processes may still run.
    fn cannot_wait(&mut self, errno: i32) -> bool {
        self.ending.fail(Failure::WaitFailed { errno }, self.living, Instant::now());
        let runs = |rank: &Rank| rank.living && os::is_running(rank.pid).unwrap_or(!self.ending.killed());
        if self.ranks.iter().any(runs) {
            return true;
        }
        self.signal_all(libc::SIGKILL);
        false
    }

    fn rank_ended(&mut self, rank: u32, how: Ended) {
        self.ranks[rank as usize].living = false;
        self.living -= 1;
        self.guard.rank_ended(rank);
        self.job.record_end(rank, mpi_core::clock::monotonic_ns());
        self.reporter.verbose(|| match how {
            Ended::Exited(code) => format!("rank {rank} has ended with code {code}"),
            Ended::Killed(signal) => format!("rank {rank} was ended by {}", super::outcome::signal_name(signal)),
        });
        let (inside, abort) = self.pmi.ended(rank);
        self.apply_abort(abort);
        if self.job.abort().is_none() {
            if let Some((code, cause)) = self.job.abort_by(rank) {
                self.abort_part(rank, code, cause);
            }
            if self.job.is_to_end(rank) {
                return self.job.report_lost(rank);
            }
        }
        let failure = match (self.job.abort(), how) {
            (Some((rank, code, cause)), _) if rank < self.job.ranks() => Failure::Aborted { rank, code, cause },
            (_, Ended::Exited(0)) if inside || self.job.life(rank) == Life::Initialised => {
                return self.ending.leave(rank, Instant::now());
            }
            (_, Ended::Exited(0)) => return,
            (_, Ended::Killed(signal)) if self.forwarded == Some(signal) => Failure::Signalled { signal },
            (_, Ended::Killed(libc::SIGKILL)) => {
                Failure::Ended { rank, how, memory: memory_limit::ended_for_memory() > self.ended_for_memory }
            }
            _ => Failure::Ended { rank, how, memory: false },
        };
        if let Some(parent) = &mut self.parent
            && self.ending.failure().is_none()
            && (0..self.job.ranks()).any(|rank| self.job.life(rank) < Life::Initialised)
        {
            parent.report_unconnected();
        }
        // After a signal of the user no rank is to blame.
        if let (None, Some(failed), None) = (self.ending.failure(), failure.failed_rank(), self.forwarded) {
            self.waiting = hang::about(self.job, &self.processes(), failed);
        }
        self.ending.fail(failure, self.living, Instant::now());
    }

    /// Ends the job when a rank of another library aborts it, or ranks wait in a barrier for one that has ended.
    fn apply_abort(&mut self, abort: Option<Abort>) {
        if let Some(Abort { rank, code }) = abort {
            self.job.request_abort(rank, code, AbortCause::Call);
            self.ending.fail(Failure::Aborted { rank, code, cause: AbortCause::Call }, self.living, Instant::now());
        }
        if let Some(rank) = self.pmi.missed() {
            self.ending.leave(rank, Instant::now());
        }
    }

    /// Starts the job that a rank requests.
    fn spawn(&mut self, rank: u32, collected: Collected) {
        let refuse = |pmi: &mut Server, processes: usize, reason: String| {
            pmi.send(rank, &SpawnResult { started: vec![false; processes], reason }.to_line("0"));
        };
        let request = match collected.request {
            Ok(request) => request,
            Err(bad) => return refuse(&mut self.pmi, 0, format!("the request to start processes is bad: {bad}")),
        };
        if self.ending.failure().is_some() {
            return refuse(&mut self.pmi, request.processes(), "the job is being ended".into());
        }
        match self.spawned.fork(rank, collected.ours, &self.inherited) {
            Ok(None) => {}
            Ok(Some(parent)) => std::process::exit(child_job::run(parent, request, self.options)),
            Err(error) => refuse(&mut self.pmi, request.processes(), format!("cannot start a process: {error}")),
        }
    }

    /// Handles the end of a spawned job.
    fn job_ended(&mut self, pid: i32, how: Ended) {
        let Some(ended) = self.spawned.ended(pid, how) else { return };
        if let Some(Line { rank, text }) = &ended.line {
            self.pmi.send(*rank, text);
        }
        if ended.lost_answer {
            let reason = "the process that was to start the job ended".to_owned();
            self.pmi.send(ended.rank, &SpawnResult { started: Vec::new(), reason }.to_line(&ended.name));
        } else if ended.ours {
            self.pmi.send(ended.rank, &ended_line(&ended.name));
        }
        let EndedJob { rank, code, .. } = ended;
        if code != 0 && !ended.unconnected {
            let failure = match self.forwarded {
                Some(signal) if code == 128 + signal => Failure::Signalled { signal },
                _ if ended.apart => return self.ending.note_code(code),
                _ => Failure::Spawned { rank, code },
            };
            self.ending.fail_as_cause(failure, self.living, Instant::now());
        }
    }

    /// Does what the parent of a spawned job requests.
    fn obey_parent(&mut self) {
        let Some(parent) = &mut self.parent else { return };
        let (requests, left) = (parent.requests(), self.job.has_left(parent.job()));
        if left && requests.iter().any(|request| matches!(request, FromParent::Failed | FromParent::Lost)) {
            parent.report_apart();
        }
        for request in requests {
            match request {
                FromParent::End => {
                    self.all_end = true;
                    self.ending.fail(Failure::ParentEnded, self.living, Instant::now());
                }
                FromParent::Failed | FromParent::Lost if left => {}
                FromParent::Failed => self.ending.fail(Failure::ParentEnded, self.living, Instant::now()),
                FromParent::Lost => self.ending.fail(Failure::ParentLost, self.living, Instant::now()),
                FromParent::Report => {
                    self.spawned.report_all();
                    self.reporter.warn(&hang::sentence(&hang::report(self.job, &self.processes())));
                }
            }
        }
    }

    /// The ranks' processes that have not ended.
    fn processes(&self) -> Vec<Option<i32>> {
        self.ranks.iter().map(|rank| rank.living.then_some(rank.pid)).collect()
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::TimeOver => {
                let milliseconds = self.options.timeout.flatten().map_or(0, |limit| limit.as_millis() as u64);
                if self.spawned.living() > 0 {
                    // The report on this job comes at its end, behind those.
                    let seconds = milliseconds as f64 / 1000.0;
                    self.reporter
                        .warn(&format!("the time limit of {seconds} s is over; the jobs it has spawned report first"));
                }
                self.spawned.report_all();
                self.time_report = Some(self.time_report(&self.processes()));
                self.all_end = true;
                self.ending.fail(Failure::TimedOut { milliseconds }, self.living, Instant::now());
            }
            Order::Terminate => {
                if let Some(Failure::Left { rank }) = self.ending.failure() {
                    self.waiting = hang::about(self.job, &self.processes(), rank);
                }
                match self.all_end || matches!(self.ending.failure(), Some(Failure::Signalled { .. })) {
                    true => self.spawned.end_all(Instant::now()),
                    false => self.spawned.end_connected(Instant::now()),
                }
                self.signal_all(libc::SIGTERM);
                // A stopped process would not handle it.
                self.signal_all(libc::SIGCONT);
            }
            Order::Kill => self.signal_all(libc::SIGKILL),
            Order::KillPart => self.signal_part(libc::SIGKILL),
        }
    }

    /// Milliseconds until the next deadline.
    fn time_left(&self) -> Option<i32> {
        let next =
            [self.ending.next(self.living), self.streams.pause_at(), self.spawned.next(), self.hang_watch.next()];
        let next = next.into_iter().flatten().min()?;
        // Rounded up, so as not to wake before it.
        let left = next.saturating_duration_since(Instant::now()).as_millis() + 1;
        Some(i32::try_from(left).unwrap_or(i32::MAX))
    }

    /// Handles a signal that the launcher received.
    fn handle_signal(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => {}
            libc::SIGTSTP => {
                self.signal_all(libc::SIGTSTP);
                self.spawned.signal_all(libc::SIGTSTP);
                os::stop_self();
            }
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT if self.forwarded.is_some() => {
                // The second signal ends the job at once.
                self.ending.fail(Failure::Signalled { signal }, self.living, Instant::now());
                self.signal_all(libc::SIGKILL);
                self.spawned.signal_all(libc::SIGKILL);
            }
            _ => {
                if matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT) {
                    self.forwarded = Some(signal);
                }
                self.signal_all(signal);
                self.spawned.signal_all(signal);
            }
        }
    }

    /// Signals every process of the job: the ranks' groups, and orphans that have become our children.
    fn signal_all(&self, signal: i32) {
        for rank in self.ranks.iter().filter(|rank| rank.living) {
            os::signal_group(rank.pid, signal);
        }
        if matches!(signal, libc::SIGTERM | libc::SIGKILL) {
            self.guard.signal_orphans(signal, self.job.id(), |pid| self.spawned.has(pid));
        }
    }
}
