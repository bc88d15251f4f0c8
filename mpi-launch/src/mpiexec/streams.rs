//! Forwarding what the ranks write, by whole lines.
//!
//! Invariant: a sink gets only whole lines, except at the end of a stream or in a line longer than [`LONGEST_LINE`]; and
//! every byte read is written, in the order of its stream. Sinks that are the same file are one sink. On a terminal a line
//! that stays unfinished is shown after a moment, since it may be a question; its rest follows when it comes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::os;

/// Bytes read at once.
const READ_BYTES: usize = 256 << 10;
/// What a sink may have waiting before its sources are no longer read.
const QUEUE_BYTES: usize = 4 << 20;
/// A line that gets this long is passed on in pieces.
const LONGEST_LINE: usize = 16 << 20;
/// How long a line on a terminal may stay unfinished before it is shown.
const PROMPT_AFTER: Duration = Duration::from_millis(100);
/// What a ready pipe or terminal takes without making the writer wait (PIPE_BUF).
const SURE_BYTES: usize = 4096;

/// Where lines go: the launcher's standard output or error.
pub(super) struct Sink {
    fd: OwnedFd,
    kind: u32,
    queue: Vec<u8>,
    written: usize,
    /// Nothing can be written any more.
    broken: bool,
    /// Why not, if that is news to the user: a reader that went away is not.
    loss: Option<io::Error>,
    terminal: bool,
    /// The source whose unfinished line the terminal shows.
    shown: Option<usize>,
    /// Whether writing without waiting is possible for any number of bytes.
    nowait: bool,
}

impl Sink {
    fn new(fd: BorrowedFd<'_>, kind: u32) -> io::Result<Sink> {
        let fd = fd.try_clone_to_owned()?;
        let terminal = io::IsTerminal::is_terminal(&fd);
        let queue = Vec::new();
        Ok(Sink { fd, kind, queue, written: 0, broken: false, loss: None, terminal, shown: None, nowait: true })
    }

    fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Whether an unfinished line of a source could be shown: nothing else is unfinished.
    fn would_show(&self, source: &Source) -> bool {
        self.terminal && self.shown.is_none() && !source.line.is_empty()
    }

    fn put(&mut self, bytes: &[u8]) {
        if !self.broken {
            self.queue.extend_from_slice(bytes);
        }
    }

    /// Writes what can be written without waiting. A sink that cannot be written at all is broken.
    fn flush(&mut self) {
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

/// One rank's standard output or error.
struct Source {
    /// `None` once it has ended.
    fd: Option<OwnedFd>,
    sink: usize,
    /// The begin of a line whose end has not come yet.
    line: Vec<u8>,
    /// When it was last added to.
    since: Instant,
}

/// All streams of a job.
pub(super) struct Streams {
    sinks: Vec<Sink>,
    sources: Vec<Source>,
    buffer: Vec<u8>,
    /// Index of the sink of standard output and of standard error.
    targets: [usize; 2],
}

impl Streams {
    /// Streams that end in this process's standard output and error.
    pub(super) fn new() -> io::Result<Streams> {
        let (output, error) = (io::stdout(), io::stderr());
        let (output_file, error_file) = (os::file_identity(output.as_fd())?, os::file_identity(error.as_fd())?);
        let mut sinks = vec![Sink::new(output.as_fd(), output_file.2)?];
        let same = output_file == error_file;
        if !same {
            sinks.push(Sink::new(error.as_fd(), error_file.2)?);
        }
        let targets = [0, if same { 0 } else { 1 }];
        Ok(Streams { sinks, sources: Vec::new(), buffer: vec![0; READ_BYTES], targets })
    }

    /// Adds a rank's two streams.
    pub(super) fn add(&mut self, output: OwnedFd, error: OwnedFd) {
        for (fd, sink) in [output, error].into_iter().zip(self.targets) {
            os::set_nonblocking(fd.as_fd());
            self.sources.push(Source { fd: Some(fd), sink, line: Vec::new(), since: Instant::now() });
        }
    }

    /// Adds what to wait for to `entries`.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) {
        for sink in &self.sinks {
            if sink.waiting() > 0 {
                entries.push(os::poll_entry(sink.fd.as_fd(), libc::POLLOUT));
            }
        }
        for source in &self.sources {
            if let Some(fd) = source.fd.as_ref().filter(|_| self.sinks[source.sink].waiting() < QUEUE_BYTES) {
                entries.push(os::poll_entry(fd.as_fd(), libc::POLLIN));
            }
        }
    }

    /// Reads and writes what is ready, given the entries of [`Self::interests`] after a poll.
    pub(super) fn serve(&mut self, entries: &[libc::pollfd]) {
        use std::os::fd::AsRawFd;
        // Entries stand in the order of `interests`, so one pass over both finds each source's.
        let mut ready = entries.iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).peekable();
        while ready.next_if(|fd| self.sinks.iter().any(|sink| sink.fd.as_raw_fd() == *fd)).is_some() {}
        for i in 0..self.sources.len() {
            let fd = self.sources[i].fd.as_ref().map(AsRawFd::as_raw_fd);
            if fd.is_some() && ready.peek().copied() == fd {
                ready.next();
                self.read(i);
            }
        }
        self.flush();
    }

    fn flush(&mut self) {
        for sink in &mut self.sinks {
            sink.flush();
        }
        // Close what leads to a broken sink: the ranks then see a broken pipe of their own, as without a launcher.
        for source in &mut self.sources {
            if self.sinks[source.sink].broken {
                source.fd = None;
            }
        }
    }

