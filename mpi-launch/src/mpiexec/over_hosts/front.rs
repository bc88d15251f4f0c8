//! The loop of `mpiexec` for a job on several hosts.
//!
//! Invariant: nothing is started on any host before all hosts have reported that they can start their part.
//! Not here: what hosts do (`proxy`), when a job ends (`ending`), the sentences (`outcome`).

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mpi_core::json::Object;
use mpi_fabric::block_copy::BLOCK_PAGES;
use mpi_fabric::{AbortCause, Job, Life};

use super::super::ending::{Ending, Order};
use super::super::local_host;
use super::super::os::{self, Ended};
use super::super::outcome::{Failure, HostLoss, signal_name};
use super::super::plan::Plan;
use super::super::recordings::Recordings;
use super::super::refusal::Refusal;
use super::super::reporter::Reporter;
use super::super::start::create;
use super::super::streams::{Label, Stream, Streams};
use super::super::{TROUBLE, activity};
use super::frame::{Bytes, Frame, JobPart};
use super::greeting::{Guest, Meeting, Welcome};
use super::hosts::{Host, Launcher};
use super::link::Link;
use super::manager::{Starter, in_path, shown};
use super::secret::{Secret, random};
use super::{Placement, part, ping_interval, silence_limit};
use crate::args::{Input, Options};

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
/// Time limit for the hosts to report what their ranks do.
const REPORT: Duration = Duration::from_secs(2);
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
    /// When reports that were requested have to be there.
    report_by: Option<Instant>,
    time_report: Option<(String, Vec<Object>)>,
    limit: Duration,
    command: String,
    /// What was lost, in the order in which that was seen, and when the cause is chosen.
    losses: Vec<Failure>,
    verdict_at: Option<Instant>,
}

/// Runs the job to its end; returns the exit code. `blocks`: whether the statistics need all blocks.
pub(in crate::mpiexec) fn run(
    plan: &Plan<'_>,
    options: &Options,
    (job, recordings): (&Job, &Recordings),
    reporter: Reporter,
    ring_bytes: Option<usize>,
    blocks: bool,
) -> Result<i32, Refusal> {
    let placement = plan.placement.as_ref().expect("a job on several hosts has a placement");
    let limit = silence_limit().map_err(Refusal::Unreached)?;
    let allocation = super::nodelist::allocation(&|name| std::env::var_os(name)).map_err(Refusal::Allocation)?;
    let starter = Starter::choose(options.manager.as_ref(), allocation.is_some(), &in_path)?;
    if let Some(allocation) = allocation.filter(|_| starter.is_slurm()) {
        let is_there = |name: &&String| !allocation.iter().any(|host| same_host(&host.name, name));
        if let Some(host) = placement.hosts.iter().find(is_there) {
            let hosts = allocation.iter().map(|host| &*host.name).collect::<Vec<_>>().join(", ");
            return Err(Refusal::NotAllocated { host: host.clone(), hosts });
        }
    }
    let secret = Secret::new()?;
    let listener = listen()?;
    listener.set_nonblocking(true)?;
    let meeting =
        Meeting { secret, port: listener.local_addr()?.port(), addresses: addresses(), limit_s: limit.as_secs() };
    let own = std::env::current_exe()?;
    let command = starter.command(&placement.hosts, &own, os::is_root());
    reporter.verbose(|| format!("hosts {} are reached by: {}", placement.hosts.join(", "), shown(&command)));
    let (signals, _) = os::take_signals(&FORWARDED, libc::SIGCHLD)?;
    let part = JobPart {
        number: random()?[0],
        secret: Secret::new()?.to_text(),
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
    let launcher = Launcher::start(&command, &meeting.to_text())?;
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
        report_by: None,
        time_report: None,
        limit,
        command: shown(&command),
        losses: Vec::new(),
        verdict_at: None,
    };
    let served = front.serve();
    let broken = served.is_err() || front.hosts.iter().any(|host| host.lost);
    front.hosts.iter_mut().for_each(|host| host.send(&Frame::End {}));
    front.launcher.finish(broken);
    front.reporter.verbose(|| match front.launcher.said() {
        said if said.is_empty() => "the launcher has written nothing".into(),
        said => format!("the launcher has written: {said}"),
    });
    served?;
    Ok(front.report())
}

