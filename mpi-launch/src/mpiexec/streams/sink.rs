//! A target of lines: a file, pipe or terminal that is written without waiting.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::mpiexec::os;

/// The most bytes that may wait in a sink before its sources are no longer read.
const QUEUE_BYTES: usize = 4 << 20;
/// Bytes that a ready pipe or terminal accepts without blocking the writer (PIPE_BUF).
const SURE_BYTES: usize = 4096;

/// The state of the last line in the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Finished.
    Whole,
    /// Begun by this source, and shown because it may be a question.
    Shown(usize),
    /// Begun by this source, and longer than the buffer.
    Long(usize),
    /// Its source has ended without finishing it.
    Ended,
}

/// The launcher's standard output or error, or a rank's file.
pub(super) struct Sink {
    fd: OwnedFd,
    kind: u32,
    queue: Vec<u8>,
    written: usize,
    /// No further write is possible.
    broken: bool,
    /// The reason, if the user needs it: a closed reader is not reported.
    loss: Option<io::Error>,
    pub(super) terminal: bool,
    pub(super) tail: Tail,
    /// Whether writing without waiting is possible for any number of bytes.
    nowait: bool,
}

impl Sink {
    /// `kind` is that of the file (`S_IFMT` bits).
    pub(super) fn new(fd: OwnedFd, kind: u32) -> Sink {
        let terminal = io::IsTerminal::is_terminal(&fd);
        let (queue, tail) = (Vec::new(), Tail::Whole);
        Sink { fd, kind, queue, written: 0, broken: false, loss: None, terminal, tail, nowait: true }
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Bytes that are not written yet.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    pub(super) fn has_room(&self) -> bool {
        self.waiting() < QUEUE_BYTES
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(super) fn loss(&self) -> Option<&io::Error> {
        self.loss.as_ref()
    }

    pub(super) fn is_in_long_line(&self) -> bool {
        matches!(self.tail, Tail::Long(_))
    }

    /// Brings the sink to the beginning of a line; not possible during a long one.
    pub(super) fn begin_line(&mut self) -> bool {
        match self.tail {
            Tail::Whole => true,
            Tail::Long(_) => false,
            Tail::Shown(_) | Tail::Ended => {
                self.put(b"\n");
                self.tail = Tail::Whole;
                true
            }
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        if !self.broken {
            self.queue.extend_from_slice(bytes);
        }
    }

    /// Writes as much as possible without waiting. A sink that cannot be written at all is broken.
    pub(super) fn flush(&mut self) {
        while self.waiting() > 0 {
            match self.write_some() {
                Ok(n) => self.written += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    self.broken = true;
                    self.written = self.queue.len();
                    self.loss = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
                }
            }
        }
        if self.written == self.queue.len() {
            self.queue.clear();
            self.written = 0;
        } else if self.written > QUEUE_BYTES {
            self.queue.drain(..self.written);
            self.written = 0;
        }
    }

    fn write_some(&mut self) -> io::Result<usize> {
        let bytes = &self.queue[self.written..];
        if self.kind == libc::S_IFREG {
            return os::write(self.fd.as_fd(), bytes);
        }
        if self.nowait {
            match os::write_nowait(self.fd.as_fd(), bytes) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL)) => {
                    self.nowait = false;
                }
                other => return other,
            }
        }
        let mut ready = [os::poll_entry(self.fd.as_fd(), libc::POLLOUT)];
        os::poll(&mut ready, Some(0))?;
        if ready[0].revents == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        os::write(self.fd.as_fd(), &bytes[..bytes.len().min(SURE_BYTES)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pipe_does_not_make_the_launcher_wait() {
        let (read, write) = os::pipe().unwrap();
        let mut sink = Sink::new(write, libc::S_IFIFO);
        sink.put(&vec![b'x'; 1 << 20]);
        sink.flush();
        assert!(sink.waiting() > 0 && !sink.broken);
        drop(read);
        sink.flush();
        assert!(sink.broken && sink.waiting() == 0);
        assert!(sink.loss().is_none(), "a closed reader is not reported");
    }
}
