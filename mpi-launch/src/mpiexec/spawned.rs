//! The jobs that ranks have spawned: each has an `mpiexec` of its own, a child of this one, which reports over a socket.
//!
//! A spawned job has a name: its number among those of this `mpiexec`, behind the name of this one's own job and a dot
//! if that was spawned too. The lines on the socket: from the new `mpiexec` the answer to the request, [`UNCONNECTED`] and
//! [`APART`]; from this one [`END`], [`FAILED`] and [`REPORT`].
//!
//! Invariant: a child `mpiexec` is in a process group of its own, so that a terminal's signals reach it once, through
//! this one; the kernel ends it when this one ends.
//! Not here: what the child does (`child_job`), the requests (`mpi_wireup::pmi::spawn`).

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use mpi_wireup::pmi::spawn::LONGEST_LINE;

use super::child_job::{APART, END, FAILED, Parent, REPORT, UNCONNECTED};
use super::os::{self, Ended, Fork, Inherited};

/// Time for a child to end its own processes before it is killed.
const GRACE: Duration = Duration::from_millis(2500);

/// One spawned job.
struct SpawnedJob {
    name: String,
    /// The `mpiexec` of the job.
    pid: i32,
    /// The rank that requested it.
    rank: u32,
    /// Whether that rank is a process of this library.
    ours: bool,
    link: UnixStream,
    /// Bytes that are no whole line yet.
    input: Vec<u8>,
    /// Whether the answer to the request was received.
    answered: bool,
    /// Whether the answer was that no process was started.
    refused: bool,
    /// Whether it has failed before its ranks could connect with others.
    unconnected: bool,
    /// Whether the failure of one of the two jobs does not concern the other one.
    apart: bool,
    /// Whether nothing comes any more.
    closed: bool,
}

/// The spawned jobs of this `mpiexec` that have not ended.
pub(super) struct SpawnedJobs {
    jobs: Vec<SpawnedJob>,
    /// Before the number of each: empty, or the name of the own job and a dot.
    prefix: String,
    /// Number of the own job.
    job: u64,
    started: u32,
    /// When children that have not ended are killed.
    kill_at: Option<Instant>,
}

/// A line for a rank.
pub(super) struct Line {
    pub(super) rank: u32,
    pub(super) text: String,
}

/// A spawned job that has ended.
pub(super) struct EndedJob {
    pub(super) name: String,
    /// The rank that requested it.
    pub(super) rank: u32,
    /// The exit code of its `mpiexec`.
    pub(super) code: i32,
    /// Whether the job was never started, or failed before its ranks could connect with others.
    pub(super) unconnected: bool,
    /// Whether its failure does not concern the job that spawned it.
    pub(super) apart: bool,
    /// Whether the rank is a process of this library, which can be informed.
    pub(super) ours: bool,
    /// The answer, if it came with the end of the child.
    pub(super) line: Option<Line>,
    /// Whether the child ended without an answer.
    pub(super) lost_answer: bool,
}

impl SpawnedJobs {
    /// Of the job with this number, and with this name if it was spawned itself.
    pub(super) fn new(own: Option<&str>, job: u64) -> SpawnedJobs {
        let prefix = own.map_or_else(String::new, |name| format!("{name}."));
        SpawnedJobs { jobs: Vec::new(), prefix, job, started: 0, kill_at: None }
    }

    /// Forks this process: in the new one, the result is its connection to this one.
    pub(super) fn fork(&mut self, rank: u32, ours: bool, inherited: &Inherited) -> io::Result<Option<Parent>> {
        let (own, child) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        child.set_nonblocking(true)?;
        let name = format!("{}{}", self.prefix, self.started + 1);
        match os::fork_job(child.as_fd(), inherited)? {
            Fork::Child => {
                // Closed with all other descriptors of the old process.
                std::mem::forget(own);
                Ok(Some(Parent::launcher(child, name, Some(self.job))))
            }
            Fork::Parent(pid) => {
                self.started += 1;
                self.jobs.push(SpawnedJob {
                    name,
                    pid,
                    rank,
                    ours,
                    link: own,
                    input: Vec::new(),
                    answered: false,
                    refused: false,
                    unconnected: false,
                    apart: false,
                    closed: false,
                });
                Ok(None)
            }
        }
    }

    /// Number of jobs that have not ended.
    pub(super) fn living(&self) -> u32 {
        self.jobs.len() as u32
    }

