//! The rendezvous of the processes of a job that another launcher started: those of a host agree on one job memory.
//!
//! Each process puts its host info. Rank 0 creates a job memory and puts its address: a descriptor of its own, which
//! the others open through `/proc`. After a fence rank 0 finds out which processes run on which host. If all are on its
//! host, the others open the memory. Otherwise rank 0 puts the ranks of each host, and after another fence the first rank of each
//! other host does there what rank 0 does on its host. A process that fails puts a sentence. After a last fence every process reads
//! that sentence, if there is one, so that all processes fail or none does.
//!
//! Invariant: no process continues alone; values of other processes are checked before they are used. Processes that share
//! a memory have opened it, so that equal names of hosts connect nobody.
//! Not here: the form of the values (`host_info`), the launchers (`pmi`, `pmix`), addresses on the network (`directory`).

use std::fs::{self, File};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use mpi_fabric::job::{self, HostRanks};
use mpi_fabric::layout::MAX_RANKS;
use mpi_fabric::{Attachment, Job, JobOptions, host, rank_list};

use crate::host_info::{HostInfo, JobAddress, started};
use crate::hosts::{OverHosts, random_secret, secret_of};
use crate::launcher::{KeyValueExchange, LauncherError};
use crate::sentence::agree;

const ADDRESS: &str = "ferrum-job";
/// The address of a memory that could not be made.
const NO_MEMORY: &str = "none";
const FAILURE: &str = "ferrum-failure";
/// The secret of a job on several hosts and the ranks and name of each, in parts.
const HOSTS: &str = "ferrum-hosts";
/// A sentence about the memory of a host other than that of rank 0.
const HOST_FAILURE: &str = "ferrum-host-failure";

/// This process's place in the job, its memory open, and, if the processes do not all share it, those that do. Collective:
/// all processes of the job call it.
/// # Errors
/// A sentence; then no process has a place.
pub fn share_memory(
    link: &mut dyn KeyValueExchange,
    own: &HostInfo,
    ring_bytes: Option<usize>,
) -> Result<(Attachment, Option<OverHosts>), LauncherError> {
    let (rank, size) = (link.rank(), link.size());
    if size > MAX_RANKS {
        return Err(LauncherError(format!("the launcher started {size} processes; a job has {MAX_RANKS} at most")));
    }
    let appnum = link.program()?;
    put(link, &host_key(rank), own.to_value())?;
    let made = if rank == 0 { Some(make(link, ADDRESS, ring_bytes)) } else { None };
    put_failure(link, ADDRESS, made.as_ref());
    link.fence()?;
    let ready = match &made {
        // Rank 0 keeps the memory open until all have opened it, also when its check fails.
        Some(Ok(job)) => survey(link, own, job).and_then(|()| keep(job)).map(Some),
        Some(Err(trouble)) => Err(trouble.clone()),
        None => match host_of(link, 0) {
            Ok(first) if first.is_same_as(own) => find(link, 0, ADDRESS).map(Some),
            Ok(_) => Ok(None),
            Err(trouble) => Err(trouble),
        },
    };
    agree(link, FAILURE, ready.as_ref().err())?;
    let opened = ready?;
    let place = |(fd, job_id): (OwnedFd, u64)| Attachment { fd: fd.into_raw_fd(), job_id, rank, size, appnum };
    let Some(text) = get_long(link, HOSTS)? else {
        // Rank 0 has found that all are on its host.
        let opened = opened.ok_or_else(|| LauncherError(format!("rank 0 did not see the host of rank {rank}")))?;
        return Ok((place(opened), None));
    };
    let (over, hosts) = own_part(&text, rank, size).ok_or_else(|| {
        LauncherError(format!("rank 0 put {:?} where the ranks of each host belong", without_secret(&text)))
    })?;
    let mut job = None;
    if over.here[0] == rank && rank != 0 {
        job = Some(
            make(link, &address_key(rank), ring_bytes)
                .and_then(|job| describe(link, own, &over.here, &job).map(|()| job)),
        );
        put_failure(link, &address_key(rank), job.as_ref());
        if let Some(Ok(job)) = &job {
            job.set_hosts(&hosts);
        }
    }
    link.fence()?;
    let ready = match (opened, &job) {
        (Some(opened), _) => Ok(opened),
        (None, Some(Ok(job))) => keep(job),
        (None, Some(Err(trouble))) => Err(trouble.clone()),
        (None, None) => find(link, over.here[0], &address_key(over.here[0])),
    };
    agree(link, HOST_FAILURE, ready.as_ref().err())?;
    Ok((place(ready?), Some(over)))
}

