//! Typed input: passing a terminal's lines on to rank 0.
//!
//! Input from files and pipes is not touched: rank 0 reads it itself. A terminal it cannot read, being in a background
//! process group. Lines are read from the terminal only while `mpiexec` is in the foreground, and only when the line
//! before was taken, so that little that was meant for others is eaten.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::os;

/// A terminal that is read for rank 0.
pub(super) struct Terminal {
    terminal: OwnedFd,
    /// To rank 0; `None` once either end is closed.
    rank: Option<OwnedFd>,
    waiting: Vec<u8>,
}

impl Terminal {
    /// If `input` is a terminal: what reads it, and the descriptor that rank 0 gets in its place.
    pub(super) fn new(input: BorrowedFd<'_>) -> io::Result<Option<(Terminal, OwnedFd)>> {
        if !io::IsTerminal::is_terminal(&input) {
            return Ok(None);
        }
        let (read, write) = os::pipe()?;
        os::set_nonblocking(write.as_fd());
        let terminal = Terminal { terminal: input.try_clone_to_owned()?, rank: Some(write), waiting: Vec::new() };
        Ok(Some((terminal, read)))
    }

    /// Adds what to wait for to `entries`; returns how many.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) -> usize {
        let Some(rank) = &self.rank else { return 0 };
        if !self.waiting.is_empty() {
            entries.push(os::poll_entry(rank.as_fd(), libc::POLLOUT));
        } else if os::is_foreground_terminal(self.terminal.as_fd()) {
            entries.push(os::poll_entry(self.terminal.as_fd(), libc::POLLIN));
        } else {
            return 0;
        }
        1
    }

    /// Moves what is ready, given the entries of [`Self::interests`] after a poll.
    pub(super) fn serve(&mut self, entries: &[libc::pollfd]) {
        if entries.iter().all(|entry| entry.revents == 0) {
            return;
        }
        if self.waiting.is_empty() {
            let mut line = [0; 4096];
            match os::read(self.terminal.as_fd(), &mut line) {
                // End of input, or the terminal is gone: rank 0 sees the end.
                Ok(0) => self.rank = None,
                Ok(n) => self.waiting.extend_from_slice(&line[..n]),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(_) => self.rank = None,
            }
        }
        let Some(rank) = &self.rank else { return };
        match os::write(rank.as_fd(), &self.waiting) {
            Ok(n) => drop(self.waiting.drain(..n)),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.rank = None,
        }
    }
}
