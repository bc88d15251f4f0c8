//! Creating endpoints: attached to a launcher's job, as threads of one process, or alone.

use std::cell::OnceCell;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use mpi_errors::Result;

use super::foreign::WaysToJobs;
use super::{Endpoint, NO_INPUT};
use crate::coll_room::RoomTable;
use crate::copy_buffer::CopyBuffer;
use crate::doorbell::{Doorbell, WaitPolicy};
use crate::fault;
use crate::instruments::JobInstruments;
use crate::job::{HostRanks, Job, JobOptions};
use crate::peer::{Connections, Output};
use crate::peer_arenas::PeerArenas;
use crate::recorder::Recorder;
use crate::settings::FabricSettings;
use crate::transport::{Transport, Waiting};
use crate::variables::FabricInstruments;
use crate::{host, os, remote};

/// The place of a started process in its job, as the launcher passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Descriptor of the job memory, inherited. `attach` takes it over.
    pub fd: RawFd,
    /// Number of the job, to detect another object under the same descriptor.
    pub job_id: u64,
    /// This process's rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Number of this process's program among those of the job, from 0.
    pub appnum: u32,
}

impl Attachment {
    /// The hosts of the job, this one first; empty if all ranks are on it ([`Job::hosts`]).
    /// # Errors
    /// `MPI_ERR_OTHER`: the descriptor is not open, or not that of this job's memory.
    pub fn hosts(&self) -> Result<Vec<HostRanks>> {
        Ok(self.job()?.hosts())
    }

    fn job(&self) -> Result<Job> {
        // SAFETY: a plain query about a number that may or may not be a descriptor.
        if self.fd < 0 || unsafe { libc::fcntl(self.fd, libc::F_GETFD) } < 0 {
            return Err(fault::foreign(format!(
                "the launcher handed the job memory down as descriptor {}, but that is not open: something between \
                 mpiexec and this program closed it",
                self.fd
            )));
        }
        // SAFETY: seen to be open above, and no other code of this process closes it.
        let job = Job::open(unsafe { BorrowedFd::borrow_raw(self.fd) })?;
        if job.id() != self.job_id || job.ranks() != self.size || self.rank >= self.size {
            return Err(fault::foreign(format!(
                "the launcher set rank {} of {}, but the job memory on descriptor {} belongs to another job",
                self.rank, self.size, self.fd
            )));
        }
        Ok(job)
    }
}

/// The part of a job on one host, and a rank's place in it.
pub struct HostShare {
    /// The memory that the ranks of the host share.
    pub job: Arc<Job>,
    /// The rank's place there.
    pub local: u32,
    /// World rank of each place.
    pub world_ranks: Arc<[u32]>,
    /// The places that ranks of this host take; the others stay empty. `None`: all.
    pub taken: Option<Arc<[u32]>>,
}

impl Endpoint {
    /// Attaches this process to its job. The settings are those of this endpoint alone.
    /// # Errors
    /// `MPI_ERR_OTHER` with a sentence if the descriptor is not this job's memory, or the rank is taken.
    pub fn attach(wireup: &Attachment, settings: &'static FabricSettings) -> Result<Endpoint> {
        let job = Endpoint::open_job(wireup)?;
        Endpoint::enter(job, wireup.rank, settings)
    }

    /// Attaches this process to its part of a job of several hosts: `taken` are the ranks that live here, in the memory of
    /// the attachment, which has a place for each rank of the world; the transport connects the others.
    /// # Errors
    /// As [`Self::attach`].
    pub fn attach_over(
        network: Box<dyn Transport>,
        wireup: &Attachment,
        taken: Arc<[u32]>,
        settings: &'static FabricSettings,
    ) -> Result<Endpoint> {
        if !taken.contains(&wireup.rank) || taken.iter().any(|rank| *rank >= wireup.size) {
            return Err(fault::foreign(format!("rank {} is not among the ranks of its host", wireup.rank)));
        }
        let job = Endpoint::open_job(wireup)?;
        let world_ranks = (0..wireup.size).collect();
        let host = HostShare { job, local: wireup.rank, world_ranks, taken: Some(taken) };
        Endpoint::join(host, wireup.size, Some((network, true)), settings)
    }

