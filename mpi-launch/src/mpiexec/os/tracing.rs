//! Processes that the launcher traces, so that one that a signal would end can be stopped before (`ptrace(2)`).
//!
//! Invariant: a traced process that stops is resumed, or released, by whoever has collected its stop.

use std::io;
use std::time::{Duration, Instant};

use super::{Ended, checked};

/// Why a traced process has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Stop {
    /// A signal is about to be delivered to it.
    Signal(i32),
    /// A signal has stopped all of it.
    Group,
    /// Another event of tracing.
    Event,
}

/// The stop that the status of a process describes.
pub(super) fn stop_of(status: i32) -> Stop {
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    match (event, signal) {
        (0, signal) => Stop::Signal(signal),
        (libc::PTRACE_EVENT_STOP, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => Stop::Group,
        _ => Stop::Event,
    }
}

fn request(what: libc::c_uint, pid: libc::pid_t, data: i32) -> io::Result<()> {
    // SAFETY: requests without memory of this process; another process is the object.
    let done = unsafe { libc::ptrace(what, pid, std::ptr::null_mut::<u8>(), data as libc::c_long) };
    checked(done as libc::c_int).map(drop)
}

/// Traces the first thread of a process from here on.
pub(in super::super) fn seize(pid: libc::pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, pid, 0)
}

/// Lets a stopped process go on with a signal; 0: with none. One that has been killed meanwhile is left alone.
pub(in super::super) fn resume(pid: libc::pid_t, signal: i32) {
    let _ = request(libc::PTRACE_CONT, pid, signal);
}

/// Leaves a process that a signal has stopped as it is, until a signal continues it.
pub(in super::super) fn leave_stopped(pid: libc::pid_t) {
    let _ = request(libc::PTRACE_LISTEN, pid, 0);
}

/// Ends the tracing of a stopped process, which goes on with a signal; with SIGSTOP it stops for all.
pub(in super::super) fn release(pid: libc::pid_t, signal: i32) {
    let _ = request(libc::PTRACE_DETACH, pid, signal);
}

/// Ends the tracing of a process that runs, or is stopped, within a limited time; how it has ended if it has meanwhile.
pub(in super::super) fn release_running(pid: libc::pid_t, limit: Duration) -> Option<Ended> {
    if request(libc::PTRACE_INTERRUPT, pid, 0).is_err() {
        return None;
    }
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        let mut status = 0;
        // SAFETY: one status word is written.
        let waited = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) };
        if waited == pid && libc::WIFSTOPPED(status) {
            let signal = if let Stop::Signal(signal) = stop_of(status) { signal } else { 0 };
            release(pid, signal);
            return None;
        }
        if waited == pid {
            return Some(super::ended(status));
        }
        if waited < 0 {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_told_apart() {
        let status = |event: i32, signal: i32| event << 16 | signal << 8 | 0x7f;
        assert_eq!(stop_of(status(0, libc::SIGSEGV)), Stop::Signal(libc::SIGSEGV));
        assert_eq!(stop_of(status(0, libc::SIGSTOP)), Stop::Signal(libc::SIGSTOP));
        assert_eq!(stop_of(status(libc::PTRACE_EVENT_STOP, libc::SIGTSTP)), Stop::Group);
        assert_eq!(stop_of(status(libc::PTRACE_EVENT_STOP, libc::SIGTRAP)), Stop::Event);
    }
}
