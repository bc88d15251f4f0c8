//! `mpiexec`, and the wire-up that a started process speaks.
//!
//! - [`wireup`]: how a process learns its rank, the number of ranks and the job memory from its environment.
//! - [`manager`]: its connection to the launcher, when that is not ours.
//! - [`pmi`], [`pmix`]: what other launchers, and other libraries' processes, speak; [`exchange`]: what both can do.
//! - [`variables`], [`error_settings`]: what can be set, by file, environment and `mpiexec`. [`settings`]: of other launchers.
//! - [`statistics`]: what is told of the ranks when a job ends.
//! - [`calls`]: recorded calls in words.
//! - [`args`]: the command line of `mpiexec`.
//! - [`mpiexec`]: starting the ranks, forwarding their streams and signals, and ending all of them in every case.
//!
//! Invariant: when `mpiexec` ends, in whatever way, no process of the job is left and nothing with a name remains.
//! Not here: the job memory's layout (`mpi-fabric`).

pub mod args;
pub mod calls;
pub mod error_settings;
pub mod exchange;
pub mod manager;
pub mod mpiexec;
pub mod pmi;
pub mod pmix;
pub mod settings;
pub mod statistics;
pub mod variables;
pub mod wireup;
