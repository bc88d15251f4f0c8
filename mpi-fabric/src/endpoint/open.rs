//! Creating endpoints: attached to a launcher's job, as threads of one process, or alone.

use std::cell::OnceCell;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use mpi_errors::Result;

use super::{Endpoint, NO_INPUT};
use crate::coll_room::RoomTable;
use crate::copy_buffer::CopyBuffer;
use crate::doorbell::{Doorbell, WaitPolicy};
use crate::fault;
use crate::instruments::JobInstruments;
use crate::job::{Job, JobOptions};
use crate::peer::{Connections, Output};
use crate::peer_arenas::PeerArenas;
use crate::recorder::Recorder;
use crate::settings::FabricSettings;
use crate::transport::Transport;
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

/// The part of a job on one host, and a rank's place in it.
pub struct HostShare {
    /// The memory that the ranks of the host share.
    pub job: Arc<Job>,
    /// The rank's place there.
    pub local: u32,
    /// World rank of each place.
    pub world_ranks: Arc<[u32]>,
}

impl Endpoint {
    /// Attaches this process to its job. The settings are those of this endpoint alone.
    /// # Errors
    /// `MPI_ERR_OTHER` with a sentence if the descriptor is not this job's memory, or the rank is taken.
    pub fn attach(wireup: &Attachment, settings: &'static FabricSettings) -> Result<Endpoint> {
        // SAFETY: a plain query about a number that may or may not be a descriptor.
        if wireup.fd < 0 || unsafe { libc::fcntl(wireup.fd, libc::F_GETFD) } < 0 {
            return Err(fault::foreign(format!(
                "the launcher handed the job memory down as descriptor {}, but that is not open: something between \
                 mpiexec and this program closed it",
                wireup.fd
            )));
        }
        // SAFETY: seen to be open above, and no other code of this process closes it.
        let mut job = Job::open(unsafe { BorrowedFd::borrow_raw(wireup.fd) })?;
        if job.id() != wireup.job_id || job.ranks() != wireup.size || wireup.rank >= wireup.size {
            return Err(fault::foreign(format!(
                "the launcher set rank {} of {}, but the job memory on descriptor {} belongs to another job",
                wireup.rank, wireup.size, wireup.fd
            )));
        }
        // SAFETY: it is the job's memory, inherited for this purpose only.
        let descriptor = unsafe { OwnedFd::from_raw_fd(wireup.fd) };
        // SAFETY: a plain system call on our descriptor. Programs that this process starts do not inherit it.
        unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        job.keep(descriptor);
        remote::permit(job.launcher_pid());
        Endpoint::enter(Arc::new(job), wireup.rank, settings)
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

    /// A rank whose peers are reached by a transport, all of them or, with `host`, those outside its host. Waits obey
    /// the transport's waiter, and never spin: a record that arrives over a network ends the sleep.
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
            None => (HostShare { job: Arc::new(Job::private()?), local: 0, world_ranks: Arc::from([rank]) }, false),
        };
        Endpoint::join(host, size, Some((network, shares)), settings)
    }

    pub(crate) fn enter(job: Arc<Job>, rank: u32, settings: &'static FabricSettings) -> Result<Endpoint> {
        let size = job.ranks();
        Endpoint::join(HostShare { job, local: rank, world_ranks: (0..size).collect() }, size, None, settings)
    }

    /// Takes a place in a job memory. `network`: the way to ranks outside it, and whether those inside share memory.
    fn join(
        host: HostShare,
        size: u32,
        network: Option<(Box<dyn Transport>, bool)>,
        settings: &'static FabricSettings,
    ) -> Result<Endpoint> {
        let HostShare { job, local, world_ranks } = host;
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
        let outputs = if shares { outputs(&job, local, &world_ranks, size) } else { Box::default() };
        let of_network = network.as_ref().map_or(usize::MAX, |(network, _)| network.max_payload());
        let of_rings = Output::new(&job, local, local).ring.max_payload();
        let policy = match &network {
            None => WaitPolicy::for_job(job.ranks(), job.cores()),
            Some(_) => WaitPolicy::for_network(),
        };
        let waiter = network.as_ref().map(|(network, _)| network.waiter());
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
        settings.ring_bytes.set(job.ring_bytes() as u64);
        Ok(Endpoint {
            rank,
            size,
            local,
            pid,
            fenced,
            max_payload: if shares { of_rings.min(of_network) } else { of_network },
            outputs,
            // SAFETY: inside the mapping, which the endpoint holds; page-aligned by the layout; a rank can be claimed
            // once, and only it writes to its buffer.
            buffer: unsafe { CopyBuffer::new(buffer, buffer_bytes) },
            inputs: Vec::new(),
            input_of: vec![NO_INPUT; size as usize].into(),
            connected: Connections::new(job.block(local), job.ranks()),
            known: vec![0; job.ranks().div_ceil(64) as usize].into(),
            world_ranks,
            lost: Vec::new(),
            beyond: network.is_some(),
            job_number: network.as_ref().map_or(job.id(), |(network, _)| network.job()),
            network: network.map(|(network, _)| network),
            bridges: None,
            doorbell: Doorbell::new(
                job.mapping().clone(),
                job.layout().bell_at(local),
                Arc::new(policy),
                waiter,
                variables,
            ),
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

/// The outputs to all world ranks: rings to those with a place in the job memory.
fn outputs(job: &Job, own: u32, world_ranks: &[u32], size: u32) -> Box<[Output]> {
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
