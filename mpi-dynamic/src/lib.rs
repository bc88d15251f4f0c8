//! Processes of different jobs (MPI-5.0, chapter 11): ports, intercommunicators whose leaders have a socket, published
//! names.
//!
//! - `port`: a place where a process waits for others, with a name for them. `dial`: the other end.
//! - `network_port`: the part of a port that processes on other hosts reach.
//! - `over`: the intercommunicator of two groups whose roots have a connected socket.
//! - `names`: published names; `names_folder`: those that other hosts find.
//! - [`fuzzed`]: the readers, for fuzz targets.
//! - `words`: words over a socket. `wait`: waiting for a socket while messages move on. `user`: who this process belongs to.
//!
//! Invariant: the socket carries the handshake only; after it, and after an error that both ends agree on, nothing is
//! under way there.
//! Not here: routes between processes of several jobs, context ids (`mpi-comm`); starting processes (`mpi-launch`);
//! handles (`mpi-env`).
#![allow(unsafe_code)] // system calls on sockets; each block states the facts that make it sound

mod dial;
#[doc(hidden)]
pub mod fuzzed;
mod names;
mod names_folder;
mod network_port;
mod over;
mod port;
mod user;
mod wait;
mod words;

pub use dial::dial;
pub use names::{PublishedNames, look_up};
pub use over::{connect_over, join_over};
pub use port::{Port, Reach, reach_of};
