//! The rendezvous of the processes of a job that another launcher started: they agree on one job memory.
//!
//! Each process puts its host info. Rank 0 creates the job memory and puts its address: a descriptor of its own, which
//! the others open through `/proc`. After a fence rank 0 checks that all processes are on its host, and the others open
//! the memory. A process that fails puts a sentence. After a second fence every process reads that sentence, if there
//! is one, so that all processes fail or none does.
//!
//! Invariant: no process continues alone; values of other processes are checked before they are used.
//! Not here: the form of the values (`host_info`), the launchers (`pmi`, `pmix`).

use std::fs::{self, File};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use mpi_fabric::layout::MAX_RANKS;
use mpi_fabric::{Attachment, Job, JobOptions, host, job};

use crate::host_info::{HostInfo, JobAddress, started};
use crate::launcher::{KeyValueExchange, LauncherError};

const ADDRESS: &str = "ferrum-job";
const FAILURE: &str = "ferrum-failure";

/// This process's place in the job, its memory open. Collective: all processes of the job call it.
/// # Errors
/// A sentence; then no process has a place.
pub fn share_memory(
    link: &mut dyn KeyValueExchange,
    own: &HostInfo,
    ring_bytes: Option<usize>,
) -> Result<Attachment, LauncherError> {
    let (rank, size) = (link.rank(), link.size());
    if size > MAX_RANKS {
        return Err(LauncherError(format!("the launcher started {size} processes; a job has {MAX_RANKS} at most")));
    }
    let appnum = link.program()?;
    put(link, &host_key(rank), own.to_value())?;
    let made = if rank == 0 { Some(make(link, ring_bytes)) } else { None };
    link.fence()?;
    let ready = match &made {
        // Rank 0 keeps the memory open until all have opened it, also when its check fails.
        Some(Ok(job)) => survey(link, own, job).and_then(|()| keep(job)),
        Some(Err(trouble)) => Err(trouble.clone()),
        None => find(link, own, rank),
    };
    if let Err(trouble) = &ready {
        // Another process may have put a sentence already; one is enough.
        let _ = link.put(FAILURE, &encoded(&trouble.0, link.longest_value()));
    }
    link.fence()?;
    let (fd, job_id) = ready?;
    match link.get(0, FAILURE)? {
        Some(text) => Err(LauncherError(decoded(&text))),
        None => Ok(Attachment { fd: fd.into_raw_fd(), job_id, rank, size, appnum }),
    }
}

fn host_key(rank: u32) -> String {
    format!("ferrum-host-{rank}")
}

fn put(link: &mut dyn KeyValueExchange, key: &str, value: String) -> Result<(), LauncherError> {
    let most = link.longest_value();
    if value.len() > most {
        return Err(LauncherError(format!(
            "the launcher takes values of {most} bytes; starting needs {}",
            value.len()
        )));
    }
    link.put(key, &value)
}

/// Rank 0: creates the memory and puts its address.
fn make(link: &mut dyn KeyValueExchange, ring_bytes: Option<usize>) -> Result<Job, LauncherError> {
    let options = JobOptions { ranks: link.size(), ring_bytes, cores: host::usable_cores() };
    let job = Job::create(&options).map_err(|error| LauncherError(error.to_string()))?;
    let fd =
        job.fd().ok_or_else(|| LauncherError("this system has no memory that processes can share (memfd)".into()))?;
    let address = JobAddress::own(fd.as_raw_fd(), job.id())
        .ok_or_else(|| LauncherError("/proc cannot be read here, through which processes find each other".into()))?;
    put(link, ADDRESS, address.to_value())?;
    Ok(job)
}

fn keep(job: &Job) -> Result<(OwnedFd, u64), LauncherError> {
    let fd = job.fd().ok_or_else(|| LauncherError("the job memory has no descriptor".into()))?;
    let fd =
        fd.try_clone_to_owned().map_err(|error| LauncherError(format!("the job memory cannot be opened: {error}")))?;
    Ok((fd, job.id()))
}

