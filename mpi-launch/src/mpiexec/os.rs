//! The system calls of the launcher, each behind a safe function.
#![allow(unsafe_code)] // system calls; each block has its reason

mod fork;
mod machine;
pub(super) mod tracing;

pub(super) use fork::{Fork, Inherited, fork_daemon, fork_job, take_over};
pub(super) use machine::{Mask, allowed_cores, local_time, machine, mask_of, utc_time};
pub(super) use tracing::Stop;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Turns the -1 of a system call into its error.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// By how many nanoseconds the time of day is ahead of the monotonic clock. Clocks of hosts that follow time servers agree
/// in the time of day to a fraction of a millisecond.
pub(super) fn time_of_day_ahead_ns() -> u64 {
    let day = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (day.as_nanos() as u64).wrapping_sub(mpi_core::clock::monotonic_ns())
}

/// Finds out whether a file can be written at the end; one that was not there is there then, and empty.
pub(super) fn check_writable(path: &std::path::Path) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path).map(drop)
}

/// A pipe, both ends closed in started programs: (read, write).
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: two descriptors are written; they are ours alone.
    unsafe {
        checked(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Makes a pipe longer; failure is ignored, because it only means more system calls.
pub(super) fn enlarge_pipe(fd: BorrowedFd<'_>, bytes: i32) {
    // SAFETY: a plain query about a descriptor.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) };
}

/// Makes reads and writes return instead of waiting. Only for descriptors that are ours alone.
pub(super) fn set_nonblocking(fd: BorrowedFd<'_>) {
    // SAFETY: plain queries about a descriptor.
    unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

/// `read`, without retries.
pub(super) fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is writable for its length.
    let n = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// `write`, without retries.
pub(super) fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are readable for their length.
    let n = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// One descriptor to wait for.
pub(super) fn poll_entry(fd: BorrowedFd<'_>, events: i16) -> libc::pollfd {
    libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 }
}

/// Waits for events, at most `limit_ms` milliseconds if given.
pub(super) fn poll(entries: &mut [libc::pollfd], limit_ms: Option<i32>) -> io::Result<()> {
    // SAFETY: live entries, and their number.
    let n = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit_ms.unwrap_or(-1)) };
    match checked(n) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other.map(drop),
    }
}

/// The identity of the file behind a descriptor, and its kind (`S_IFMT` bits).
pub(super) fn file_identity(fd: BorrowedFd<'_>) -> io::Result<(u64, u64, u32)> {
    // SAFETY: `stat` is plain data, filled by the call when it succeeds.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        checked(libc::fstat(fd.as_raw_fd(), &mut stat))?;
        Ok((stat.st_dev, stat.st_ino, stat.st_mode & libc::S_IFMT))
    }
}

/// Blocks signals and returns a descriptor to read them from, and the previous mask. Those of `signals` that the caller
/// of this process had ignored (`nohup`, background jobs) stay ignored; `always` is taken in any case.
pub(super) fn take_signals(signals: &[i32], always: i32) -> io::Result<(OwnedFd, libc::sigset_t)> {
    // SAFETY: signal sets and actions are plain data, initialised by the calls; the descriptor is ours alone.
    unsafe {
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut set);
        for signal in signals {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(*signal, std::ptr::null(), &mut action);
            if action.sa_sigaction != libc::SIG_IGN {
                libc::sigaddset(&mut set, *signal);
            }
        }
        libc::signal(always, libc::SIG_DFL);
        // The default handlers of Rust return once, so that a signal of another process would not end this one.
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
        libc::sigaddset(&mut set, always);
        checked(libc::sigprocmask(libc::SIG_BLOCK, &set, &mut before))?;
        let fd = checked(libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
        Ok((OwnedFd::from_raw_fd(fd), before))
    }
}

/// The next signal that arrived, if any.
pub(super) fn next_signal(fd: BorrowedFd<'_>) -> Option<i32> {
    let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
    let n = read(fd, &mut info).ok()?;
    // The signal's number is the first field.
    (n == info.len()).then(|| i32::from_ne_bytes([info[0], info[1], info[2], info[3]]))
}

/// Stops this process until it is continued.
pub(super) fn stop_self() {
    // SAFETY: no memory is passed.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Sends a signal to a process group; none if it has ended.
pub(super) fn signal_group(group: i32, signal: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::kill(-group, signal) };
}

/// Whether a process group has members.
pub(super) fn group_exists(group: i32) -> bool {
    // SAFETY: no memory is passed, and signal 0 has no effect on a process.
    unsafe { libc::kill(-group, 0) == 0 || *libc::__errno_location() != libc::ESRCH }
}

/// Sends a signal to one process.
pub(super) fn signal_process(pid: i32, signal: i32) {
    // SAFETY: no memory is passed.
    unsafe { libc::kill(pid, signal) };
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It returned this code.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
}

/// Children that ended, or have stopped.
pub(super) enum Reaped {
    /// One did.
    Child(i32, Ended),
    /// One that is traced has stopped.
    Stopped(i32, Stop),
    /// None has ended since, but some run.
    NoneYet,
    /// There are no children at all.
    NoChildren,
    /// The system refuses to report on children.
    Refused(io::Error),
}

