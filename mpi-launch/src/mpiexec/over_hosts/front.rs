//! The loop of `mpiexec` for a job on several hosts.
//!
//! Invariant: nothing is started on any host before all hosts have reported that they can start their part.
//! Not here: what hosts do (`proxy`), when a job ends (`ending`), the sentences (`outcome`).

mod hangs;
mod input;
mod losses;
mod messages;
mod reach;
mod reports;
mod spawning;

use std::io::IsTerminal;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mpi_fabric::Job;

use super::super::activity;
use super::super::child_job::Parent;
use super::super::ending::{Ending, Order};
use super::super::nodelist;
use super::super::os::{self, Inherited};
use super::super::outcome::{Failure, HostLoss};
use super::super::placement::Placement;
use super::super::plan::Plan;
use super::super::recordings::Recordings;
use super::super::refusal::Refusal;
use super::super::reporter::Reporter;
use super::super::start::create;
use super::super::streams::{Label, Stream, Streams};
use super::frame::{Frame, JobPart};
use super::greeting::{Guest, Meeting, Welcome};
use super::hosts::{Host, Launcher};
use super::link::Link;
use super::manager::{Starter, in_path, shown};
use super::secret::{Secret, random};
use super::{part, ping_interval, silence_limit};
use crate::args::{Input, Options};
use hangs::{Hangs, TimeReport, Wanted};
use losses::Losses;
use reach::{addresses, listen, same_host};
use spawning::Spawning;

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
/// Bytes of input that a host may not have taken yet.
const INPUT_WINDOW: usize = 64 << 10;
/// Between the first loss of a host or launcher and the choice of the cause. Launchers end their other processes when they
/// lose one, so that a cause and its consequences come together.
const VERDICT: Duration = Duration::from_millis(300);

/// One rank.
#[derive(Clone, Copy, Default)]
struct Rank {
    living: bool,
    /// State of its process, when a report was requested.
    state: Option<activity::State>,
    /// Numbers of its streams.
    streams: [usize; 2],
}

struct Front<'a> {
    plan: &'a Plan<'a>,
    placement: &'a Placement,
    options: &'a Options,
    /// Copies of the ranks' blocks.
    job: &'a Job,
    recordings: &'a Recordings,
    reporter: Reporter,
    secret: Secret,
    listener: TcpListener,
    guests: Vec<Guest>,
    by_name: bool,
    part: JobPart,
    launcher: Launcher,
    hosts: Vec<Host>,
    ranks: Vec<Rank>,
    living: u32,
    started: bool,
    streams: Streams,
    signals: OwnedFd,
    ending: Ending,
    forwarded: Option<i32>,
    /// `None` when no more input comes.
    input: Option<OwnedFd>,
    input_is_terminal: bool,
    hangs: Hangs,
    time_report: Option<TimeReport>,
    limit: Duration,
    command: String,
    /// What to look at when the launcher does not reach a host.
    advice: Option<&'static str>,
    losses: Losses,
    spawning: Spawning,
    parent: Option<&'a mut Parent>,
}

/// How a job ended.
pub(in crate::mpiexec) struct Outcome {
    pub(in crate::mpiexec) code: i32,
    /// By rank, how many nanoseconds later the time is than its host's monotonic clock has it, compared with the one here.
    pub(in crate::mpiexec) shifts: Vec<i64>,
}