    /// Opens the job memory of an attachment, and takes its descriptor over.
    fn open_job(wireup: &Attachment) -> Result<Arc<Job>> {
        let mut job = wireup.job()?;
        // SAFETY: it is the job's memory, inherited for this purpose only.
        let descriptor = unsafe { OwnedFd::from_raw_fd(wireup.fd) };
        // SAFETY: a plain system call on our descriptor. Programs that this process starts do not inherit it.
        unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        job.keep(descriptor);
        remote::permit(job.launcher_pid());
        Ok(Arc::new(job))
    }

    /// A world of one rank, with the initial settings.
    pub fn world_of_one() -> Result<Endpoint> {
        Endpoint::alone(FabricSettings::new())
    }

    /// A world of one rank, for a process that no launcher started. The settings are those of this endpoint alone.
    pub fn alone(settings: &'static FabricSettings) -> Result<Endpoint> {
        let job = Job::alone(settings.ring_length())?;
        Endpoint::enter(Arc::new(job), 0, settings)
    }

    /// A job whose ranks are threads of this process: one endpoint per rank, in order.
    pub fn threads(n: u32) -> Result<Vec<Endpoint>> {
        let job = Job::create(&JobOptions { ranks: n, ring_bytes: None, cores: host::usable_cores() })?;
        let job = Arc::new(job);
        (0..n).map(|rank| Endpoint::enter(job.clone(), rank, FabricSettings::new())).collect()
    }

    /// A rank whose peers are reached by a transport, all of them or, with `host`, those outside its host. Waits sleep as
    /// the transport says; those that sleep on an object of its own never spin.
    /// # Errors
    /// As [`Self::attach`], and `MPI_ERR_NO_MEM` without memory for the rank itself.
    pub fn over(
        network: Box<dyn Transport>,
        rank: u32,
        size: u32,
        host: Option<HostShare>,
        settings: &'static FabricSettings,
    ) -> Result<Endpoint> {
        let (host, shares) = match host {
            Some(host) => (host, true),
            None => (
                HostShare { job: Arc::new(Job::private()?), local: 0, world_ranks: Arc::from([rank]), taken: None },
                false,
            ),
        };
        Endpoint::join(host, size, Some((network, shares)), settings)
    }

    pub(crate) fn enter(job: Arc<Job>, rank: u32, settings: &'static FabricSettings) -> Result<Endpoint> {
        let size = job.ranks();
        let host = HostShare { job, local: rank, world_ranks: (0..size).collect(), taken: None };
        Endpoint::join(host, size, None, settings)
    }

