//! The loop: signals, children, streams, deadlines.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use mpi_fabric::{Attachment, Job, Life};

use super::guard::{self, Guard};
use super::os::{self, Ended, Reaped};
use super::outcome::Failure;
use super::spawn::{Stdio, Template};
use super::streams::Streams;
use super::terminal::Terminal;
use crate::args::Run;
use crate::wireup;

/// Signals that are passed on to the ranks.
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

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(1000);
/// How long others may go on after a rank left without MPI_Finalize, before that counts as a failure.
const LEFT_GRACE: Duration = Duration::from_millis(1000);
/// What ranks left running in the background may take to end by themselves.
const BACKGROUND_GRACE: Duration = Duration::from_millis(250);

/// After so long SIGKILL has had its effect, or never has: on a process that the kernel cannot end, or that cannot be found.
const GIVE_UP: Duration = Duration::from_secs(5);

/// Why a job could not be started. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("cannot start {0}: {1}")]
    Program(String, io::Error),
    #[error("cannot start the job: {0}")]
    System(#[from] io::Error),
}

impl StartError {
    pub(super) fn exit_code(&self) -> i32 {
        match self {
            StartError::Program(_, error) if error.kind() == io::ErrorKind::NotFound => 127,
            StartError::Program(..) => 126,
            StartError::System(_) => 1,
        }
    }
}

/// One rank's process; process id and process group are the same number.
struct Rank {
    pid: i32,
    living: bool,
}

struct Supervisor<'a> {
    job: &'a Job,
    guard: Guard,
    streams: Streams,
    terminal: Option<Terminal>,
    signals: OwnedFd,
    ranks: Vec<Rank>,
    living: u32,
    failure: Option<Failure>,
    /// The last signal passed on that usually ends a program.
    told: Option<i32>,
    /// Who left without MPI_Finalize, and when; the first one.
    left: Option<(u32, Instant)>,
    /// When what is left gets SIGTERM, and when SIGKILL.
    term_at: Option<Instant>,
    kill_at: Option<Instant>,
    /// When SIGKILL was sent first.
    killed_at: Option<Instant>,
    /// Whether a failure ended ranks that were still running.
    others_ended: bool,
}

/// Runs the job to its end; returns the exit code.
pub(super) fn run(run: &Run, program: &Path, job: &Job) -> Result<i32, StartError> {
    let guard = Guard::start(run.processes, job.id())?;
    os::adopt_orphans();
    let open_files = os::raise_open_files();
    let (signals, mask) = os::take_signals(&FORWARDED, libc::SIGCHLD)?;
    let mut supervisor = Supervisor {
        job,
        guard,
        streams: Streams::new()?,
        terminal: None,
        signals,
        ranks: Vec::new(),
        living: 0,
        failure: None,
        told: None,
        left: None,
        term_at: None,
        kill_at: None,
        killed_at: None,
        others_ended: false,
    };
    let template = Template::new(program, &run.program, &run.arguments, job.fd(), mask, open_files)?;
    let started = supervisor.start_all(template, run.processes);
    if started.is_err() {
        // Nothing of a job that cannot be complete may stay, nor say anything.
        supervisor.signal_all(libc::SIGKILL);
    }
    supervisor.supervise()?;
    let Supervisor { failure, others_ended, streams, .. } = supervisor;
    if let Err(error) = started {
        return Err(match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => StartError::System(error),
            _ => StartError::Program(format!("{:?}", run.program), error),
        });
    }
    let lost = streams.loss().map(|error| super::complain(super::TROUBLE, &format!("output is lost: {error}")));
    let failed =
        failure.map(|failure| super::complain(failure.exit_code(), &failure.sentence(&run.program, job, others_ended)));
    Ok(failed.or(lost).unwrap_or(0))
}

