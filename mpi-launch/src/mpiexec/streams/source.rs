//! One output stream of a rank, divided into lines.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::label::Label;
use super::sink::{Sink, Tail};
use crate::mpiexec::os;

/// A line that reaches this length is forwarded in pieces; the other ranks' lines wait for its end.
const LONGEST_LINE: usize = 16 << 20;
/// How long a line on a terminal may stay unfinished before it is shown.
const PROMPT_AFTER: Duration = Duration::from_millis(100);
/// How long the writer of a long line may pause before the others continue.
const LONG_PAUSE: Duration = Duration::from_secs(2);

/// Whether a read returned data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Some,
    Nothing,
}

/// One rank's standard output or error. `own` in the following is its index among the sources.
pub(super) struct Source {
    /// `None` once it has ended, and of a rank on another host.
    fd: Option<OwnedFd>,
    /// Whether it is that of a rank on another host, and has not ended.
    remote: bool,
    pub(super) sink: usize,
    label: Label,
    /// Bytes that are read and not forwarded: the beginning of a line, and more if the sink is in another's long line.
    line: Vec<u8>,
    /// When the last bytes were added.
    since: Instant,
}

impl Source {
    pub(super) fn new(fd: OwnedFd, sink: usize, label: Label) -> Source {
        os::set_nonblocking(fd.as_fd());
        Source { fd: Some(fd), remote: false, sink, label, line: Vec::new(), since: Instant::now() }
    }

