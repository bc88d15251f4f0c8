//! Connections that show whether the processes of peers, and their hosts, are still there.
//!
//! A provider of reliable datagrams reports an error for what this process sends, and nothing to a process that only waits.
//! So each pair of processes that exchange messages has one TCP connection of its own, without data: the kernel of a host closes it when the
//! process ends, also one that computes or is stopped, and gives it up when the other host has answered nothing for a while.
//! A process that finalises sends [`LEAVING`] first. A peer for which the provider reports an error counts as lost after the same
//! delay as one whose connection was closed. The connection begins with the rank and host of its process and a token of the job's secret, which
//! the other process answers with [`ACCEPTED`]. One that was closed before is made again (`dialling`). One rank of each other host is
//! connected with also for no message (`hosts`).
//! Invariant: only a process of the job can make a peer count as lost, and only by a connection that was accepted; one of another job also
//! where nothing listens any more, or what listens closes all connections for as long as a host may be silent. What comes from a connection is checked.
//! Not here: what a lost peer ends (`network`).

mod accepting;
mod dialling;
#[cfg(fuzzing)]
pub(crate) mod fuzzed;
mod hello;
mod hosts;
mod sockets;

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mpi_fabric::signal_mask::with_all_signals_blocked;

use crate::event::Event;
use crate::token::{Identity, Secret};
use accepting::{IDENTIFY_TIMEOUT, Unidentified};
use dialling::{Dial, Dialled};
use hosts::Hosts;
pub(crate) use hosts::{Place, Survey};
pub(crate) use sockets::ip_of;
use sockets::lengthen_queue;

/// Sent by a process that finalises.
const LEAVING: u8 = b'e';
/// Sent by the process that was connected to, once it has checked what the connection begins with.
const ACCEPTED: u8 = b'a';
/// From so many peers of other jobs on, those that have disconnected are forgotten.
const MOST_FOREIGN: usize = 4096;
/// Delay between a closed connection, or an error of the provider, and the report of the loss: the launcher usually ends the job in that
/// time, with a better report.
pub(crate) const LOSS_DELAY: Duration = Duration::from_secs(2);
/// Why a peer whose connection was closed is lost.
const ENDED: &str = "its process has ended, or its host is down";
/// How long a process that finalises waits until its peers have been sent that; longer than the thread needs to give up a connection
/// that it is making.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(2500);

/// Why nothing comes from a peer any more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'a> {
    /// It is lost; the name of its host, which may be empty, and why.
    Lost { host: &'a str, why: &'a str },
    /// Its host answers nothing. It and the others of the ranks, which are on that host, are lost, unless something has come from one of
    /// them that is not lost: then connections like these are refused or filtered there, and only the provider reports losses.
    Silent { ranks: &'a [u32], host: &'a str, why: &'a str },
    /// It has left as it should, and takes nothing any more.
    Departed,
}