    /// Takes a place in a job memory. `network`: the way to ranks outside it, and whether those inside share memory.
    pub(super) fn join(
        host: HostShare,
        size: u32,
        network: Option<(Box<dyn Transport>, bool)>,
        settings: &'static FabricSettings,
    ) -> Result<Endpoint> {
        let HostShare { job, local, world_ranks, taken } = host;
        let rank = world_ranks[local as usize];
        let block = job.block(local);
        if !block.claim() {
            return Err(fault::foreign(format!(
                "rank {rank} of this job is already process {}; a program that mpiexec started can initialise MPI in one \
                 process only (a child process that is to be an MPI job of its own needs FERRUM_JOB_FD unset)",
                block.pid().load(Ordering::Relaxed)
            )));
        }
        let fenced = os::membarrier_register();
        let probe = Box::new(job.id() ^ u64::from(local));
        let pid = std::process::id();
        job.regions().add_member(rank);
        block.pid().store(pid, Ordering::Relaxed);
        block.probe_value().store(*probe, Ordering::Relaxed);
        // Release pairs with the Acquire in `PeerProcess::probe`.
        block.probe_address().store(std::ptr::from_ref(&*probe) as u64, Ordering::Release);
        let shares = network.as_ref().is_none_or(|(_, shares)| *shares);
        let here = taken.as_ref().map_or(job.ranks(), |taken| taken.len() as u32);
        let outputs = if shares { outputs(&job, local, &world_ranks, taken.as_deref(), size) } else { Box::default() };
        let of_network = network.as_ref().map_or(usize::MAX, |(network, _)| network.max_payload());
        let of_rings = Output::new(&job, local, local).ring.max_payload();
        let waiting = network.as_ref().map(|(network, _)| network.waiting());
        let policy = match &waiting {
            Some(Waiting::Own(_)) => WaitPolicy::for_network(),
            _ => WaitPolicy::for_job(here, job.cores()),
        };
        let block_at = job.layout().block_at(local);
        let buffer_bytes = job.layout().copy_buffer_bytes();
        let buffer = job.mapping().at(job.layout().copy_buffer_at(local), buffer_bytes);
        let room_bytes = job.layout().coll_room_bytes();
        let instruments = Arc::new(JobInstruments::new(&job, local));
        let variables: &'static FabricInstruments = mpi_t::place(&*instruments, "");
        variables.ring_size.set(job.layout().ring_bytes() as u64);
        variables.ring_room.follow(job.layout().ring_bytes() as u64);
        variables.job_memory.set(job.layout().total_bytes() as u64);
        let recorder = Recorder::new(job.mapping().clone(), block_at);
        settings.recorder_depth.govern(recorder.clone());
        settings.recorder_times.govern(recorder.clone());
        settings.ring_bytes.set(job.ring_bytes() as u64);
        let (bell_at, policy) = (job.layout().bell_at(local), Arc::new(policy));
        let doorbell = Doorbell::new(job.mapping().clone(), bell_at, policy, waiting.clone(), variables);
        if let Some(Waiting::Bell(ringer)) = waiting {
            let doorbell = doorbell.clone();
            ringer.attach(Box::new(move || doorbell.ring()));
        }
        Ok(Endpoint {
            rank,
            size,
            local,
            here,
            pid,
            fenced,
            max_payload: if shares { of_rings.min(of_network) } else { of_network },
            outputs,
            // SAFETY: inside the mapping, which the endpoint holds; page-aligned by the layout; a rank can be claimed
            // once, and only it writes to its buffer.
            buffer: unsafe { CopyBuffer::new(buffer, buffer_bytes) },
            inputs: Vec::new(),
            input_of: vec![NO_INPUT; size as usize].into(),
            connected: Connections::new(job.block(local), places(&job, local, taken.as_deref())),
            world_ranks,
            lost: Vec::new(),
            beyond: network.is_some(),
            over_hosts: network.is_some(),
            // The memory of a job of several hosts has another number on each.
            ways_to_jobs: WaysToJobs::new(network.is_none()),
            job_number: network.as_ref().map_or(job.id(), |(network, _)| network.job()),
            network: network.map(|(network, _)| network),
            bridges: None,
            doorbell,
            recorder,
            instruments,
            variables,
            rings: OnceCell::new(),
            settings,
            room: Arc::new(Mutex::new(RoomTable::new(room_bytes))),
            arenas: PeerArenas::default(),
            job,
            probe,
        })
    }
}

/// The first and the last of the places that are taken, the own one among them.
fn places(job: &Job, own: u32, taken: Option<&[u32]>) -> RangeInclusive<u32> {
    let Some(taken) = taken else { return 0..=job.ranks() - 1 };
    taken.iter().fold(own, |first, place| first.min(*place))..=taken.iter().fold(own, |last, place| last.max(*place))
}

/// The outputs to all world ranks: rings to those with a place in the job memory that is taken.
fn outputs(job: &Job, own: u32, world_ranks: &[u32], taken: Option<&[u32]>, size: u32) -> Box<[Output]> {
    if let Some(taken) = taken {
        let mut outputs: Box<[Output]> = (0..size).map(|_| Output::by_network(job, own)).collect();
        for local in taken {
            outputs[world_ranks[*local as usize] as usize] = Output::new(job, own, *local);
        }
        return outputs;
    }
    if world_ranks.len() == size as usize {
        let mut to: Vec<u32> = (0..size).collect();
        to.sort_unstable_by_key(|local| world_ranks[*local as usize]);
        return to.into_iter().map(|to| Output::new(job, own, to)).collect();
    }
    let mut outputs: Box<[Output]> = (0..size).map(|_| Output::by_network(job, own)).collect();
    for (local, world) in (0..).zip(world_ranks) {
        outputs[*world as usize] = Output::new(job, own, local);
    }
    outputs
}