/// How a process has ended whose status this is.
fn ended(status: i32) -> Ended {
    match libc::WIFSIGNALED(status) {
        true => Ended::Killed(libc::WTERMSIG(status)),
        false => Ended::Exited(libc::WEXITSTATUS(status)),
    }
}

/// Collects one child that ended, or has stopped and is traced.
pub(super) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: one status word is written.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
    match pid {
        0 => Reaped::NoneYet,
        pid if pid > 0 && libc::WIFSTOPPED(status) => Reaped::Stopped(pid, tracing::stop_of(status)),
        pid if pid > 0 => Reaped::Child(pid, ended(status)),
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Reaped::NoChildren,
            error => Reaped::Refused(error),
        },
    }
}

/// Collects a child, if it has ended.
pub(super) fn collect(pid: libc::pid_t) -> Option<Ended> {
    let mut status = 0;
    // SAFETY: one status word is written.
    let collected = unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } == pid;
    collected.then(|| ended(status))
}

/// Waits for one child that sends no SIGCHLD, for a limited time; whether it has ended.
pub(super) fn ends_within(pid: libc::pid_t, limit: Duration) -> bool {
    let (deadline, process) = (Instant::now() + limit, process_descriptor(pid));
    loop {
        // SAFETY: no memory is passed.
        let waited = unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WCLONE | libc::WNOHANG) };
        if waited > 0 {
            return true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(process) = &process else {
            // Kernels before 5.3 have no descriptors of processes.
            if waited < 0 || left.is_zero() {
                return waited < 0;
            }
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        let milliseconds = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        let ended = has_ended(process, milliseconds);
        if left.is_zero() || ended && waited < 0 {
            return ended;
        }
    }
}

/// Whether a child runs, without waiting for it; `None` where the kernel has no descriptors of processes.
pub(super) fn is_running(pid: libc::pid_t) -> Option<bool> {
    process_descriptor(pid).map(|process| !has_ended(&process, 0))
}

/// A descriptor of a child that was not yet waited for, or of the parent.
pub(super) fn process_descriptor(pid: libc::pid_t) -> Option<OwnedFd> {
    // SAFETY: no memory is passed; the descriptor is ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as libc::c_int))
    }
}

/// Whether a process ends within a time.
pub(super) fn has_ended(process: &OwnedFd, milliseconds: i32) -> bool {
    let mut entry = [poll_entry(process.as_fd(), libc::POLLIN)];
    poll(&mut entry, Some(milliseconds)).is_ok() && entry[0].revents != 0
}

/// Replaces the environment of this process.
pub(super) fn replace_environment(variables: &[(std::ffi::OsString, std::ffi::OsString)]) {
    let old: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    // SAFETY: this process has one thread. The names come from an environment, so they have no zero and no `=`.
    unsafe {
        old.iter().for_each(|name| std::env::remove_var(name));
        for (name, value) in variables.iter().filter(|(name, value)| is_variable(name, value)) {
            std::env::set_var(name, value);
        }
    }
}

/// Whether an environment can have such a variable.
fn is_variable(name: &std::ffi::OsStr, value: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.as_encoded_bytes().contains(&0)
}

/// The process that started this one, or has adopted it.
pub(super) fn parent() -> i32 {
    // SAFETY: no arguments.
    unsafe { libc::getppid() }
}

/// Whether this process runs as root.
pub(super) fn is_root() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// Starts a command in a process group of its own, with a mask of signals, which it passes on to what it starts; the kernel sends it
/// SIGTERM when this process ends.
pub(super) fn start_bound(
    command: &mut std::process::Command,
    signals: libc::sigset_t,
) -> io::Result<std::process::Child> {
    use std::os::unix::process::CommandExt;
    // SAFETY: no arguments.
    let launcher = unsafe { libc::getpid() };
    // SAFETY: between fork and exec only system calls are made, which neither allocate nor lock.
    unsafe {
        command.process_group(0).pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            libc::sigprocmask(libc::SIG_SETMASK, &signals, std::ptr::null_mut());
            if libc::getppid() == launcher { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        });
    }
    command.spawn()
}

/// Makes orphans of the job children of this process, so that it can end them.
pub(super) fn adopt_orphans() {
    // SAFETY: no memory is passed; on a kernel without it orphans go to init as ever.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Allows as many open files as permitted; returns what was allowed before, for the started programs.
pub(super) fn raise_open_files() -> libc::rlimit {
    let limit = open_files();
    let most = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    // SAFETY: one limit is read.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &most) };
    limit
}

/// The limits of open files of this process.
pub(super) fn open_files() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one limit is written.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit
}

/// Whether a descriptor is a terminal whose input this process may read now.
pub(super) fn is_foreground_terminal(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: plain queries about a descriptor.
    unsafe { libc::tcgetpgrp(fd.as_raw_fd()) == libc::getpgrp() }
}

/// `write` that never waits, whatever the descriptor's own setting (which others share); an error where the kernel
/// cannot do that for this kind of file.
pub(super) fn write_nowait(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: one part, readable for its length.
    let n = unsafe { libc::pwritev2(fd.as_raw_fd(), &part, 1, -1, libc::RWF_NOWAIT) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Process ids of this process's children, adopted ones included; `None` where the kernel does not list them.
pub(super) fn children() -> Option<Vec<i32>> {
    // The only thread has the process's own id.
    let list = std::fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).ok()?;
    Some(list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}
