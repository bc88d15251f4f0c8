//! The intercommunicator of two groups whose roots have a connected socket.
//!
//! The roots first exchange a greeting, so that something else at the other end is an error and not a damaged group.
//! Invariant: an error at one root is one in all processes of both groups, as far as they can be reached.
//! Not here: how the roots got their socket (`port`, `dial`; a launcher; the program itself, for `MPI_Comm_join`).

use std::os::fd::{AsFd, BorrowedFd, RawFd};
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
pub(crate) const GREETING_BYTES: usize = 16;
/// Version of all that follows.
const VERSION: u64 = 2;

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
    stream: Option<Result<impl AsFd>>,
    deadline: Option<Instant>,
    ids: &Guarded<ContextIds>,
) -> Result<Connection> {
    let words = stream.as_ref().map(|stream| {
        let stream = stream.as_ref().map_err(Error::clone)?;
        let words = SocketWords { engine, socket: stream.as_fd(), deadline };
        greet(&words).map(|()| words)
    });
    let way = words.as_ref().map(|words| words.as_ref().map(|words| words as &dyn WordExchange).map_err(Error::clone));
    connect_jobs(engine, local, root, way, ids)
}

/// Connects this process, the only one of `local`, with the process at the other end of the program's socket
/// (`MPI_Comm_join`). The program leaves the socket open and alone until the call returns.
/// # Errors
/// `MPI_ERR_ARG` for a descriptor that is no connected stream socket; as [`connect_over`].
pub fn join_over(engine: &Engine, local: &Comm, socket: RawFd, ids: &Guarded<ContextIds>) -> Result<Connection> {
    if !is_connected_stream(socket) {
        return Err(Error::new(MPI_ERR_ARG, "it is no connected stream socket").arg("fd", &socket));
    }
    // SAFETY: it is open, as just seen, and stays so by the program's promise.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let words = SocketWords { engine, socket, deadline: None };
    greet(&words)?;
    connect_jobs(engine, local, 0, Some(Ok(&words)), ids)
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

/// Exchanges greetings.
fn greet(words: &SocketWords<'_>) -> Result<()> {
    let own = [GREETING, VERSION];
    let mut other = [0; 2];
    words.swap(&own, &mut other)?;
    match other {
        [GREETING, VERSION] => Ok(()),
        [GREETING, version] => Err(Error::new(
            MPI_ERR_OTHER,
            format!("the other process speaks version {version} of the protocol for connections, this one {VERSION}"),
        )),
        _ => Err(Error::new(MPI_ERR_OTHER, "what is at the other end of the connection is no process of this library")),
    }
}
