//! The part of a port that processes on other hosts reach: a TCP socket, and a secret.
//!
//! Both parts are in the port's name, so who has the name may connect. A connection begins with a random number of each end, and a
//! proof of each that it has the secret: a hash of both numbers under it. The secret itself stays where the name is. The port sends its
//! number when a process accepts, for which the program alone may set a time limit (info `timeout`); a host that is silent meanwhile is found by the kernel.
//! Invariant: a connection is handed out only after its proof; one that sends none keeps no other one waiting.
//! Not here: the part on this host (`port`), what follows on the socket (`over`).

use std::hash::Hasher;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpi_comm::WordExchange;
use mpi_core::abi::MPI_ERR_PORT;
use mpi_errors::{Error, Result};
use mpi_fabric::connections::{is_of_listener, watch_silence};
use mpi_fabric::host;
use mpi_fabric::signal_mask::with_all_signals_blocked;
use mpi_p2p::Engine;
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::words::{SocketWords, receive, waiting_bytes};

/// Most addresses in the name of a port.
const MOST_ADDRESSES: usize = 6;
/// Digits of the secret.
const DIGITS: usize = 32;
/// What the process that connects sends: its number and its proof.
const HELLO_BYTES: usize = 32;
/// How long a connection may stay without a proof, and how long one to an address may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How long the other host may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Most connections without a proof.
const MOST_PENDING: usize = 64;
/// The two ends in a proof.
const OF_PORT: u64 = 1;
const OF_CALLER: u64 = 2;

/// A socket that listens.
#[derive(Debug)]
pub(crate) struct NetworkPort {
    listener: TcpListener,
    secret: [u64; 2],
    addresses: Vec<SocketAddr>,
    pending: Mutex<Vec<Pending>>,
}

/// A connection without a proof: the stream, this end's number, and when it was accepted.
#[derive(Debug)]
struct Pending {
    stream: TcpStream,
    number: [u64; 2],
    since: Instant,
}

/// The part of a port's name that is for other hosts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NetworkName {
    secret: [u64; 2],
    addresses: Vec<SocketAddr>,
}

impl NetworkPort {
    /// Listens at all addresses of this host.
    /// # Errors
    /// Those of the system.
    pub(crate) fn open() -> io::Result<NetworkPort> {
        match NetworkPort::open_far()? {
            Some(port) => Ok(port),
            None => NetworkPort::open_at(vec![Ipv4Addr::LOCALHOST.into()]),
        }
    }

    /// The same; `None` if no other host reaches this one.
    /// # Errors
    /// Those of the system.
    pub(crate) fn open_far() -> io::Result<Option<NetworkPort>> {
        let ips: Vec<IpAddr> = host::addresses().into_iter().filter(host::is_far).take(MOST_ADDRESSES).collect();
        (!ips.is_empty()).then(|| NetworkPort::open_at(ips)).transpose()
    }

    fn open_at(ips: Vec<IpAddr>) -> io::Result<NetworkPort> {
        let any = |ip: IpAddr| TcpListener::bind((ip, 0));
        let listener = match ips[..] {
            // This host has no network.
            [ip] if ip.is_loopback() => any(ip)?,
            _ => any(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| any(Ipv4Addr::UNSPECIFIED.into()))?,
        };
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let addresses = ips.into_iter().map(|ip| SocketAddr::new(ip, port)).collect();
        Ok(NetworkPort { listener, secret: host::random_words()?, addresses, pending: Mutex::default() })
    }

    /// The part of the port's name.
    pub(crate) fn name(&self) -> String {
        let [high, low] = self.secret;
        let addresses: Vec<String> = self.addresses.iter().map(SocketAddr::to_string).collect();
        format!("{high:016x}{low:016x}@{}", addresses.join(","))
    }

    /// A connection that has proved that it has the name, if there is one now.
    pub(crate) fn accept(&self) -> io::Result<Option<TcpStream>> {
        // A panic elsewhere leaves the list whole.
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => pending.extend(Pending::new(stream)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_of_listener(&error) => return Err(error),
                // A fault of the connection or of its network, or no descriptor is free now.
                Err(_) => break,
            }
            if pending.len() > MOST_PENDING {
                let silent = pending.iter().position(|it| it.is_ready() != Some(true));
                pending.remove(silent.unwrap_or(0));
            }
        }
        let mut at = 0;
        while at < pending.len() {
            match pending[at].is_ready() {
                Some(true) => {
                    if let Some(stream) = pending.remove(at).prove(self.secret) {
                        return Ok(Some(stream));
                    }
                }
                Some(false) => at += 1,
                None => drop(pending.remove(at)),
            }
        }
        Ok(None)
    }
}

impl Pending {
    fn new(mut stream: TcpStream) -> Option<Pending> {
        let number = host::random_words().ok()?;
        stream.set_nonblocking(true).ok()?;
        stream.set_nodelay(true).ok()?;
        watch_silence(&stream, SILENCE).ok()?;
        // A new socket has room for so few bytes.
        stream.write_all(&bytes_of(number)).ok()?;
        Some(Pending { stream, number, since: Instant::now() })
    }

