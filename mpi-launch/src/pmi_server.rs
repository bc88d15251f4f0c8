//! The PMI-1 server of `mpiexec`, for programs of other MPI libraries.
//!
//! Each rank inherits one end of a socket pair. Programs of this library do not use it, and it costs them only the
//! descriptor. The server never waits: it queues answers that a rank does not read up to a bound, and then closes the
//! rank's connection.
//!
//! - [`pmi_state`]: the answers. - [`key_values`]: the values.
//!
//! Invariant: whatever a rank sends, the launcher continues, and the other ranks' answers do not depend on it.

pub mod key_values;
pub mod pmi_state;

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use mpi_wireup::pmi::spawn::Collected;
use pmi_state::{Act, PmiState};

/// Most bytes of answers that are stored for a rank that does not read them.
const MOST_UNREAD: usize = 1 << 20;

/// One rank's connection.
struct Link {
    /// `None` once it is closed.
    stream: Option<UnixStream>,
    /// Bytes that are no whole line yet.
    input: Vec<u8>,
    /// Whether the rest of the current line is to be discarded.
    skipping: bool,
    /// Answers that are not written yet.
    output: Vec<u8>,
}

/// A request of a rank to end the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The rank.
    pub rank: u32,
    /// The exit code that it requests.
    pub code: i32,
}

/// The server of one job.
pub struct Server {
    state: PmiState,
    links: Vec<Link>,
    /// Requests to start processes, each with its rank.
    spawns: Vec<(u32, Collected)>,
    /// The ranks' numbers in the job, if it has other hosts too.
    world: Vec<u32>,
    /// Values for the other hosts, when all ranks here are in the barrier.
    fence: Option<Vec<(String, String)>>,
}

impl Server {
    /// For a job of so many ranks; each is then added in order.
    pub fn new(ranks: u32, job_id: u64) -> Server {
        Server::with(PmiState::new(ranks, job_id), Vec::new())
    }

    /// For the ranks of one host of several, by their numbers in a job of `size` ranks; elsewhere a rank here is its place
    /// among them. `mapping` has the ranks of each host.
    pub fn over_hosts(world: &[u32], size: u32, job_id: u64, mapping: &str) -> Server {
        Server::with(PmiState::over_hosts(world.len() as u32, size, job_id, mapping), world.to_vec())
    }

    fn with(state: PmiState, world: Vec<u32>) -> Server {
        Server { state, links: Vec::new(), spawns: Vec::new(), world, fence: None }
    }

    /// What the ranks here have put, when all of them are in a barrier that other hosts take part in; once each time.
    pub fn take_fence(&mut self) -> Option<Vec<(String, String)>> {
        self.fence.take()
    }

    /// Ends that barrier, with the values of all hosts.
    pub fn end_fence(&mut self, values: &[(String, String)]) {
        if let Some(line) = self.state.end_fence(values) {
            self.links.iter_mut().for_each(|link| link.send(line.as_bytes()));
        }
    }

