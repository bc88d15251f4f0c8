//! What a key requests of the live view, beyond what the screen that got it has done.

use mpi_observe::job_list::FoundJob;

/// What a key requests.
pub enum Request {
    /// Nothing more.
    None,
    /// The list of jobs.
    Jobs,
    /// The ranks of a job.
    Ranks(Box<FoundJob>),
}
