//! Making endpoints: attached to a launcher's job, as threads of one process, or alone.

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use super::Endpoint;
use super::peer::{Connections, Output};
use crate::doorbell::{Doorbell, WaitPolicy};
use crate::fault;
use crate::instruments::JobInstruments;
use crate::job::{Job, JobOptions};
use crate::recorder::Recorder;
use crate::settings::FabricSettings;
use crate::variables::FabricInstruments;
use crate::{host, os, remote};

/// What a started process was told by the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Descriptor of the job memory, inherited. `attach` takes it over.
    pub fd: RawFd,
    /// Number of the job, to tell its memory from something else that has the same descriptor.
    pub job_id: u64,
    /// This process's rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Number of this process's program among those of the job, from 0.
    pub appnum: u32,
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
        // SAFETY: just seen to be open, and nobody else in this process knows it to close it.
        let job = Job::open(unsafe { BorrowedFd::borrow_raw(wireup.fd) })?;
        if job.id() != wireup.job_id || job.ranks() != wireup.size || wireup.rank >= wireup.size {
            return Err(fault::foreign(format!(
                "the launcher said rank {} of {}, but the job memory on descriptor {} belongs to another job",
                wireup.rank, wireup.size, wireup.fd
            )));
        }
        // SAFETY: it is the job's memory, handed down for this alone, and mapped by now.
        drop(unsafe { OwnedFd::from_raw_fd(wireup.fd) });
        remote::permit(job.launcher_pid());
        Endpoint::enter(Arc::new(job), wireup.rank, settings)
    }

    /// A world of one rank, with the initial settings.
    pub fn world_of_one() -> Result<Endpoint> {
        Endpoint::alone(FabricSettings::new())
    }

    /// A world of one rank, for a process that no launcher started. The settings are those of this endpoint alone.
    pub fn alone(settings: &'static FabricSettings) -> Result<Endpoint> {
        let job = Job::create(&JobOptions { ranks: 1, ring_bytes: settings.ring_length(), cores: 1 })?;
        Endpoint::enter(Arc::new(job), 0, settings)
    }

    /// A job whose ranks are threads of this process: one endpoint per rank, in order.
    pub fn threads(n: u32) -> Result<Vec<Endpoint>> {
        let job = Job::create(&JobOptions { ranks: n, ring_bytes: None, cores: host::usable_cores() })?;
        let job = Arc::new(job);
        (0..n).map(|rank| Endpoint::enter(job.clone(), rank, FabricSettings::new())).collect()
    }

    fn enter(job: Arc<Job>, rank: u32, settings: &'static FabricSettings) -> Result<Endpoint> {
        let block = job.block(rank);
        if !block.claim() {
            return Err(fault::foreign(format!(
                "rank {rank} of this job is already process {}; a program that mpiexec started can initialise MPI in one \
                 process only (a child process that is to be an MPI job of its own needs FERRUM_JOB_FD unset)",
                block.pid().load(Ordering::Relaxed)
            )));
        }
        let fenced = os::membarrier_register();
        let probe = Box::new(job.id() ^ u64::from(rank));
        block.pid().store(std::process::id(), Ordering::Relaxed);
        block.probe_value().store(*probe, Ordering::Relaxed);
        // Release pairs with the Acquire in `Output::can_copy`.
        block.probe_address().store(std::ptr::from_ref(&*probe) as u64, Ordering::Release);
        let ranks = job.ranks();
        let outputs: Box<[Output]> = (0..ranks).map(|to| Output::new(&job, rank, to)).collect();
        let policy = Arc::new(WaitPolicy::for_job(ranks, job.cores()));
        let block_at = job.layout().block_at(rank);
        let instruments = Arc::new(JobInstruments::new(&job, rank));
        let variables: &'static FabricInstruments = mpi_t::place(&*instruments, "");
        variables.ring_size.set(job.layout().ring_bytes() as u64);
        variables.ring_room.follow(job.layout().ring_bytes() as u64);
        variables.job_memory.set(job.layout().total_bytes() as u64);
        let recorder = Recorder::new(job.mapping().clone(), block_at);
        settings.recorder_depth.govern(recorder.clone());
        settings.ring_bytes.set(job.ring_bytes() as u64);
        Ok(Endpoint {
            rank,
            fenced,
            max_payload: outputs[0].ring.max_payload(),
            outputs,
            inputs: Vec::new(),
            input_of: vec![u32::MAX; ranks as usize].into(),
            connected: Connections::new(job.block(rank), ranks),
            known: vec![0; ranks.div_ceil(64) as usize].into(),
            doorbell: Doorbell::new(job.mapping().clone(), block_at, policy, variables),
            recorder,
            instruments,
            variables,
            rings: mpi_t::place_rows(ranks as usize),
            settings,
            job,
            _probe: probe,
        })
    }
}
