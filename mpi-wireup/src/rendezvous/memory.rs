//! The memory that the processes of a group share: the first one makes it, the others open it.
//!
//! Invariant: what a process opens is the memory of a job, in the process that put its address.
//! Not here: which processes are a group (`groups`), when they call this (`rendezvous`).

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mpi_fabric::{Job, JobOptions, host, job};

use super::put;
use crate::host_info::{JobAddress, started};
use crate::launcher::{KeyValueExchange, LauncherError};

/// The address of a memory that could not be made.
const NO_MEMORY: &str = "none";

/// The memory of a group, or why there is none.
#[derive(Debug)]
pub(super) enum Found {
    /// Its descriptor and the number of the job.
    Memory(OwnedFd, u64),
    /// The system refuses it to this process: a sentence.
    Refused(String),
    /// The process is not in the group.
    OnAnotherHost,
}

/// The first rank of a group: creates the memory and puts its address, or that there is none.
/// # Errors
/// A sentence.
pub(super) fn make(
    link: &mut dyn KeyValueExchange,
    key: &str,
    ring_bytes: Option<usize>,
) -> Result<Job, LauncherError> {
    let made = create(link, key, ring_bytes);
    if made.is_err() {
        // Others would wait for the value. The sentence about the failure is what counts.
        let _ = link.put(key, NO_MEMORY);
    }
    made
}

fn create(link: &mut dyn KeyValueExchange, key: &str, ring_bytes: Option<usize>) -> Result<Job, LauncherError> {
    let options = JobOptions { ranks: link.size(), ring_bytes, cores: host::usable_cores() };
    let job = Job::create(&options).map_err(|error| LauncherError(error.to_string()))?;
    let fd =
        job.fd().ok_or_else(|| LauncherError("this system has no memory that processes can share (memfd)".into()))?;
    let address = JobAddress::own(fd.as_raw_fd(), job.id())
        .ok_or_else(|| LauncherError("/proc cannot be read here, through which processes find each other".into()))?;
    put(link, key, address.to_value())?;
    Ok(job)
}

/// The memory that this process has made.
pub(super) fn keep(job: &Job) -> Result<Found, LauncherError> {
    let fd = job.fd().ok_or_else(|| LauncherError("the job memory has no descriptor".into()))?;
    let fd =
        fd.try_clone_to_owned().map_err(|error| LauncherError(format!("the job memory cannot be opened: {error}")))?;
    Ok(Found::Memory(fd, job.id()))
}

/// The other ranks of a group: opens the memory that the first one made.
/// # Errors
/// A sentence: that process has made no memory, or what it has put is not the address of one.
pub(super) fn find(link: &mut dyn KeyValueExchange, first: u32, key: &str) -> Result<Found, LauncherError> {
    let Some(value) = link.get(first, key)?.filter(|value| value != NO_MEMORY) else {
        return Err(LauncherError(format!("rank {first} could not make the job's memory")));
    };
    let address = JobAddress::parse(&value).ok_or_else(|| {
        LauncherError(format!("rank {first} put {value:?} where the address of the job's memory belongs"))
    })?;
    open(&address, first, link.rank())
}

fn open(address: &JobAddress, first: u32, rank: u32) -> Result<Found, LauncherError> {
    let JobAddress { pid, fd, job_id, .. } = address;
    // Another process may have that id in the process id namespace of this one, and `/proc` may hide processes of others.
    if started(*pid) != Some(address.started) {
        return Ok(Found::Refused(format!("rank {rank} does not see rank {first} (process {pid}) in its /proc")));
    }
    let path = format!("/proc/{pid}/fd/{fd}");
    let failed = |error: io::Error| {
        let sentence = format!("rank {rank} cannot open the job's memory in rank {first} ({path}: {error})");
        match error.kind() {
            // EACCES and EPERM.
            io::ErrorKind::PermissionDenied => Ok(Found::Refused(sentence)),
            _ => Err(LauncherError(sentence)),
        }
    };
    match fs::read_link(&path) {
        Ok(link) if link.to_string_lossy().starts_with(job::LINK) => {}
        Ok(link) => return Err(LauncherError(format!("{path} should be the job's memory, but is {link:?}"))),
        Err(error) => return failed(error),
    }
    match File::options().read(true).write(true).open(&path) {
        Ok(file) => Ok(Found::Memory(file.into(), *job_id)),
        Err(error) => failed(error),
    }
}
