//! New processes that continue in this code, made by `fork`.
//!
//! Invariant: this process has one thread, so the new one may continue in any of its code. A new process has the original
//! settings of signals and open files, where it starts programs.
//! Not here: the processes of ranks (`spawn`), what the new process does (`child_job`, `guard`).
#![allow(unsafe_code)] // fork, and settings of the new process

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Settings that the launcher changed for itself, in their original state for programs.
#[derive(Clone, Copy)]
pub(in crate::mpiexec) struct Inherited {
    /// The mask of signals.
    pub(in crate::mpiexec) signals: libc::sigset_t,
    /// The limit of open files.
    pub(in crate::mpiexec) open_files: libc::rlimit,
}

/// Which of the two processes continues.
pub(in crate::mpiexec) enum Fork {
    /// The old one; the id of the new one.
    Parent(i32),
    /// The new one.
    Child,
}

/// Makes a process that continues in this code with the standard streams and one further descriptor, the original
/// settings of signals and open files, and a process group of its own. The kernel ends it when this process ends.
pub(in crate::mpiexec) fn fork_job(keep: BorrowedFd<'_>, inherited: &Inherited) -> io::Result<Fork> {
    // SAFETY: no arguments.
    let launcher = unsafe { libc::getpid() };
    if let Fork::Parent(pid) = fork()? {
        return Ok(Fork::Parent(pid));
    }
    let keep = keep.as_raw_fd() as libc::c_uint;
    // SAFETY: system calls on this process's own state. The closed descriptors belong to values of the old process,
    // which this one never uses or drops: it ends without returning to them.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != launcher {
            libc::_exit(1);
        }
        if keep > 3 {
            libc::syscall(libc::SYS_close_range, 3, keep - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, keep + 1, libc::c_uint::MAX, 0);
        libc::setrlimit(libc::RLIMIT_NOFILE, &inherited.open_files);
        libc::sigprocmask(libc::SIG_SETMASK, &inherited.signals, std::ptr::null_mut());
    }
    Ok(Fork::Child)
}

/// Makes a process that continues in this code, in a process group of its own, and does not end with this one.
pub(in crate::mpiexec) fn fork_daemon() -> io::Result<Fork> {
    let fork = fork()?;
    if let Fork::Child = fork {
        // SAFETY: a system call on this process's own state.
        unsafe { libc::setpgid(0, 0) };
    }
    Ok(fork)
}

fn fork() -> io::Result<Fork> {
    // SAFETY: one thread exists, so the child may continue in this program's code.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        pid if pid > 0 => Ok(Fork::Parent(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes over an open descriptor that the command line names, and closes it in started programs. It is above 2, and the
/// caller is the only user of it.
pub(in crate::mpiexec) fn take_over(fd: RawFd) -> OwnedFd {
    // SAFETY: a plain setting; then the descriptor, which is open, gets its only owner.
    unsafe {
        libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        OwnedFd::from_raw_fd(fd)
    }
}
