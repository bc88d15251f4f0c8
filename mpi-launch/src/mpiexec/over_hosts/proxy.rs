//! The proxy of `mpiexec` on a host: it starts the ranks there and does what the front requests.
//!
//! One thread, one `poll` loop, as the launcher of one host has. The proxy decides nothing, except that everything ends when the
//! front is lost.
//!
//! Invariant: when the proxy ends, in whatever way, no process of the job is left on its host (see `guard`).
//! Not here: the connection (`greeting`, `link`), what is made of reports (`front`).

mod looks;
mod start;

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mpi_fabric::{AbortCause, Job, JobOptions, Life, host};
use mpi_wireup::host_info::HostInfo;
use mpi_wireup::spawn_request::SpawnResult;

use super::super::guard::Guard;
use super::super::os::{self, Ended, Inherited, Reaped};
use super::super::plan::Plan;
use super::super::recordings::Recordings;
use super::super::refusal::Refusal;
use super::super::{TROUBLE, memory_limit};
use super::frame::{Bytes, Frame, JobPart};
use super::link::Link;
use super::{greeting, part, ping_interval};
use crate::args::Options;
use crate::pmi_server::{Abort, Server};
use looks::Looks;

/// Bytes of output that the front may not have taken yet.
const WINDOW: usize = 1 << 20;
/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;
/// Between two looks at whether the launcher's process on this host still runs.
const LOOK: Duration = Duration::from_millis(500);
/// Time limit for processes to end by SIGKILL.
const END_LIMIT: Duration = Duration::from_secs(5);

/// The proxy: `mpiexec --serve-host VARIABLE`.
pub(in crate::mpiexec) fn serve(variable: &OsStr) -> i32 {
    let parent = os::parent();
    let (mut link, limit) = match greeting::connect(variable) {
        Ok(connected) => connected,
        Err(sentence) => {
            eprintln!("mpiexec: on host {}: {sentence}", host::name());
            return TROUBLE;
        }
    };
    let Some(Frame::Job { part }) = greeting::wait(&mut link, limit) else { return TROUBLE };
    match run(&mut link, &part, limit, parent) {
        Ok(code) => code,
        Err(refusal) => {
            let (code, sentence) = (refusal.exit_code(), refusal.to_string());
            link.send(&Frame::Refused { code, sentence });
            // The front ends the connection.
            while !matches!(greeting::wait(&mut link, limit), None | Some(Frame::End {})) {}
            0
        }
    }
}

/// Runs the part of a job; errors are those before any rank was started.
fn run(link: &mut Link, part: &JobPart, limit: Duration, parent: i32) -> Result<i32, Refusal> {
    let malformed = || Refusal::Job("the description of the job is malformed".into());
    let own_name = std::env::var_os("HOSTNAME").map(|value| ("HOSTNAME".into(), value));
    let others = part.environment.iter().filter(|(name, _)| name != "HOSTNAME").cloned();
    os::replace_environment(&others.chain(own_name).collect::<Vec<_>>());
    std::env::set_current_dir(&part.directory).map_err(|error| Refusal::Current(part.directory.clone(), error))?;
    let run = part::run_of(part).ok_or_else(malformed)?;
    let world = part::ranks_of(part).ok_or_else(malformed)?;
    let hosts = part::hosts_of(part, &world).ok_or_else(malformed)?;
    let counts: Vec<u32> = part.programs.iter().map(|program| program.ranks.len() as u32).collect();
    let plan = Plan::new(&run, part.settings.clone(), Some(&counts))?;
    let ring_bytes = part.ring_bytes.map(|bytes| bytes as usize);
    let options = JobOptions { ranks: part.size, ring_bytes, cores: host::usable_cores() };
    let job = Job::create_part(&options, &world).map_err(|error| Refusal::Job(error.to_string()))?;
    job.set_hosts(&hosts);
    if let Some(front) = part::front_of(part, &HostInfo::own()) {
        job.set_front(front);
    }
    if part.peaks {
        job.keep_peaks();
    }
    let recordings = Recordings::of_host(part.profile, part.trace, world.len() as u32)?;
    let guard = Guard::start(world.len() as u32, job.id())?;
    os::adopt_orphans();
    let open_files = os::raise_open_files();
    let (signals, mask) = os::take_signals(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT], libc::SIGCHLD)?;
    let mut pmi = Server::over_hosts(&world, part.size, part.number, &part.mapping);
    pmi.put_all(&part.values).map_err(Refusal::Value)?;
    let mut proxy = Proxy {
        link,
        part,
        plan: &plan,
        options: &run.options,
        job: &job,
        recordings: &recordings,
        pmi,
        world,
        guard,
        signals,
        inherited: Inherited { signals: mask, open_files },
        ranks: Vec::new(),
        living: 0,
        pipes: Vec::new(),
        fed: Vec::new(),
        input: 0,
        input_taken: 0,
        input_ended: false,
        untaken: 0,
        ended_for_memory: memory_limit::ended_for_memory(),
        limit,
        parent,
        parent_process: os::process_descriptor(parent),
        left: false,
        paused: false,
        started: false,
        idle: false,
        over: false,
        looks: Looks::new(part.hang_ms, Instant::now()),
    };
    proxy.link.send(&Frame::Ready { warnings: plan.warnings.clone(), ahead_ns: os::time_of_day_ahead_ns() });
    Ok(proxy.serve())
}