/// Is called with a peer from which nothing comes any more.
pub(crate) type OnEnd = Box<dyn Fn(u32, End<'_>) + Send>;

/// The connections of a process, until the value is dropped.
pub(crate) struct Liveness {
    requests: Arc<Requests>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

/// Requests to the thread. Thread-safe.
pub(crate) struct Requests {
    state: Mutex<State>,
    /// Every peer has been sent [`LEAVING`].
    left: Condvar,
    /// Readable when the state has changed.
    changed: Event,
    /// A forked process has the connections, but not the thread.
    pid: u32,
}

#[derive(Default)]
struct State {
    /// Peers to connect with.
    dial: Vec<Dial>,
    /// Peers of other jobs, by connection of jobs and their number there: their number here, `None` once this process has
    /// disconnected from them, and their identity.
    foreign: HashMap<(u64, u32), (Option<u32>, Identity)>,
    /// Peers of other jobs that are not connected any more.
    forget: Vec<u32>,
    /// Peers for which the provider has reported an error, and its text.
    failed: Vec<(u32, String)>,
    /// The other hosts of the job, and from when on they are connected with.
    survey: Option<(Instant, Survey)>,
    /// Where some ranks listen.
    places: Option<Vec<(u32, Option<Place>)>>,
    leaving: bool,
    /// Every peer has been sent [`LEAVING`].
    left: bool,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects with a peer, whose process listens at a port. `host` is looked up if there is no address.
    pub(crate) fn dial(&self, rank: u32, identity: Identity, host: &str, ip: Option<IpAddr>, port: u16) {
        self.lock().dial.push(Dial { rank, identity, host: host.to_owned(), ip, port });
        self.changed.set();
    }

    /// Accepts connections of a process of another job, which has this number here.
    pub(crate) fn expect(&self, number: u32, identity: Identity) {
        let mut state = self.lock();
        if state.foreign.len() >= MOST_FOREIGN {
            state.foreign.retain(|_, (number, _)| number.is_some());
        }
        state.foreign.insert((identity.connection, identity.theirs), (Some(number), identity));
    }

    /// The process of another job with this number is not connected any more: reports that to it, and closes the connections.
    pub(crate) fn forget(&self, number: u32) {
        let mut state = self.lock();
        let of_number = state.foreign.values_mut().filter(|(foreign, _)| *foreign == Some(number));
        of_number.for_each(|(foreign, _)| *foreign = None);
        state.dial.retain(|dial| dial.rank != number);
        state.failed.retain(|(rank, _)| *rank != number);
        state.forget.push(number);
        drop(state);
        self.changed.set();
    }

    /// The provider has reported an error for a peer, which counts as lost after [`LOSS_DELAY`].
    pub(crate) fn failed(&self, rank: u32, why: String) {
        self.lock().failed.push((rank, why));
        self.changed.set();
    }

    /// Connects with a rank of each other host, after a while. What reads places runs in a thread of its own.
    pub(crate) fn survey(&self, after: Duration, survey: Survey) {
        self.lock().survey = Some((Instant::now() + after, survey));
        self.changed.set();
    }

    /// Whether this process ends.
    pub(crate) fn is_leaving(&self) -> bool {
        self.lock().leaving
    }

    /// Reports to all peers that this process ends as it should, and closes the connections. Waits a moment for that.
    pub(crate) fn leave(&self) {
        if std::process::id() != self.pid {
            return;
        }
        self.lock().leaving = true;
        self.changed.set();
        // It makes no difference whether it was in time, or another thread has failed.
        drop(self.left.wait_timeout_while(self.lock(), LEAVE_TIMEOUT, |state| !state.left));
    }
}

/// Parameters of the thread.
pub(crate) struct Config {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) secret: Secret,
    /// Silence of a host after which its processes are lost.
    pub(crate) silence: Duration,
    /// Where to listen; `None`: at all addresses.
    pub(crate) ip: Option<IpAddr>,
    /// Name of this host.
    pub(crate) host: String,
}

impl Liveness {
    /// Listens, and starts the thread.
    /// # Errors
    /// Those of the system.
    pub(crate) fn start(config: Config, on_end: OnEnd) -> io::Result<Liveness> {
        let anywhere =
            || TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)));
        let listener = config.ip.map_or_else(anywhere, |ip| TcpListener::bind((ip, 0)).or_else(|_| anywhere()))?;
        listener.set_nonblocking(true)?;
        lengthen_queue(&listener);
        let port = listener.local_addr()?.port();
        let requests = Arc::new(Requests {
            state: Mutex::default(),
            left: Condvar::new(),
            changed: Event::new()?,
            pid: std::process::id(),
        });
        let mut watch = Watch {
            config,
            requests: requests.clone(),
            listener: Some(listener),
            accepts_from: Instant::now(),
            peers: HashMap::new(),
            again: Vec::new(),
            unidentified: Vec::new(),
            ending: Vec::new(),
            survey: None,
            hosts: Hosts::default(),
            on_end,
        };
        let run = move || while watch.poll_once() {};
        let spawn = || thread::Builder::new().name("mpi-net-alive".into()).stack_size(128 << 10).spawn(run);
        Ok(Liveness { requests, port, thread: Some(with_all_signals_blocked(spawn)?) })
    }

    pub(crate) fn requests(&self) -> Arc<Requests> {
        self.requests.clone()
    }

    /// Where the process listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        self.requests.leave();
        if let Some(thread) = self.thread.take().filter(|_| std::process::id() == self.requests.pid) {
            let _ = thread.join();
        }
    }
}

