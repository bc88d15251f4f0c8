//! `mpiexec`: it starts the processes of a job, forwards their streams and signals, and ends all of them in every case.
//!
//! - [`args`]: the command line.
//! - [`mpiexec`]: running a job.
//! - [`catalog`], [`variables`]: the variables of the processes, by which values are checked before anything starts.
//! - [`pmi_server`]: PMI-1 for programs of other MPI libraries.
//!
//! Invariant: when `mpiexec` ends, in whatever way, no process of the job is left and nothing with a name remains.
//! Not here: how a started process joins its job (`mpi-wireup`), the job memory (`mpi-fabric`).

pub mod args;
pub mod catalog;
#[rustfmt::skip]
mod generated;
pub mod mpiexec;
pub mod pmi_server;
pub mod variables;

pub use generated::CATALOG;