impl Supervisor<'_> {
    fn start_all(&mut self, mut template: Template, size: u32) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let nothing = File::open("/dev/null")?;
        let input = io::stdin();
        let mut typed = None;
        if let Some((terminal, read)) = Terminal::new(input.as_fd())? {
            self.terminal = Some(terminal);
            typed = Some(read);
        }
        let first_input = typed.as_ref().map_or(input.as_fd(), AsFd::as_fd);
        let fd = self.job.fd().map_or(-1, |fd| fd.as_raw_fd());
        for rank in 0..size {
            let (output, output_end) = os::pipe()?;
            let (error, error_end) = os::pipe()?;
            if size <= 16 {
                os::enlarge_pipe(output.as_fd(), 256 << 10);
            }
            let input = if rank == 0 { first_input } else { nothing.as_fd() };
            let stdio = Stdio { input, output: output_end.as_fd(), error: error_end.as_fd() };
            let place = wireup::to_variables(&Attachment { fd, job_id: self.job.id(), rank, size });
            let pid = template.start(&place, stdio)?;
            self.guard.set_group(rank, pid);
            self.ranks.push(Rank { pid, living: true });
            self.living += 1;
            self.streams.add(output, error);
        }
        Ok(())
    }

    fn supervise(&mut self) -> io::Result<()> {
        let mut entries = Vec::new();
        loop {
            let children = self.reap() && self.killed_at.is_none_or(|since| since.elapsed() < GIVE_UP);
            if !children {
                // Every process of the job is gone: what its streams hold is there, and no more comes.
                self.streams.close();
                if self.streams.done() {
                    return Ok(());
                }
            }
            self.keep_deadlines(children);
            self.streams.show_prompts();
            entries.clear();
            entries.push(os::poll_entry(self.signals.as_fd(), libc::POLLIN));
            let typing = self.terminal.as_ref().map_or(0, |terminal| terminal.interests(&mut entries));
            self.streams.interests(&mut entries);
            os::poll(&mut entries, self.time_left())?;
            if entries[0].revents != 0 {
                while let Some(signal) = os::next_signal(self.signals.as_fd()) {
                    self.take(signal);
                }
            }
            if let Some(terminal) = &mut self.terminal {
                terminal.serve(&entries[1..1 + typing]);
            }
            self.streams.serve(&entries[1 + typing..]);
        }
    }

    /// Collects children that ended; false when there are none at all any more.
    fn reap(&mut self) -> bool {
        loop {
            match os::reap() {
                Reaped::Child(pid, how) => {
                    if let Some(rank) = self.ranks.iter().position(|rank| rank.living && rank.pid == pid) {
                        self.rank_ended(rank as u32, how);
                    }
                }
                Reaped::NoneYet => {
                    if self.living == 0 && self.term_at.is_none() {
                        // Something that a rank started outlives it.
                        self.term_at = Some(Instant::now() + BACKGROUND_GRACE);
                    }
                    return true;
                }
                Reaped::NoChildren => return false,
            }
        }
    }

    fn rank_ended(&mut self, rank: u32, how: Ended) {
        self.ranks[rank as usize].living = false;
        self.living -= 1;
        let failure = match (self.job.abort(), how) {
            (Some((rank, code)), _) if rank < self.job.ranks() => Some(Failure::Aborted { rank, code }),
            (_, Ended::Exited(0)) if self.job.life(rank) == Life::Initialised => {
                self.left.get_or_insert((rank, Instant::now()));
                None
            }
            (_, Ended::Exited(0)) => None,
            (_, Ended::Killed(signal)) if self.told == Some(signal) => Some(Failure::Told { signal }),
            _ => Some(Failure::Ended { rank, how }),
        };
        if let Some(failure) = failure {
            self.fail(failure);
        }
    }

    /// Notes the first failure and ends the other ranks.
    fn fail(&mut self, failure: Failure) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.others_ended = self.living > 0;
            self.term_at = Some(Instant::now());
        }
    }

    fn keep_deadlines(&mut self, children: bool) {
        let now = Instant::now();
        if let Some((rank, since)) = self.left
            && self.living > 0
            && now >= since + LEFT_GRACE
        {
            self.left = None;
            self.fail(Failure::Left { rank });
        }
        if !children {
            return;
        }
        if self.term_at.is_some_and(|at| now >= at) && self.kill_at.is_none() {
            self.signal_all(libc::SIGTERM);
            // A stopped process would not see it.
            self.signal_all(libc::SIGCONT);
            self.kill_at = Some(now + GRACE);
        }
        if self.kill_at.is_some_and(|at| now >= at) {
            self.signal_all(libc::SIGKILL);
            self.killed_at.get_or_insert(now);
            // Again soon, for what a process started while it was being killed.
            self.kill_at = Some(now + Duration::from_millis(10));
        }
    }

    /// Milliseconds until the next deadline.
    fn time_left(&self) -> Option<i32> {
        let left = self.left.filter(|_| self.living > 0).map(|(_, since)| since + LEFT_GRACE);
        let term = self.term_at.filter(|_| self.kill_at.is_none());
        let next = [left, term, self.kill_at, self.streams.prompt_at()].into_iter().flatten().min()?;
        // Rounded up, so as not to wake before it.
        Some(next.saturating_duration_since(Instant::now()).as_millis() as i32 + 1)
    }

    /// A signal that came to the launcher.
    fn take(&mut self, signal: i32) {
        match signal {
            libc::SIGCHLD => {}
            libc::SIGTSTP => {
                self.signal_all(libc::SIGTSTP);
                os::stop_self();
            }
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT if self.told.is_some() => {
                // Asked twice: no more patience.
                self.fail(Failure::Told { signal });
                self.signal_all(libc::SIGKILL);
            }
            _ => {
                if matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT) {
                    self.told = Some(signal);
                }
                self.signal_all(signal);
            }
        }
    }

    /// Signals everything that belongs to the job: the ranks' groups, and orphans that have become our children.
    fn signal_all(&self, signal: i32) {
        for rank in self.ranks.iter().filter(|rank| rank.living) {
            os::signal_group(rank.pid, signal);
        }
        if matches!(signal, libc::SIGTERM | libc::SIGKILL) {
            match os::children() {
                Some(children) => {
                    let orphans = children.into_iter().filter(|pid| *pid != self.guard.pid());
                    orphans.for_each(|pid| os::signal_process(pid, signal));
                }
                None => {
                    // Groups of ranks that have ended may still have members; the others are found by their environment.
                    self.ranks.iter().for_each(|rank| os::signal_group(rank.pid, signal));
                    if signal == libc::SIGKILL {
                        guard::end_members(self.job.id());
                    }
                }
            }
        }
    }
}
