//! The intercommunicator of two groups whose roots have a connected socket.
//!
//! The roots first exchange a greeting, so that something else at the other end is an error and not a damaged group.
//! Invariant: an error at one root is one in all processes of both groups, as far as they can be reached.
//! Not here: how the roots got their socket (`port`, `dial`; a launcher; the program itself, for `MPI_Comm_join`).

use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use mpi_comm::{Comm, Connection, ContextIds, WordExchange, connect_jobs};
use mpi_core::Guarded;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_OTHER};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::words::SocketWords;

/// First word of a greeting: "FERRUMCN" in memory order.
const GREETING: u64 = u64::from_le_bytes(*b"FERRUMCN");
/// Bytes of a greeting.
pub(crate) const GREETING_BYTES: usize = 24;
/// Version of all that follows.
const VERSION: u64 = 1;

/// Connects the processes of `local` with a group whose root has the other end of the root's `stream`, which is
/// significant there; an error in its place is one in all processes. Collective over both groups, and symmetric; waits,
/// with no guard held. The deadline is for the whole handshake, in which processes of both groups may be late.
/// # Errors
/// As [`connect_jobs`]; `MPI_ERR_PROC_ABORTED` if the other root ends, `MPI_ERR_OTHER` if it is no process of this
/// library, `MPI_ERR_PORT` if it does not answer in time.
pub fn connect_over(
    engine: &Engine,
    local: &Comm,
    root: u32,
    stream: Option<Result<UnixStream>>,
    deadline: Option<Instant>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let words = stream.as_ref().map(|stream| {
        let stream = stream.as_ref().map_err(Error::clone)?;
        let words = SocketWords { engine, socket: stream.as_fd(), deadline };
        match greet(&words)? {
            true => Ok(words),
            false => Err(Error::new(MPI_ERR_OTHER, "the other process runs on another host")),
        }
    });
    let way = words.as_ref().map(|words| words.as_ref().map(|words| words as &dyn WordExchange).map_err(Error::clone));
    connect_jobs(engine, local, root, way, ids)
}

/// What [`join_over`] has made.
pub enum Joined {
    /// An intercommunicator.
    Connected(Connection),
    /// None, because the processes cannot share memory; the socket is as it was.
    Apart,
}

/// Connects this process, the only one of `local`, with the process at the other end of the program's socket
/// (`MPI_Comm_join`). The program leaves the socket open and alone until the call returns.
/// # Errors
/// `MPI_ERR_ARG` for a descriptor that is no connected stream socket; as [`connect_over`].
pub fn join_over(engine: &Engine, local: &Comm, socket: RawFd, ids: &Guarded<ContextIds>) -> Result<Joined> {
    if !is_connected_stream(socket) {
        return Err(Error::new(MPI_ERR_ARG, "it is no connected stream socket").arg("fd", &socket));
    }
    // SAFETY: it is open, as just seen, and stays so by the program's promise.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let words = SocketWords { engine, socket, deadline: None };
    match greet(&words)? {
        true => connect_jobs(engine, local, 0, Some(Ok(&words)), ids).map(Joined::Connected),
        false => Ok(Joined::Apart),
    }
}

/// Whether a number is the descriptor of a stream socket that is connected.
fn is_connected_stream(socket: RawFd) -> bool {
    let (mut kind, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: room for the value, with its length; a number that is no descriptor is an error of the call.
    let got = unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &mut length) };
    // SAFETY: plain data, for which zeros are a value.
    let mut peer: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: room for an address, with its length.
    let connected = unsafe { libc::getpeername(socket, (&raw mut peer).cast(), &mut length) };
    got == 0 && connected == 0 && kind == libc::SOCK_STREAM
}

/// Exchanges greetings; whether the other process is on this host.
fn greet(words: &SocketWords<'_>) -> Result<bool> {
    let own = [GREETING, VERSION, host()];
    let mut other = [0; 3];
    words.swap(&own, &mut other)?;
    match other {
        [GREETING, VERSION, host] => Ok(host == own[2]),
        [GREETING, version, _] => Err(Error::new(
            MPI_ERR_OTHER,
            format!("the other process speaks version {version} of the protocol for connections, this one {VERSION}"),
        )),
        _ => Err(Error::new(MPI_ERR_OTHER, "what is at the other end of the connection is no process of this library")),
    }
}

/// A number of this start of this host; 0 where the kernel has none.
fn host() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).map_or(0, |id| (id >> 64) as u64 ^ id as u64)
}