    /// Whether all that a proof needs has arrived; `None`: nothing will.
    fn is_ready(&self) -> Option<bool> {
        if waiting_bytes::<HELLO_BYTES>(self.stream.as_fd()) == HELLO_BYTES {
            return Some(true);
        }
        (self.since.elapsed() < LIMIT).then_some(false)
    }

    /// The stream, if the other end has the secret; it gets this end's proof.
    fn prove(mut self, secret: [u64; 2]) -> Option<TcpStream> {
        let mut hello = [0u8; HELLO_BYTES];
        let got = receive(self.stream.as_fd(), &mut hello).ok()?;
        let words: [u64; 4] =
            std::array::from_fn(|at| u64::from_le_bytes(std::array::from_fn(|byte| hello[8 * at + byte])));
        let [first, second, proof @ ..] = words;
        let numbers = [self.number, [first, second]];
        if got != HELLO_BYTES || proof != proof_of(secret, numbers, OF_CALLER) {
            return None;
        }
        self.stream.write_all(&bytes_of(proof_of(secret, numbers, OF_PORT))).ok()?;
        Some(self.stream)
    }
}

impl NetworkName {
    /// Reads the part of a name; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<NetworkName> {
        let (secret, addresses) = text.split_once('@')?;
        if secret.len() != DIGITS || !secret.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let word = |at: usize| u64::from_str_radix(&secret[at..at + 16], 16).ok();
        let addresses: Vec<SocketAddr> = addresses.split(',').map(|text| text.parse().ok()).collect::<Option<_>>()?;
        (addresses.len() <= MOST_ADDRESSES).then_some(NetworkName { secret: [word(0)?, word(16)?], addresses })
    }

    /// Connects, and proves to the port that this process has its name, as the port does.
    /// # Errors
    /// `MPI_ERR_PORT`: it is at none of its addresses; an error of progress.
    pub(crate) fn dial(&self, engine: &Engine, deadline: Option<Instant>) -> Result<TcpStream> {
        let mut reasons = Vec::new();
        for address in &self.addresses {
            let limit = Instant::now() + LIMIT;
            let limit = deadline.map_or(limit, |deadline| deadline.min(limit));
            let reached = connect(engine, *address, limit)?;
            match reached.map_err(|error| error.to_string()).and_then(|stream| {
                self.greet(engine, stream.as_fd(), deadline).map_err(|error| error.to_string()).map(|()| stream)
            }) {
                Ok(stream) => return Ok(stream),
                Err(why) => reasons.push(format!("{address}: {why}")),
            }
        }
        let rule = "no process of this host has it open, and none has accepted at its addresses";
        Err(Error::new(MPI_ERR_PORT, format!("{rule}: {}", reasons.join("; "))))
    }

    /// What the process with this number sends to the port with the other one: its number and its proof.
    pub(crate) fn hello(&self, of_port: [u64; 2], own: [u64; 2]) -> [u64; 4] {
        let [high, low] = proof_of(self.secret, [of_port, own], OF_CALLER);
        [own[0], own[1], high, low]
    }

    /// Where the port listens.
    pub(crate) fn into_addresses(self) -> Vec<SocketAddr> {
        self.addresses
    }

    /// Exchanges the proofs, which the port begins when a process accepts at it.
    fn greet(&self, engine: &Engine, socket: BorrowedFd<'_>, deadline: Option<Instant>) -> Result<()> {
        let words = SocketWords { engine, socket, deadline };
        let own: [u64; 2] = host::random_words().map_err(|error| Error::new(MPI_ERR_PORT, error.to_string()))?;
        let (mut number, mut proof) = ([0; 2], [0; 2]);
        words.swap(&[], &mut number)?;
        let numbers = [number, own];
        words.swap(&self.hello(number, own), &mut proof)?;
        match proof == proof_of(self.secret, numbers, OF_PORT) {
            true => Ok(()),
            false => Err(Error::new(MPI_ERR_PORT, "another process listens there")),
        }
    }
}

