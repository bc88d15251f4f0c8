//! A job memory for readers in other processes.
//!
//! Not here: what they read (`instruments`, `recorder`), the reader's interface (`mpi-observe`).

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
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
        Job::checked(Mapping::open_for_reading(file.as_fd()).map_err(refused)?, layout::MAGIC, what)
    }

    /// From now on ranks that start keep the greatest levels of all of their queues, for readers; for the launcher.
    pub fn keep_peaks(&self) {
        self.mapping.half(layout::header::KEEP_PEAKS).store(1, Ordering::Relaxed);
    }

    /// Whether ranks do so.
    pub fn keeps_peaks(&self) -> bool {
        self.mapping.half(layout::header::KEEP_PEAKS).load(Ordering::Relaxed) == 1
    }

    /// Bytes of the memory that are in use: pages that a process has written. `None` if the memory has no descriptor here.
    pub fn bytes_in_use(&self) -> Option<u64> {
        let file = File::from(self.fd()?.try_clone_to_owned().ok()?);
        // The system counts in blocks of 512 bytes, whatever the file system's are.
        Some(file.metadata().ok()?.blocks() * 512)
    }
}
