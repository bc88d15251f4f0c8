//! Connecting to a port by its name.
//!
//! Invariant: no wait holds the process lock, and only a port of the same user, or one that proves that it has the name's secret, is
//! connected to.
//! Not here: the port (`port`), what follows on the socket (`over`).

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_PORT};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::port::{address, is_own_user, parts_of, shown};

/// Time between two attempts while the port's queue is full.
const RETRY: Duration = Duration::from_millis(1);

/// Connects to a port. While as many processes as fit wait for the port's owner, this one tries again, and makes
/// progress meanwhile.
/// # Errors
/// `MPI_ERR_PORT` for a name that is none, for a port that is closed or was never open, and after the deadline; an error of
/// progress.
pub fn dial(engine: &Engine, name: &str, deadline: Option<Instant>) -> Result<OwnedFd> {
    let (digits, network) = parts_of(name)?;
    let address = address(digits).map_err(|error| no_port(name, &error.to_string()))?;
    loop {
        match connect(&address) {
            Ok(stream) if is_own_user(&stream) => return Ok(stream.into()),
            Ok(_) => return Err(no_port(name, "it belongs to another user")),
            // The queue of the port is full.
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if let Some(network) = &network {
                    let reached = network.dial(engine, deadline);
                    return reached.map(OwnedFd::from).map_err(|error| error.arg("port_name", &shown(name)));
                }
                return Err(no_port(
                    name,
                    "no process of this host has it open, and it has no address for other hosts",
                ));
            }
            Err(error) => return Err(Error::new(MPI_ERR_OTHER, format!("cannot connect to a port: {error}"))),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(no_port(name, "no process has accepted it in time"));
        }
        engine.progress(&mut engine.lock())?;
        std::thread::sleep(RETRY);
    }
}

/// Connects without waiting, so that a full queue is an error.
fn connect(address: &std::os::unix::net::SocketAddr) -> io::Result<UnixStream> {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::linux::net::SocketAddrExt;
    let name = address.as_abstract_name().unwrap_or_default();
    // SAFETY: plain data, for which zeros are a value.
    let mut words: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    words.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (place, byte) in words.sun_path[1..].iter_mut().zip(name) {
        *place = *byte as libc::c_char;
    }
    let length = (std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len()) as libc::socklen_t;
    // SAFETY: no memory is passed; a new descriptor comes back or -1.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor without another owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: an address of `length` bytes, which is no more than it has.
    match unsafe { libc::connect(socket.as_raw_fd(), std::ptr::from_ref(&words).cast(), length) } {
        0 => Ok(UnixStream::from(socket)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cold]
fn no_port(name: &str, why: &str) -> Error {
    Error::new(MPI_ERR_PORT, format!("no connection to this port: {why}")).arg("port_name", &shown(name))
}
