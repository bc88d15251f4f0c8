//! What the front keeps of each host, and the process of the launcher that reaches them.
//!
//! Invariant: when a [`Launcher`] is dropped, its process has ended.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use mpi_wireup::PROXY;

use super::super::os::{self, Ended};
use super::super::refusal::Refusal;
use super::frame::Frame;
use super::link::Link;

/// Most bytes of the launcher's output that are kept.
const MOST_OUTPUT: usize = 16 << 10;
/// Time for the launcher to end by itself, and by SIGTERM.
const GRACE: Duration = Duration::from_millis(2000);

/// A host.
pub(super) struct Host {
    pub(super) name: String,
    /// Its ranks.
    pub(super) ranks: Vec<u32>,
    /// `None` before its proxy has connected, and when it is lost.
    pub(super) link: Option<Link>,
    pub(super) ready: bool,
    /// Whether no process of the job is left on it.
    pub(super) idle: bool,
    pub(super) lost: bool,
    /// The values that its ranks have put, if they are in a barrier.
    pub(super) fence: Option<Vec<(String, String)>>,
    /// Bytes of output that it was not told to be taken yet.
    pub(super) taken: u32,
    /// Bytes of input that it has not taken.
    pub(super) fed: usize,
    /// Whether a report is waited for.
    pub(super) reporting: bool,
    /// By how many nanoseconds the time of day is ahead of its monotonic clock, if it has reported that.
    pub(super) ahead_ns: Option<u64>,
    /// What its ranks were doing when it has last reported that.
    pub(super) doing: String,
}

impl Host {
    pub(super) fn new(name: &str, ranks: Vec<u32>) -> Host {
        Host {
            name: name.into(),
            ranks,
            link: None,
            ready: false,
            idle: false,
            lost: false,
            fence: None,
            taken: 0,
            fed: 0,
            reporting: false,
            ahead_ns: None,
            doing: String::new(),
        }
    }

    /// Sends a message, if the proxy is there.
    pub(super) fn send(&mut self, frame: &Frame) {
        if let Some(link) = &mut self.link {
            link.send(frame);
        }
    }

    /// Whether anything is waited for.
    pub(super) fn is_over(&self) -> bool {
        self.idle || self.lost
    }
}

/// The process of the launcher.
pub(super) struct Launcher {
    child: Child,
    output: Option<ChildStdout>,
    error: Option<ChildStderr>,
    /// The last bytes that it has written.
    kept: VecDeque<u8>,
    ended: Option<Ended>,
    /// Children of this process that are no part of the job.
    others: Vec<i32>,
}

impl Launcher {
    /// Starts it with a mask of signals. Children that this process has already, such as those of a shell that it has replaced, are no part of the job.
    pub(super) fn start(words: &[OsString], meeting: &str, signals: libc::sigset_t) -> Result<Launcher, Refusal> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env(PROXY, meeting);
        // Its own place in a job of another launcher is not that of the proxies.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("PMI_") || text.starts_with("PMIX_") {
                command.env_remove(&name);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let others = os::children().unwrap_or_default();
        let mut child =
            os::start_bound(&mut command, signals).map_err(|error| Refusal::Manager(words[0].clone().into(), error))?;
        let (output, error) = (child.stdout.take(), child.stderr.take());
        output.iter().for_each(|pipe| os::set_nonblocking(pipe.as_fd()));
        error.iter().for_each(|pipe| os::set_nonblocking(pipe.as_fd()));
        Ok(Launcher { child, output, error, kept: VecDeque::new(), ended: None, others })
    }

    /// Adds what to wait for.
    pub(super) fn interests(&self, entries: &mut Vec<libc::pollfd>) {
        entries.extend(self.output.iter().map(|pipe| os::poll_entry(pipe.as_fd(), libc::POLLIN)));
        entries.extend(self.error.iter().map(|pipe| os::poll_entry(pipe.as_fd(), libc::POLLIN)));
    }

    /// Reads what it has written.
    pub(super) fn receive(&mut self) {
        let mut buffer = [0; 4096];
        read_all(&mut self.output, &mut self.kept, &mut buffer);
        read_all(&mut self.error, &mut self.kept, &mut buffer);
        let more = self.kept.len().saturating_sub(MOST_OUTPUT);
        self.kept.drain(..more);
    }

    /// What it has written last, in lines.
    pub(super) fn said(&mut self) -> String {
        self.receive();
        String::from_utf8_lossy(self.kept.make_contiguous()).trim().to_owned()
    }

    /// How it has ended, if it has.
    pub(super) fn ended(&mut self) -> Option<Ended> {
        use std::os::unix::process::ExitStatusExt;
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status.code().map_or(Ended::Killed(status.signal().unwrap_or(0)), Ended::Exited));
        }
        self.ended
    }

    /// Notes what this process has adopted until now as no part of the job, before any rank runs. What the launcher started is
    /// adopted when the launcher ends. Before that only daemons are, such as a connection that sessions of ssh share.
    pub(super) fn note_daemons(&mut self) {
        let children = os::children().unwrap_or_default();
        // Looked at later, so that it ran when the children were listed.
        if self.ended().is_none() {
            self.others = children;
        }
    }

    /// Waits a moment until it has ended, and ends it then; whether it has ended without that. `broken`: hosts are lost, so that
    /// it may wait for them.
    pub(super) fn finish(&mut self, broken: bool) -> bool {
        let group = self.child.id() as i32;
        let patience = if broken { GRACE / 8 } else { GRACE };
        for (signal, patience) in [(libc::SIGTERM, patience), (libc::SIGKILL, GRACE)] {
            let is_first = signal == libc::SIGTERM;
            let end = Instant::now() + patience;
            while self.ended().is_none() && Instant::now() < end {
                let mut entries = Vec::new();
                self.interests(&mut entries);
                // Its pipes end with it; without them the end is seen a moment later.
                let wait = if entries.is_empty() { 1 } else { 5 };
                let _ = os::poll(&mut entries, Some(wait));
                self.receive();
            }
            if self.ended.is_some() {
                return is_first;
            }
            os::signal_group(group, signal);
        }
        // The kernel ends it.
        let _ = self.child.wait();
        false
    }

    /// Ends what the launcher has left behind when it has ended: children of this process that are neither `is_other` nor
    /// known to be no part of the job.
    pub(super) fn end_orphans(&self, is_other: impl Fn(i32) -> bool) {
        let end = Instant::now() + GRACE;
        let is_other = |pid: i32| self.others.contains(&pid) || is_other(pid);
        while Instant::now() < end {
            let orphans = os::children().unwrap_or_default().into_iter().filter(|pid| !is_other(*pid));
            // What an orphan has started becomes one when it ends.
            let left = orphans.filter(|pid| os::collect(*pid).is_none()).inspect(|pid| {
                os::signal_process(*pid, libc::SIGKILL);
            });
            if left.count() == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        self.finish(true);
    }
}

/// Reads a pipe until it is empty; `None` when it has ended.
fn read_all<P: Read>(pipe: &mut Option<P>, kept: &mut VecDeque<u8>, buffer: &mut [u8]) {
    while let Some(open) = pipe {
        match open.read(buffer) {
            Ok(0) => *pipe = None,
            Ok(n) => kept.extend(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => *pipe = None,
        }
    }
}