/// Runs the job to its end. `blocks`: whether the statistics need all blocks. `parent`: if another job spawned this one.
pub(in crate::mpiexec) fn run(
    plan: &Plan<'_>,
    options: &Options,
    (job, recordings): (&Job, &Recordings),
    reporter: Reporter,
    (ring_bytes, blocks): (Option<usize>, bool),
    parent: Option<&mut Parent>,
) -> Result<Outcome, Refusal> {
    let placement = plan.placement.as_ref().expect("a job on several hosts has a placement");
    let limit = silence_limit().map_err(Refusal::Variable)?;
    let allocation = nodelist::allocation(&|name| std::env::var_os(name)).map_err(Refusal::Allocation)?;
    let starter = Starter::choose(options.manager.as_ref(), allocation.is_some(), &in_path)?;
    if let Some(allocation) = allocation.filter(|_| starter.is_slurm()) {
        let is_there = |name: &&String| !allocation.iter().any(|host| same_host(&host.name, name));
        if let Some(host) = placement.hosts.iter().find(is_there) {
            let hosts = allocation.iter().map(|host| &*host.name).collect::<Vec<_>>().join(", ");
            return Err(Refusal::NotAllocated { host: host.clone(), hosts });
        }
    }
    let (secret, net_secret) = (Secret::new()?, Secret::new()?);
    let listener = listen()?;
    listener.set_nonblocking(true)?;
    let meeting =
        Meeting { secret, port: listener.local_addr()?.port(), addresses: addresses(), limit_s: limit.as_secs() };
    let command = starter.command(&placement.hosts, &std::env::current_exe()?, os::is_root());
    reporter.verbose(|| format!("hosts {} are reached by: {}", placement.hosts.join(", "), shown(&command)));
    let (signals, mask) = os::take_signals(&FORWARDED, libc::SIGCHLD)?;
    let inherited = Inherited { signals: mask, open_files: os::open_files() };
    let part = JobPart {
        number: random()?[0],
        secret: net_secret.to_text(),
        parent: parent.as_ref().map(|parent| parent.port().unwrap_or_default().to_owned()),
        values: parent.as_ref().map(|parent| parent.values.clone()).unwrap_or_default(),
        ring_bytes: ring_bytes.map(|bytes| bytes as u64),
        statistics: blocks,
        ..part::common(plan, options)?
    };
    let hosts = (0..).zip(&placement.hosts).map(|(i, name)| Host::new(name, placement.ranks_of(i))).collect();
    let (mut streams, mut ranks) = (Streams::new()?, vec![Rank::default(); plan.ranks as usize]);
    add_streams(&mut streams, &mut ranks, options, reporter)?;
    let stdin = std::io::stdin();
    let fed = options.input != Input::None;
    let input = if fed { Some(stdin.as_fd().try_clone_to_owned()?) } else { None };
    // A launcher that is killed leaves what it has started, such as a remote shell that waits for a lost host.
    os::adopt_orphans();
    let launcher = Launcher::start(&command, &meeting.to_text(), mask)?;
    let mut front = Front {
        plan,
        placement,
        options,
        job,
        recordings,
        reporter,
        secret,
        listener,
        guests: Vec::new(),
        by_name: starter.is_slurm(),
        part,
        launcher,
        hosts,
        ranks,
        living: 0,
        started: false,
        streams,
        signals,
        ending: Ending::new(options.timeout.flatten(), Instant::now()),
        forwarded: None,
        input,
        input_is_terminal: stdin.is_terminal(),
        hangs: Hangs::new(plan.ranks, placement.hosts.len()),
        time_report: None,
        limit,
        command: shown(&command),
        advice: starter.advice(),
        losses: Losses::default(),
        spawning: Spawning::new(reporter.job(), net_secret.job_number(), inherited),
        parent,
    };
    let served = front.serve();
    let broken = served.is_err() || front.hosts.iter().any(|host| host.lost);
    front.hosts.iter_mut().for_each(|host| host.send(&Frame::End {}));
    if !front.started {
        front.launcher.note_daemons();
    }
    let ended_itself = front.launcher.finish(broken);
    // After a good job nothing of the launcher waits for a host.
    if broken || front.ending.failure().is_some() || !ended_itself {
        front.launcher.end_orphans(|pid| front.spawning.jobs.has(pid));
    }
    front.reporter.verbose(|| match front.launcher.said() {
        said if said.is_empty() => "the launcher has written nothing".into(),
        said => format!("the launcher has written: {said}"),
    });
    served?;
    front.report_apart();
    Ok(Outcome { shifts: front.shifts(), code: front.report() })
}

/// Adds the streams of all ranks.
fn add_streams(
    streams: &mut Streams,
    ranks: &mut [Rank],
    options: &Options,
    reporter: Reporter,
) -> Result<(), Refusal> {
    if let Some(directory) = &options.output {
        std::fs::create_dir_all(directory).map_err(|error| Refusal::Output(directory.clone(), error))?;
    }
    for (number, rank) in (0..).zip(ranks) {
        for (i, stream) in [Stream::Output, Stream::Error].into_iter().enumerate() {
            let job = reporter.job();
            let label = Label { job, rank: number, stream, tag: options.tag_output, time: options.timestamp };
            let file = options.output.as_deref().map(|directory| create(directory, number, stream)).transpose()?;
            rank.streams[i] = streams.add_remote(label, file);
        }
    }
    Ok(())
}

