//! Seeing a job from outside: what its ranks do, and what they have counted, read from the job memory.
//!
//! - [`job_list`]: the jobs of this user that run on this host, and the one that a word names.
//! - [`JobView`]: a job as a reader sees it. [`OpenJob`]: the memory of a running one, opened for reading.
//! - [`sample`]: facts and counts of all ranks at one moment, and rates between two moments.
//! - [`summary`]: what a job has done, in few numbers.
//! - [`process`]: what the system reports of a process.
//! - [`queues`]: communicators and message queues in the memory of a process.
//! - [`hang`]: why a job makes no progress: who waits for whom.
//! - [`traffic`]: who has sent how much to whom, sizes of messages, greatest lengths of queues.
//! - [`timeline`]: the last calls with their times, as a file of a trace.
//! - [`words`]: ranks and amounts as text.
//!
//! Invariant: everything in the job memory is input. Whatever it contains, a reader gets an error or wrong numbers, and
//! never crashes, waits or writes. Not here: the format (`mpi-fabric`, `FORMAT.md`), screens and files (`mpi-top`,
//! `mpi-launch`).

pub mod hang;
pub mod job_list;
mod measure;
pub mod origin;
pub mod process;
pub mod queues;
pub mod sample;
pub mod summary;
pub mod timeline;
pub mod traffic;
mod view;
pub mod words;

pub use view::{JobView, OpenJob};