/// One rank's process; process id and process group are the same number.
struct Rank {
    pid: i32,
    living: bool,
}

/// A stream that a rank writes.
struct Pipe {
    /// `None` once it has ended.
    fd: Option<OwnedFd>,
    rank: u32,
    error: bool,
}

/// The input of a rank.
struct Fed {
    /// `None` once either end is closed.
    pipe: Option<OwnedFd>,
    waiting: Vec<u8>,
}

struct Proxy<'a> {
    link: &'a mut Link,
    part: &'a JobPart,
    plan: &'a Plan<'a>,
    options: &'a Options,
    job: &'a Job,
    recordings: &'a Recordings,
    pmi: Server,
    /// The ranks of this host; their places in the list are their places in the other ones.
    world: Vec<u32>,
    guard: Guard,
    signals: OwnedFd,
    inherited: Inherited,
    ranks: Vec<Rank>,
    living: usize,
    pipes: Vec<Pipe>,
    fed: Vec<Fed>,
    /// Bytes of input that came, and that were reported as taken.
    input: u64,
    input_taken: u64,
    input_ended: bool,
    /// Bytes of output that the front has not taken.
    untaken: usize,
    ended_for_memory: u64,
    limit: Duration,
    /// The process that started this one.
    parent: i32,
    /// It, where the kernel has descriptors of processes; its end is seen at once then.
    parent_process: Option<OwnedFd>,
    /// Whether the end of the launcher's process, or its signal, was reported.
    left: bool,
    /// Whether the front has stopped.
    paused: bool,
    started: bool,
    /// Whether the end of all processes was reported.
    idle: bool,
    /// Whether the front has ended the job.
    over: bool,
    looks: Looks,
}

