//! PMI-1, the protocol that Hydra, Flux and Slurm's `pmi2` serve to MPI libraries: lines of `key=value` over a
//! connection that a launcher passes to its processes.
//!
//! - [`wire`]: the lines themselves.
//! - [`client`]: a process of this library under another launcher.
//! - [`spawn`]: the request to start further processes.
//!
//! Invariant: data of the other side are input; a bad line is an error that quotes it, and never a crash.
//! Not here: detection of the launcher (`environment`), the values that processes exchange (`rendezvous`), the server
//! of `mpiexec` (`mpi-launch`).

pub mod client;
pub(crate) mod connection;
pub mod spawn;

pub mod wire;
