//! Connections that show whether the processes of peers, and their hosts, are still there.
//!
//! A provider of reliable datagrams reports an error for what this process sends, and nothing to a process that only waits.
//! So each pair of processes that exchange messages has one TCP connection of its own, without data: the kernel of a host closes it when the
//! process ends, also one that computes or is stopped, and gives it up when the other host has answered nothing for a while.
//! A process that finalises says so first. The connection begins with the rank and host of its process and a token of the job's secret.
//! Invariant: only a process of the job can make a peer count as lost; what comes from a connection is checked.
//! Not here: what a lost peer ends (`network`).

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mpi_fabric::signal_mask::with_all_signals_blocked;

use crate::token::Secret;

/// Bytes of the name of a host.
const NAME: usize = 64;
/// Bytes that a connection begins with: a magic number, the rank, the token, and the name of the host.
const HELLO: usize = 16 + NAME;
const MAGIC: u32 = 0x4650_4c31;
/// Sent by a process that finalises.
const LEAVING: u8 = b'e';
/// How long a connection may stay without a rank.
const INTRODUCTION: Duration = Duration::from_secs(5);
/// Connections without a rank that are kept.
const STRANGERS: usize = 64;
/// After a connection was closed the launcher, which usually ends the job then with a better report, goes first.
const GRACE: Duration = Duration::from_secs(2);
/// Marks the token of a connection, which is none of a packet. Ranks are below.
const OF_CONNECTION: u32 = 1 << 30;

/// Is called with a lost peer, the name of its host, and why.
pub(crate) type OnLoss = Box<dyn Fn(u32, &str, &str) + Send>;

