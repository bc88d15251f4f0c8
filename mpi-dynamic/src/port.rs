//! Ports: names under which a process of another job finds this one (MPI-5.0, 11.8.1).
//!
//! A port is a listening Unix-domain socket in the kernel's abstract name space: no file, no network. Its name is a
//! random number of 128 bits, so it cannot be guessed, and is not used again. A port that other hosts reach has a socket on the
//! network too (`network_port`).
//! Invariant: the Unix-domain socket lets only processes of the same user in; the socket on the network those that prove that they have
//! the whole name, of any user and host, this one too.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_PORT};
use mpi_errors::{Error, Result};
use mpi_fabric::host;
use mpi_p2p::Engine;

use crate::network_port::{NetworkName, NetworkPort};
use crate::over::GREETING_BYTES;
use crate::user::user;
use crate::wait::{SocketWait, is_later, is_ready};
use crate::words::waiting_bytes;

/// What a port's name begins with.
const PREFIX: &str = "ferrum:";
/// Digits of a name.
const DIGITS: usize = 32;
/// How long a process that has connected may take to send its greeting.
const GREETING_LIMIT: Duration = Duration::from_secs(5);

/// Who may connect to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Processes of this host.
    Host,
    /// Processes of other hosts too.
    Hosts,
    /// Processes of other hosts too, if this host has a network.
    Any,
}

/// An open port. Thread-safe.
#[derive(Debug)]
pub struct Port {
    name: String,
    listener: UnixListener,
    network: Option<NetworkPort>,
    closed: AtomicBool,
}

impl Port {
    /// Opens a new port.
    /// # Errors
    /// `MPI_ERR_OTHER`: the system has no more sockets.
    pub fn open(reach: Reach) -> Result<Port> {
        let refused = |error: std::io::Error| Error::new(MPI_ERR_OTHER, format!("cannot open a port: {error}"));
        let digits = random_digits().map_err(refused)?;
        let listener = UnixListener::bind_addr(&address(&digits).map_err(refused)?).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let network = match reach {
            Reach::Host => None,
            Reach::Hosts => Some(NetworkPort::open().map_err(refused)?),
            // Most programs connect on one host, and need no network for that.
            Reach::Any => NetworkPort::open_far().ok().flatten(),
        };
        let tail = network.as_ref().map_or_else(String::new, |network| format!("+{}", network.name()));
        Ok(Port { name: format!("{PREFIX}{digits}{tail}"), listener, network, closed: AtomicBool::new(false) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends waits of other threads for a connection.
    pub fn close(&self) {
        // Relaxed: nothing else is published with it.
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Waits for a process to connect, and makes progress meanwhile. A process of another user, one that does not send its
    /// greeting, and one that has left again are passed over.
    /// # Errors
    /// `MPI_ERR_PORT` once another thread has closed the port, and after the deadline; an error of progress.
    pub fn accept(&self, engine: &Engine, deadline: Option<Instant>) -> Result<OwnedFd> {
        self.accept_unless(engine, deadline, || None)
    }

    /// As [`Port::accept`], for a process that may end before it connects: `failure` is called again and again while
    /// none has connected, and ends the wait with its error.
    /// # Errors
    /// Those of [`Port::accept`] and of `failure`.
    pub fn accept_unless(
        &self,
        engine: &Engine,
        deadline: Option<Instant>,
        mut failure: impl FnMut() -> Option<Error>,
    ) -> Result<OwnedFd> {
        let mut wait = SocketWait::new(engine, deadline);
        loop {
            if self.closed.load(Ordering::Relaxed) {
                return Err(Error::new(MPI_ERR_PORT, "the port was closed").arg("port_name", &shown(&self.name)));
            }
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if is_own_user(&stream) && greets(engine, stream.as_fd(), deadline)? {
                        return Ok(stream.into());
                    }
                }
                Err(error) if is_later(&error) => {
                    let from_network = self.network.as_ref().map_or(Ok(None), NetworkPort::accept);
                    let from_network = from_network.map_err(|error| {
                        Error::new(MPI_ERR_OTHER, format!("cannot accept a connection of another host: {error}"))
                    })?;
                    if let Some(stream) = from_network {
                        if greets(engine, stream.as_fd(), deadline)? {
                            return Ok(stream.into());
                        }
                        continue;
                    }
                    if let Some(error) = failure() {
                        return Err(error);
                    }
                    wait.turn(self.listener.as_fd(), libc::POLLIN)?;
                }
                // A process that connected has ended meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    return Err(Error::new(MPI_ERR_OTHER, format!("cannot accept a connection: {error}")));
                }
            }
        }
    }
}

/// Whether a whole greeting arrives in time, at most until the deadline of the accept, and its sender is still there.
/// Reads nothing of it.
/// # Errors
/// An error of progress.
fn greets(engine: &Engine, stream: BorrowedFd<'_>, deadline: Option<Instant>) -> Result<bool> {
    let own = Instant::now() + GREETING_LIMIT;
    let deadline = deadline.map_or(own, |deadline| deadline.min(own));
    let mut wait = SocketWait::new(engine, None);
    while waiting_bytes::<GREETING_BYTES>(stream) < GREETING_BYTES {
        if is_ready(stream, libc::POLLRDHUP, 0) || Instant::now() >= deadline {
            return Ok(false);
        }
        // A part of a greeting is readable all the time, so that is not waited for.
        wait.turn(stream, libc::POLLRDHUP)?;
    }
    Ok(!is_ready(stream, libc::POLLRDHUP, 0))
}

/// A name as messages show it: without the addresses and the secret, because files of output may be read by others.
pub(crate) fn shown(name: &str) -> String {
    match name.split_once('+') {
        Some((public, _)) => format!("{public:?}..."),
        None => format!("{name:?}"),
    }
}

/// The digits of a port's name, and its part for other hosts.
/// # Errors
/// `MPI_ERR_PORT` for a name that is none.
pub(crate) fn parts_of(name: &str) -> Result<(&str, Option<NetworkName>)> {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| {
        let (digits, tail) = rest.split_once('+').map_or((rest, None), |(digits, tail)| (digits, Some(tail)));
        let whole = digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        let network = tail.map(|tail| NetworkName::parse(tail).ok_or(())).transpose().ok()?;
        whole.then_some((digits, network))
    });
    let rule = || {
        format!(
            "a port's name is {PREFIX} and {DIGITS} hexadecimal digits, with +, a secret, @ and addresses if other hosts reach it"
        )
    };
    parts.ok_or_else(|| Error::new(MPI_ERR_PORT, rule()).arg("port_name", &shown(name)))
}