impl Front<'_> {
    /// Serves until the job has ended; errors: nothing was started, or everything is to end at once.
    fn serve(&mut self) -> Result<(), Refusal> {
        let begin = Instant::now();
        loop {
            let now = Instant::now();
            self.look_at_launcher()?;
            self.look_for_silence(now);
            self.judge_losses(now);
            self.look_for_hang();
            self.complete_report(now);
            if !self.started {
                self.start_when_ready(now.duration_since(begin))?;
            }
            self.serve_spawned(now);
            self.rest_for_others();
            if self.started && self.are_over() || self.ending.hopeless(now) {
                self.end_streams();
                if self.streams.done() {
                    return Ok(());
                }
            } else if self.started {
                if self.living == 0 && self.spawning.jobs.living() == 0 {
                    // A process that a rank started still runs.
                    self.ending.background(now);
                }
                while let Some(order) = self.ending.due(self.living, Instant::now()) {
                    self.execute(order);
                }
            }
            self.streams.keep_pauses();
            let mut entries = vec![
                os::poll_entry(self.signals.as_fd(), libc::POLLIN),
                os::poll_entry(self.listener.as_fd(), libc::POLLIN),
            ];
            let reads_input = self.input.as_ref().filter(|_| self.may_feed()).map(AsRawFd::as_raw_fd);
            entries.extend(reads_input.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }));
            entries.extend(self.guests.iter().map(Guest::interest));
            let linked = entries.len();
            entries.extend(self.hosts.iter().filter_map(|host| host.link.as_ref()).map(Link::interest));
            self.launcher.interests(&mut entries);
            self.spawn_interests(&mut entries);
            self.streams.interests(&mut entries);
            os::poll(&mut entries, Some(self.time_left()))?;
            while let Some(signal) = os::next_signal(self.signals.as_fd()) {
                self.handle_signal(signal)?;
            }
            self.launcher.receive();
            self.welcome();
            if reads_input.is_some() && entries[2].revents != 0 {
                self.feed();
            }
            let ready: Vec<i32> =
                entries[linked..].iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).collect();
            for host in 0..self.hosts.len() {
                self.receive(host, &ready)?;
            }
            self.streams.flush();
            self.acknowledge();
        }
    }

    /// Milliseconds until the next deadline.
    fn time_left(&self) -> i32 {
        let ping = Instant::now() + ping_interval(self.limit) / 2;
        let ending = if self.started { self.ending.next(self.living) } else { None };
        let spawned = self.spawning.jobs.next();
        let next = [ending, spawned, self.streams.pause_at(), self.hangs.report_by, self.losses.verdict_at, Some(ping)];
        let next = next.into_iter().flatten().min().unwrap_or(ping);
        // Rounded up, so as not to wake before it.
        next.saturating_duration_since(Instant::now()).as_millis() as i32 + 1
    }

    /// Why not all hosts could be reached: a sentence with what the launcher has written.
    fn unreached(&mut self, how: &str) -> Refusal {
        let absent: Vec<&str> = self.hosts.iter().filter(|host| !host.ready).map(|host| &*host.name).collect();
        let hosts = if absent.len() == 1 { "host" } else { "hosts" };
        let mut sentence = format!(
            "cannot start the job: the launcher {how}, and {hosts} {} did not report; it was started by: {}",
            absent.join(", "),
            self.command
        );
        let (said, is_json) = (self.launcher.said(), self.reporter.is_json());
        if !said.is_empty() {
            let lines = if is_json { said } else { format!("\n  {}", said.replace('\n', "\n  ")) };
            sentence += &format!("; it has written: {lines}");
        }
        let join = if is_json { "; " } else { "\n" };
        sentence += &self.advice.map_or(String::new(), |advice| format!("{join}{advice}"));
        Refusal::Unreached(sentence)
    }

    fn streams_of(&self, rank: u32) -> [usize; 2] {
        self.ranks[rank as usize].streams
    }

    fn end_streams(&mut self) {
        for rank in 0..self.plan.ranks {
            self.streams_of(rank).into_iter().for_each(|stream| self.streams.end(stream));
        }
        self.streams.flush();
    }

    fn start_when_ready(&mut self, waited: Duration) -> Result<(), Refusal> {
        if self.hosts.iter().all(|host| host.ready) {
            self.started = true;
            self.launcher.note_daemons();
            self.living = self.plan.ranks;
            self.ranks.iter_mut().for_each(|rank| rank.living = true);
            self.send_all(&Frame::Start {});
            return Ok(());
        }
        if let Some(host) = self.hosts.iter().find(|host| host.lost) {
            let how = format!("runs, but the process of mpiexec on host {} has ended", host.name);
            return Err(self.unreached(&how));
        }
        if waited > self.limit {
            let how =
                format!("did not reach all hosts within {} s ({})", self.limit.as_secs(), super::LAUNCHER_TIMEOUT);
            return Err(self.unreached(&how));
        }
        Ok(())
    }

    fn send_all(&mut self, frame: &Frame) {
        self.hosts.iter_mut().for_each(|host| host.send(frame));
    }

    /// Accepts connections, and those of proxies as hosts.
    fn welcome(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            // Strangers cannot take all descriptors: each has a few seconds, and only so many are there at once.
            if self.guests.len() < 64 + self.hosts.len()
                && let Ok(link) = Link::new(stream)
            {
                self.guests.push(Guest::new(link));
            }
        }
        for guest in std::mem::take(&mut self.guests) {
            match guest.receive(self.secret) {
                Welcome::Waiting(guest) => self.guests.push(guest),
                Welcome::Proxy(link, place, name) => self.admit(link, &place, &name),
                Welcome::Stranger => {}
                Welcome::Other(name, release) => {
                    self.reporter.warn(&format!("on host {name} mpiexec is of release {release}"));
                }
            }
        }
    }

    /// Takes a proxy as that of its host, and sends what it is to run.
    fn admit(&mut self, link: Link, place: &str, name: &str) {
        let by_place = || place.parse::<usize>().ok().filter(|place| *place < self.hosts.len());
        let by_name = || {
            let known = if place.is_empty() { name } else { place };
            self.hosts.iter().position(|host| same_host(&host.name, known))
        };
        let found = if self.by_name { by_name() } else { by_place() };
        let Some(number) = found.filter(|host| self.hosts[*host].link.is_none() && !self.hosts[*host].lost) else {
            self.reporter
                .warn(&format!("a process of mpiexec on host {name} has no place among the hosts ({place:?})"));
            return;
        };
        let mut part = self.part.clone();
        part.host.0 = number as u32;
        part.programs = part::programs(self.plan, number as u32);
        let host = &mut self.hosts[number];
        host.link = Some(link);
        host.send(&Frame::Job { part: Box::new(part) });
    }

    /// Reads what a host has sent.
    fn receive(&mut self, host: usize, ready: &[i32]) -> Result<(), Refusal> {
        let Some(link) = &mut self.hosts[host].link else { return Ok(()) };
        link.flush();
        if ready.contains(&link.interest().fd) {
            link.receive();
        }
        while let Some(frame) = self.hosts[host].link.as_mut().and_then(Link::next) {
            self.handle(host, frame)?;
        }
        if self.hosts[host].link.as_ref().is_some_and(Link::is_closed) {
            self.lose(host, HostLoss::Closed);
        }
        Ok(())
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::TimeOver => {
                self.spawning.time_over();
                self.request_report(Wanted::TimeOver);
            }
            Order::Terminate => {
                self.end_spawned();
                // Each host does one after the other, so that its ranks still wait when it looks.
                let ranks = match self.ending.failure().filter(|_| self.forwarded.is_none()) {
                    Some(Failure::Ended { rank, .. } | Failure::Left { rank }) => vec![rank],
                    Some(loss @ Failure::HostLost { .. }) => self.ranks_lost(loss),
                    _ => Vec::new(),
                };
                if !ranks.is_empty() {
                    self.request_report(Wanted::Failed { ranks });
                }
                self.send_all(&Frame::Signal { signal: libc::SIGTERM, all: true });
                // A stopped process would not handle it.
                self.send_all(&Frame::Signal { signal: libc::SIGCONT, all: false });
            }
            Order::Kill => self.send_all(&Frame::Signal { signal: libc::SIGKILL, all: true }),
            Order::KillPart => {
                let ranks = self.part();
                self.send_all(&Frame::SignalPart { signal: libc::SIGKILL, ranks });
            }
        }
    }

    fn handle_signal(&mut self, signal: i32) -> Result<(), Refusal> {
        let ends = matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT);
        match signal {
            libc::SIGCHLD => {}
            _ if ends && !self.started => return Err(Refusal::Interrupted(signal)),
            libc::SIGTSTP => {
                self.send_all(&Frame::Signal { signal, all: false });
                self.send_all(&Frame::Pause {});
                os::stop_self();
                let now = Instant::now();
                self.hosts.iter_mut().filter_map(|host| host.link.as_mut()).for_each(|link| link.forgive(now));
                self.send_all(&Frame::Ping {});
            }
            _ if ends && self.forwarded.is_some() => {
                // The second signal ends the job at once.
                self.ending.fail(Failure::Signalled { signal }, self.living, Instant::now());
                self.send_all(&Frame::Signal { signal: libc::SIGKILL, all: true });
                self.spawning.jobs.signal_all(libc::SIGKILL);
            }
            _ => {
                if ends {
                    self.forwarded = Some(signal);
                }
                self.send_all(&Frame::Signal { signal, all: false });
                self.spawning.jobs.signal_all(signal);
            }
        }
        Ok(())
    }

    /// Lets hosts send more output when what they have sent is on its way.
    fn acknowledge(&mut self) {
        for host in 0..self.hosts.len() {
            let bytes = self.hosts[host].taken;
            if bytes > 0 && self.hosts[host].ranks.iter().all(|rank| self.streams_have_room(*rank)) {
                self.hosts[host].taken = 0;
                self.hosts[host].send(&Frame::OutputTaken { bytes });
            }
        }
    }

    fn streams_have_room(&self, rank: u32) -> bool {
        self.streams_of(rank).into_iter().all(|stream| self.streams.may_take(stream))
    }
}