/// The text about hosts without the secret of the job, which comes before the first semicolon.
fn without_secret(text: &str) -> &str {
    text.split_once(';').map_or("", |(_, hosts)| hosts)
}

/// What the text about hosts has for a rank: its host and the secret; and all hosts, its own first.
fn own_part(text: &str, rank: u32, size: u32) -> Option<(OverHosts, Vec<HostRanks>)> {
    let mut fields = text.split(';');
    let secret = secret_of(fields.next()?)?;
    let host = |field: &str| {
        let (ranks, name) = field.split_once(':')?;
        Some(HostRanks { name: name.to_owned(), ranks: rank_list::of_text(ranks, size)? })
    };
    let mut hosts: Vec<HostRanks> = fields.map(host).collect::<Option<_>>()?;
    let own = hosts.iter().position(|host| host.ranks.contains(&rank))?;
    hosts[..=own].rotate_right(1);
    Some((OverHosts { here: hosts[0].ranks.as_slice().into(), secret }, hosts))
}

fn address_key(first: u32) -> String {
    format!("ferrum-job-{first}")
}

/// Puts a text of any length, in parts.
fn put_long(link: &mut dyn KeyValueExchange, key: &str, text: &str) -> Result<(), LauncherError> {
    let most = link.longest_value().saturating_sub(8).max(1);
    let parts: Vec<&[u8]> = text.as_bytes().chunks(most).collect();
    for (i, part) in parts.iter().enumerate() {
        // The text is plain ASCII.
        link.put(&format!("{key}-{i}"), &format!("{}:{}", parts.len(), String::from_utf8_lossy(part)))?;
    }
    Ok(())
}

/// The text that rank 0 has put, if it has.
fn get_long(link: &mut dyn KeyValueExchange, key: &str) -> Result<Option<String>, LauncherError> {
    let (mut text, mut i, mut parts) = (String::new(), 0, 1);
    while i < parts {
        let Some(value) = link.get(0, &format!("{key}-{i}"))? else { break };
        let Some((count, part)) = value.split_once(':') else { break };
        parts = count.parse().unwrap_or(0).min(MAX_RANKS);
        text += part;
        i += 1;
    }
    if i == parts && i > 0 {
        Ok(Some(text))
    } else if i == 0 || parts == 0 {
        Ok(None)
    } else {
        Err(LauncherError(format!("the launcher has lost a part of the value {key}")))
    }
}