    /// Gives all ranks values, as a rank's `put` does.
    /// # Errors
    /// Why a value is not accepted.
    pub fn put_all(&mut self, values: &[(String, String)]) -> Result<(), &'static str> {
        self.state.put_all(values)
    }

    /// The requests to start processes that have come, each with its rank. The caller answers each with [`Self::send`].
    pub fn take_spawns(&mut self) -> Vec<(u32, Collected)> {
        std::mem::take(&mut self.spawns)
    }

    /// Sends a line to a rank, if that is still connected.
    pub fn send(&mut self, rank: u32, line: &str) {
        if let Some(link) = self.links.get_mut(rank as usize) {
            link.send(line.as_bytes());
        }
    }

    /// Adds the next rank, which runs the program of this number: the descriptor that it inherits, and the variables
    /// of the connection.
    /// # Errors
    /// The system has no more descriptors.
    pub fn add(&mut self, program: u32) -> std::io::Result<(OwnedFd, [(&'static str, String); 3])> {
        let (own, child) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        let rank = self.links.len() as u32;
        self.state.set_program(rank, program);
        self.links.push(Link { stream: Some(own), input: Vec::new(), skipping: false, output: Vec::new() });
        let (fd, size) = (child.as_raw_fd().to_string(), self.state.size().to_string());
        let number = self.world.get(rank as usize).copied().unwrap_or(rank);
        let variables = [("PMI_FD", fd), ("PMI_RANK", number.to_string()), ("PMI_SIZE", size)];
        Ok((child.into(), variables))
    }

    /// Adds the descriptors to wait for to `entries`; returns their number.
    pub fn interests(&self, entries: &mut Vec<libc::pollfd>) -> usize {
        let before = entries.len();
        for link in &self.links {
            if let Some(stream) = &link.stream {
                let events = libc::POLLIN | if link.output.is_empty() { 0 } else { libc::POLLOUT };
                entries.push(libc::pollfd { fd: stream.as_raw_fd(), events, revents: 0 });
            }
        }
        entries.len() - before
    }

    /// Reads and answers requests, given the entries of [`Self::interests`] after a poll; returns the first request to
    /// end the job, if there is one.
    pub fn serve(&mut self, entries: &[libc::pollfd]) -> Option<Abort> {
        let mut abort = None;
        let mut ready = entries.iter().filter(|entry| entry.revents != 0).map(|entry| entry.fd).peekable();
        for rank in 0..self.links.len() as u32 {
            let Some(fd) = ready.peek() else { break };
            if self.links[rank as usize].stream.as_ref().is_some_and(|stream| stream.as_raw_fd() == *fd) {
                ready.next();
                self.links[rank as usize].flush();
                abort = abort.or(self.read(rank));
            }
        }
        abort
    }

    /// Handles the end of a rank's process: reads what it had sent. Returns whether it ended without `finalize`, and
    /// its request about the job.
    pub fn ended(&mut self, rank: u32) -> (bool, Option<Abort>) {
        let Some(link) = self.links.get(rank as usize) else { return (false, None) };
        let abort = link.stream.is_some().then(|| self.read(rank)).flatten();
        self.state.set_gone(rank);
        (self.state.is_inside(rank), abort)
    }

    /// A rank that others wait for in a barrier although its process has ended; returned once.
    pub fn missed(&mut self) -> Option<u32> {
        self.state.missed()
    }

    /// Reads all available bytes of a rank, up to a bound that keeps one rank from delaying the others.
    fn read(&mut self, rank: u32) -> Option<Abort> {
        let mut abort = None;
        let mut buffer = [0u8; 4096];
        for _ in 0..16 {
            let link = &mut self.links[rank as usize];
            let Some(mut stream) = link.stream.as_ref() else { break };
            match stream.read(&mut buffer) {
                Ok(0) => link.stream = None,
                Ok(n) => abort = abort.or(self.take(rank, &buffer[..n])),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => link.stream = None,
            }
        }
        abort
    }

    /// Takes bytes of a rank: answers the lines that they complete.
    fn take(&mut self, rank: u32, bytes: &[u8]) -> Option<Abort> {
        let mut abort = None;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let longest = self.state.longest_line(rank);
            let link = &mut self.links[rank as usize];
            let ends = part.ends_with(b"\n");
            if !link.skipping {
                link.input.extend_from_slice(part);
            }
            if link.input.len() > longest {
                link.input.clear();
                link.skipping = true;
            }
            if !ends {
                continue;
            }
            let line = std::mem::take(&mut link.input);
            let act = if std::mem::take(&mut link.skipping) {
                self.state.overlong(rank)
            } else {
                self.state.line(rank, line.strip_suffix(b"\n").unwrap_or(&line))
            };
            match act {
                Act::Answer(line) => self.links[rank as usize].send(line.as_bytes()),
                Act::AnswerAll(line) => self.links.iter_mut().for_each(|link| link.send(line.as_bytes())),
                Act::Abort(code) => abort = abort.or(Some(Abort { rank, code })),
                Act::Spawn(request) => self.spawns.push((rank, request)),
                Act::Fence(values) => self.fence = Some(values),
                Act::Nothing => {}
            }
        }
        abort
    }
}

impl Link {
    fn send(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        self.flush();
        if self.output.len() > MOST_UNREAD {
            self.stream = None;
        }
    }

