//! How a started process joins its job.
//!
//! - [`from_environment`] finds the place of this process: in a job of our `mpiexec`, in a job that another launcher
//!   started, or in a world of one.
//! - [`other_launchers`]: the environment variables of other launchers.
//! - [`rendezvous`], [`host_info`]: how processes that another launcher started come to share one job memory.
//! - [`launcher`]: the common interface of PMI-1 and PMIx; [`pmi`], [`pmix`]: the two.
//! - [`Directory`]: the addresses of ranks that a network connects.
//! - [`spawn_request`], [`Spawner`]: starting further processes.
//! - [`Manager`]: the connection to another launcher from start to end.
//!
//! Invariant: a process that some launcher started as one of several never becomes a world of its own in silence.
//! Not here: starting processes (`mpi-launch`), the process after start-up (`mpi-env`).

mod directory;
mod environment;
mod error;
pub mod host_info;
mod hosts;
pub mod launcher;
mod manager;
pub mod other_launchers;
pub mod pmi;
pub mod pmix;
pub mod rendezvous;
mod sentence;
pub mod spawn_request;
mod spawner;
mod time_limit;
mod tree;
mod waiting;

pub use directory::Directory;
pub use environment::{
    APPNUM, DEBUGGER_GATE, HOST_RANKS, HOSTS, INFO_ENV_VARIABLES, INITIAL_ERRHANDLER, JOB_FD, JOB_ID, Joined, MANAGER,
    NET_SECRET, PROXY, RANK, RESERVED, SIZE, Started, from_environment, from_variables, is_reserved, to_variables,
};
pub use error::WireupError;
pub use hosts::{OverHosts, random_bits};
pub use manager::Manager;
pub use spawn_request::PARENT;
pub use spawner::{MPIEXEC, SERVE_SPAWN, SpawnedJob, Spawner};
pub use time_limit::LAUNCHER_TIMEOUT;
pub use time_limit::of_launcher as launcher_time_limit;