/// The thread.
struct Watch {
    config: Config,
    requests: Arc<Requests>,
    listener: Option<TcpListener>,
    /// When it accepts connections again: no descriptor was free.
    accepts_from: Instant,
    peers: HashMap<u32, Peer>,
    /// Connections to make again.
    again: Vec<Dialled>,
    unidentified: Vec<Unidentified>,
    /// Peers that will count as lost.
    ending: Vec<Ending>,
    /// The other hosts of the job, which are connected with from an instant on.
    survey: Option<(Instant, Survey)>,
    hosts: Hosts,
    on_end: OnEnd,
}

/// A peer whose connection was closed, or for which the provider has reported an error.
struct Ending {
    rank: u32,
    /// Empty: not known.
    host: String,
    /// The provider's error; `None`: the connection was closed, which replaces an error.
    error: Option<String>,
    /// When it counts as lost.
    at: Instant,
}

/// A peer that is connected.
struct Peer {
    host: String,
    /// One, or more if both processes connected at once, or a number is used again.
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    /// Whether its end is a loss: the other process has accepted it, or this one has.
    confirmed: bool,
    /// How this process has made it, if it has.
    dialled: Option<Dialled>,
}

impl Watch {
    /// Waits for something, and handles it. False: the process leaves.
    fn poll_once(&mut self) -> bool {
        let mut list = vec![readable(self.requests.changed.descriptor())];
        let now = Instant::now();
        let accepts = self.listener.iter().filter(|_| self.accepts_from <= now);
        list.extend(accepts.map(|listener| readable(listener.as_raw_fd())));
        let of_peer = |(rank, peer): (&u32, &Peer)| -> Vec<(u32, i32)> {
            peer.connections.iter().map(|it| (*rank, it.stream.as_raw_fd())).collect()
        };
        let with_rank: Vec<(u32, i32)> = self.peers.iter().flat_map(of_peer).collect();
        list.extend(with_rank.iter().map(|(_, fd)| readable(*fd)));
        list.extend(self.unidentified.iter().map(|it| readable(it.stream.as_raw_fd())));
        let limits = self.unidentified.iter().map(|it| it.since + IDENTIFY_TIMEOUT);
        let limits = limits.chain(self.ending.iter().map(|it| it.at)).chain(self.again.iter().map(|it| it.at));
        let accepts_from = self.listener.iter().map(|_| self.accepts_from).filter(|at| *at > now);
        let survey = self.survey.iter().map(|(at, _)| *at);
        let next = limits.chain(accepts_from).chain(survey).chain(self.hosts.due()).min();
        let wait = next.map_or(-1, |next| {
            i32::try_from(next.saturating_duration_since(Instant::now()).as_millis()).map_or(i32::MAX, |ms| ms + 1)
        });
        // SAFETY: a list of this length; an interrupted wait is one that ended.
        unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, wait) };
        let ready: Vec<i32> = list.iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).collect();
        if ready.contains(&self.requests.changed.descriptor()) && !self.take_requests() {
            return false;
        }
        if self.listener.as_ref().is_some_and(|listener| ready.contains(&listener.as_raw_fd())) {
            self.accept();
        }
        for (rank, fd) in with_rank {
            if ready.contains(&fd) {
                self.read_from(rank, fd);
            }
        }
        self.identify();
        let now = Instant::now();
        self.survey_due(now);
        self.dial_due(now);
        let (due, left): (Vec<_>, Vec<_>) = self.ending.drain(..).partition(|it| it.at <= now);
        self.ending = left;
        for Ending { rank, host, error, .. } in due {
            let why = error.as_deref().unwrap_or(ENDED);
            // A refusal may be that of a firewall: it is no loss of a rank from which something has come, unless the provider
            // reports one.
            let end = match error.is_none() && self.hosts.has_refused(rank) {
                true => End::Silent { ranks: &[rank], host: &host, why },
                false => End::Lost { host: &host, why },
            };
            (self.on_end)(rank, end);
            self.suspect_host(rank);
        }
        self.go_on_with_hosts(now);
        true
    }

    /// False: the process leaves.
    fn take_requests(&mut self) -> bool {
        self.requests.changed.clear();
        // One at a time, because each may take a while in which this thread finds no loss.
        let (dial, more, failed, forget, leaving, places) = {
            let mut state = self.requests.lock();
            let (failed, forget) = (std::mem::take(&mut state.failed), std::mem::take(&mut state.forget));
            self.survey = state.survey.take().or(self.survey.take());
            let places = state.places.take();
            // A number may be used again by then, so it is forgotten before its next process is connected with.
            (state.dial.pop(), !state.dial.is_empty(), failed, forget, state.leaving, places)
        };
        for number in forget {
            for mut connection in self.peers.remove(&number).map(|peer| peer.connections).unwrap_or_default() {
                // A peer that has ended needs no report.
                let _ = connection.stream.write_all(&[LEAVING]);
            }
            self.ending.retain(|it| it.rank != number);
            self.again.retain(|it| it.dial.rank != number);
        }
        for (rank, error) in failed {
            let host = self.peers.get(&rank).map_or_else(String::new, |peer| peer.host.clone());
            self.ends(rank, host, Some(error));
        }
        if leaving {
            for Connection { mut stream, .. } in self.peers.drain().flat_map(|(_, peer)| peer.connections) {
                // A peer that has ended needs no report.
                let _ = stream.write_all(&[LEAVING]);
            }
            self.requests.lock().left = true;
            self.requests.left.notify_all();
            return false;
        }
        if more {
            self.requests.changed.set();
        }
        if let Some(places) = places {
            self.enter_places(places);
        }
        if let Some(dial) = dial.filter(|dial| !self.is_dialled(dial.rank)) {
            self.dial(Dialled::new(dial, self.config.silence));
        }
        true
    }

    /// A connection of a peer has something, or has ended.
    fn read_from(&mut self, rank: u32, fd: i32) {
        let Some(Peer { connections, host }) = self.peers.get_mut(&rank) else { return };
        let Some(at) = connections.iter().position(|it| it.stream.as_raw_fd() == fd) else { return };
        let mut byte = [0u8];
        match connections[at].stream.read(&mut byte) {
            // It arrives on both connections of a pair.
            Ok(1) if byte[0] == LEAVING => {
                self.peers.remove(&rank);
                // What the provider could not send to it was of no use to it any more.
                self.ending.retain(|it| it.rank != rank);
                self.again.retain(|it| it.dial.rank != rank);
                (self.on_end)(rank, End::Departed);
                self.departed(rank);
            }
            Ok(1) if byte[0] == ACCEPTED => {
                connections[at].confirmed = true;
                self.hosts.is_there(rank);
            }
            Ok(1) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // The other process has not accepted it, because it had no descriptor or too many others, or what listened was another one.
            outcome if !connections[at].confirmed => {
                // The kernel gives it up after as long a silence.
                let silent = outcome.is_err_and(|error| error.kind() == ErrorKind::TimedOut);
                let since = silent.then(|| Instant::now().checked_sub(self.config.silence)).flatten();
                let dialled = connections.remove(at).dialled.map(|it| it.with_silence(since));
                if connections.is_empty() {
                    self.peers.remove(&rank);
                    dialled.into_iter().for_each(|dialled| self.dial_again(dialled, true));
                }
            }
            Err(error) if error.kind() != ErrorKind::ConnectionReset => {
                let (host, seconds) = (std::mem::take(host), self.config.silence.as_secs());
                self.peers.remove(&rank);
                let why = format!("nothing came from its host for {seconds} s");
                (self.on_end)(rank, End::Lost { host: &host, why: &why });
                self.lose_host(rank);
            }
            Ok(_) | Err(_) => {
                let host = std::mem::take(host);
                self.peers.remove(&rank);
                self.ends(rank, host, None);
            }
        }
    }

    /// A peer counts as lost soon.
    fn ends(&mut self, rank: u32, host: String, error: Option<String>) {
        match self.ending.iter_mut().find(|it| it.rank == rank) {
            Some(known) if error.is_none() => (known.host, known.error) = (host, None),
            Some(_) => {}
            None => self.ending.push(Ending { rank, host, error, at: Instant::now() + LOSS_DELAY }),
        }
    }
}

fn readable(fd: i32) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

#[cfg(test)]
mod tests;