/// Connects to an address while messages move on.
fn connect(engine: &Engine, address: SocketAddr, limit: Instant) -> Result<io::Result<TcpStream>> {
    // A connection to a host that is silent takes long, so a thread makes it.
    let (sender, made) = std::sync::mpsc::channel();
    let left = limit.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let run = move || {
        // The receiver may be gone after an error of progress.
        let _ = sender.send(TcpStream::connect_timeout(&address, left));
    };
    if let Err(error) = with_all_signals_blocked(|| std::thread::Builder::new().name("mpi-dial".into()).spawn(run)) {
        return Ok(Err(error));
    }
    loop {
        match made.recv_timeout(Duration::from_millis(1)) {
            Ok(stream) => {
                return Ok(stream.and_then(|stream| {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    watch_silence(&stream, SILENCE)?;
                    Ok(stream)
                }));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => engine.progress(&mut engine.lock())?,
            Err(_) => return Ok(Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

/// The proof of one end.
fn proof_of([high, low]: [u64; 2], [of_port, of_caller]: [[u64; 2]; 2], end: u64) -> [u64; 2] {
    let mut hasher = SipHasher24::new_with_keys(high, low);
    for word in of_port.into_iter().chain(of_caller).chain([end]) {
        hasher.write(&word.to_le_bytes());
    }
    let hash = hasher.finish128();
    [hash.h1, hash.h2]
}

fn bytes_of(words: [u64; 2]) -> [u8; 16] {
    std::array::from_fn(|at| words[at / 8].to_le_bytes()[at % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::ProcessLock;
    use mpi_fabric::Endpoint;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::sync::Arc;

    fn engine() -> Engine {
        let endpoint = Endpoint::world_of_one().expect("memory");
        Engine::new(endpoint, Arc::new(ProcessLock::new(false)), &mpi_t::HeapMemory)
    }

    fn accepted(port: &NetworkPort, within: Duration) -> Option<TcpStream> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            if let Some(stream) = port.accept().expect("it listens") {
                return Some(stream);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// After how many milliseconds of silence the kernel gives a connection up that it probes.
    fn silence_ms(stream: &TcpStream) -> i32 {
        let get = |level, option| {
            let (mut value, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
            // SAFETY: room for a number, with its length.
            let got = unsafe {
                libc::getsockopt(stream.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut length)
            };
            assert_eq!(got, 0);
            value
        };
        assert_eq!(get(libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
        assert!(get(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) <= 10);
        get(libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT)
    }

    #[test]
    fn who_has_the_name_connects_and_nobody_else() {
        let port = NetworkPort::open().expect("a socket");
        let name = NetworkName::parse(&port.name()).expect("its own name");
        let silent = TcpStream::connect(name.addresses[0]).expect("it listens");
        let mut wrong = TcpStream::connect(name.addresses[0]).expect("it listens");
        wrong.write_all(&[7; HELLO_BYTES]).expect("room");
        std::thread::scope(|scope| {
            let dialled = scope.spawn(|| name.dial(&engine(), None).expect("the port accepts"));
            let stream = accepted(&port, LIMIT).expect("a connection with a proof");
            let mut other = dialled.join().expect("no panic");
            assert_eq!([&stream, &other].map(silence_ms), [30_000; 2]);
            (&stream).write_all(b"x").expect("room");
            other.set_nonblocking(false).expect("a socket");
            let mut byte = [0];
            other.read_exact(&mut byte).expect("a byte");
            assert_eq!(byte, *b"x");
            // One with another secret is refused, and the port finds no connection.
            let thief = NetworkName { secret: [1, 2], addresses: name.addresses.clone() };
            let refused = scope.spawn(move || thief.dial(&engine(), None).map(drop));
            assert!(accepted(&port, Duration::from_millis(500)).is_none());
            assert_eq!(refused.join().expect("no panic").expect_err("no secret").class(), MPI_ERR_PORT);
        });
        drop(silent);
    }

    #[test]
    fn a_closed_port_is_named_as_such() {
        let name = NetworkName::parse(&NetworkPort::open().expect("a socket").name()).expect("its own name");
        let error = name.dial(&engine(), None).expect_err("nobody listens");
        let text = error.to_string();
        assert!(error.class() == MPI_ERR_PORT && text.contains("no process of this host has it open"), "{text}");
    }

    #[test]
    fn a_false_port_is_refused() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        let name = NetworkName { secret: [1, 2], addresses: vec![listener.local_addr().expect("bound")] };
        std::thread::scope(|scope| {
            let dialled = scope.spawn(|| name.dial(&engine(), None).map(drop));
            let (mut stream, _) = listener.accept().expect("it dials");
            stream.write_all(&[1; 16]).expect("room");
            let mut hello = [0; HELLO_BYTES];
            stream.read_exact(&mut hello).expect("a number and a proof");
            // Its own proof, sent back.
            stream.write_all(&hello[16..]).expect("room");
            assert_eq!(dialled.join().expect("no panic").expect_err("no proof").class(), MPI_ERR_PORT);
        });
    }

    #[test]
    fn texts_that_are_no_names_are_refused() {
        let secret = "0123456789abcdef0123456789abcdef";
        assert!(NetworkName::parse(&format!("{secret}@10.0.0.1:5,[fd00::1]:6")).is_some());
        let many = ["1.2.3.4:5"; MOST_ADDRESSES + 1].join(",");
        for bad in [
            "",
            "@",
            secret,
            &format!("{secret}@"),
            &format!("{secret}@h:1"),
            &format!("{secret}@1.2.3.4:5,"),
            &format!("{secret}@1.2.3.4:65536"),
            &format!("{secret}@{many}"),
            &format!("{}@1.2.3.4:5", secret.to_uppercase()),
            &format!("{}@1.2.3.4:5", &secret[1..]),
        ] {
            assert_eq!(NetworkName::parse(bad), None, "{bad}");
        }
    }
}
