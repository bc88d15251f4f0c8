//! Processes of different jobs (MPI-5.0, chapter 11).
//!
//! - [`PublishedNames`]: names of services and their ports.

mod names;

pub use names::{PublishedNames, look_up};
