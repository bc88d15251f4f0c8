//! How the processes of a job whose launcher is not ours come to share memory.
//!
//! Everybody puts a card that says where it runs. Rank 0 makes the job memory and puts its address: a descriptor of its
//! own, which the others open through `/proc`. A fence; rank 0 checks that all are on its host, the others open the
//! memory. Who meets with an obstacle puts a sentence about it. A second fence; everybody reads that sentence, if there
//! is one, so that all processes fail or none does.
//!
//! Invariant: no process goes on alone; what others put is checked before it is believed.
//! Not here: the values' form (`card`), the launchers (`pmi`, `pmix`).

use std::fs::{self, File};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use mpi_fabric::layout::MAX_RANKS;
use mpi_fabric::{Attachment, Job, JobOptions, host, job};

use super::card::{Address, Card, started};
use crate::exchange::{Exchange, Trouble};

const ADDRESS: &str = "ferrum-job";
const TROUBLE: &str = "ferrum-trouble";

/// This process's place in the job, its memory open. Collective: all processes of the job call it.
/// # Errors
/// A sentence; then no process has a place.
pub fn meet(link: &mut dyn Exchange, own: &Card, ring_bytes: Option<usize>) -> Result<Attachment, Trouble> {
    let (rank, size) = (link.rank(), link.size());
    if size > MAX_RANKS {
        return Err(Trouble(format!("the launcher started {size} processes; a job has {MAX_RANKS} at most")));
    }
    let appnum = link.program()?;
    put(link, &card_key(rank), own.to_value())?;
    let made = if rank == 0 { Some(make(link, ring_bytes)) } else { None };
    link.fence()?;
    let ready = match &made {
        // The maker keeps the memory open until all have opened it, also when it sees an obstacle.
        Some(Ok(job)) => survey(link, own, job).and_then(|()| keep(job)),
        Some(Err(trouble)) => Err(trouble.clone()),
        None => find(link, own, rank),
    };
    if let Err(trouble) = &ready {
        // Somebody else's may be there already; one is enough.
        let _ = link.put(TROUBLE, &encoded(&trouble.0, link.longest_value()));
    }
    link.fence()?;
    let (fd, job_id) = ready?;
    match link.get(0, TROUBLE)? {
        Some(text) => Err(Trouble(decoded(&text))),
        None => Ok(Attachment { fd: fd.into_raw_fd(), job_id, rank, size, appnum }),
    }
}

fn card_key(rank: u32) -> String {
    format!("ferrum-card-{rank}")
}

fn put(link: &mut dyn Exchange, key: &str, value: String) -> Result<(), Trouble> {
    let most = link.longest_value();
    if value.len() > most {
        return Err(Trouble(format!("the launcher takes values of {most} bytes; starting needs {}", value.len())));
    }
    link.put(key, &value)
}

/// Rank 0: makes the memory and tells where it is.
fn make(link: &mut dyn Exchange, ring_bytes: Option<usize>) -> Result<Job, Trouble> {
    let options = JobOptions { ranks: link.size(), ring_bytes, cores: host::usable_cores() };
    let job = Job::create(&options).map_err(|error| Trouble(error.to_string()))?;
    let fd = job.fd().ok_or_else(|| Trouble("this system has no memory that processes can share (memfd)".into()))?;
    let address = Address::own(fd.as_raw_fd(), job.id())
        .ok_or_else(|| Trouble("/proc cannot be read here, through which processes find each other".into()))?;
    put(link, ADDRESS, address.to_value())?;
    Ok(job)
}

fn keep(job: &Job) -> Result<(OwnedFd, u64), Trouble> {
    let fd = job.fd().ok_or_else(|| Trouble("the job memory is gone".into()))?;
    let fd = fd.try_clone_to_owned().map_err(|error| Trouble(format!("the job memory cannot be opened: {error}")))?;
    Ok((fd, job.id()))
}

/// Rank 0: reads all cards. They must be of one host; together they say how many cores the job has, and whose
/// descendants its processes are.
fn survey(link: &mut dyn Exchange, own: &Card, job: &Job) -> Result<(), Trouble> {
    let mut cards = vec![own.clone()];
    for rank in 1..link.size() {
        let card = card_of(link, rank)?;
        on_one_host(0, own, rank, &card)?;
        cards.push(card);
    }
    let cores = cores_together(&cards);
    let quota = host::quota_cores().unwrap_or(u32::MAX);
    let shared = |pid: &&u32| cards.iter().all(|card| card.ancestors.contains(pid));
    let launcher = own.ancestors.iter().find(shared).or(own.ancestors.first());
    job.describe(if cores == 0 { job.cores() } else { cores.min(quota) }, launcher.copied().unwrap_or(0));
    Ok(())
}

fn card_of(link: &mut dyn Exchange, rank: u32) -> Result<Card, Trouble> {
    let value = link.get(rank, &card_key(rank))?;
    value.as_deref().and_then(Card::parse).ok_or_else(|| {
        let has = value.map_or("nothing".into(), |value| format!("{value:?}"));
        Trouble(format!(
            "rank {rank} told {has} where its host belongs; all processes of a job have to be of one release of this library"
        ))
    })
}

/// How many cores there are in any of the lists.
fn cores_together(cards: &[Card]) -> u32 {
    let mut ranges: Vec<(u32, u32)> = cards.iter().flat_map(|card| card.cores.iter().copied()).collect();
    ranges.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in ranges {
        count += (last + 1).saturating_sub(first.max(next));
        next = next.max(last + 1);
    }
    count
}

fn on_one_host(a: u32, card_a: &Card, b: u32, card_b: &Card) -> Result<(), Trouble> {
    if card_a.boot != card_b.boot {
        return Err(Trouble(format!(
            "rank {a} runs on host {} and rank {b} on host {}; this library connects the processes of one host only: have \
             the launcher start all of them on one",
            card_a.host, card_b.host
        )));
    }
    if card_a.namespace != card_b.namespace {
        return Err(Trouble(format!(
            "rank {a} and rank {b} on host {} run in different containers (process id namespaces {} and {}) and cannot \
             see each other; start the launcher inside one container",
            card_a.host, card_a.namespace, card_b.namespace
        )));
    }
    Ok(())
}

/// The other ranks: opens the memory that rank 0 made.
fn find(link: &mut dyn Exchange, own: &Card, rank: u32) -> Result<(OwnedFd, u64), Trouble> {
    let first = card_of(link, 0)?;
    on_one_host(0, &first, rank, own)?;
    let Some(value) = link.get(0, ADDRESS)? else {
        return Err(Trouble("rank 0 could not make the job's memory".into()));
    };
    let address = Address::parse(&value)
        .ok_or_else(|| Trouble(format!("rank 0 told {value:?} where the address of the job's memory belongs")))?;
    Ok((open(&address, rank)?, address.job_id))
}

fn open(address: &Address, rank: u32) -> Result<OwnedFd, Trouble> {
    let Address { pid, fd, .. } = address;
    if started(*pid) != Some(address.started) {
        return Err(Trouble(format!("rank 0 (process {pid}) is not there any more, or rank {rank} cannot see it")));
    }
    let path = format!("/proc/{pid}/fd/{fd}");
    let refused = |error| {
        Trouble(format!(
            "rank {rank} cannot open the job's memory in rank 0 ({path}: {error}); the processes of a job have to run as \
             one user and to see each other"
        ))
    };
    let link = fs::read_link(&path).map_err(refused)?;
    if !link.to_string_lossy().starts_with(job::LINK) {
        return Err(Trouble(format!("{path} should be the job's memory, but is {link:?}")));
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

/// The sentence of a value; what is no code stays as it is.
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
