//! Environmental management: start-up and shutdown, the process record, version, processor name, timers
//! (MPI-5.0, chapters 9 and 11).
//!
//! - [`Process`]: all that one process of a job owns: engine, collectives, registry of variables, tables of objects.
//! - [`join_job`], [`joined`], [`running`]: the one process of the C interface; a Rust program may make its own with
//!   [`Process::new`], several as threads.
//! - `life`: initialisation, thread levels, finalisation. `abort`: ending the job.
//! - `sessions`: uses of the library beside the world model, process sets.
//! - `objects`: handles of communicators, datatypes and operations. `files`: of files. `comms`, `late`: making
//!   communicators of others.
//! - `windows`: handles of windows, making and ending them.
//! - [`Attributes`], [`NamesAndHints`]: what programs hang on objects. [`Blocks`]: memory that they allocate.
//! - `handlers`, `callees`: which object has which error handler. `failing`: how errors are told. [`Freed`]: who freed
//!   a handle.
//! - [`hardware`]: which parts of the host the process may run on.
//! - [`ObjectMetrics`]: what the objects tell of themselves. `asked`: what single ones tell once somebody asks,
//!   `predefined_uses` how often predefined datatypes are used then. `derived`: what is derived from sessions.
//! - [`Heap`]: the C library's allocator, which counts what the library holds.
//! - [`infos`]: handles of info objects.
//! - `identity`: versions, the processor's name, time. `variables`: the registry of what every crate declares.
//!
//! Invariant: the tool interface works from the first call of anything until the process ends; everything else only
//! between initialisation and finalisation.
//! Not here: argument checks and error routing (`mpi-capi`).

mod abort;
mod attributes;
mod blocks;
mod comms;
mod derived;
mod errhandler_cache;
mod error_settings;
mod failing;
mod files;
mod freed;
mod global;
mod handlers;
pub mod hardware;
mod heap;
mod identity;
mod idup;
pub mod infos;
mod life;
mod memory;
mod names_and_hints;
mod object_metrics;
mod objects;
mod on_demand;
mod predefined_uses;
mod process;
mod sessions;
mod tool_failure;
mod variables;
mod windows;

pub use abort::{Route, fatal_without_process};
pub use attributes::{Attribute, Attributes, Holder, Keyval};
pub use failing::{initial_errhandler, initial_errhandler_name, report_start_failure, returns_errors_without_process};
pub use freed::Freed;
pub use global::{cause_of_absence, codes, forked, init, is_finalized, is_initialized, join_job, joined, running};
pub use handlers::Object;
pub use heap::{Heap, HeapInstruments};
pub use identity::{library_version, processor_name, wtick, wtime};
pub use life::Life;
pub use memory::Blocks;
pub use names_and_hints::NamesAndHints;
pub use object_metrics::{DatatypeInstruments, ErrhandlerInstruments, ObjectEvents, ObjectInstruments, ObjectMetrics};
pub use objects::CommRef;
pub use on_demand::{GroupInstruments, OpInstruments, SessionInstruments};
pub use process::Process;
pub use sessions::{PSETS, Session};
