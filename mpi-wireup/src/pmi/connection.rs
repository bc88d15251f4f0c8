//! The bytes of a PMI connection: whole lines out, whole lines in, each within a time limit.
//!
//! Invariant: the descriptor is a stream socket, is this value's alone, and is closed in programs started from here.
#![allow(unsafe_code)] // takes over a descriptor that the environment names; polls

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::pmi::wire::LONGEST_LINE;

/// A connection to a launcher.
pub(crate) struct Connection {
    fd: OwnedFd,
    /// The bytes after the last line that was returned.
    rest: Vec<u8>,
}

/// Why no line was received or sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// Nothing was received for so long.
    #[error("no answer within {} seconds", .0.as_secs_f32())]
    Silent(Duration),
    /// The other side has closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// More bytes than any line has.
    #[error("a line that does not end")]
    TooLong,
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// What the copies of the descriptor that leads to our launcher have in common. Who holds the lock is the only one that reads.
#[derive(Default)]
pub(crate) struct OurLink {
    /// The bytes after the last line that was returned.
    rest: Vec<u8>,
    /// Names of spawned jobs that the launcher has reported to have ended.
    pub(crate) ended: Vec<String>,
}

static OUR_LINK: Mutex<OurLink> = Mutex::new(OurLink { rest: Vec::new(), ended: Vec::new() });

/// Begins requests to our launcher, one after the other in the whole process.
pub(crate) fn our_link() -> MutexGuard<'static, OurLink> {
    // A panic elsewhere leaves the bytes whole.
    OUR_LINK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Makes the bytes of the other copies those of this one, and again after the requests.
    pub(crate) fn swap_rest(&mut self, link: &mut OurLink) {
        std::mem::swap(&mut self.rest, &mut link.rest);
    }

    /// Takes over a descriptor that was inherited. The error ends a sentence.
    pub(crate) fn from_descriptor(fd: i32) -> Result<Connection, String> {
        check(fd)?;
        // SAFETY: it is open; the launcher handed it down for this, and nothing else in this process uses it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a plain setting of our own descriptor.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        Ok(Connection { fd, rest: Vec::new() })
    }

    /// Takes over a connection.
    pub(crate) fn new(fd: OwnedFd) -> Connection {
        Connection { fd, rest: Vec::new() }
    }

    /// A descriptor that stays open here and in programs started from here, for a connection of this value's own.
    /// The error ends a sentence.
    pub(crate) fn duplicate(fd: i32) -> Result<Connection, String> {
        check(fd)?;
        // SAFETY: a plain call on a number, which is an open descriptor.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
        if copy < 0 {
            return Err(format!("descriptor {fd} cannot be copied: {}", io::Error::last_os_error()));
        }
        // SAFETY: a new descriptor, which is ours alone.
        Ok(Connection::new(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// The process at the other end when the connection was made.
    pub(crate) fn peer(&self) -> Option<i32> {
        let mut facts = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        // SAFETY: a query about our own descriptor; the facts are written.
        let done = unsafe { libc::getsockopt(self.fd.as_raw_fd(), level, option, (&raw mut facts).cast(), &mut len) };
        (done == 0).then_some(facts.pid)
    }

    /// Connects to `HOST:PORT`.
    pub(crate) fn to_address(address: &str, limit: Duration) -> io::Result<Connection> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the address stands for no host");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, limit) {
                Ok(stream) => {
                    // Requests are short, and each waits for its answer.
                    let _ = stream.set_nodelay(true);
                    return Ok(Connection { fd: stream.into(), rest: Vec::new() });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Sends a whole line.
    pub(crate) fn send(&mut self, mut bytes: &[u8], limit: Duration) -> Result<(), ConnectionError> {
        let end = Instant::now() + limit;
        while !bytes.is_empty() {
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            // SAFETY: the bytes are readable for their length.
            let n = unsafe { libc::send(self.fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
            match usize::try_from(n) {
                Ok(n) => bytes = &bytes[n..],
                Err(_) => self.after(io::Error::last_os_error(), libc::POLLOUT, limit, Some(end))?,
            }
        }
        Ok(())
    }

    /// Sends no more: the other side reads the end of the connection.
    pub(crate) fn end(&mut self) {
        // SAFETY: a plain call on our own descriptor; without a connection there is nothing to end.
        unsafe { libc::shutdown(self.fd.as_raw_fd(), libc::SHUT_WR) };
    }

    /// Receives the next line, with its line end; without a limit it waits until the other side closes.
    pub(crate) fn line(&mut self, limit: Option<Duration>) -> Result<Vec<u8>, ConnectionError> {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut buffer = [0u8; 4096];
        loop {
            if let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
                let rest = self.rest.split_off(at + 1);
                return Ok(std::mem::replace(&mut self.rest, rest));
            }
            if self.rest.len() > LONGEST_LINE {
                return Err(ConnectionError::TooLong);
            }
            // SAFETY: the buffer is writable for its length.
            let n = unsafe {
                libc::recv(self.fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT)
            };
            match usize::try_from(n) {
                Ok(0) => return Err(ConnectionError::Closed),
                Ok(n) => self.rest.extend_from_slice(&buffer[..n]),
                Err(_) => {
                    self.after(io::Error::last_os_error(), libc::POLLIN, limit.unwrap_or_default(), end)?;
                }
            }
        }
    }

    /// Waits, if the error is one that waiting resolves.
    fn after(
        &self,
        error: io::Error,
        events: i16,
        limit: Duration,
        end: Option<Instant>,
    ) -> Result<(), ConnectionError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock => self.wait(events, limit, end),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Err(ConnectionError::Closed),
            _ => Err(ConnectionError::System(error)),
        }
    }

    fn wait(&self, events: i16, limit: Duration, end: Option<Instant>) -> Result<(), ConnectionError> {
        loop {
            let left_ms = match end {
                None => -1,
                Some(end) => match end.saturating_duration_since(Instant::now()) {
                    Duration::ZERO => return Err(ConnectionError::Silent(limit)),
                    // Rounded up, so as not to wake before it.
                    left => left.as_millis().min(i32::MAX as u128 - 1) as i32 + 1,
                },
            };
            let mut entry = libc::pollfd { fd: self.fd.as_raw_fd(), events, revents: 0 };
            // SAFETY: one live entry.
            match unsafe { libc::poll(&mut entry, 1, left_ms) } {
                0 => {}
                n if n > 0 => return Ok(()),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == ErrorKind::Interrupted => {}
                    error => return Err(ConnectionError::System(error)),
                },
            }
        }
    }
}

/// Whether a descriptor is a stream connection: any other file with that number must not be written to. The error ends
/// a sentence.
pub(crate) fn check(fd: i32) -> Result<(), String> {
    let kind = option(fd, libc::SO_TYPE).map_err(|error| match error.raw_os_error() {
        Some(libc::EBADF) => format!("descriptor {fd} is not open here: something in between closed it"),
        Some(libc::ENOTSOCK) => format!("descriptor {fd} is no connection"),
        _ => format!("descriptor {fd} cannot be used: {error}"),
    })?;
    match kind {
        libc::SOCK_STREAM => Ok(()),
        _ => Err(format!("descriptor {fd} is no stream connection")),
    }
}

/// An option of a socket.
fn option(fd: i32, name: libc::c_int) -> io::Result<libc::c_int> {
    let (mut value, mut len): (libc::c_int, libc::socklen_t) = (0, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: a query about a number that may or may not be a socket; one int is written.
    let done = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut len) };
    if done == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}
