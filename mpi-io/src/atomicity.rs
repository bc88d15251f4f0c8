//! Atomic mode (MPI-5.0, 14.6.1): overlapping accesses of the processes of a file happen one after the
//! other.
//!
//! An access locks its range of the file, from its first byte to its last: for processes by a lock that belongs to the
//! open file, which the system keeps; for the threads of a process by a mutex. Where such locks do not reach all hosts of
//! a file, rank 0 has one lock of the whole file (`served`).
//! Invariant: a range is locked no longer than the access lasts, and no access locks two.
#![allow(unsafe_code)] // the system's call for locks

use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_errors::Result;

use crate::interrupted::retry_interrupted;
use crate::served::{Served, ServedLock};

/// The byte that [`forget_cached`] locks: before those of `same_file`, and behind all data.
const FORGETTING: u64 = (1 << 62) - 1;

/// The lock of the threads of one process.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    one: Mutex<()>,
    /// The system's number of an error of data that left the cache when a lock of rank 0 was given back; 0 without one.
    error: AtomicI32,
}

/// A locked range; unlocked when dropped.
pub(crate) struct Locked<'a> {
    file: &'a std::fs::File,
    range: (u64, u64),
    _turn: MutexGuard<'a, ()>,
}

/// A lock of an access; unlocked when dropped.
pub(crate) enum Held<'a> {
    /// Of the system.
    System { _range: Locked<'a> },
    /// Of rank 0.
    Served { _held: HeldOverHosts<'a> },
}

/// The lock of rank 0, and the threads' turn. What was written leaves the cache of this host before it is unlocked.
pub(crate) struct HeldOverHosts<'a> {
    file: &'a std::fs::File,
    wrote: bool,
    error: &'a AtomicI32,
    /// Given back before the next thread's turn.
    _lock: ServedLock<'a>,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for HeldOverHosts<'_> {
    fn drop(&mut self) {
        if self.wrote
            && let Err(error) = retry_interrupted(|| self.file.sync_data())
        {
            // Relaxed: the number alone counts.
            self.error.store(error.raw_os_error().unwrap_or(libc::EIO), Ordering::Relaxed);
        }
    }
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
    /// As [`Turns::lock`], of the whole file, by a lock of rank 0.
    pub fn lock_over_hosts<'a>(&'a self, file: &'a std::fs::File, served: &'a Served, write: bool) -> Result<Held<'a>> {
        let turn = self.take();
        let lock = served.lock()?;
        let held = HeldOverHosts { file, wrote: write, error: &self.error, _lock: lock, _turn: turn };
        Ok(Held::Served { _held: held })
    }

    /// The error of data that could not leave the cache, once.
    pub fn take_error(&self) -> io::Result<()> {
        match self.error.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// The turn of this thread among those of its process.
    fn take(&self) -> MutexGuard<'_, ()> {
        // It protects no data, so a panic in another thread leaves nothing invalid.
        self.one.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the bytes from `start` on, `length` of them, not none; `write`: also against readers.
    pub fn lock<'a>(&'a self, file: &'a std::fs::File, start: u64, length: u64, write: bool) -> io::Result<Locked<'a>> {
        let turn = self.take();
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

/// Whether another open file has a lock on this byte alone. The file may be open for reading only.
pub(crate) fn is_locked_at(file: &std::fs::File, place: u64) -> io::Result<bool> {
    let mut lock = lock_of(Kind::Write, place, 1)?;
    // SAFETY: the call reads and writes the structure.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(lock.l_type != libc::F_UNLCK as libc::c_short && (lock.l_start as u64, lock.l_len) == (place, 1)),
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

/// Has the system read a file again instead of its cache, which may be that of one host. `reads`: the file is open for
/// reading.
pub(crate) fn forget_cached(file: &std::fs::File, reads: bool) {
    let kind = if reads { Kind::Read } else { Kind::Write };
    // The byte is one that nothing else locks. A lock that fails, or that another process has, costs no data.
    if try_set(file, kind, FORGETTING, 1).unwrap_or(false) {
        let _ = set(file, Kind::None, FORGETTING, 1);
    }
    // SAFETY: the call takes numbers only.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Locks a whole file as `lockf` does.
#[cfg(test)]
pub(crate) fn lock_as_a_program(file: &std::fs::File) {
    let mut lock = lock_of(Kind::Write, 0, 1).expect("small numbers");
    lock.l_len = 0;
    // SAFETY: the call reads the structure.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &lock) }, 0);
}
