//! A job as a reader sees it.
//!
//! Invariant: nothing here writes to the job memory, whose mapping of a running job permits only reads.
//! Not here: how a job is found (`job_list`).

use mpi_errors::Result;
use mpi_fabric::job::HostRanks;
use mpi_fabric::recorder::{Call, TimedCall};
use mpi_fabric::statistics::{StateName, Table};
use mpi_fabric::{AbortCause, Job, Life, Unfinished};

/// The memory of a running job, opened for reading.
pub struct OpenJob {
    job: Job,
}

impl OpenJob {
    /// Opens the memory that a process has under a descriptor.
    /// # Errors
    /// `MPI_ERR_OTHER` with a sentence: it is not the memory of a job of this release, or belongs to another user.
    pub fn open(pid: u32, descriptor: i32) -> Result<OpenJob> {
        Ok(OpenJob { job: Job::open_for_reading(pid, descriptor)? })
    }

    /// The job as a reader sees it.
    pub fn view(&self) -> JobView<'_> {
        JobView::of(&self.job)
    }
}

impl std::fmt::Debug for OpenJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenJob").field("id", &self.job.id()).field("ranks", &self.job.ranks()).finish()
    }
}

/// A job for readers: that of [`OpenJob`], or the one that this process has made.
#[derive(Clone, Copy)]
pub struct JobView<'a> {
    job: &'a Job,
}

impl<'a> JobView<'a> {
    /// The reader's side of a job memory.
    pub fn of(job: &'a Job) -> JobView<'a> {
        JobView { job }
    }

    /// The job memory, for functions of `mpi-fabric` that read.
    pub(crate) fn job(&self) -> &'a Job {
        self.job
    }

    /// The number of the job, random; never 0 in a correct one.
    pub fn id(&self) -> u64 {
        self.job.id()
    }

    /// Number of ranks, at least 1.
    pub fn ranks(&self) -> u32 {
        self.job.ranks()
    }

    /// Cores that the ranks may use together.
    pub fn cores(&self) -> u32 {
        self.job.cores()
    }

    /// The hosts of a job on several hosts with their ranks, the one of this memory first; empty if all ranks are on one. Ranks in
    /// no list are on further hosts.
    pub fn hosts(&self) -> Vec<HostRanks> {
        self.job.hosts()
    }

    /// Whether a rank runs on another host than that of this memory, which then has nothing of it; `hosts`: those of the job.
    pub fn is_elsewhere(hosts: &[HostRanks], rank: u32) -> bool {
        hosts.first().is_some_and(|own| !own.ranks.contains(&rank))
    }

    /// Process id of the launcher, or of the process that started the ranks.
    pub fn launcher_pid(&self) -> u32 {
        self.job.launcher_pid()
    }

    /// Process id of the `mpiexec` that the user has started for a job on several hosts, if it runs on this host; else 0. Whether that
    /// process is one is not checked.
    pub fn front_pid(&self) -> u32 {
        self.job.front_pid()
    }

    /// The first `MPI_Abort` or fatal error of the whole job: rank, exit code, cause.
    pub fn abort(&self) -> Option<(u32, i32, AbortCause)> {
        self.job.abort()
    }

    /// The code and cause with which a rank has aborted a part of the job. Panics if there is no such rank, as all below.
    pub fn abort_by(&self, rank: u32) -> Option<(i32, AbortCause)> {
        self.job.abort_by(rank)
    }

    /// The state of a rank.
    pub fn life(&self, rank: u32) -> Life {
        self.job.life(rank)
    }

    /// Process id of a rank; 0: no process has attached.
    pub fn pid(&self, rank: u32) -> u32 {
        self.job.pid(rank)
    }

    /// Address of the map of a rank's queues in its memory; 0: it has none.
    pub fn queue_map(&self, rank: u32) -> u64 {
        self.job.queue_map(rank)
    }

    /// The waits that a rank had not ended when its process ended; none of a rank that runs.
    pub fn unfinished_waits(&self, rank: u32) -> Unfinished {
        self.job.unfinished_waits(rank)
    }

    /// Whether the launcher has reported that a rank has ended while the others continue.
    pub fn is_lost(&self, rank: u32) -> bool {
        self.job.is_lost(rank)
    }

    /// Bytes of the job memory that are in use: pages that a process has written, those of windows in the same object included;
    /// windows with a descriptor of their own are not. `None` where the system does not report
    /// them, and for a memory that was opened for reading.
    pub fn bytes_in_use(&self) -> Option<u64> {
        self.job.bytes_in_use()
    }

    /// Whether a rank records its calls.
    pub fn records_calls(&self, rank: u32) -> bool {
        self.job.recorder(rank).depth() > 0
    }

    /// The last calls of a rank, oldest first.
    pub fn calls(&self, rank: u32) -> Vec<Call> {
        self.job.recorder(rank).calls()
    }

    /// The same with the times that were recorded.
    pub fn timed_calls(&self, rank: u32) -> Vec<TimedCall> {
        self.job.recorder(rank).timed_calls()
    }

    /// The call that a rank is in, the innermost if several; else the last one that returned.
    pub fn current_call(&self, rank: u32) -> Option<Call> {
        self.job.recorder(rank).current()
    }

    /// The performance variables of all ranks, as at the end of a job.
    pub fn table(&self, summary: bool, state_name: StateName<'_>) -> Table {
        Table::read(self.job, summary, state_name)
    }

    /// What a rank does, as text without numbers that differ between ranks with the same activity. `is_running`: whether its
    /// process has not ended.
    pub fn activity(&self, rank: u32, is_running: bool) -> String {
        match (is_running, self.current_call(rank), self.life(rank)) {
            (false, ..) => "has ended".into(),
            (_, Some(call), _) if !call.ended => format!("inside {}", call.describe()),
            (_, _, Life::Absent | Life::Attached) => "has not returned from MPI_Init".into(),
            (_, _, Life::Finalised) => "has called MPI_Finalize".into(),
            _ if !self.records_calls(rank) => "runs; its calls are not recorded".into(),
            (_, Some(call), _) => format!("outside MPI, after {}", call.describe()),
            _ => "outside MPI".into(),
        }
    }
}

impl std::fmt::Debug for JobView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobView").field("id", &self.id()).field("ranks", &self.ranks()).finish()
    }
}
