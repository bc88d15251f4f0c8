//! Control and performance variables and events, for tools written in Rust (MPI-5.0, chapter 15): [`mpi_t`]'s
//! [`Variables`], opened on the library's own registry.
//!
//! A program adds variables and events of its own to [`Variables::registry`], declared as [`mpi_t`] shows; tools see
//! them beside the library's. A block placed in the memory of the job (`mpi::env::running()?.instrument_memory()`) is
//! in the table of `stats_at_end` too, one on the heap is not.
//!
//! ```no_run
//! use mpi::tool::{self, PvarClass};
//!
//! let variables = tool::open()?;
//! mpi::run(|world| {
//!     let sent = variables.pvar_of::<u64>("p2p_messages_sent", PvarClass::Counter, world.handle())?;
//!     world.process(0).send(&[1u8], 0)?;
//!     println!("{} messages sent", sent.read()?);
//!     world.process(0).receive::<u8>(0).map(drop)
//! });
//! # Ok::<(), mpi::Error>(())
//! ```
//!
//! All functions work before MPI is initialized, while it is, and after it is finalized, from any thread.
//! Not here: the variables (the crates that keep them declare them), the tool interface itself (mpi-t).

pub use mpi_t::{
    Bind, Cvar, CvarEntry, EventInstance, EventRegistration, Pvar, PvarClass, PvarEntry, PvarHandle, PvarInfo,
    Registry, Safety, TError, TResult, Value, VariableType, Variables,
};

use crate::Result;

/// Opens the tool interface of the library. Errors: when the launcher's facts are not usable, or memory is exhausted.
pub fn open() -> Result<Variables<'static>> {
    let process = mpi_env::join_job().map_err(|error| error.call("mpi::tool::open"))?;
    Variables::open(&process.registry).map_err(|error| mpi_errors::Error::from(error).call("mpi::tool::open"))
}
