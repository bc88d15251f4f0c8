//! Creation of the one process record of the C interface.
//!
//! Only calls that initialise the library join the process's job ([`join_job`]); all other calls use the record that
//! such a call has created.
//! Invariant: once created, the record is never moved or dropped.
//! Not here: access to the record (`running`), creation of its parts (`start`).
#![allow(unsafe_code)] // registers functions that C calls at process exit and in a child of `fork`

use std::sync::{Arc, LazyLock, Once, OnceLock};

use mpi_errors::{Error, ErrorCodes, Result};
use mpi_wireup::Started;
use mpi_wireup::other_launchers::OtherLauncher;

use crate::process::running::{forked, in_child, joined, publish};
use crate::process::start::{self, StartFailure};
use crate::process::tool_failure;
use crate::record::process::{Life, Process};
use mpi_core::clock;

static PROCESS: OnceLock<std::result::Result<Box<Process>, StartFailure>> = OnceLock::new();

/// The failure, if creating the process record has failed.
pub(crate) fn start_failure() -> Option<&'static StartFailure> {
    PROCESS.get().and_then(|made| made.as_ref().err())
}

/// The process record. The first call creates it: attached to its job, with its variables registered, MPI not
/// initialised. For calls that initialise the library. Thread-safe. Errors: `MPI_ERR_OTHER` if the launcher's
/// environment is not usable, the same at each call, and in a child of `fork`.
#[inline]
pub fn join_job() -> Result<&'static Process> {
    match joined() {
        Some(process) => Ok(process),
        None => make(),
    }
}

#[cold]
fn make() -> Result<&'static Process> {
    if let Some(error) = forked() {
        return Err(error);
    }
    let process =
        PROCESS.get_or_init(|| start::from_environment(codes().clone())).as_ref().map_err(StartFailure::error)?;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tool_failure::begin(process.errors, process.rank());
        clock::find();
        // SAFETY: C calls these functions of this library while the library is loaded. If there is no memory to
        // register the first one, a child of `fork` uses its parent's record.
        unsafe {
            pthread_atfork(None, None, Some(in_child));
            if process.manager.is_some() || process.directory.is_some() {
                libc::atexit(at_exit);
            }
        }
        publish(process);
    });
    Ok(process)
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> libc::c_int;
}

/// The error codes of the process; usable at any time.
#[inline]
pub fn codes() -> &'static Arc<ErrorCodes> {
    static CODES: LazyLock<Arc<ErrorCodes>> = LazyLock::new(Arc::default);
    &CODES
}

/// Finalises the launcher's connection of a program that used only the tool interface: it has joined its job, too. Closes
/// that of a process which has not finalised MPI.
extern "C" fn at_exit() {
    if let Some(process) = joined() {
        process.part_from_launcher(true);
        process.leave_launcher();
    }
}

/// The reason why no process record exists: the process is a child of `fork`, or creating the record failed; `None` if
/// no call has initialised the library.
pub fn cause_of_absence() -> Option<Error> {
    forked().or_else(|| start_failure().map(StartFailure::error))
}

/// Number of processes of the job that this process is in or would join; `None` if that is not known without joining
/// it.
pub fn size_of_job() -> Option<u32> {
    if let Some(process) = joined() {
        return Some(process.size());
    }
    match mpi_wireup::from_variables(&|name| std::env::var_os(name)).ok()? {
        Started::Alone => Some(1),
        Started::Ours(place) => Some(place.size),
        Started::OtherLauncher(OtherLauncher::Descriptor { size, .. }) => Some(size),
        Started::OtherLauncher(_) => None,
    }
}

/// `MPI_Init_thread` of the one process; returns the thread level provided. Errors: as [`join_job`] and
/// [`Process::init`].
pub fn init(required: i32) -> Result<i32> {
    join_job()?.init(required)
}

fn life() -> Life {
    joined().map_or(Life::New, Process::life)
}

/// `MPI_Initialized`: whether MPI has been initialised, finalised since or not. Thread-safe and async-signal-safe.
pub fn is_initialized() -> bool {
    matches!(life(), Life::Initialised | Life::Finalising | Life::Finalised)
}

/// `MPI_Finalized`. Thread-safe and async-signal-safe.
pub fn is_finalized() -> bool {
    life() == Life::Finalised
}
