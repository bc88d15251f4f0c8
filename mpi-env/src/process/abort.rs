//! Abnormal end of the job, or of a part of it: `MPI_Abort` and fatal errors (MPI-5.0, 9.3 and 11.4).
//!
//! This library's launcher ends a part of the job: the processes of a communicator, window or file. The whole job ends
//! under other launchers, on several hosts, and where the processes are all of the job's, or some are another job's.
//! Invariant: the process requests the end from this library's launcher before it prints or flushes anything, so that launcher
//! ends the processes even if the process then hangs while it writes its output. The first process that ends the job sets the
//! exit code, and only its report is printed.
//! The process requests the end from another launcher only when its report has been read, because that may end the processes without reading
//! their output.
#![allow(unsafe_code)] // flushes C's output, looks how much of it was read, and ends the process

use std::process;
use std::thread;
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_UNKNOWN, MPI_SUCCESS};
use mpi_errors::{Error, FatalReport, fatal_report};
use mpi_fabric::AbortCause;

use crate::process::stderr::print;
use crate::process::{failing, global, running};
use crate::record::process::Process;

/// Seconds that an aborting process has to flush the buffers of C's `stdout`.
const LAST_WORDS: u32 = 5;

/// How long a process waits, before it requests another launcher to end the job, for its output to be read, or for the report of
/// another process.
const OUTPUT_WAIT: Duration = Duration::from_secs(1);

/// The most calls that a report lists.
const LAST_CALLS: usize = 10;

impl Process {
    /// `MPI_Abort` on a communicator of these processes: prints one line and ends them with this code. Never returns; takes
    /// no lock.
    #[cold]
    pub fn abort_of(&self, members: &[u32], code: i32) -> ! {
        match self.is_part(members) {
            true => {
                let first = self.job.request_abort_of(members, self.rank(), code, AbortCause::Call);
                self.leave(code, first)
            }
            false => self.abort(code),
        }
    }

    /// Whether these processes are less than all of the job, and can be ended alone.
    fn is_part(&self, members: &[u32]) -> bool {
        let is_member = |rank: u32| members.contains(&rank);
        // Processes on a network have no bits of those that have ended, so all end.
        let by_launcher = self.is_launched() && self.manager.is_none() && self.directory.is_none();
        by_launcher && members.iter().all(|member| *member < self.size()) && !(0..self.size()).all(is_member)
    }

    /// `MPI_Abort` on all processes of the job. Never returns; takes no lock.
    #[cold]
    pub fn abort(&self, code: i32) -> ! {
        // This library's launcher prints the line.
        let reported = self.is_launched() && self.manager.is_none();
        let first = self.job.request_abort(self.rank(), code, AbortCause::Call);
        if first && !reported {
            let (rank, size, host) = (self.rank(), self.size(), &self.host.host);
            let sentence = format!("rank {rank} of {size} on {host} called MPI_Abort with code {code}; the job ends");
            failing::report(
                self.errors,
                "abort",
                &sentence,
                &[("rank", rank.into()), ("size", size.into()), ("code", code.into())],
            );
        }
        self.leave(code, first)
    }

    /// Handles an error for `MPI_ERRORS_ARE_FATAL`: prints the report and ends the job with the error's class as its exit
    /// code. Never returns.
    #[cold]
    pub fn fatal(&self, error: &Error, route: Route<'_>) -> ! {
        self.fatal_to(error, route, None)
    }

    /// As [`Process::fatal`]; for `MPI_ERRORS_ABORT` with the processes of its object, which end alone if they can.
    #[cold]
    pub fn fatal_to(&self, error: &Error, route: Route<'_>, members: Option<&[u32]>) -> ! {
        let (code, rank, cause) = (exit_code(error), self.rank(), AbortCause::Error);
        let part = members.filter(|members| self.is_part(members));
        let first = match part {
            Some(members) => self.job.request_abort_of(members, rank, code, cause),
            None => self.job.request_abort(rank, code, cause),
        };
        if first {
            let report = FatalReport {
                rank: Some((self.rank(), self.size())),
                host: &self.host.host,
                pid: process::id(),
                error,
                handler_of: route.handler_of,
                handled_by: route.handled_by,
                consequence: &part.map_or_else(|| THE_JOB_ENDS.to_owned(), part_ends),
                detail: failing::detail(self.errors),
                last_calls: &self.last_calls(),
            };
            print(&fatal_report(&report, failing::report_format(self.errors)));
        }
        self.leave(code, first)
    }

    /// The process's last calls with their sequence numbers; at most [`LAST_CALLS`].
    fn last_calls(&self) -> Vec<String> {
        let all = self.recorder.calls();
        let last = &all[all.len().saturating_sub(LAST_CALLS)..];
        last.iter().map(|call| format!("{} {}", call.sequence, call.describe())).collect()
    }