    /// Adds the descriptors to wait for to `entries`; returns their number.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) -> usize {
        let before = entries.len();
        for job in self.jobs.iter().filter(|job| !job.closed) {
            entries.push(os::poll_entry(job.link.as_fd(), libc::POLLIN));
        }
        entries.len() - before
    }

    /// Reads the answers that have come, given the entries of [`Self::interests`] after a poll.
    pub(super) fn serve(&mut self, entries: &[libc::pollfd]) -> Vec<Line> {
        let ready =
            |job: &SpawnedJob| entries.iter().any(|entry| entry.fd == job.link.as_raw_fd() && entry.revents != 0);
        self.jobs.iter_mut().filter(|job| ready(job)).filter_map(SpawnedJob::read).collect()
    }

    /// Collects the children that have ended, and no other one.
    pub(super) fn collect(&mut self) -> Vec<EndedJob> {
        let pids: Vec<i32> = self.jobs.iter().map(|job| job.pid).collect();
        pids.into_iter().filter_map(|pid| os::collect(pid).and_then(|how| self.ended(pid, how))).collect()
    }

    /// Records the end of a child; `None` if it is none of these.
    pub(super) fn ended(&mut self, pid: i32, how: Ended) -> Option<EndedJob> {
        let place = self.jobs.iter().position(|job| job.pid == pid)?;
        let mut job = self.jobs.swap_remove(place);
        let line = job.read();
        let code = match how {
            Ended::Exited(code) => code,
            Ended::Killed(signal) => 128 + signal,
        };
        let SpawnedJob { name, rank, ours, answered, refused, unconnected, apart, .. } = job;
        let unconnected = refused || unconnected;
        Some(EndedJob { name, rank, code, unconnected, apart, ours, line, lost_answer: !answered })
    }

    /// Requests the jobs to end that are connected with this one, which has failed.
    pub(super) fn end_connected(&mut self, now: Instant) {
        self.kill_at.get_or_insert(now + GRACE);
        self.send_all(FAILED);
    }

    /// Whether all that have not ended continue after the failure of this one.
    pub(super) fn are_apart(&self) -> bool {
        self.jobs.iter().all(|job| job.apart)
    }

    /// Requests all jobs to end.
    pub(super) fn end_all(&mut self, now: Instant) {
        self.kill_at.get_or_insert(now + GRACE);
        self.send_all(END);
    }

    /// Requests a report of all jobs.
    pub(super) fn report_all(&mut self) {
        self.send_all(REPORT);
    }

    fn send_all(&mut self, line: &str) {
        for job in &mut self.jobs {
            // A child that has just ended is collected next; one line always has room.
            let _ = job.link.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Forwards a signal to all jobs.
    pub(super) fn signal_all(&self, signal: i32) {
        for job in &self.jobs {
            os::signal_process(job.pid, signal);
        }
    }

    /// When children are killed.
    pub(super) fn next(&self) -> Option<Instant> {
        self.kill_at.filter(|_| !self.are_apart())
    }

    /// Kills the children that had their time.
    pub(super) fn kill_late(&mut self, now: Instant) {
        if self.next().is_some_and(|at| now >= at) {
            for job in self.jobs.iter().filter(|job| !job.apart) {
                os::signal_process(job.pid, libc::SIGKILL);
            }
            self.kill_at = Some(now + GRACE);
        }
    }

    /// Whether a process is one of the children.
    pub(super) fn has(&self, pid: i32) -> bool {
        self.jobs.iter().any(|job| job.pid == pid)
    }
}

impl SpawnedJob {
    /// Reads what has come.
    fn receive(&mut self) {
        let mut buffer = [0u8; 4096];
        while self.input.len() <= LONGEST_LINE {
            match self.link.read(&mut buffer) {
                Ok(0) => return self.closed = true,
                Ok(n) => self.input.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.closed = true,
            }
        }
        // Longer than any line.
        self.closed = true;
    }

    /// Reads what has come; the answer, if it is among that.
    fn read(&mut self) -> Option<Line> {
        self.receive();
        let mut answer = None;
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let text = String::from_utf8_lossy(&line).into_owned();
            match text.trim_end() {
                UNCONNECTED => self.unconnected = true,
                APART => self.apart = true,
                _ if self.answered => {}
                _ => {
                    (self.answered, self.refused) = (true, !text.contains(" rc=0 "));
                    answer = Some(Line { rank: self.rank, text });
                }
            }
        }
        answer
    }
}