    /// The stream of a rank on another host; what it writes is given to [`Self::pass`].
    pub(super) fn remote(sink: usize, label: Label) -> Source {
        Source { fd: None, remote: true, sink, label, line: Vec::new(), since: Instant::now() }
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        self.fd.is_some() || self.remote
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd)
    }

    /// Whether more may be read: the sink keeps up, and another's long line does not make too much of this one wait.
    pub(super) fn may_read(&self, own: usize, sink: &Sink) -> bool {
        let kept = sink.is_in_long_line() && sink.tail != Tail::Long(own) && self.line.len() > LONGEST_LINE;
        sink.has_room() && !kept
    }

    /// Whether it has ended and all of it is forwarded.
    pub(super) fn is_done(&self) -> bool {
        !self.is_open() && self.line.is_empty()
    }

    /// Stops reading, and discards the bytes that were not forwarded.
    pub(super) fn drop_all(&mut self) {
        self.fd = None;
        self.remote = false;
        self.line = Vec::new();
    }

    /// Reads once and forwards as much as possible.
    pub(super) fn read(&mut self, own: usize, buffer: &mut [u8], sink: &mut Sink) -> Taken {
        let Some(fd) = &self.fd else { return Taken::Nothing };
        match os::read(fd.as_fd(), buffer) {
            Ok(n) if n > 0 => {
                self.pass(own, &buffer[..n], sink);
                return Taken::Some;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Taken::Some,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.end(own, sink),
        }
        Taken::Nothing
    }

    /// Records the end of the stream.
    pub(super) fn end(&mut self, own: usize, sink: &mut Sink) {
        self.fd = None;
        self.remote = false;
        if matches!(sink.tail, Tail::Shown(tail) | Tail::Long(tail) if tail == own) {
            sink.tail = Tail::Ended;
        }
        self.pass(own, &[], sink);
    }

    /// Puts the whole lines of the stored bytes and of `bytes` into the sink and stores the rest.
    pub(super) fn pass(&mut self, own: usize, bytes: &[u8], sink: &mut Sink) {
        if !bytes.is_empty() {
            self.since = Instant::now();
        }
        let bytes = match sink.tail {
            Tail::Shown(tail) | Tail::Long(tail) if tail == own => {
                // The rest of a line whose first part is already in the sink.
                let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
                sink.put(&bytes[..end]);
                if !bytes[..end].ends_with(b"\n") {
                    return;
                }
                sink.tail = Tail::Whole;
                &bytes[end..]
            }
            // All of it waits for the end of the long line.
            Tail::Long(_) => return self.line.extend_from_slice(bytes),
            _ => bytes,
        };
        let label = self.label.text();
        // The stored bytes contain whole lines only if they had to wait.
        let kept = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole > 0 {
            let begin = std::mem::take(&mut self.line);
            self.put_lines(&begin, &bytes[..whole], &label, sink);
        } else if kept > 0 {
            let rest = self.line.split_off(kept);
            let begin = std::mem::replace(&mut self.line, rest);
            self.put_lines(&begin, &[], &label, sink);
        }
        self.line.extend_from_slice(&bytes[whole..]);
        let tail = match self.is_open() {
            false => Tail::Ended,
            true if self.line.len() > LONGEST_LINE => Tail::Long(own),
            true => return,
        };
        self.put_begin(tail, &label, sink);
    }

    /// Puts the unfinished line into the sink, which is at the beginning of a line or can be brought there.
    fn put_begin(&mut self, tail: Tail, label: &str, sink: &mut Sink) {
        if !self.line.is_empty() && sink.begin_line() {
            sink.put(label.as_bytes());
            sink.put(&std::mem::take(&mut self.line));
            sink.tail = tail;
        }
    }

    /// Puts whole lines into the sink: `begin` and `rest` are one text.
    fn put_lines(&self, begin: &[u8], rest: &[u8], label: &str, sink: &mut Sink) {
        sink.begin_line();
        if label.is_empty() {
            sink.put(begin);
            return sink.put(rest);
        }
        let mut fresh = true;
        for part in [begin, rest] {
            for line in part.split_inclusive(|byte| *byte == b'\n') {
                if fresh {
                    sink.put(label.as_bytes());
                }
                sink.put(line);
                fresh = line.ends_with(b"\n");
            }
        }
    }

    /// When the unfinished line is to be shown, or the lines of others continue.
    pub(super) fn pause_at(&self, own: usize, sink: &Sink) -> Option<Instant> {
        match sink.tail {
            Tail::Long(tail) if tail == own => Some(self.since + LONG_PAUSE),
            Tail::Whole | Tail::Ended if sink.terminal && !self.line.is_empty() => Some(self.since + PROMPT_AFTER),
            _ => None,
        }
    }

    /// Shows the unfinished line; returns whether the lines of others may continue.
    pub(super) fn pause(&mut self, own: usize, sink: &mut Sink) -> bool {
        if sink.tail == Tail::Long(own) {
            sink.tail = Tail::Shown(own);
            return true;
        }
        let label = self.label.text();
        self.put_begin(Tail::Shown(own), &label, sink);
        sink.flush();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::label::Stream;
    use super::*;

    /// Sources as if their other ends were open, and what has come out of a sink.
    fn pair() -> (Source, Source, Sink, OwnedFd) {
        let (read, write) = os::pipe().unwrap();
        os::set_nonblocking(read.as_fd());
        let source = |rank| {
            let (end, _) = os::pipe().unwrap();
            Source::new(end, 0, Label { job: None, rank, stream: Stream::Output, tag: false, time: false })
        };
        (source(0), source(1), Sink::new(write, libc::S_IFIFO), read)
    }

    fn text(sink: &mut Sink, fd: &OwnedFd) -> String {
        sink.flush();
        let mut got = [0; 200];
        let n = os::read(fd.as_fd(), &mut got).unwrap_or(0);
        String::from_utf8(got[..n].to_vec()).unwrap()
    }

    #[test]
    fn lines_are_passed_on_whole_and_in_order() {
        let (mut a, mut b, mut sink, read) = pair();
        a.pass(0, b"one", &mut sink);
        b.pass(1, b"1\n2", &mut sink);
        a.pass(0, b" and a half\ntwo\nthr", &mut sink);
        b.pass(1, b"\n", &mut sink);
        assert_eq!(text(&mut sink, &read), "1\none and a half\ntwo\n2\n");
        assert_eq!(a.line, b"thr");
    }

    #[test]
    fn an_unfinished_last_line_is_passed_on_as_it_is_and_never_mixed() {
        let (mut a, mut b, mut sink, read) = pair();
        a.pass(0, b"x\nend", &mut sink);
        a.end(0, &mut sink);
        assert_eq!(text(&mut sink, &read), "x\nend");
        b.pass(1, b"other\nlast", &mut sink);
        b.end(1, &mut sink);
        assert_eq!(text(&mut sink, &read), "\nother\nlast");
        assert!(a.is_done() && b.is_done());
    }

    #[test]
    fn a_question_on_a_terminal_is_shown_and_its_rest_follows() {
        let (mut a, mut b, mut sink, read) = pair();
        sink.terminal = true;
        a.pass(0, b"n? ", &mut sink);
        assert!(a.pause_at(0, &sink).is_some());
        a.pause(0, &mut sink);
        b.pass(1, b"half", &mut sink);
        assert!(b.pause_at(1, &sink).is_none(), "one unfinished line at a time");
        a.pass(0, b"5\nnext", &mut sink);
        b.pass(1, b" line\n", &mut sink);
        assert_eq!(text(&mut sink, &read), "n? 5\nhalf line\n");
        a.pause(0, &mut sink);
        b.pass(1, b"other\n", &mut sink);
        assert_eq!(text(&mut sink, &read), "next\nother\n");
    }

    #[test]
    fn each_line_gets_its_label_once() {
        let (mut a, mut b, mut sink, read) = pair();
        a.label.tag = true;
        b.label.tag = true;
        sink.terminal = true;
        a.pass(0, b"on", &mut sink);
        a.pass(0, b"e\ntwo\n\nq? ", &mut sink);
        a.pause(0, &mut sink);
        a.pass(0, b"yes\n", &mut sink);
        b.pass(1, b"end", &mut sink);
        b.end(1, &mut sink);
        assert_eq!(text(&mut sink, &read), "[0] one\n[0] two\n[0] \n[0] q? yes\n[1] end");
    }

    #[test]
    fn others_wait_for_the_end_of_a_line_too_long_to_keep() {
        let (mut a, mut b, mut sink, _read) = pair();
        let long = vec![b'x'; LONGEST_LINE + 1];
        a.pass(0, &long, &mut sink);
        assert_eq!((sink.tail, sink.waiting()), (Tail::Long(0), long.len()));
        b.pass(1, b"one\ntwo\nthr", &mut sink);
        assert_eq!((sink.waiting(), b.line.len()), (long.len(), 11));
        a.pass(0, b"end\nnext", &mut sink);
        assert_eq!(sink.tail, Tail::Whole);
        b.pass(1, &[], &mut sink);
        assert_eq!((sink.waiting(), &b.line[..]), (long.len() + 4 + 8, &b"thr"[..]));
    }

    #[test]
    fn a_long_line_that_pauses_or_ends_lets_the_others_go_on() {
        let (mut a, mut b, mut sink, _read) = pair();
        a.pass(0, &vec![b'x'; LONGEST_LINE + 1], &mut sink);
        let long = sink.waiting();
        b.pass(1, b"one\n", &mut sink);
        assert!(a.pause_at(0, &sink).is_some() && a.pause(0, &mut sink));
        b.pass(1, &[], &mut sink);
        assert_eq!(sink.waiting(), long + 1 + 4);

        a.pass(0, &vec![b'x'; LONGEST_LINE + 1], &mut sink);
        let long = sink.waiting();
        b.pass(1, b"two", &mut sink);
        b.end(1, &mut sink);
        assert!(!b.is_done());
        a.end(0, &mut sink);
        b.pass(1, &[], &mut sink);
        assert_eq!((sink.waiting(), b.is_done()), (long + 1 + 3, true));
    }
}
