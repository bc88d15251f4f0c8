//! Environmental management: start-up and shutdown, the process record, version, processor name, timers
//! (MPI-5.0, chapters 9 and 11).
//!
//! - [`Process`]: the record of one process of a job: engine, collectives, registry of variables, tables of objects.
//! - [`join_job`], [`joined`], [`running`]: the one process record of the C interface. A Rust program may create
//!   its own records with [`Process::new`], one per thread for example.
//! - `process`: initialisation and finalisation, abort, sessions, error reports.
//! - `objects`: the functions that create, look up and free objects, and the objects' error handlers.
//! - `record`: the fields of [`Process`]. It uses `tables` (attributes, names, hints, info objects) and `metrics` (the
//!   variables and events of objects, and the counting allocator [`Heap`]).
//!
//! - [`hardware`]: the packages and cores that the process may run on.
//!
//! Each module uses only those after it in this order: process, objects, record, metrics, tables; all use `hardware`.
//!
//! Invariant: the tool interface works from the first call of any function until the process ends; everything else
//! works only between initialisation and finalisation.
//!
//! ```
//! use mpi_core::abi::MPI_THREAD_FUNNELED;
//!
//! assert_eq!(mpi_env::init(MPI_THREAD_FUNNELED)?, MPI_THREAD_FUNNELED);
//! let process = mpi_env::running()?;
//! println!("rank {} of {} on {}", process.rank(), process.size(), mpi_env::processor_name());
//! process.finalize()?;
//! assert!(mpi_env::is_finalized() && mpi_env::running().is_err());
//! # Ok::<(), mpi_errors::Error>(())
//! ```
//!
//! Not here: argument checks and error routing (`mpi-capi`).

pub mod hardware;
mod metrics;
mod objects;
mod process;
mod record;
mod tables;

pub use metrics::heap::{Heap, HeapInstruments};
pub use metrics::instruments::{DatatypeInstruments, ErrhandlerInstruments, ObjectEvents, ObjectInstruments};
pub use metrics::objects::ObjectMetrics;
pub use metrics::on_demand::{GroupInstruments, OpInstruments, SessionInstruments};
pub use mpi_comm::RemoteSide;
pub use mpi_wireup::spawn_request::SpawnProgram;
pub use objects::connections::PortToUse;
pub use objects::handlers::Object;
pub use objects::lookups::CommRef;
pub use process::abort::{Route, fatal_without_process};
pub use process::failing::report_start_failure;
pub use process::global::{cause_of_absence, codes, init, is_finalized, is_initialized, join_job, size_of_job};
pub use process::identity::{library_version, processor_name, wtick, wtime};
pub use process::info_env;
pub use process::initial_errhandler::{initial_errhandler, initial_errhandler_name, returns_errors_without_process};
pub use process::running::{forked, joined, running, running_quickly};
pub use process::sessions::PSETS;
pub use process::spawning::Spawned;
pub use record::process::{Life, Process};
pub use tables::attributes::{Attribute, AttributeValue, Attributes, Holder, KeyName, Keyval};
pub use tables::fortran_abi;
pub use tables::freed::Freed;
pub use tables::infos;
pub use tables::memory::Blocks;
pub use tables::names_and_hints::NamesAndHints;
pub use tables::session::Session;