/// Who is to reach a port with this name.
pub fn reach_of(name: &str) -> Reach {
    if matches!(parts_of(name), Ok((_, Some(_)))) { Reach::Hosts } else { Reach::Host }
}

/// The address of the port with these digits.
pub(crate) fn address(digits: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("ferrum-port-{digits}"))
}

/// Whether the process at the other end had this process's user when it connected, or listened.
pub(crate) fn is_own_user(stream: &UnixStream) -> bool {
    let mut credentials = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: room for the credentials, with its length.
    let got = unsafe {
        let room = std::ptr::from_mut(&mut credentials).cast();
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, room, &mut length)
    };
    got == 0 && credentials.uid == user()
}

fn random_digits() -> std::io::Result<String> {
    host::random_words().map(|[high, low]| format!("{high:016x}{low:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ports_differ_and_others_are_refused() {
        let open = |reach| Port::open(reach).expect("a socket");
        let (one, other, wide) = (open(Reach::Host), open(Reach::Host), open(Reach::Hosts));
        let has_network = NetworkPort::open_far().expect("a socket").is_some();
        assert_eq!(parts_of(open(Reach::Any).name()).expect("a name").1.is_some(), has_network);
        assert_ne!(one.name(), other.name());
        assert_eq!(parts_of(one.name()).expect("a name").0.len(), DIGITS);
        assert!(parts_of(one.name()).expect("a name").1.is_none());
        assert!(parts_of(wide.name()).expect("a name").1.is_some());
        let (cut, doubled) = (&wide.name()[..wide.name().len() - 8], format!("{}+", one.name()));
        let upper = one.name().to_uppercase();
        for bad in [
            cut,
            &doubled,
            "",
            "ferrum:",
            "x",
            &one.name()[1..],
            &one.name()[..38],
            &upper,
            "ferrum:0123456789abcdef0123456789abcdeg",
        ] {
            assert_eq!(parts_of(bad).expect_err(bad).class(), MPI_ERR_PORT, "{bad:?}");
        }
        let secret = wide.name().split_once('+').expect("a name with addresses").1;
        assert!(
            !shown(wide.name()).contains(&secret[..8])
                && !parts_of(cut).expect_err(cut).to_string().contains(&secret[..8])
        );
    }
}