/// Rank 0: reads the host info of all ranks, which must be of one host. Returns the number of cores of the job, and
/// the common ancestor of its processes.
fn survey(link: &mut dyn KeyValueExchange, own: &HostInfo, job: &Job) -> Result<(), LauncherError> {
    let mut hosts = vec![own.clone()];
    for rank in 1..link.size() {
        let host = host_of(link, rank)?;
        on_one_host(0, own, rank, &host)?;
        hosts.push(host);
    }
    let cores = all_cores(&hosts);
    let quota = host::quota_cores().unwrap_or(u32::MAX);
    let shared = |pid: &&u32| hosts.iter().all(|host| host.ancestors.contains(pid));
    let launcher = own.ancestors.iter().find(shared).or(own.ancestors.first());
    job.describe(if cores == 0 { job.cores() } else { cores.min(quota) }, launcher.copied().unwrap_or(0));
    Ok(())
}

fn host_of(link: &mut dyn KeyValueExchange, rank: u32) -> Result<HostInfo, LauncherError> {
    let value = link.get(rank, &host_key(rank))?;
    value.as_deref().and_then(HostInfo::parse).ok_or_else(|| {
        let has = value.map_or("nothing".into(), |value| format!("{value:?}"));
        LauncherError(format!(
            "rank {rank} put {has} where its host info belongs; all processes of a job have to be of one release of this library"
        ))
    })
}

/// The number of different cores in all lists.
fn all_cores(hosts: &[HostInfo]) -> u32 {
    let mut ranges: Vec<(u32, u32)> = hosts.iter().flat_map(|host| host.cores.iter().copied()).collect();
    ranges.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in ranges {
        count += (last + 1).saturating_sub(first.max(next));
        next = next.max(last + 1);
    }
    count
}

fn on_one_host(a: u32, host_a: &HostInfo, b: u32, host_b: &HostInfo) -> Result<(), LauncherError> {
    if host_a.boot != host_b.boot {
        return Err(LauncherError(format!(
            "rank {a} runs on host {} and rank {b} on host {}; this library connects the processes of one host only: have \
             the launcher start all of them on one",
            host_a.host, host_b.host
        )));
    }
    if host_a.namespace != host_b.namespace {
        return Err(LauncherError(format!(
            "rank {a} and rank {b} on host {} run in different containers (process id namespaces {} and {}) and cannot \
             see each other; start the launcher inside one container",
            host_a.host, host_a.namespace, host_b.namespace
        )));
    }
    Ok(())
}

/// The other ranks: opens the memory that rank 0 made.
fn find(link: &mut dyn KeyValueExchange, own: &HostInfo, rank: u32) -> Result<(OwnedFd, u64), LauncherError> {
    let first = host_of(link, 0)?;
    on_one_host(0, &first, rank, own)?;
    let Some(value) = link.get(0, ADDRESS)? else {
        return Err(LauncherError("rank 0 could not make the job's memory".into()));
    };
    let address = JobAddress::parse(&value)
        .ok_or_else(|| LauncherError(format!("rank 0 put {value:?} where the address of the job's memory belongs")))?;
    Ok((open(&address, rank)?, address.job_id))
}

fn open(address: &JobAddress, rank: u32) -> Result<OwnedFd, LauncherError> {
    let JobAddress { pid, fd, .. } = address;
    if started(*pid) != Some(address.started) {
        return Err(LauncherError(format!(
            "rank 0 (process {pid}) is not there any more, or rank {rank} cannot see it"
        )));
    }
    let path = format!("/proc/{pid}/fd/{fd}");
    let refused = |error| {
        LauncherError(format!(
            "rank {rank} cannot open the job's memory in rank 0 ({path}: {error}); the processes of a job have to run as \
             one user and to see each other"
        ))
    };
    let link = fs::read_link(&path).map_err(refused)?;
    if !link.to_string_lossy().starts_with(job::LINK) {
        return Err(LauncherError(format!("{path} should be the job's memory, but is {link:?}")));
    }
    File::options().read(true).write(true).open(&path).map(OwnedFd::from).map_err(refused)
}

/// A sentence as a value.
fn encoded(text: &str, most: usize) -> String {
    let mut value = String::new();
    for byte in text.bytes() {
        let part = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b',' | b':' | b'(' | b')' | b'/' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02x}"),
        };
        if value.len() + part.len() > most {
            break;
        }
        value.push_str(&part);
    }
    value
}

/// The sentence of a value; characters that are no code stay unchanged.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code =
            value.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        text.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&text).chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests;
