//! Parts of a file in memory, which `mpiexec` reads when the process has ended in any way.
//!
//! Invariant: the memory of a `Words` stays mapped until the process ends.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_core::functions;
use mpi_pmpi::records::{MAGIC, head};

/// A mapped part of a file.
#[derive(Clone, Copy)]
pub(super) struct Words(&'static [AtomicU64]);

/// The descriptor that a variable gives.
pub(super) fn descriptor(variable: &str) -> Option<RawFd> {
    std::env::var(variable).ok()?.parse().ok().filter(|fd| *fd >= 0)
}

impl Words {
    /// Maps a part whose bytes the file has.
    pub(super) fn map(fd: RawFd, offset: u64, bytes: usize) -> std::io::Result<Words> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the system's choice.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, fd, offset as libc::off_t) };
        if address == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: this many bytes are mapped, aligned to a page, and stay mapped; they are only accessed as atomics.
        Ok(Words(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU64>(), bytes / 8) }))
    }

    /// Takes the file for this process; false if another process uses it.
    pub(super) fn take(self) -> bool {
        let process = u64::from(std::process::id());
        let taken = self.0[head::PROCESS].compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
        if taken.is_err() {
            return false;
        }
        self.0[head::FUNCTIONS].store(u64::from(functions::COUNT), Ordering::Relaxed);
        self.0[head::MAGIC].store(MAGIC, Ordering::Relaxed);
        true
    }

    /// A word.
    pub(super) fn at(self, place: usize) -> &'static AtomicU64 {
        &self.0[place]
    }
}
