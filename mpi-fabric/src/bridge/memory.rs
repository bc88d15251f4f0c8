//! The memory of a bridge: made by one process, entered by all of its processes, each at the place of its identity.
//!
//! Invariant: a place is claimed once, and by a process that found itself at that place of the agreed list.
//! Not here: rings and bells (`bridge`).

use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use super::wrong_member;
use crate::fault;
use crate::job::Job;
use crate::layout::{MAX_HOST_RANKS, block};
use crate::mapping::open_sealed;
use crate::rank_block::Life;
use crate::transport::ProcessId;

/// Where the processes of a bridge find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeKey {
    pid: u32,
    descriptor: i32,
    number: u64,
}

impl BridgeKey {
    /// As words for a message.
    pub fn to_words(self) -> [u64; 2] {
        [u64::from(self.pid) << 32 | u64::from(self.descriptor as u32), self.number]
    }

    /// From the words of a message.
    pub fn from_words([place, number]: [u64; 2]) -> BridgeKey {
        BridgeKey { pid: (place >> 32) as u32, descriptor: place as u32 as i32, number }
    }
}

/// A bridge that this process has made; others can open it until this is dropped.
pub struct BridgeOffer {
    job: Job,
}

impl BridgeOffer {
    /// Makes a bridge for so many processes, with rings of at least `ring_bytes`.
    /// # Errors
    /// `MPI_ERR_NO_MEM`; `MPI_ERR_OTHER` for too many processes.
    pub(crate) fn new(members: usize, ring_bytes: usize) -> Result<BridgeOffer> {
        match u32::try_from(members).ok().filter(|members| *members <= MAX_HOST_RANKS) {
            Some(members) => Ok(BridgeOffer { job: Job::create_bridge(members, ring_bytes)? }),
            None => Err(fault::foreign(format!(
                "{members} processes of several jobs cannot be connected at once: {MAX_HOST_RANKS} is the limit on one host"
            ))),
        }
    }

    /// Where to find it.
    pub fn key(&self) -> BridgeKey {
        let descriptor = self.job.fd().expect("a bridge is made as an object").as_raw_fd();
        BridgeKey { pid: std::process::id(), descriptor, number: self.job.id() }
    }
}

/// A bridge in which this process has its place.
pub struct EnteredBridge {
    pub(super) job: Arc<Job>,
    pub(super) place: u32,
    /// Places to which this process has a route.
    pub(super) routes: Vec<u32>,
}

/// The facts of this process for the others.
pub(crate) struct Own {
    pub(crate) id: ProcessId,
    /// Its place in its job memory, and the descriptor of that.
    pub(crate) place: u32,
    pub(crate) descriptor: Option<i32>,
    pub(crate) probe: (u64, u64),
}

impl EnteredBridge {
    /// Opens a bridge and takes this process's place among `members`. `routes`: places that it reaches already.
    /// # Errors
    /// `MPI_ERR_OTHER`: it cannot be opened, or is not the bridge of so many processes.
    pub(crate) fn new(key: BridgeKey, members: &[ProcessId], own: &Own, routes: Vec<u32>) -> Result<EnteredBridge> {
        let refused = |error: std::io::Error| {
            fault::foreign(format!(
                "cannot open the memory that connects jobs, descriptor {} of process {}: {error}",
                key.descriptor, key.pid
            ))
        };
        let Some(descriptor) = own.descriptor else {
            return Err(fault::foreign("this process has no memory that processes of other jobs can open"));
        };
        let file = open_sealed(key.pid, key.descriptor).map_err(refused)?;
        let job = Job::open_bridge(file.as_fd())?;
        let place = (0..).zip(members).find(|(_, id)| **id == own.id).map(|(place, _)| place);
        let place = place.filter(|_| job.id() == key.number && job.ranks() as usize == members.len());
        let Some(place) = place else {
            return Err(fault::foreign("the memory that connects jobs is that of other processes"));
        };
        let block = job.block(place);
        block.pid().store(std::process::id(), Ordering::Relaxed);
        block.probe_value().store(own.probe.1, Ordering::Relaxed);
        block.probe_address().store(own.probe.0, Ordering::Relaxed);
        let at = job.layout().block_at(place);
        let (words, half) = (job.mapping(), |at| job.mapping().half(at));
        words.word(at + block::MEMBER_JOB).store(own.id.job, Ordering::Relaxed);
        half(at + block::MEMBER_RANK).store(own.id.rank, Ordering::Relaxed);
        half(at + block::MEMBER_PLACE).store(own.place, Ordering::Relaxed);
        half(at + block::MEMBER_FD).store(descriptor as u32, Ordering::Relaxed);
        for route in &routes {
            let word = words.word(at + block::MEMBER_ROUTES + *route as usize / 64 * 8);
            word.fetch_or(1 << (route % 64), Ordering::Relaxed);
        }
        // Its Release, after all of the above, pairs with the Acquire in `RankBlock::life`.
        if !block.claim() {
            return Err(wrong_member(place, own.id, "has been entered by another process"));
        }
        Ok(EnteredBridge { job: Arc::new(job), place, routes })
    }
}

/// What a process has written about itself.
pub(super) struct Member<'a> {
    pub(super) pid: u32,
    pub(super) fd: i32,
    /// Its place in its job memory.
    pub(super) bell: u32,
    job: &'a Job,
    at: usize,
}

impl Member<'_> {
    /// Whether it had a route to the process at a place when it entered.
    pub(super) fn has_route(&self, place: u32) -> bool {
        let word = self.job.mapping().word(self.at + block::MEMBER_ROUTES + place as usize / 64 * 8);
        word.load(Ordering::Relaxed) & 1 << (place % 64) != 0
    }
}

/// The process at a place, which must be this one.
/// # Errors
/// `MPI_ERR_OTHER`: it is another, or none.
pub(super) fn member(job: &Job, place: u32, id: ProcessId) -> Result<Member<'_>> {
    let (block, at) = (job.block(place), job.layout().block_at(place));
    if block.life() == Life::Absent {
        return Err(wrong_member(place, id, "has not entered"));
    }
    let half = |word| job.mapping().half(at + word).load(Ordering::Relaxed);
    let found = ProcessId {
        job: job.mapping().word(at + block::MEMBER_JOB).load(Ordering::Relaxed),
        rank: half(block::MEMBER_RANK),
    };
    if found != id {
        return Err(wrong_member(place, id, "is not at its place"));
    }
    let (pid, fd, bell) = (block.pid().load(Ordering::Relaxed), half(block::MEMBER_FD), half(block::MEMBER_PLACE));
    Ok(Member { pid, fd: fd as i32, bell, job, at })
}
