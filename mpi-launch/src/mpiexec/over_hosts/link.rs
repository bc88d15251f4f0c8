//! A connection between `mpiexec` and a proxy: whole messages in both directions, without waiting.
//!
//! Invariant: after an error or the end of the connection nothing more is read or sent.
//! Not here: the messages (`frame`).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::super::os;
use super::frame::{Frame, LONGEST};
use super::ping_interval;

/// Bytes read at once.
const READ_BYTES: usize = 64 << 10;
/// Bytes read in one turn, so that one connection does not keep the others waiting.
const TURN_BYTES: usize = 1 << 20;
/// How late a process looks that runs beside others.
const TARDY: Duration = Duration::from_millis(500);

/// A connection.
pub(super) struct Link {
    stream: TcpStream,
    input: Vec<u8>,
    /// Bytes at the front of `input` that were taken.
    taken: usize,
    output: Vec<u8>,
    written: usize,
    /// Longest message that is accepted.
    longest: usize,
    closed: bool,
    /// When the last bytes came, and when the last message was sent.
    heard: Instant,
    said: Instant,
    /// When this side last looked for silence.
    looked: Instant,
}

impl Link {
    /// Of a connection on which messages are short until [`Self::trust`].
    pub(super) fn new(stream: TcpStream) -> std::io::Result<Link> {
        stream.set_nonblocking(true)?;
        // Messages are short, and others wait for them.
        let _ = stream.set_nodelay(true);
        let now = Instant::now();
        Ok(Link {
            stream,
            input: Vec::new(),
            taken: 0,
            output: Vec::new(),
            written: 0,
            longest: 4096,
            closed: false,
            heard: now,
            said: now,
            looked: now,
        })
    }

    /// The other side has proved that it belongs to the job.
    pub(super) fn trust(&mut self) {
        self.longest = LONGEST;
    }

    /// Whether nothing more comes.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the other side has been silent for longer than a limit. This side looks several times within the limit: if it did not, it
    /// was stopped, its host was suspended or too busy to run it, and the time does not count, in which the other one may have been, too.
    pub(super) fn is_silent(&mut self, now: Instant, limit: Duration) -> bool {
        let missed = now.saturating_duration_since(self.looked);
        self.looked = now;
        if missed > ping_interval(limit) + TARDY {
            self.heard = (self.heard + missed).min(now);
        }
        now.saturating_duration_since(self.heard) > limit
    }

    /// How long this side has been silent.
    pub(super) fn own_silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.said)
    }

    /// Counts the silence of the other side from now on.
    pub(super) fn forgive(&mut self, now: Instant) {
        self.heard = now;
    }

    /// Bytes that are not sent yet.
    pub(super) fn waiting(&self) -> usize {
        self.output.len() - self.written
    }

    /// What to wait for.
    pub(super) fn interest(&self) -> libc::pollfd {
        let events = libc::POLLIN | if self.waiting() > 0 { libc::POLLOUT } else { 0 };
        os::poll_entry(self.stream.as_fd(), events)
    }

    /// Sends a message, as far as that is possible now.
    pub(super) fn send(&mut self, frame: &Frame) {
        if !self.closed {
            frame.put(&mut self.output);
            self.said = Instant::now();
            self.flush();
        }
    }

    /// Sends what waits, as far as possible.
    pub(super) fn flush(&mut self) {
        while self.waiting() > 0 && !self.closed {
            match (&self.stream).write(&self.output[self.written..]) {
                Ok(n) => self.written += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.closed = true,
            }
        }
        if self.waiting() == 0 || self.closed {
            self.output.clear();
            self.written = 0;
        } else if self.written > TURN_BYTES {
            self.output.drain(..self.written);
            self.written = 0;
        }
    }

    /// Reads what has come.
    pub(super) fn receive(&mut self) {
        self.input.drain(..self.taken);
        self.taken = 0;
        let (mut buffer, before) = (vec![0; READ_BYTES], self.input.len());
        while !self.closed && self.input.len() - before < TURN_BYTES {
            match (&self.stream).read(&mut buffer) {
                Ok(0) => self.closed = true,
                Ok(n) => {
                    self.input.extend_from_slice(&buffer[..n]);
                    self.heard = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.closed = true,
            }
        }
    }

    /// The next message that has come in full. A malformed one ends the connection.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let rest = &self.input[self.taken..];
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        if length <= self.longest && rest.len() < length {
            return None;
        }
        let frame = if length > self.longest { None } else { Frame::take(&rest[..length]) };
        match &frame {
            Some(_) => self.taken += 4 + length,
            None => {
                self.closed = true;
                self.taken = self.input.len();
            }
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::Bytes;
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (Link, Link) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (two, _) = listener.accept().unwrap();
        (Link::new(one).unwrap(), Link::new(two).unwrap())
    }

    fn next(link: &mut Link) -> Option<Frame> {
        for _ in 0..2000 {
            if let Some(frame) = link.next() {
                return Some(frame);
            }
            if link.is_closed() {
                return None;
            }
            let mut entry = [link.interest()];
            os::poll(&mut entry, Some(5)).unwrap();
            link.receive();
        }
        None
    }

    #[test]
    fn messages_come_whole_and_in_order() {
        let (mut one, mut two) = pair();
        two.trust();
        let long = Frame::Output { rank: 1, error: false, bytes: Bytes(vec![7; 3 << 20]) };
        one.send(&Frame::Ping {});
        one.send(&long);
        one.send(&Frame::End {});
        let mut got = Vec::new();
        while got.len() < 3 {
            one.flush();
            got.extend(next(&mut two));
        }
        assert_eq!(got, [Frame::Ping {}, long, Frame::End {}]);
        drop(one);
        assert_eq!((next(&mut two), two.is_closed()), (None, true));
    }

    #[test]
    fn time_in_which_this_side_does_not_look_is_no_silence_of_the_other() {
        let (_one, mut two) = pair();
        let (limit, begin) = (Duration::from_secs(30), Instant::now());
        let mut at = |seconds| two.is_silent(begin + Duration::from_secs(seconds), limit);
        assert!((1..=9).all(|i| !at(3 * i)));
        // 273 s without a look.
        assert!(!at(300));
        assert!(!at(302) && at(304));
    }

    #[test]
    fn a_stranger_can_send_only_little_and_a_malformed_message_ends_the_connection() {
        let (mut one, mut two) = pair();
        one.send(&Frame::Output { rank: 1, error: false, bytes: Bytes(vec![7; 5000]) });
        assert_eq!((next(&mut two), two.is_closed()), (None, true));
        let (one, mut two) = pair();
        (&one.stream).write_all(&[1, 0, 0, 0, 255]).unwrap();
        assert_eq!((next(&mut two), two.is_closed()), (None, true));
    }
}
