//! Environmental management: the process record, start and end, inquiry, timers (MPI-4.1, chapters 9 and 11).
//!
//! - [`Process`]: everything one process of a job owns; it exists from the first need (MPI_Init, or the first MPI_T
//!   call) until the process ends.
//! - [`process`], [`running`]: the one static of the library, behind the C functions and the Rust facade.
//! - [`clock`], [`inquiry`]: time, versions, names; they need no process record.
//!
//! Invariant: a `Process` outlives MPI_Finalize, so that instruments can be read to the end.
//! Not here: argument checks and error routing (`mpi-capi`), messages (`mpi-p2p`).

pub mod clock;
mod ending;
mod global;
pub mod inquiry;
mod lifecycle;
mod objects;
mod process;

pub use ending::die;
pub use global::{process, running};
pub use lifecycle::{Phase, ThreadLevel};
pub use process::Process;