/// A listener on all addresses of this machine.
fn listen() -> std::io::Result<TcpListener> {
    // An address of IPv6 takes connections of IPv4 too, where the system has both.
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
}

/// The addresses at which other hosts may reach this machine.
fn addresses() -> Vec<IpAddr> {
    let all = os::addresses();
    let is_far = |address: &&IpAddr| match address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    };
    let mut far: Vec<IpAddr> = all.iter().filter(is_far).copied().collect();
    far.sort_by_key(IpAddr::is_ipv6);
    if far.is_empty() { vec![Ipv4Addr::LOCALHOST.into()] } else { far }
}

/// Whether two names are of one host, with or without its domain.
fn same_host(one: &str, other: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    match one.contains('.') && other.contains('.') {
        true => one.eq_ignore_ascii_case(other),
        false => short(one) == short(other),
    }
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
            if !self.started {
                self.start_when_ready(now.duration_since(begin))?;
            }
            if self.started && self.hosts.iter().all(Host::is_over) || self.ending.hopeless(now) {
                self.end_streams();
                if self.streams.done() {
                    return Ok(());
                }
            } else if self.started {
                if self.living == 0 {
                    // A process that a rank started still runs.
                    self.ending.background(now);
                }
                while let Some(order) = self.ending.due(self.living, Instant::now()) {
                    self.execute(order);
                }
            }
            self.complete_report(now);
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
        let next = [ending, self.streams.pause_at(), self.report_by, self.verdict_at, Some(ping)];
        let next = next.into_iter().flatten().min().unwrap_or(ping);
        // Rounded up, so as not to wake before it.
        next.saturating_duration_since(Instant::now()).as_millis() as i32 + 1
    }

    fn look_at_launcher(&mut self) -> Result<(), Refusal> {
        let Some(how) = self.launcher.ended() else { return Ok(()) };
        if !self.started {
            let how = match how {
                Ended::Exited(code) => format!("has ended with code {code}"),
                Ended::Killed(signal) => format!("was ended by {}", signal_name(signal)),
            };
            return Err(self.unreached(&how));
        }
        if !self.hosts.iter().all(Host::is_over) {
            self.record_loss(Failure::ManagerLost { how });
        }
        Ok(())
    }

    fn record_loss(&mut self, loss: Failure) {
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
            self.verdict_at.get_or_insert(Instant::now() + VERDICT);
        }
    }

    /// Chooses the cause among the losses: first a host whose launcher's process has ended or that is silent, then one that
    /// is not this machine, whose loss would be that of the front.
    fn judge_losses(&mut self, now: Instant) {
        let all_over = self.hosts.iter().all(Host::is_over);
        if self.verdict_at.is_none_or(|at| now < at && !all_over) {
            return;
        }
        self.verdict_at = None;
        let order = |loss: &&Failure| match loss {
            Failure::HostLost { how: HostLoss::Leaving { signal: 0 } | HostLoss::Silent { .. }, .. } => 0,
            Failure::HostLost { host, how: HostLoss::Closed }
                if !local_host::is_local(&self.placement.hosts[*host as usize]) =>
            {
                1
            }
            Failure::HostLost { how: HostLoss::Closed, .. } => 2,
            Failure::HostLost { .. } => 3,
            _ => 4,
        };
        if let Some(loss) = self.losses.iter().min_by_key(order).copied() {
            self.ending.fail(loss, self.living, now);
        }
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
        let said = self.launcher.said();
        if !said.is_empty() {
            let lines = if self.reporter.is_json() { said } else { format!("\n  {}", said.replace('\n', "\n  ")) };
            sentence += &format!("; it has written: {lines}");
        }
        Refusal::Unreached(sentence)
    }

    fn look_for_silence(&mut self, now: Instant) {
        let interval = ping_interval(self.limit);
        for host in 0..self.hosts.len() {
            let Some(link) = &mut self.hosts[host].link else { continue };
            if link.silence(now) > self.limit {
                self.lose(host, HostLoss::Silent { seconds: self.limit.as_secs() });
            } else if link.own_silence(now) > interval {
                link.send(&Frame::Ping {});
            }
        }
    }

    /// A host does not take part any more.
    fn lose(&mut self, host: usize, how: HostLoss) {
        self.hosts[host].link = None;
        if self.hosts[host].is_over() {
            return;
        }
        self.hosts[host].lost = true;
        for rank in self.hosts[host].ranks.clone() {
            self.streams_of(rank).into_iter().for_each(|stream| self.streams.end(stream));
            if std::mem::take(&mut self.ranks[rank as usize].living) {
                self.living -= 1;
            }
        }
        self.record_loss(Failure::HostLost { host: host as u32, how });
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
        host.send(&Frame::Job { part });
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

    /// Whether a rank is one of a host's, whose word counts for no others.
    fn is_of(&self, host: usize, rank: u32) -> bool {
        self.placement.of_rank.get(rank as usize) == Some(&(host as u32))
    }

    fn handle(&mut self, host: usize, frame: Frame) -> Result<(), Refusal> {
        let of_host = |rank: u32| self.is_of(host, rank);
        let name = || self.hosts[host].name.clone();
        match frame {
            Frame::Ready { warnings } => {
                warnings.iter().for_each(|warning| self.reporter.warn(&format!("host {}: {warning}", name())));
                self.hosts[host].ready = true;
            }
            Frame::Refused { code, sentence } | Frame::NotStarted { code, sentence } => {
                return Err(Refusal::OnHost { host: name(), code, sentence });
            }
            Frame::Started { rank, pid, core } if of_host(rank) => self.reporter.verbose(|| {
                let core = if core == 0 { String::new() } else { format!(" on core {}", core - 1) };
                let program = self.plan.program_of(rank).to_string_lossy();
                format!("rank {rank} is process {pid} ({}) on host {}{core}", program.escape_debug(), name())
            }),
            Frame::Output { rank, error, bytes } if of_host(rank) => {
                let stream = self.streams_of(rank)[usize::from(error)];
                self.hosts[host].taken += bytes.0.len() as u32;
                if self.streams.is_open(stream) {
                    self.streams.take(stream, &bytes.0);
                } else {
                    self.hosts[host].send(&Frame::CloseOutput { rank, error });
                }
            }
            Frame::OutputEnd { rank, error } if of_host(rank) => {
                self.streams.end(self.streams_of(rank)[usize::from(error)]);
            }
            Frame::InputTaken { bytes } => {
                self.hosts[host].fed = self.hosts[host].fed.saturating_sub(bytes as usize);
            }
            Frame::Fence { values } => {
                self.hosts[host].fence = Some(values);
                self.complete_fence();
            }
            Frame::Missed { rank } if of_host(rank) => self.ending.leave(rank, Instant::now()),
            Frame::Abort { rank, code, error } if rank < self.plan.ranks => {
                let cause = if error { AbortCause::Error } else { AbortCause::Call };
                self.job.request_abort(rank, code, cause);
                if let Some((rank, code, cause)) = self.job.abort() {
                    self.ending.fail(Failure::Aborted { rank, code, cause }, self.living, Instant::now());
                }
            }
            Frame::PartAbort { rank, code, error, members } if of_host(rank) => {
                let cause = if error { AbortCause::Error } else { AbortCause::Call };
                if self.job.abort().is_none() && !self.job.is_lost(rank) {
                    self.job.request_abort_of(&members, rank, code, cause);
                    self.abort_part(rank, code, cause);
                }
            }
            Frame::Page { rank, page, bytes } if of_host(rank) && page < BLOCK_PAGES => {
                self.job.set_block_page(rank, page, &bytes.0);
            }
            Frame::Recording { rank, timeline, at, bytes } if of_host(rank) => {
                if let Err(error) = self.recordings.store(rank, timeline, at, &bytes.0) {
                    self.reporter.warn(&format!("the recorded calls of rank {rank} are not complete: {error}"));
                }
            }
            Frame::Ended { rank, killed, code, inside, memory } if of_host(rank) => {
                let how = if killed { Ended::Killed(code) } else { Ended::Exited(code) };
                self.rank_ended(rank, how, inside, memory);
            }
            Frame::Activity { rank, state, ticks } if of_host(rank) => {
                self.ranks[rank as usize].state = Some((activity::state_of(&state), ticks as f64 / 100.0));
            }
            Frame::ReportEnd {} => self.hosts[host].reporting = false,
            Frame::Idle {} => {
                self.hosts[host].idle = true;
                // Ranks whose ends were not reported cannot be waited for.
                for rank in self.hosts[host].ranks.clone() {
                    if std::mem::take(&mut self.ranks[rank as usize].living) {
                        self.living -= 1;
                    }
                }
            }
            Frame::Leaving { signal } if self.started => {
                self.record_loss(Failure::HostLost { host: host as u32, how: HostLoss::Leaving { signal } });
            }
            Frame::Leaving { signal: 0 } => return Err(self.unreached("has ended on a host")),
            Frame::Leaving { signal } => return Err(self.unreached(&format!("has sent {}", signal_name(signal)))),
            // Of another host's rank, or out of place.
            _ => {}
        }
        Ok(())
    }

    /// Ends the barrier of PMI when the ranks of all hosts are in it.
    fn complete_fence(&mut self) {
        if self.hosts.iter().all(|host| host.fence.is_some()) {
            let values = self.hosts.iter_mut().flat_map(|host| host.fence.take().unwrap_or_default()).collect();
            self.send_all(&Frame::FenceEnd { values });
        }
        self.find_missed();
    }

    /// A rank that ended without being in the barrier that another host waits in is missing there for ever.
    fn find_missed(&mut self) {
        if self.hosts.iter().any(|host| host.fence.is_some()) {
            let absent = self.hosts.iter().filter(|host| host.fence.is_none()).flat_map(|host| &host.ranks);
            if let Some(rank) = absent.copied().find(|rank| !self.ranks[*rank as usize].living) {
                self.ending.leave(rank, Instant::now());
            }
        }
    }

    fn rank_ended(&mut self, rank: u32, how: Ended, inside: bool, memory: bool) {
        if !std::mem::take(&mut self.ranks[rank as usize].living) {
            return;
        }
        self.living -= 1;
        let now = Instant::now();
        self.reporter.verbose(|| match how {
            Ended::Exited(code) => format!("rank {rank} has ended with code {code}"),
            Ended::Killed(signal) => format!("rank {rank} was ended by {}", signal_name(signal)),
        });
        if self.job.abort().is_none() && self.job.is_to_end(rank) {
            self.job.report_lost(rank);
            return self.send_all(&Frame::Lost { rank });
        }
        let failure = match (self.job.abort(), how) {
            (Some((rank, code, cause)), _) => Failure::Aborted { rank, code, cause },
            (None, Ended::Exited(0)) if inside || self.job.life(rank) == Life::Initialised => {
                return self.ending.leave(rank, now);
            }
            (None, Ended::Exited(0)) => return self.find_missed(),
            (None, Ended::Killed(signal)) if self.forwarded == Some(signal) => Failure::Signalled { signal },
            (None, how) => Failure::Ended { rank, how, memory },
        };
        self.ending.fail(failure, self.living, now);
    }

    /// Ends the part of the job that a rank has aborted, and reports that; the others continue.
    fn abort_part(&mut self, rank: u32, code: i32, cause: AbortCause) {
        let part: Vec<u32> = self.part();
        let is_ended = |member: &&u32| self.ranks[**member as usize].living && self.job.abort_by(**member).is_none();
        let living = part.iter().filter(is_ended).count() as u32;
        let failure = Failure::PartAborted { rank, code, cause, ranks: 1 + living };
        self.ending.abort_part(failure.exit_code(), Instant::now());
        // A rank that has requested an abort itself ends by itself, when it has written its output.
        let ranks = part.into_iter().filter(|member| self.job.abort_by(*member).is_none()).collect();
        self.send_all(&Frame::SignalPart { signal: libc::SIGTERM, ranks });
        let sentence = failure.sentence(self.plan, self.job, false);
        self.reporter.fail(failure.exit_code(), &sentence, |object| failure.facts(self.plan, self.job, object));
    }

    /// The ranks that are to end because a part of the job was aborted.
    fn part(&self) -> Vec<u32> {
        (0..self.plan.ranks).filter(|rank| self.job.is_to_end(*rank)).collect()
    }

    fn execute(&mut self, order: Order) {
        match order {
            Order::TimeOver => {
                for host in self.hosts.iter_mut().filter(|host| host.link.is_some()) {
                    host.reporting = true;
                    host.send(&Frame::Report {});
                }
                self.report_by = Some(Instant::now() + REPORT);
            }
            Order::Terminate => {
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

    /// When the hosts have reported what their ranks do, ends the job: its time is over.
    fn complete_report(&mut self, now: Instant) {
        let Some(by) = self.report_by else { return };
        if self.hosts.iter().any(|host| host.reporting && host.link.is_some()) && now < by {
            return;
        }
        self.report_by = None;
        let living: Vec<bool> = self.ranks.iter().map(|rank| rank.living).collect();
        let states: Vec<_> = self.ranks.iter().map(|rank| rank.state).collect();
        let text = activity::report_remote(self.job, &living, &states);
        self.time_report = Some((text, activity::list_remote(self.job, &living, &states)));
        let milliseconds = self.options.timeout.flatten().map_or(0, |limit| limit.as_millis() as u64);
        self.ending.fail(Failure::TimedOut { milliseconds }, self.living, now);
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
            }
            _ => {
                if ends {
                    self.forwarded = Some(signal);
                }
                self.send_all(&Frame::Signal { signal, all: false });
            }
        }
        Ok(())
    }

    /// Hosts with ranks that get the input.
    fn fed_hosts(&self) -> impl Iterator<Item = usize> {
        let gets = |rank: &u32| match self.options.input {
            Input::Rank(chosen) => chosen == *rank,
            Input::All => true,
            Input::None => false,
        };
        let lives = |rank: &u32| self.ranks[*rank as usize].living;
        (0..self.hosts.len()).filter(move |host| self.hosts[*host].ranks.iter().any(|rank| gets(rank) && lives(rank)))
    }

    /// Whether input may be read now: ranks are there that get it, and have taken most of what came.
    fn may_feed(&self) -> bool {
        let Some(input) = self.input.as_ref().filter(|_| self.started) else { return false };
        let most = if self.input_is_terminal { 1 } else { INPUT_WINDOW };
        let room = self.fed_hosts().all(|host| self.hosts[host].fed < most);
        let wanted = self.fed_hosts().next().is_some();
        wanted && room && (!self.input_is_terminal || os::is_foreground_terminal(input.as_fd()))
    }

    /// Reads input and sends it to the hosts.
    fn feed(&mut self) {
        let Some(input) = &self.input else { return };
        let mut buffer = vec![0; INPUT_WINDOW];
        let frame = match os::read(input.as_fd(), &mut buffer) {
            Ok(n) if n > 0 => Frame::Input { bytes: Bytes(buffer[..n].to_vec()) },
            Err(error) if matches!(error.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock) => {
                return;
            }
            Ok(_) | Err(_) => Frame::InputEnd {},
        };
        for host in self.fed_hosts().collect::<Vec<_>>() {
            if let Frame::Input { bytes } = &frame {
                self.hosts[host].fed += bytes.0.len();
            }
            self.hosts[host].send(&frame);
        }
        if frame == (Frame::InputEnd {}) {
            self.input = None;
        }
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

    /// Reports how the job ended; returns the exit code.
    fn report(&mut self) -> i32 {
        let lost = self.streams.loss().map(|error| {
            let sentence = format!("output is lost: {error}");
            self.reporter.fail(TROUBLE, &sentence, |object| object.text("kind", "output_lost"))
        });
        let failure = self.ending.failure().filter(|failure| lost.is_none() || !failure.is_broken_pipe());
        let part_code = self.ending.part_code();
        let Some(failure) = failure else { return lost.or(part_code).unwrap_or(0) };
        // The first of several counts.
        let code = part_code.unwrap_or(failure.exit_code());
        let mut sentence = failure.sentence(self.plan, self.job, self.ending.others_ended);
        let (text, list) = self.time_report.take().unwrap_or_default();
        if !text.is_empty() && !self.reporter.is_json() {
            sentence += &format!("; {text}");
        }
        self.reporter.fail(code, &sentence, |object| {
            let object = failure.facts(self.plan, self.job, object);
            if list.is_empty() { object } else { object.objects("doing", list) }
        })
    }
}
