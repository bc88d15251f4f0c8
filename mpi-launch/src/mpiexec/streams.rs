//! Forwarding the ranks' output, by whole lines.
//!
//! - `sink`: the targets of lines, written without waiting.
//! - `source`: a rank's output, divided into lines.
//! - `label`: the label at the beginning of each line, if requested.
//!
//! Invariant: output of two ranks is never in one line, and every byte read is written, in the order of its stream.
//! Sinks that are the same file are one sink. On a terminal an unfinished line is shown after a moment, since it may be
//! a question; its rest follows when it comes.

mod label;
mod sink;
mod source;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

pub(super) use label::{Label, Stream};
use sink::Sink;
use source::{Source, Taken};

use super::os;

/// Bytes read at once.
const READ_BYTES: usize = 256 << 10;

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
        let mut sinks = vec![Sink::new(output.as_fd().try_clone_to_owned()?, output_file.2)];
        let same = output_file == error_file;
        if !same {
            sinks.push(Sink::new(error.as_fd().try_clone_to_owned()?, error_file.2));
        }
        let targets = [0, if same { 0 } else { 1 }];
        Ok(Streams { sinks, sources: Vec::new(), buffer: vec![0; READ_BYTES], targets })
    }

    /// Adds a stream of a rank that is forwarded to this process's own.
    pub(super) fn add(&mut self, read: OwnedFd, label: Label) {
        let sink = self.targets[if label.stream == Stream::Output { 0 } else { 1 }];
        self.sources.push(Source::new(read, sink, label));
    }

    /// The same, written to a file.
    pub(super) fn add_to_file(&mut self, read: OwnedFd, label: Label, file: File) {
        self.sinks.push(Sink::new(file.into(), libc::S_IFREG));
        self.sources.push(Source::new(read, self.sinks.len() - 1, label));
    }

    /// Adds a stream of a rank on another host; returns its number.
    pub(super) fn add_remote(&mut self, label: Label, file: Option<File>) -> usize {
        let sink = match file {
            Some(file) => {
                self.sinks.push(Sink::new(file.into(), libc::S_IFREG));
                self.sinks.len() - 1
            }
            None => self.targets[if label.stream == Stream::Output { 0 } else { 1 }],
        };
        self.sources.push(Source::remote(sink, label));
        self.sources.len() - 1
    }

    /// Takes what the rank of a stream on another host has written.
    pub(super) fn take(&mut self, i: usize, bytes: &[u8]) {
        self.with_long_lines(i, |source, sink| {
            // What comes after a broken sink has dropped the stream has no reader.
            if source.is_open() {
                source.pass(i, bytes, sink);
            }
        });
    }

    /// Takes the end of such a stream.
    pub(super) fn end(&mut self, i: usize) {
        self.with_long_lines(i, |source, sink| source.end(i, sink));
    }

    fn with_long_lines(&mut self, i: usize, act: impl FnOnce(&mut Source, &mut Sink)) {
        let source = &mut self.sources[i];
        let sink = &mut self.sinks[source.sink];
        let long = sink.is_in_long_line();
        act(source, sink);
        if long && !sink.is_in_long_line() {
            self.release(self.sources[i].sink);
        }
    }

    /// Whether more may come into such a stream now.
    pub(super) fn may_take(&self, i: usize) -> bool {
        self.sources[i].may_read(i, &self.sinks[self.sources[i].sink])
    }

    /// Whether such a stream may still write.
    pub(super) fn is_open(&self, i: usize) -> bool {
        self.sources[i].is_open()
    }

    /// Adds the descriptors to wait for to `entries`.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) {
        for sink in self.sinks.iter().filter(|sink| sink.waiting() > 0) {
            entries.push(os::poll_entry(sink.as_fd(), libc::POLLOUT));
        }
        for (i, source) in self.sources.iter().enumerate() {
            if let Some(fd) = source.fd().filter(|_| source.may_read(i, &self.sinks[source.sink])) {
                entries.push(os::poll_entry(fd, libc::POLLIN));
            }
        }
    }

    /// Reads and writes the ready descriptors, given the entries of [`Self::interests`] after a poll.
    pub(super) fn serve(&mut self, entries: &[libc::pollfd]) {
        // Entries are in the order of `interests`, so one pass over both finds each source's.
        let mut ready = entries.iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).peekable();
        while ready.next_if(|fd| self.sinks.iter().any(|sink| sink.as_fd().as_raw_fd() == *fd)).is_some() {}
        for i in 0..self.sources.len() {
            let fd = self.sources[i].fd().map(|fd| fd.as_raw_fd());
            if fd.is_some() && ready.peek().copied() == fd {
                ready.next();
                self.read(i);
            }
        }
        self.flush();
    }

    /// Writes what can be written now.
    pub(super) fn flush(&mut self) {
        self.sinks.iter_mut().for_each(Sink::flush);
        // Close the sources of a broken sink: the ranks then see a broken pipe of their own, as without a launcher.
        for source in &mut self.sources {
            if self.sinks[source.sink].is_broken() {
                source.drop_all();
            }
        }
    }

    /// Reads once from a source; returns whether bytes came.
    fn read(&mut self, i: usize) -> bool {
        let source = &mut self.sources[i];
        let sink = &mut self.sinks[source.sink];
        let long = sink.is_in_long_line();
        let taken = source.read(i, &mut self.buffer, sink);
        if long && !sink.is_in_long_line() {
            self.release(self.sources[i].sink);
        }
        taken == Taken::Some
    }

    /// Forwards lines that waited for the end of another's long line.
    fn release(&mut self, freed: usize) {
        let sink = &mut self.sinks[freed];
        for (i, source) in self.sources.iter_mut().enumerate().filter(|(_, source)| source.sink == freed) {
            source.pass(i, &[], sink);
        }
    }

    /// When the next unfinished line is due.
    pub(super) fn pause_at(&self) -> Option<Instant> {
        let sources = self.sources.iter().enumerate();
        sources.filter_map(|(i, source)| source.pause_at(i, &self.sinks[source.sink])).min()
    }

    /// Shows unfinished lines that are due, and continues with the lines that waited for a long one.
    pub(super) fn keep_pauses(&mut self) {
        let now = Instant::now();
        for i in 0..self.sources.len() {
            let source = &mut self.sources[i];
            let sink = &mut self.sinks[source.sink];
            if source.pause_at(i, sink).is_some_and(|at| now >= at) && source.pause(i, sink) {
                self.release(self.sources[i].sink);
            }
        }
    }

    /// Why output was lost, if it was.
    pub(super) fn loss(&self) -> Option<&io::Error> {
        self.sinks.iter().find_map(Sink::loss)
    }

    /// Whether all streams have ended and everything is written.
    pub(super) fn done(&self) -> bool {
        self.sources.iter().all(Source::is_done) && self.sinks.iter().all(|sink| sink.waiting() == 0)
    }

    /// Closes streams that a process outside the job still holds: their available bytes are read, further ones are not
    /// waited for.
    pub(super) fn close(&mut self) {
        for i in 0..self.sources.len() {
            while self.read(i) {}
            self.end(i);
        }
        self.flush();
    }
}