    /// Reads once from a source; says whether there was something.
    fn read(&mut self, i: usize) -> bool {
        let source = &mut self.sources[i];
        let Some(fd) = &source.fd else { return false };
        let sink = &mut self.sinks[source.sink];
        match os::read(fd.as_fd(), &mut self.buffer) {
            Ok(n) if n > 0 => {
                source.pass(i, &self.buffer[..n], sink);
                return true;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => {
                source.fd = None;
                sink.put(&std::mem::take(&mut source.line));
            }
        }
        false
    }

    /// When the next unfinished line is to be shown.
    pub(super) fn prompt_at(&self) -> Option<Instant> {
        let waiting = self.sources.iter().filter(|source| self.sinks[source.sink].would_show(source));
        waiting.map(|source| source.since + PROMPT_AFTER).min()
    }

    /// Shows unfinished lines whose time has come.
    pub(super) fn show_prompts(&mut self) {
        for (i, source) in self.sources.iter_mut().enumerate() {
            let sink = &mut self.sinks[source.sink];
            if sink.would_show(source) && source.since.elapsed() >= PROMPT_AFTER {
                sink.put(&std::mem::take(&mut source.line));
                sink.shown = Some(i);
                sink.flush();
            }
        }
    }

    /// Why output was lost, if it was.
    pub(super) fn loss(&self) -> Option<&io::Error> {
        self.sinks.iter().find_map(|sink| sink.loss.as_ref())
    }

    /// Whether all streams have ended and everything is written.
    pub(super) fn done(&self) -> bool {
        self.sources.iter().all(|source| source.fd.is_none()) && self.sinks.iter().all(|sink| sink.waiting() == 0)
    }

    /// Gives up on streams that somebody outside the job still holds: what they have is read, the rest is not waited for.
    pub(super) fn close(&mut self) {
        for i in 0..self.sources.len() {
            while self.read(i) {}
            let source = &mut self.sources[i];
            source.fd = None;
            self.sinks[source.sink].put(&std::mem::take(&mut source.line));
        }
        self.flush();
    }
}

impl Source {
    /// Puts the whole lines of `bytes` into the sink and keeps the rest; `own` is this source's index.
    fn pass(&mut self, own: usize, bytes: &[u8], sink: &mut Sink) {
        self.since = Instant::now();
        if sink.shown == Some(own) {
            // The rest of a line that is on the terminal already.
            let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            sink.put(&bytes[..end]);
            if !bytes[..end].ends_with(b"\n") {
                return;
            }
            sink.shown = None;
            return self.pass(own, &bytes[end..], sink);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole > 0 {
            if sink.shown.take().is_some() {
                sink.put(b"\n");
            }
            sink.put(&std::mem::take(&mut self.line));
            sink.put(&bytes[..whole]);
        }
        self.line.extend_from_slice(&bytes[whole..]);
        if self.line.len() > LONGEST_LINE {
            sink.put(&std::mem::take(&mut self.line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { fd: None, sink: 0, line: vec![], since: Instant::now() }
    }

    fn text(fd: &OwnedFd) -> String {
        let mut got = [0; 100];
        let n = os::read(fd.as_fd(), &mut got).unwrap();
        String::from_utf8(got[..n].to_vec()).unwrap()
    }

    #[test]
    fn a_question_on_a_terminal_is_shown_and_its_rest_follows() {
        let (read, write) = os::pipe().unwrap();
        let mut sink = Sink::new(write.as_fd(), libc::S_IFIFO).unwrap();
        sink.terminal = true;
        let (mut a, mut b) = (source(), source());
        a.pass(0, b"n? ", &mut sink);
        assert!(sink.would_show(&a));
        sink.put(&std::mem::take(&mut a.line));
        sink.shown = Some(0);
        b.pass(1, b"half", &mut sink);
        assert!(!sink.would_show(&b), "one unfinished line at a time");
        a.pass(0, b"5\nnext", &mut sink);
        b.pass(1, b" line\n", &mut sink);
        sink.flush();
        assert_eq!(text(&read), "n? 5\nhalf line\n");
        assert_eq!(a.line, b"next");

        sink.put(&std::mem::take(&mut a.line));
        sink.shown = Some(0);
        b.pass(1, b"other\n", &mut sink);
        sink.flush();
        assert_eq!(text(&read), "next\nother\n");
    }

    #[test]
    fn lines_are_passed_on_whole_and_in_order() {
        let (read, write) = os::pipe().unwrap();
        let mut sink = Sink::new(write.as_fd(), libc::S_IFIFO).unwrap();
        drop(write);
        let (mut a, mut b) = (source(), source());
        a.pass(0, b"one", &mut sink);
        b.pass(1, b"1\n2", &mut sink);
        a.pass(0, b" and a half\ntwo\nthr", &mut sink);
        b.pass(1, b"\n", &mut sink);
        sink.flush();
        drop(sink);
        assert_eq!(text(&read), "1\none and a half\ntwo\n2\n");
        assert_eq!(a.line, b"thr");
    }

    #[test]
    fn a_full_pipe_does_not_make_the_launcher_wait() {
        let (read, write) = os::pipe().unwrap();
        let mut sink = Sink::new(write.as_fd(), libc::S_IFIFO).unwrap();
        sink.put(&vec![b'x'; 1 << 20]);
        sink.flush();
        assert!(sink.waiting() > 0 && !sink.broken);
        drop(read);
        sink.flush();
        assert!(sink.broken && sink.waiting() == 0);
    }
}