    /// Writes as much as possible without waiting.
    fn flush(&mut self) {
        while !self.output.is_empty() {
            let Some(mut stream) = self.stream.as_ref() else { break };
            match stream.write(&self.output) {
                Ok(n) => drop(self.output.drain(..n)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.stream = None,
            }
        }
        if self.stream.is_none() {
            self.output = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_wireup::pmi::wire::LONGEST_LINE;
    use std::io::{BufRead, BufReader};

    fn pair(ranks: u32) -> (Server, Vec<UnixStream>) {
        let mut server = Server::new(ranks, 1);
        let ends = (0..ranks).map(|rank| {
            let (fd, variables) = server.add(0).unwrap();
            assert_eq!(variables[1], ("PMI_RANK", rank.to_string()));
            UnixStream::from(fd)
        });
        let ends = ends.collect();
        (server, ends)
    }

    /// Serves the requests that are available now.
    fn turn(server: &mut Server) -> Option<Abort> {
        let mut entries = Vec::new();
        server.interests(&mut entries);
        for entry in &mut entries {
            entry.revents = libc::POLLIN;
        }
        server.serve(&entries)
    }

    fn line(end: &UnixStream) -> String {
        let mut text = String::new();
        BufReader::new(end).read_line(&mut text).unwrap();
        text
    }

    #[test]
    fn questions_in_pieces_and_several_at_once_are_answered() {
        let (mut server, mut ends) = pair(1);
        ends[0].write_all(b"cmd=get_un").unwrap();
        assert_eq!(turn(&mut server), None);
        ends[0].write_all(b"iverse_size\ncmd=fin").unwrap();
        turn(&mut server);
        assert_eq!(line(&ends[0]), "cmd=universe_size rc=0 size=1\n");
        ends[0].write_all(b"alize\n").unwrap();
        turn(&mut server);
        assert_eq!(line(&ends[0]), "cmd=finalize_ack rc=0\n");
    }

    #[test]
    fn the_end_of_a_barrier_is_sent_to_all() {
        let (mut server, mut ends) = pair(3);
        for end in &mut ends {
            end.write_all(b"cmd=barrier_in\n").unwrap();
            turn(&mut server);
        }
        assert!(ends.iter().all(|end| line(end) == "cmd=barrier_out rc=0\n"));
    }

    #[test]
    fn a_line_without_end_is_thrown_away_and_answered_once() {
        let (mut server, mut ends) = pair(1);
        for _ in 0..3 {
            ends[0].write_all(&vec![b'x'; LONGEST_LINE]).unwrap();
            turn(&mut server);
        }
        assert!(server.links[0].input.is_empty());
        ends[0].write_all(b"\ncmd=get_appnum\n").unwrap();
        turn(&mut server);
        let mut reader = BufReader::new(&ends[0]);
        let mut texts = [String::new(), String::new()];
        texts.iter_mut().for_each(|text| assert!(reader.read_line(text).unwrap() > 0));
        assert_eq!(texts, ["cmd=error rc=-1 msg=the_line_is_too_long\n", "cmd=appnum rc=0 appnum=0\n"]);
    }

    #[test]
    fn a_rank_that_does_not_read_is_given_up() {
        let (mut server, mut ends) = pair(1);
        ends[0].set_nonblocking(true).unwrap();
        let mut turns = 0;
        while server.links[0].stream.is_some() {
            // A full connection is part of the test.
            let _ = ends[0].write(&b"cmd=get_maxes\n".repeat(1000));
            turn(&mut server);
            turns += 1;
            assert!(turns < 10_000 && server.links[0].output.len() <= MOST_UNREAD + 4096);
        }
        assert_eq!(server.interests(&mut Vec::new()), 0);
    }

    #[test]
    fn what_an_ended_rank_sent_last_counts() {
        let (mut server, mut ends) = pair(2);
        ends[0].write_all(b"cmd=init pmi_version=1 pmi_subversion=1\n").unwrap();
        turn(&mut server);
        assert_eq!(server.ended(0), (true, None));
        ends[0].write_all(b"cmd=finalize\n").unwrap();
        ends[1].write_all(b"cmd=abort exitcode=7\n").unwrap();
        drop(ends);
        assert_eq!(server.ended(0), (false, None));
        assert_eq!(server.ended(1), (false, Some(Abort { rank: 1, code: 7 })));
        assert_eq!(server.ended(2), (false, None));
    }

    #[test]
    fn a_rank_that_ended_is_missed_in_a_barrier_once() {
        for early in [false, true] {
            let (mut server, mut ends) = pair(3);
            if early {
                server.ended(2);
                assert_eq!(server.missed(), None);
            }
            ends[0].write_all(b"cmd=barrier_in\n").unwrap();
            turn(&mut server);
            if !early {
                assert_eq!(server.missed(), None);
                server.ended(2);
            }
            assert_eq!((server.missed(), server.missed()), (Some(2), None));
        }
    }
}
