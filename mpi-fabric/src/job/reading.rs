//! A job memory for readers in other processes.
//!
//! Not here: what they read (`instruments`, `recorder`), the reader's interface (`mpi-observe`).
#![allow(unsafe_code)] // system calls about pages

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use super::Job;
use crate::fault;
use crate::layout;
use crate::mapping::{Mapping, open_sealed_for_reading};

/// The link of a job's memory in `/proc/PID/fd` begins with this.
pub const LINK: &str = "/memfd:ferrum-job";

impl Job {
    /// Opens the memory of a job that a process has under a descriptor, for reading only. Every function of the value that
    /// stores something ends this process by a signal, so only the reader's interface passes such a value on
    /// (`mpi-observe`).
    /// # Errors
    /// As [`Self::open`]; also if another process could make the memory shorter, or is of another user.
    pub fn open_for_reading(pid: u32, descriptor: i32) -> Result<Job> {
        let what = "the shared memory of a job";
        let refused = |error: io::Error| fault::foreign(format!("this is not {what}: {error}"));
        let file = open_sealed_for_reading(pid, descriptor).map_err(refused)?;
        let (layout, mapping) = Job::mapped(file.as_fd(), layout::MAGIC, what, Mapping::open_part_for_reading)?;
        Ok(Job::of(layout, (None, mapping)))
    }

    /// From now on ranks that start keep the greatest levels of all of their queues, for readers; for the launcher.
    pub fn keep_peaks(&self) {
        self.mapping.half(layout::header::KEEP_PEAKS).store(1, Ordering::Relaxed);
    }

    /// Whether ranks do so.
    pub fn keeps_peaks(&self) -> bool {
        self.mapping.half(layout::header::KEEP_PEAKS).load(Ordering::Relaxed) == 1
    }

    /// Whether the page at an offset was written, or may have been: a read of shared memory that was not would create it.
    pub(crate) fn is_written(&self, at: usize) -> bool {
        let Some(fd) = self.object() else { return self.is_resident(at) };
        let page = at as libc::off_t;
        // SAFETY: a plain system call on a descriptor of the job. The offset that it sets has no other use.
        let data = unsafe { libc::lseek(fd.as_raw_fd(), page, libc::SEEK_DATA) };
        match data {
            // Beyond the last data.
            -1 => io::Error::last_os_error().raw_os_error() != Some(libc::ENXIO),
            data => data < page + layout::PAGE as libc::off_t,
        }
    }

    /// Whether the page at an offset is in memory. One that was swapped out is not.
    fn is_resident(&self, at: usize) -> bool {
        let page = self.mapping.at(at, layout::PAGE);
        let mut state = 0u8;
        // SAFETY: `at` has checked the page, and the call stores one byte for it.
        let outcome = unsafe { libc::mincore(page.as_ptr().cast(), layout::PAGE, &raw mut state) };
        outcome != 0 || state & 1 == 1
    }

    /// Bytes of the memory that are in use: pages that a process has written, those of windows in the object (`job_parts`)
    /// included; windows with a descriptor of their own are not. `None` if the memory has no descriptor here.
    pub fn bytes_in_use(&self) -> Option<u64> {
        let file = File::from(self.object()?.try_clone_to_owned().ok()?);
        // The system counts in blocks of 512 bytes, whatever the file system's are.
        Some(file.metadata().ok()?.blocks() * 512)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOptions;

    #[test]
    fn the_memory_is_identified_by_its_link() {
        let made = Job::create(&JobOptions { ranks: 3, ring_bytes: None, cores: 2 }).unwrap();
        let link = std::fs::read_link(format!("/proc/self/fd/{}", made.fd().unwrap().as_raw_fd())).unwrap();
        assert!(link.to_str().unwrap().starts_with(LINK), "{link:?}");
    }
}