/// The connections of a process, until the value is dropped.
pub(crate) struct Liveness {
    orders: Arc<Orders>,
    port: u16,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is to do. Thread-safe.
pub(crate) struct Orders {
    state: Mutex<State>,
    /// Readable when the state has changed.
    changed: OwnedFd,
    /// A forked process has the connections, but not the thread.
    pid: u32,
}

#[derive(Default)]
struct State {
    /// Peers to connect with: rank, host, address.
    dial: Vec<(u32, String, Option<IpAddr>, u16)>,
    leaving: bool,
    /// All that is to be sent when leaving has been sent.
    left: bool,
}

impl Orders {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes to a descriptor of ours.
        unsafe { libc::write(self.changed.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Connects with a peer, whose process listens at a port. `host` is looked up if there is no address.
    pub(crate) fn dial(&self, rank: u32, host: &str, ip: Option<IpAddr>, port: u16) {
        self.lock().dial.push((rank, host.to_owned(), ip, port));
        self.announce();
    }

    /// Reports to all peers that this process ends as it should, and closes the connections. Waits a moment for that.
    pub(crate) fn leave(&self) {
        if std::process::id() != self.pid {
            return;
        }
        self.lock().leaving = true;
        self.announce();
        let end = Instant::now() + Duration::from_millis(500);
        while !self.lock().left && Instant::now() < end {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

/// What the thread needs to know.
pub(crate) struct Place {
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
    pub(crate) fn start(place: Place, on_loss: OnLoss) -> io::Result<Liveness> {
        let listener = match place.ip {
            Some(ip) => TcpListener::bind((ip, 0))?,
            None => TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
                .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?,
        };
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        // SAFETY: makes a descriptor.
        let changed = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if changed < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: made above, and owned here alone.
        let changed = unsafe { OwnedFd::from_raw_fd(changed) };
        let orders = Arc::new(Orders { state: Mutex::default(), changed, pid: std::process::id() });
        let mut watch = Watch {
            place,
            orders: orders.clone(),
            listener: Some(listener),
            peers: HashMap::new(),
            strangers: Vec::new(),
            closed: Vec::new(),
            on_loss,
        };
        let run = move || while watch.round() {};
        let spawn = || thread::Builder::new().name("mpi-net-alive".into()).stack_size(128 << 10).spawn(run);
        Ok(Liveness { orders, port, thread: Some(with_all_signals_blocked(spawn)?) })
    }

    pub(crate) fn orders(&self) -> Arc<Orders> {
        self.orders.clone()
    }

    /// Where the process listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Liveness {
    fn drop(&mut self) {
        self.orders.leave();
        if let Some(thread) = self.thread.take().filter(|_| std::process::id() == self.orders.pid) {
            let _ = thread.join();
        }
    }
}

/// A connection of which nobody knows yet where it comes from, since when, and what has come.
struct Stranger {
    stream: TcpStream,
    since: Instant,
    hello: [u8; HELLO],
    len: usize,
}

/// The thread.
struct Watch {
    place: Place,
    orders: Arc<Orders>,
    listener: Option<TcpListener>,
    peers: HashMap<u32, Peer>,
    strangers: Vec<Stranger>,
    /// Peers whose connection was closed, their hosts, and when they count as lost.
    closed: Vec<(u32, String, Instant)>,
    on_loss: OnLoss,
}

/// A peer that is connected.
struct Peer {
    host: String,
    /// One connection, or two if both processes connected at once.
    streams: Vec<TcpStream>,
}

impl Watch {
    /// Waits for something, and handles it. False: the process leaves.
    fn round(&mut self) -> bool {
        let mut list = vec![readable(self.orders.changed.as_raw_fd())];
        list.extend(self.listener.iter().map(|listener| readable(listener.as_raw_fd())));
        let with_rank: Vec<(u32, i32)> =
            self.peers.iter().flat_map(|(rank, peer)| peer.streams.iter().map(|it| (*rank, it.as_raw_fd()))).collect();
        list.extend(with_rank.iter().map(|(_, fd)| readable(*fd)));
        list.extend(self.strangers.iter().map(|stranger| readable(stranger.stream.as_raw_fd())));
        let next =
            self.strangers.iter().map(|it| it.since + INTRODUCTION).chain(self.closed.iter().map(|it| it.2)).min();
        let wait = next.map_or(-1, |next| {
            i32::try_from(next.saturating_duration_since(Instant::now()).as_millis()).map_or(i32::MAX, |ms| ms + 1)
        });
        // SAFETY: a list of this length; an interrupted wait is one that ended.
        unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, wait) };
        let ready: Vec<i32> = list.iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).collect();
        if ready.contains(&self.orders.changed.as_raw_fd()) && !self.take_orders() {
            return false;
        }
        if self.listener.as_ref().is_some_and(|listener| ready.contains(&listener.as_raw_fd())) {
            self.accept();
        }
        for (rank, fd) in with_rank {
            if ready.contains(&fd) {
                self.hear(rank, fd);
            }
        }
        self.introduce();
        let now = Instant::now();
        let (due, left): (Vec<_>, Vec<_>) = self.closed.drain(..).partition(|(_, _, at)| *at <= now);
        self.closed = left;
        for (rank, host, _) in due {
            (self.on_loss)(rank, &host, "its process has ended, or its host is down");
        }
        true
    }

    /// False: the process leaves.
    fn take_orders(&mut self) -> bool {
        let mut count = [0u8; 8];
        // SAFETY: eight bytes from a descriptor of ours.
        unsafe { libc::read(self.orders.changed.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
        let (dial, leaving) = {
            let mut state = self.orders.lock();
            (std::mem::take(&mut state.dial), state.leaving)
        };
        if leaving {
            for mut stream in self.peers.drain().flat_map(|(_, peer)| peer.streams) {
                // A peer that has ended needs no report.
                let _ = stream.write_all(&[LEAVING]);
            }
            self.orders.lock().left = true;
            return false;
        }
        for (rank, host, ip, port) in dial {
            if !self.peers.contains_key(&rank) {
                // A peer that cannot be reached so is watched by the provider alone.
                if let Ok(stream) = self.connect(rank, &host, ip, port) {
                    self.peers.insert(rank, Peer { host, streams: vec![stream] });
                }
            }
        }
        true
    }

    fn connect(&self, rank: u32, host: &str, ip: Option<IpAddr>, port: u16) -> io::Result<TcpStream> {
        let addresses: Vec<SocketAddr> = match ip {
            Some(ip) => vec![(ip, port).into()],
            None => (host, port).to_socket_addrs()?.collect(),
        };
        let mut last = io::Error::from(ErrorKind::NotFound);
        for address in addresses {
            match TcpStream::connect_timeout(&address, INTRODUCTION) {
                Ok(mut stream) => {
                    watch_silence(&stream, self.place.silence)?;
                    stream.write_all(&hello(self.place.secret, self.place.rank, rank, &self.place.host))?;
                    stream.set_nonblocking(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        while let Ok((stream, _)) = listener.accept() {
            if stream.set_nonblocking(true).is_ok() && watch_silence(&stream, self.place.silence).is_ok() {
                if self.strangers.len() == STRANGERS {
                    self.strangers.remove(0);
                }
                self.strangers.push(Stranger { stream, since: Instant::now(), hello: [0; HELLO], len: 0 });
            }
        }
    }

    /// Reads what connections without a rank begin with.
    fn introduce(&mut self) {
        for mut stranger in std::mem::take(&mut self.strangers) {
            match stranger.stream.read(&mut stranger.hello[stranger.len..]) {
                Ok(0) => continue,
                Ok(bytes) => stranger.len += bytes,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => continue,
            }
            if stranger.len < HELLO {
                if stranger.since.elapsed() < INTRODUCTION {
                    self.strangers.push(stranger);
                }
                continue;
            }
            let from = u32::from_ne_bytes([4, 5, 6, 7].map(|at| stranger.hello[at]));
            let Place { rank, size, secret, .. } = self.place;
            let host = name_in(&stranger.hello);
            if from < size && stranger.hello[..16] == hello(secret, from, rank, "")[..16] {
                let peer = self.peers.entry(from).or_insert_with(|| Peer { host, streams: Vec::new() });
                if peer.streams.len() < 2 {
                    peer.streams.push(stranger.stream);
                }
            }
        }
    }

    /// A connection of a peer has something, or has ended.
    fn hear(&mut self, rank: u32, fd: i32) {
        let Some(Peer { streams, host }) = self.peers.get_mut(&rank) else { return };
        let Some(at) = streams.iter().position(|stream| stream.as_raw_fd() == fd) else { return };
        let mut byte = [0u8];
        match streams[at].read(&mut byte) {
            // Both connections of a pair say the same.
            Ok(1) if byte[0] == LEAVING => drop(self.peers.remove(&rank)),
            Ok(1) => drop(streams.remove(at)),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) if error.kind() != ErrorKind::ConnectionReset => {
                let (host, seconds) = (std::mem::take(host), self.place.silence.as_secs());
                self.peers.remove(&rank);
                (self.on_loss)(rank, &host, &format!("nothing came from its host for {seconds} s"));
            }
            Ok(_) | Err(_) => {
                self.closed.push((rank, std::mem::take(host), Instant::now() + GRACE));
                self.peers.remove(&rank);
            }
        }
    }
}

fn readable(fd: i32) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// What a connection from a rank to another one begins with.
fn hello(secret: Secret, from: u32, to: u32, host: &str) -> [u8; HELLO] {
    let mut hello = [0; HELLO];
    hello[..4].copy_from_slice(&MAGIC.to_ne_bytes());
    hello[4..8].copy_from_slice(&from.to_ne_bytes());
    hello[8..16].copy_from_slice(&secret.token(from | OF_CONNECTION, to).to_ne_bytes());
    for (to, from) in hello[16..].iter_mut().zip(host.bytes()) {
        *to = from;
    }
    hello
}

/// The name of a host in what a connection begins with; characters that no name has are replaced.
fn name_in(hello: &[u8; HELLO]) -> String {
    let bytes = hello[16..].iter().take_while(|byte| **byte != 0);
    let plain = |byte: &u8| if byte.is_ascii_alphanumeric() || b".-_".contains(byte) { char::from(*byte) } else { '_' };
    bytes.map(plain).collect()
}

/// Makes the kernel give a connection up when the other host has been silent for so long.
fn watch_silence(stream: &TcpStream, silence: Duration) -> io::Result<()> {
    let seconds = i32::try_from(silence.as_secs()).unwrap_or(i32::MAX / 1000);
    let probe = (seconds / 3).clamp(1, 30);
    let options = [
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, probe),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, probe),
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, seconds.saturating_mul(1000)),
    ];
    for (level, option, value) in options {
        // SAFETY: a number that is valid during the call.
        let set = unsafe {
            libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const value).cast(), size_of::<i32>() as u32)
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The IP address in an address of a provider, if that is one of a socket.
pub(crate) fn ip_of(address: &[u8]) -> Option<IpAddr> {
    let family = i32::from(u16::from_ne_bytes(address.get(..2)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let bytes: [u8; 4] = address.get(4..8)?.try_into().ok()?;
            Some(IpAddr::from(bytes)).filter(|ip| !ip.is_unspecified())
        }
        libc::AF_INET6 => {
            let bytes: [u8; 16] = address.get(8..24)?.try_into().ok()?;
            // Addresses of a link need its number, which is another one on each host.
            Some(Ipv6Addr::from(bytes)).filter(|ip| !ip.is_unspecified() && !ip.is_unicast_link_local()).map(IpAddr::V6)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
