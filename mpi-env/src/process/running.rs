//! The addresses of the one record of the C interface, for calls that find it by one load.
//!
//! Invariant: `RECORD` holds the address from when the record is made, and `RUNNING` while the library has a user: from
//! `MPI_Init` to `MPI_Finalize`, and while a session lives. In a child of `fork`, which is no part of the job, both are
//! null. A record that was published is never moved or dropped.
//! Not here: making the record (`global`).
#![allow(unsafe_code)] // the address of the record is read by one load, as the message path needs it

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

/// The process's record, if a call that starts the library has made it. Joins no job; thread-safe and
/// async-signal-safe.
#[inline]
pub fn joined() -> Option<&'static Process> {
    // Acquire pairs with the Release in `publish`.
    let record = RECORD.load(Ordering::Acquire);
    // SAFETY: only `publish` stores another address than null: that of a record that lives for ever.
    if record.is_null() { None } else { Some(unsafe { &*record }) }
}

/// The record is made; it stays where it is for ever.
pub(super) fn publish(process: &'static Process) {
    // Release pairs with the Acquire in `joined`.
    RECORD.store(std::ptr::from_ref(process).cast_mut(), Ordering::Release);
}

/// Runs in a child of `fork`, before `fork` returns: takes the record away from all calls. Async-signal-safe.
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

/// The process, while MPI is initialised and not finalised or a session lives; what every other call of the standard
/// needs.
/// Thread-safe and async-signal-safe. Errors: `MPI_ERR_OTHER` that says which of the two it is.
#[inline]
pub fn running() -> Result<&'static Process> {
    // Acquire pairs with the Release in `announce`.
    let running = RUNNING.load(Ordering::Acquire);
    if running.is_null() {
        return Err(not_running());
    }
    // SAFETY: only `announce` stores another address than null: that of a record that was published, which lives for
    // ever.
    Ok(unsafe { &*running })
}

#[cold]
fn not_running() -> Error {
    if let Some(error) = forked() {
        return error;
    }
    Error::new(
        MPI_ERR_OTHER,
        if joined().is_some_and(|process| process.life() == Life::Finalised) {
            "MPI_Finalize was called and no session lives; only the tool interface can be used, and MPI_Session_init"
        } else {
            "MPI is not initialized; call MPI_Init, MPI_Init_thread or MPI_Session_init first"
        },
    )
}

/// Called when a process gets its first user, with its lock held: if it is the one process of the C interface, that is
/// running now.
pub(crate) fn announce(process: &Process) {
    if joined().is_some_and(|one| std::ptr::eq(one, process)) {
        // Release pairs with the Acquire in `running`.
        RUNNING.store(std::ptr::from_ref(process).cast_mut(), Ordering::Release);
    }
}

/// Called when a process has lost its last user, with its lock held.
pub(crate) fn renounce(process: &Process) {
    let _ = RUNNING.compare_exchange(
        std::ptr::from_ref(process).cast_mut(),
        null_mut(),
        Ordering::AcqRel,
        Ordering::Relaxed,
    );
}