/// Puts that there is no memory, for processes that would wait for its address.
fn put_failure(link: &mut dyn KeyValueExchange, key: &str, made: Option<&Result<Job, LauncherError>>) {
    if matches!(made, Some(Err(_))) {
        // The sentence about the failure is what counts.
        let _ = link.put(key, NO_MEMORY);
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

/// The first rank of a host: creates the memory and puts its address.
fn make(link: &mut dyn KeyValueExchange, key: &str, ring_bytes: Option<usize>) -> Result<Job, LauncherError> {
    let options = JobOptions { ranks: link.size(), ring_bytes, cores: host::usable_cores() };
    let job = Job::create(&options).map_err(|error| LauncherError(error.to_string()))?;
    let fd =
        job.fd().ok_or_else(|| LauncherError("this system has no memory that processes can share (memfd)".into()))?;
    let address = JobAddress::own(fd.as_raw_fd(), job.id())
        .ok_or_else(|| LauncherError("/proc cannot be read here, through which processes find each other".into()))?;
    put(link, key, address.to_value())?;
    Ok(job)
}

fn keep(job: &Job) -> Result<(OwnedFd, u64), LauncherError> {
    let fd = job.fd().ok_or_else(|| LauncherError("the job memory has no descriptor".into()))?;
    let fd =
        fd.try_clone_to_owned().map_err(|error| LauncherError(format!("the job memory cannot be opened: {error}")))?;
    Ok((fd, job.id()))
}

/// Rank 0: reads the host info of all ranks. If they run on several hosts, puts the ranks of each.
fn survey(link: &mut dyn KeyValueExchange, own: &HostInfo, job: &Job) -> Result<(), LauncherError> {
    // The ranks of each host, the host of rank 0 first.
    let mut hosts: Vec<(HostInfo, Vec<u32>)> = vec![(own.clone(), vec![0])];
    let mut infos = vec![own.clone()];
    for rank in 1..link.size() {
        let info = host_of(link, rank)?;
        match hosts.iter_mut().find(|(host, _)| host.is_same_as(&info)) {
            Some((_, ranks)) => ranks.push(rank),
            None => hosts.push((info.clone(), vec![rank])),
        }
        if info.is_same_as(own) {
            infos.push(info);
        }
    }
    if hosts.len() > 1 {
        let hosts: Vec<HostRanks> =
            hosts.into_iter().map(|(info, ranks)| HostRanks { name: info.host, ranks }).collect();
        let field = |host: &HostRanks| format!("{}:{}", rank_list::to_text(&host.ranks), host.name);
        let fields: Vec<String> = hosts.iter().map(field).collect();
        put_long(link, HOSTS, &format!("{:032x};{}", random_secret()?, fields.join(";")))?;
        job.set_hosts(&hosts);
    } else if link.waits_for_values() {
        link.put(&format!("{HOSTS}-0"), "0:")?;
    }
    describe_by(own, &infos, job);
    Ok(())
}

/// The first rank of another host: reads the host info of the ranks there.
fn describe(link: &mut dyn KeyValueExchange, own: &HostInfo, here: &[u32], job: &Job) -> Result<(), LauncherError> {
    let infos = here.iter().map(|rank| host_of(link, *rank)).collect::<Result<Vec<_>, _>>()?;
    describe_by(own, &infos, job);
    Ok(())
}

/// Records the number of cores of the processes of a host, and their common ancestor.
fn describe_by(own: &HostInfo, infos: &[HostInfo], job: &Job) {
    let cores = all_cores(infos);
    let quota = host::quota_cores().unwrap_or(u32::MAX);
    let shared = |pid: &&u32| infos.iter().all(|host| host.ancestors.contains(pid));
    let launcher = own.ancestors.iter().find(shared).or(own.ancestors.first());
    job.describe(if cores == 0 { job.cores() } else { cores.min(quota) }, launcher.copied().unwrap_or(0));
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

/// The other ranks of a host: opens the memory that the first one made.
fn find(link: &mut dyn KeyValueExchange, first: u32, key: &str) -> Result<(OwnedFd, u64), LauncherError> {
    let Some(value) = link.get(first, key)?.filter(|value| value != NO_MEMORY) else {
        return Err(LauncherError(format!("rank {first} could not make the job's memory")));
    };
    let address = JobAddress::parse(&value).ok_or_else(|| {
        LauncherError(format!("rank {first} put {value:?} where the address of the job's memory belongs"))
    })?;
    Ok((open(&address, first, link.rank())?, address.job_id))
}

fn open(address: &JobAddress, first: u32, rank: u32) -> Result<OwnedFd, LauncherError> {
    let JobAddress { pid, fd, .. } = address;
    if started(*pid) != Some(address.started) {
        return Err(LauncherError(format!(
            "rank {first} (process {pid}) is not there any more, or rank {rank} cannot see it"
        )));
    }
    let path = format!("/proc/{pid}/fd/{fd}");
    let refused = |error| {
        LauncherError(format!(
            "rank {rank} cannot open the job's memory in rank {first} ({path}: {error}); the processes of a job have to run as \
             one user and to see each other"
        ))
    };
    let link = fs::read_link(&path).map_err(refused)?;
    if !link.to_string_lossy().starts_with(job::LINK) {
        return Err(LauncherError(format!("{path} should be the job's memory, but is {link:?}")));
    }
    File::options().read(true).write(true).open(&path).map(OwnedFd::from).map_err(refused)
}

#[cfg(test)]
mod tests;