    /// Ends the process. `first`: it was the first to end the job.
    fn leave(&self, code: i32, first: bool) -> ! {
        leave(code, |status| {
            if let Some(manager) = &self.manager {
                // The launcher may end the processes at once, and then reads their output no more.
                match first {
                    true => await_readers(),
                    // The process that was first may still be printing its report.
                    false => thread::sleep(OUTPUT_WAIT),
                }
                manager.abort(status);
            }
        })
    }
}

/// Ends the process: flushes its output, passes the exit status to `report`, and exits.
fn leave(code: i32, report: impl FnOnce(i32)) -> ! {
    // In a child of `fork` the buffer holds a copy of output that the parent prints.
    if running::parents_errhandler().is_none() {
        flush_output();
    }
    // The exit status is one byte; a nonzero code with a low byte of 0 becomes 1.
    let status = if code != 0 && code & 0xff == 0 { 1 } else { code & 0xff };
    report(status);
    // SAFETY: ends the process; no destructor or exit handler may run in the middle of the library.
    unsafe { libc::_exit(status) }
}

/// Waits until the readers of this process's output and errors have read all of it, or [`OUTPUT_WAIT`].
fn await_readers() {
    let end = Instant::now() + OUTPUT_WAIT;
    while [libc::STDOUT_FILENO, libc::STDERR_FILENO].map(unread).iter().any(|bytes| *bytes > 0) && Instant::now() < end
    {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Bytes that were written to a pipe or socket and that its reader has not read; 0 for other files.
fn unread(file: i32) -> i32 {
    // SAFETY: plain data, which the call fills.
    let mut facts: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the place is writable.
    if unsafe { libc::fstat(file, &mut facts) } != 0 {
        return 0;
    }
    let request = match facts.st_mode & libc::S_IFMT {
        // Of a pipe both ends give the bytes in it.
        libc::S_IFIFO => libc::FIONREAD,
        libc::S_IFSOCK => libc::TIOCOUTQ,
        _ => return 0,
    };
    let mut bytes = 0i32;
    // SAFETY: both requests write one number.
    if unsafe { libc::ioctl(file, request, &mut bytes) } == 0 { bytes } else { 0 }
}

/// What the report of a fatal error contains about its error handler.
#[derive(Debug, Clone, Copy, Default)]
pub struct Route<'a> {
    /// The object whose handler handled the error, if that is not the call's own object.
    pub handler_of: Option<&'a str>,
    /// The function that sets another handler, such as `MPI_Comm_set_errhandler`.
    pub handled_by: Option<&'a str>,
}

/// As [`Process::fatal`], for a process whose record does not exist.
#[cold]
pub fn fatal_without_process(error: &Error) -> ! {
    let code = exit_code(error);
    let job = global::start_failure().and_then(|failure| failure.job.as_ref());
    let (format, detail) = failing::report_without_process();
    if job.is_none_or(|(job, rank)| job.request_abort(*rank, code, AbortCause::Error)) {
        let report = FatalReport {
            rank: job.map(|(job, rank)| (*rank, job.ranks())),
            host: crate::processor_name(),
            pid: process::id(),
            error,
            handler_of: None,
            handled_by: None,
            consequence: if job.is_some() { THE_JOB_ENDS } else { "The process ends." },
            detail,
            last_calls: &[],
        };
        print(&fatal_report(&report, format));
    }
    leave(code, |_| ())
}

const THE_JOB_ENDS: &str = "The job ends.";

/// The end of a part of the job.
fn part_ends(members: &[u32]) -> String {
    match members {
        [rank] => format!("Rank {rank} ends, and the others continue."),
        _ => format!("{} of the job's processes end, and the others continue.", members.len()),
    }
}

fn exit_code(error: &Error) -> i32 {
    if error.class() == MPI_SUCCESS { MPI_ERR_UNKNOWN } else { error.class() }
}

/// Flushes C's `stdout`, as `exit` would.
fn flush_output() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: C functions without preconditions; if another thread holds the stream, the alarm's default action ends
    // the process.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(LAST_WORDS);
        libc::fflush(stdout);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::unread;

    #[test]
    fn what_readers_have_not_read_is_counted() -> std::io::Result<()> {
        let ((mut from_pipe, mut pipe), (mut from_socket, mut socket)) = (pipe()?, UnixStream::pair()?);
        assert_eq!([unread(pipe.as_raw_fd()), unread(socket.as_raw_fd())], [0, 0]);
        pipe.write_all(b"report")?;
        socket.write_all(b"report")?;
        assert_eq!(unread(pipe.as_raw_fd()), 6);
        // Of a socket the kernel counts its own overhead too.
        assert!(unread(socket.as_raw_fd()) >= 6);
        let mut all = [0; 6];
        from_pipe.read_exact(&mut all)?;
        from_socket.read_exact(&mut all)?;
        assert_eq!([unread(pipe.as_raw_fd()), unread(socket.as_raw_fd())], [0, 0]);
        assert_eq!([unread(File::open("/proc/self/exe")?.as_raw_fd()), unread(-1)], [0, 0]);
        Ok(())
    }
}
