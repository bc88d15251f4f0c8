//! Waiting for a socket: messages of this process move on meanwhile.
//!
//! Invariant: no wait holds the process lock while it sleeps, and none sleeps longer than [`TURN_MS`].
//! Not here: what is read and written (`words`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use mpi_core::abi::MPI_ERR_PORT;
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

/// Turns that only yield the core before the first sleep.
const YIELDS: u32 = 64;
/// Longest sleep in milliseconds: other processes that need this one's progress wait as long.
const TURN_MS: i32 = 1;

/// One wait in progress.
pub(crate) struct SocketWait<'e> {
    engine: &'e Engine,
    deadline: Option<Instant>,
    turns: u32,
}

impl<'e> SocketWait<'e> {
    pub(crate) fn new(engine: &'e Engine, deadline: Option<Instant>) -> SocketWait<'e> {
        SocketWait { engine, deadline, turns: 0 }
    }

    /// Makes progress, then waits for `events` of the socket for a moment.
    /// # Errors
    /// `MPI_ERR_PORT` after the deadline (MPI-5.0, 11.8.4); an error of progress.
    pub(crate) fn turn(&mut self, socket: BorrowedFd<'_>, events: i16) -> Result<()> {
        self.engine.progress(&mut self.engine.lock())?;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::new(MPI_ERR_PORT, "the other side has not answered in time"));
        }
        self.turns = self.turns.saturating_add(1);
        if self.turns <= YIELDS {
            std::thread::yield_now();
            return Ok(());
        }
        is_ready(socket, events, TURN_MS);
        Ok(())
    }
}

/// Whether a socket has one of the events, or an error, within so many milliseconds.
pub(crate) fn is_ready(socket: BorrowedFd<'_>, events: i16, timeout_ms: i32) -> bool {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    // SAFETY: one live pollfd.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) == 1 }
}

/// Whether an operation on a socket only has to be tried again.
pub(crate) fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
