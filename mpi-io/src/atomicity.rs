//! Atomic mode (MPI-5.0, 14.6.1): overlapping accesses of the processes of a file happen one after the
//! other.
//!
//! An access locks its range of the file, from its first byte to its last: for processes by a lock that belongs to the
//! open file, which the system keeps; for the threads of a process by a mutex.
//! Invariant: a range is locked no longer than the access lasts, and no access locks two.
#![allow(unsafe_code)] // the system's call for locks

use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::interrupted::retry_interrupted;

/// The lock of the threads of one process.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    one: Mutex<()>,
}

/// A locked range; unlocked when dropped.
pub(crate) struct Locked<'a> {
    file: &'a std::fs::File,
    range: (u64, u64),
    _turn: MutexGuard<'a, ()>,
}

/// What a lock of the system excludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: it ends the lock.
    None,
    /// Locks of writers.
    Read,
    /// All other locks.
    Write,
}

impl Turns {
    /// Waits for the bytes from `start` on, `length` of them, not none; `write`: also against readers.
    pub fn lock<'a>(&'a self, file: &'a std::fs::File, start: u64, length: u64, write: bool) -> io::Result<Locked<'a>> {
        // It protects no data, so a panic in another thread leaves nothing invalid.
        let turn = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        retry_interrupted(|| set(file, if write { Kind::Write } else { Kind::Read }, start, length))?;
        Ok(Locked { file, range: (start, length), _turn: turn })
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = set(self.file, Kind::None, self.range.0, self.range.1);
    }
}

/// Changes the locks of an open file; waits for those of others.
pub(crate) fn set(file: &std::fs::File, kind: Kind, start: u64, length: u64) -> io::Result<()> {
    change(file, libc::F_OFD_SETLKW, kind, start, length)
}

/// The same without waiting: false while another open file has a lock that excludes it.
pub(crate) fn try_set(file: &std::fs::File, kind: Kind, start: u64, length: u64) -> io::Result<bool> {
    match change(file, libc::F_OFD_SETLK, kind, start, length) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a program, this one or another, holds a lock of its own on some of these bytes: one of a process, not one of an
/// open file as this library's.
pub(crate) fn is_locked_by_program(file: &std::fs::File, start: u64, length: u64) -> io::Result<bool> {
    let mut lock = lock_of(Kind::Write, start, length)?;
    // SAFETY: the call reads and writes the structure.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock) } {
        -1 => Err(io::Error::last_os_error()),
        // The id is -1 for a lock of an open file.
        _ => Ok(lock.l_type != libc::F_UNLCK as libc::c_short && lock.l_pid != -1),
    }
}

fn change(file: &std::fs::File, command: i32, kind: Kind, start: u64, length: u64) -> io::Result<()> {
    let lock = lock_of(kind, start, length)?;
    // SAFETY: the call reads the structure.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &lock) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn lock_of(kind: Kind, start: u64, length: u64) -> io::Result<libc::flock> {
    let place = |value: u64| libc::off_t::try_from(value).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW));
    let kind = match kind {
        Kind::None => libc::F_UNLCK,
        Kind::Read => libc::F_RDLCK,
        Kind::Write => libc::F_WRLCK,
    };
    Ok(libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: place(start)?,
        l_len: place(length)?,
        l_pid: 0,
    })
}

/// Locks a whole file as `lockf` does.
#[cfg(test)]
pub(crate) fn lock_as_a_program(file: &std::fs::File) {
    let mut lock = lock_of(Kind::Write, 0, 1).expect("small numbers");
    lock.l_len = 0;
    // SAFETY: the call reads the structure.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock) }, 0);
}
