//! The process record that the C functions and the Rust facade share: the library's one static.
//!
//! Invariant: `RUNNING` is null, or points to the record in `PROCESS`, which is never dropped.
#![allow(unsafe_code)] // a pointer to a static, read once per call

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

use crate::lifecycle::Phase;
use crate::process::Process;

static PROCESS: OnceLock<Result<Process>> = OnceLock::new();
static RUNNING: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// The process record, made at the first call: attaches to the job, or makes a world of one.
///
/// Thread-safe. Errors: what the launcher handed down is invalid, or a launcher is there that this library cannot
/// speak with; every later call gives the same error.
pub fn process() -> Result<&'static Process> {
    match PROCESS.get_or_init(Process::from_environment) {
        Ok(process) => Ok(process),
        Err(error) => Err(Error::new(error.class(), error.message().to_owned())),
    }
}

/// The process record, between initialisation and finalisation.
///
/// Thread-safe; one load. Errors: `MPI_ERR_OTHER` before and after.
#[inline]
pub fn running() -> Result<&'static Process> {
    let process = RUNNING.load(Ordering::Acquire); // pairs with the Release in `set_running`
    if process.is_null() {
        return Err(not_running());
    }
    // SAFETY: a non-null pointer leads to the record in `PROCESS`, which lives as long as the program.
    Ok(unsafe { &*process })
}

/// Makes the record the running one, or, with none, ends its time.
pub(crate) fn set_running(process: Option<&'static Process>) {
    let pointer = process.map_or(std::ptr::null_mut(), |process| std::ptr::from_ref(process).cast_mut());
    RUNNING.store(pointer, Ordering::Release); // pairs with the Acquire in `running`
}

#[cold]
fn not_running() -> Error {
    let phase = match PROCESS.get() {
        Some(Ok(process)) => process.phase(),
        _ => Phase::NotInitialised,
    };
    Error::new(
        MPI_ERR_OTHER,
        match phase {
            Phase::Finalised => "MPI was finalised before this call",
            _ => "MPI is not initialised; call MPI_Init first",
        },
    )
}
