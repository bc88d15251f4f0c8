//! The address of the one record of the C interface, which calls read with one load.
//!
//! Invariant: `RECORD` holds the address once the record is created. `RUNNING` holds it while the library has a user:
//! from `MPI_Init` to `MPI_Finalize`, and while a session exists. Both are null in a child of `fork`, which is not part
//! of the job. A published record is never moved or dropped.
//! Not here: creation of the record (`global`).
#![allow(unsafe_code)] // dereferences the record's address after one load, for the message path

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};

use crate::record::process::{Life, Process};

static RECORD: AtomicPtr<Process> = AtomicPtr::new(null_mut());
static RUNNING: AtomicPtr<Process> = AtomicPtr::new(null_mut());
/// In a child of `fork`, the error handler that `MPI_COMM_WORLD` had in its parent; else 0.
static PARENTS_ERRHANDLER: AtomicUsize = AtomicUsize::new(0);

/// The process record, if a call that initialises the library has created it. Joins no job; thread-safe and
/// async-signal-safe.
#[inline]
pub fn joined() -> Option<&'static Process> {
    // Acquire pairs with the Release in `publish`.
    let record = RECORD.load(Ordering::Acquire);
    // SAFETY: the only address other than null comes from `publish`: that of a record that is never dropped.
    if record.is_null() { None } else { Some(unsafe { &*record }) }
}

/// Publishes the record, which is never moved or dropped.
pub(super) fn publish(process: &'static Process) {
    // Release pairs with the Acquire in `joined`.
    RECORD.store(std::ptr::from_ref(process).cast_mut(), Ordering::Release);
}

/// Runs in a child of `fork`, before `fork` returns: removes the record for all calls. Async-signal-safe.
pub(super) extern "C" fn in_child() {
    if let Some(process) = joined() {
        PARENTS_ERRHANDLER.store(process.world.errhandler().get().0, Ordering::Relaxed);
        RECORD.store(null_mut(), Ordering::Relaxed);
        RUNNING.store(null_mut(), Ordering::Relaxed);
        mpi_t::disable_handles();
    }
}

/// The error of all calls in a child of `fork`; `None` in any other process. Thread-safe and async-signal-safe.
#[inline]
pub fn forked() -> Option<Error> {
    if PARENTS_ERRHANDLER.load(Ordering::Relaxed) == 0 { None } else { Some(forked_error()) }
}

#[cold]
fn forked_error() -> Error {
    let rule = "this process was forked from a process of an MPI job and is no part of the job: it can execute another \
                program, and cannot use MPI";
    Error::new(MPI_ERR_OTHER, rule)
}

/// In a child of `fork`, the error handler that `MPI_COMM_WORLD` had in its parent.
pub(crate) fn parents_errhandler() -> Option<Handle> {
    match PARENTS_ERRHANDLER.load(Ordering::Relaxed) {
        0 => None,
        word => Some(Handle(word)),
    }
}

/// The process, while MPI is initialised and not finalised, or a session exists. Every call that needs a running
/// library uses it.
/// Thread-safe and async-signal-safe. Errors: `MPI_ERR_OTHER`, with a text that distinguishes before initialisation,
/// after finalisation, and a child of `fork`.
#[inline]
pub fn running() -> Result<&'static Process> {
    // Acquire pairs with the Release in `announce`.
    let running = RUNNING.load(Ordering::Acquire);
    if running.is_null() {
        return Err(not_running());
    }
    // SAFETY: the only address other than null comes from `announce`: that of a published record, which is never
    // dropped.
    Ok(unsafe { &*running })
}

/// As [`running`], without the cause of an error.
#[inline(always)] // a short way of calls that have a longer one
pub fn running_quickly() -> Option<&'static Process> {
    let running = RUNNING.load(Ordering::Acquire);
    // SAFETY: as in `running`.
    if running.is_null() { None } else { Some(unsafe { &*running }) }
}

#[cold]
fn not_running() -> Error {
    if let Some(error) = forked() {
        return error;
    }
    Error::new(
        MPI_ERR_OTHER,
        if joined().is_some_and(|process| process.life() == Life::Finalised) {
            "MPI_Finalize was called and no session exists; only MPI_Session_init and the tool interface can be used now"
        } else {
            "MPI is not initialized; call MPI_Init, MPI_Init_thread or MPI_Session_init first"
        },
    )
}

/// Marks the C interface's process as running; does nothing for any other process. Called with the process lock held
/// when the process gets its first user.
pub(crate) fn announce(process: &Process) {
    if joined().is_some_and(|one| std::ptr::eq(one, process)) {
        // Release pairs with the Acquire in `running`.
        RUNNING.store(std::ptr::from_ref(process).cast_mut(), Ordering::Release);
    }
}

/// Ends what [`announce`] began. Called with the process lock held when the process has lost its last user.
pub(crate) fn renounce(process: &Process) {
    let _ = RUNNING.compare_exchange(
        std::ptr::from_ref(process).cast_mut(),
        null_mut(),
        Ordering::AcqRel,
        Ordering::Relaxed,
    );
}