impl Proxy<'_> {
    fn serve(&mut self) -> i32 {
        loop {
            let children = self.reap();
            if self.over {
                self.end_all();
                return 0;
            }
            if self.link.is_closed() || self.link.is_silent(Instant::now(), self.limit) && !self.paused {
                self.end_all();
                return TROUBLE;
            }
            self.look_at_launcher();
            self.look_for_progress(Instant::now());
            self.look_again(Instant::now());
            self.report_doing(Instant::now());
            if self.started && !children {
                self.finish();
            }
            if self.link.own_silence(Instant::now()) > ping_interval(self.limit) {
                self.link.send(&Frame::Ping {});
            }
            let mut entries = vec![self.link.interest(), os::poll_entry(self.signals.as_fd(), libc::POLLIN)];
            let served = 2 + self.pmi.interests(&mut entries);
            entries.extend(
                self.fed
                    .iter()
                    .filter(|fed| !fed.waiting.is_empty())
                    .filter_map(|fed| fed.pipe.as_ref().map(|pipe| os::poll_entry(pipe.as_fd(), libc::POLLOUT))),
            );
            let watched = self.parent_process.as_ref().filter(|_| !self.left);
            entries.extend(watched.map(|process| os::poll_entry(process.as_fd(), libc::POLLIN)));
            entries.extend(self.guard.interest());
            let piped = entries.len();
            if self.may_read() {
                let open = self.pipes.iter().filter_map(|pipe| pipe.fd.as_ref());
                entries.extend(open.map(|fd| os::poll_entry(fd.as_fd(), libc::POLLIN)));
            }
            if os::poll(&mut entries, Some(self.next_look())).is_err() {
                self.end_all();
                return TROUBLE;
            }
            if let Some(sentence) = self.guard.renew(&entries) {
                self.link.send(&Frame::Warning { sentence });
            }
            self.link.flush();
            self.look_at_launcher();
            if entries[0].revents != 0 {
                self.link.receive();
            }
            while let Some(frame) = self.link.next() {
                self.obey(frame);
            }
            while let Some(signal) = os::next_signal(self.signals.as_fd()) {
                if signal != libc::SIGCHLD && !std::mem::replace(&mut self.left, true) {
                    self.link.send(&Frame::Leaving { signal });
                }
            }
            let abort = self.pmi.serve(&entries[2..served]);
            self.report_pmi(abort);
            self.feed();
            let ready: Vec<i32> =
                entries[piped..].iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).collect();
            for i in 0..self.pipes.len() {
                if self.pipes[i].fd.as_ref().is_some_and(|fd| ready.contains(&fd.as_raw_fd())) {
                    self.read(i);
                }
            }
        }
    }

    /// Milliseconds until something has to be looked at without an event.
    fn next_look(&self) -> i32 {
        let interval = LOOK.min(ping_interval(self.limit) / 2);
        self.looks.wait(Instant::now()).map_or(interval, |own| interval.min(own)).as_millis() as i32 + 1
    }

    fn may_read(&self) -> bool {
        self.untaken < WINDOW
    }

    /// Reads once from a stream of a rank; whether bytes came.
    fn read(&mut self, i: usize) -> bool {
        let pipe = &mut self.pipes[i];
        let (Some(fd), rank, error) = (&pipe.fd, pipe.rank, pipe.error) else { return false };
        let mut buffer = [0; READ_BYTES];
        match os::read(fd.as_fd(), &mut buffer) {
            Ok(n) if n > 0 => {
                self.untaken += n;
                self.link.send(&Frame::Output { rank, error, bytes: Bytes(buffer[..n].to_vec()) });
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => true,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => false,
            Ok(_) | Err(_) => {
                pipe.fd = None;
                self.link.send(&Frame::OutputEnd { rank, error });
                false
            }
        }
    }

    /// When every process has ended: sends what is left, and reports that.
    fn finish(&mut self) {
        for i in 0..self.pipes.len() {
            while self.may_read() && self.read(i) {}
            if self.may_read() && self.pipes[i].fd.take().is_some() {
                let Pipe { rank, error, .. } = self.pipes[i];
                self.link.send(&Frame::OutputEnd { rank, error });
            }
        }
        if self.pipes.iter().all(|pipe| pipe.fd.is_none()) && !std::mem::replace(&mut self.idle, true) {
            for (place, rank) in (0..).zip(self.world.clone()) {
                for (timeline, at, bytes) in self.recordings.parts(place) {
                    self.link.send(&Frame::Recording { rank, timeline, at, bytes: Bytes(bytes) });
                }
            }
            self.link.send(&Frame::Idle {});
        }
    }

    /// Reports once that the launcher's process on this host has ended.
    fn look_at_launcher(&mut self) {
        let has_ended = |process: &OwnedFd| os::has_ended(process, 0);
        let ended = os::parent() != self.parent || self.parent_process.as_ref().is_some_and(has_ended);
        if ended && !std::mem::replace(&mut self.left, true) {
            self.link.send(&Frame::Leaving { signal: 0 });
        }
    }

    /// Does what the front requests.
    fn obey(&mut self, frame: Frame) {
        self.paused = false;
        match frame {
            Frame::Start {} if !self.started => self.start_all(),
            Frame::OutputTaken { bytes } => self.untaken = self.untaken.saturating_sub(bytes as usize),
            Frame::CloseOutput { rank, error } => {
                // The rank sees a broken pipe of its own, as without a launcher.
                let closed = self.pipes.iter_mut().filter(|pipe| pipe.rank == rank && pipe.error == error);
                closed.for_each(|pipe| pipe.fd = None);
            }
            Frame::Input { bytes } => {
                self.input += bytes.0.len() as u64;
                let open = self.fed.iter_mut().filter(|fed| fed.pipe.is_some());
                open.for_each(|fed| fed.waiting.extend_from_slice(&bytes.0));
            }
            Frame::InputEnd {} => self.input_ended = true,
            Frame::FenceEnd { values } => self.pmi.end_fence(&values),
            Frame::Report { number, twice } => self.report(number, twice),
            Frame::Signal { signal, all } => self.signal_all(signal, all),
            Frame::SignalPart { signal, ranks } => {
                for (place, rank) in self.world.iter().enumerate() {
                    if let Some(group) = self.guard.group_of(place as u32).filter(|_| ranks.contains(rank)) {
                        os::signal_group(group, signal);
                        if signal == libc::SIGTERM {
                            os::signal_group(group, libc::SIGCONT);
                        }
                    }
                }
            }
            Frame::SpawnLine { rank, line } => {
                let place = self.world.iter().position(|own| *own == rank);
                place.iter().for_each(|place| self.pmi.send(*place as u32, &line));
            }
            Frame::Lost { rank } if rank < self.part.size => self.job.report_lost(rank),
            Frame::Pause {} => self.paused = true,
            Frame::End {} => self.over = true,
            _ => {}
        }
    }

    /// Writes input to the ranks.
    fn feed(&mut self) {
        for fed in &mut self.fed {
            if let Some(pipe) = fed.pipe.as_ref().filter(|_| !fed.waiting.is_empty()) {
                match os::write(pipe.as_fd(), &fed.waiting) {
                    Ok(n) => drop(fed.waiting.drain(..n)),
                    Err(error) if is_temporary(&error) => {}
                    Err(_) => fed.pipe = None,
                }
            }
            if fed.pipe.is_none() || self.input_ended && fed.waiting.is_empty() {
                (fed.pipe, fed.waiting) = (None, Vec::new());
            }
        }
        let waiting = self.fed.iter().map(|fed| fed.waiting.len()).max().unwrap_or(0) as u64;
        let taken = self.input - waiting;
        if taken > self.input_taken {
            self.link.send(&Frame::InputTaken { bytes: (taken - self.input_taken) as u32 });
            self.input_taken = taken;
        }
    }

    /// Sends the front what the ranks have requested by PMI.
    fn report_pmi(&mut self, abort: Option<Abort>) {
        if let Some(Abort { rank, code }) = abort {
            let rank = self.world[rank as usize];
            self.job.request_abort(rank, code, AbortCause::Call);
            self.link.send(&Frame::Abort { rank, code, error: false });
        }
        if let Some(values) = self.pmi.take_fence() {
            self.link.send(&Frame::Fence { values });
        }
        if let Some(place) = self.pmi.missed() {
            self.link.send(&Frame::Missed { rank: self.world[place as usize] });
        }
        for (rank, collected) in self.pmi.take_spawns() {
            let lines = collected.request.and_then(|request| request.to_lines(true));
            match lines {
                Ok(lines) => {
                    let (rank, lines) = (self.world[rank as usize], Bytes(lines.into_bytes()));
                    self.link.send(&Frame::Spawn { rank, ours: collected.ours, lines });
                }
                Err(bad) => {
                    let reason = format!("the request to start processes is bad: {bad}");
                    self.pmi.send(rank, &SpawnResult { started: Vec::new(), reason }.to_line("0"));
                }
            }
        }
    }

    /// Collects children that ended; false when no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match os::reap() {
                Reaped::Child(pid, how) => {
                    if let Some(place) = self.ranks.iter().position(|rank| rank.living && rank.pid == pid) {
                        self.rank_ended(place, how);
                    }
                }
                Reaped::Stopped(pid, _) => super::super::os::tracing::resume(pid, 0),
                Reaped::NoneYet => return true,
                Reaped::NoChildren | Reaped::Refused(_) => return false,
            }
        }
    }

    fn rank_ended(&mut self, place: usize, how: Ended) {
        self.ranks[place].living = false;
        self.living -= 1;
        self.guard.rank_ended(place as u32);
        let rank = self.world[place];
        self.job.record_end(rank, mpi_core::clock::monotonic_ns());
        let (inside, abort) = self.pmi.ended(place as u32);
        self.report_pmi(abort);
        let well = how == Ended::Exited(0) && !inside && self.job.life(rank) != Life::Initialised;
        self.send_block(rank, self.part.statistics || !well);
        match (self.job.abort(), self.job.abort_by(rank)) {
            (Some((rank, code, cause)), _) => {
                self.link.send(&Frame::Abort { rank, code, error: cause == AbortCause::Error });
            }
            (None, Some((code, cause))) => {
                let members = (0..self.part.size).filter(|member| self.job.is_to_end(*member)).collect();
                self.link.send(&Frame::PartAbort { rank, code, error: cause == AbortCause::Error, members });
            }
            (None, None) => {}
        }
        let (killed, code) = match how {
            Ended::Exited(code) => (false, code),
            Ended::Killed(signal) => (true, signal),
        };
        let memory = how == Ended::Killed(libc::SIGKILL) && memory_limit::ended_for_memory() > self.ended_for_memory;
        self.link.send(&Frame::Ended { rank, killed, code, inside, memory });
    }

    /// Sends the state of a rank, and with `whole` all that is in its block.
    fn send_block(&mut self, rank: u32, whole: bool) {
        for page in 0..if whole { self.job.pages_of_rank() } else { 1 } {
            if let Some(bytes) = self.job.block_page(rank, page) {
                self.link.send(&Frame::Page { rank, page, bytes: Bytes(bytes) });
            }
        }
    }

    /// Signals the ranks' groups; with `all` also orphans that have become children of this process.
    fn signal_all(&self, signal: i32, all: bool) {
        for rank in self.ranks.iter().filter(|rank| rank.living) {
            os::signal_group(rank.pid, signal);
        }
        if all {
            self.guard.signal_orphans(signal, self.job.id(), |_| false);
        }
    }

    /// Kills every process of the job on this host, and waits until they have ended.
    fn end_all(&mut self) {
        let end = Instant::now() + END_LIMIT;
        while self.started && self.reap() && Instant::now() < end {
            self.signal_all(libc::SIGKILL, true);
            std::thread::sleep(Duration::from_millis(2));
        }
        // What the guard reports has no reader here.
        let _ = self.guard.dismiss();
        self.link.flush();
    }
}

fn is_temporary(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock)
}
