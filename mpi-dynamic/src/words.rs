//! Words over a socket, both ways at once.
//!
//! Invariants: a call sends and receives exactly the words that it is given room for; it neither reads nor changes
//! anything else of the socket. Whatever the length, the ends do not wait for each other to read first.
//! Not here: what the words mean (`over`, `mpi_comm::connect_jobs`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use mpi_comm::WordExchange;
use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED};
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::wait::{SocketWait, is_later};

/// One end of a connection.
pub(crate) struct SocketWords<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) socket: BorrowedFd<'a>,
    pub(crate) deadline: Option<Instant>,
}

impl WordExchange for SocketWords<'_> {
    fn swap(&self, own: &[u64], others: &mut [u64]) -> Result<()> {
        let out: Vec<u8> = own.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut room = vec![0; others.len() * 8];
        let (mut sent, mut got) = (0, 0);
        let mut wait = SocketWait::new(self.engine, self.deadline);
        while sent < out.len() || got < room.len() {
            let before = sent + got;
            if sent < out.len() {
                sent += moved(send(self.socket, &out[sent..]))?;
            }
            if got < room.len() {
                match receive(self.socket, &mut room[got..]) {
                    Ok(0) => return Err(closed()),
                    other => got += moved(other)?,
                }
            }
            if sent + got == before {
                let writes = if sent < out.len() { libc::POLLOUT } else { 0 };
                let reads = if got < room.len() { libc::POLLIN } else { 0 };
                wait.turn(self.socket, writes | reads)?;
            }
        }
        for (word, bytes) in others.iter_mut().zip(room.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }
}

/// Bytes moved; none when it is to be tried again.
fn moved(result: io::Result<usize>) -> Result<usize> {
    match result {
        Ok(bytes) => Ok(bytes),
        Err(error) if is_later(&error) => Ok(0),
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
            Err(closed())
        }
        Err(error) if is_silence(&error) => {
            Err(Error::new(MPI_ERR_PROC_ABORTED, format!("the host of the other process is not reached: {error}")))
        }
        Err(error) => {
            Err(Error::new(MPI_ERR_OTHER, format!("the socket to the other process cannot be used: {error}")))
        }
    }
}

/// Whether the kernel has given the other host up.
fn is_silence(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkUnreachable, TimedOut};
    matches!(error.kind(), TimedOut | HostUnreachable | NetworkUnreachable)
}

#[cold]
fn closed() -> Error {
    Error::new(MPI_ERR_PROC_ABORTED, "the other process has closed the connection, or has ended")
}

fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: `bytes` is readable for its length.
    counted(unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) })
}

pub(crate) fn receive(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `room` is writable for its length.
    counted(unsafe { libc::recv(socket.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT) })
}

/// How many of the next `N` bytes have arrived; they stay in the socket.
pub(crate) fn waiting_bytes<const N: usize>(socket: BorrowedFd<'_>) -> usize {
    let mut room = [0u8; N];
    let flags = libc::MSG_DONTWAIT | libc::MSG_PEEK;
    // SAFETY: `room` is writable for its length.
    counted(unsafe { libc::recv(socket.as_raw_fd(), room.as_mut_ptr().cast(), N, flags) }).unwrap_or(0)
}

fn counted(bytes: isize) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
}
