//! The one process of the C interface.
//!
//! Invariant: the record, once made, is never moved or dropped; `RUNNING` names it exactly while somebody uses the
//! library: from `MPI_Init` to `MPI_Finalize`, and while a session lives.
#![allow(unsafe_code)] // one load of the process's address is what the message path can afford

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Once, OnceLock};

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_fabric::Job;

use crate::life::Life;
use crate::process::Process;

static PROCESS: OnceLock<std::result::Result<Process, StartFailure>> = OnceLock::new();
static RUNNING: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Why there is no process; told to everybody who asks.
pub struct StartFailure {
    class: i32,
    pub(crate) text: String,
    /// The job that the process is in, and its rank there, where it got so far.
    pub(crate) job: Option<(Arc<Job>, u32)>,
}

impl From<Error> for StartFailure {
    fn from(error: Error) -> StartFailure {
        StartFailure { class: error.class(), text: error.to_string(), job: None }
    }
}

impl StartFailure {
    pub(crate) fn in_job(error: Error, job: Arc<Job>, rank: u32) -> StartFailure {
        StartFailure { job: Some((job, rank)), ..StartFailure::from(error) }
    }
}

/// The failure, where making the process has failed.
pub(crate) fn start_failure() -> Option<&'static StartFailure> {
    PROCESS.get().and_then(|made| made.as_ref().err())
}

/// The process, made at the first call: attached to its job, its variables registered, MPI not yet initialised.
/// Thread-safe. Errors: `MPI_ERR_OTHER` when the launcher's facts are not usable; the same at each call.
#[inline]
pub fn process() -> Result<&'static Process> {
    match PROCESS.get() {
        Some(Ok(process)) => Ok(process),
        _ => make(),
    }
}

#[cold]
fn make() -> Result<&'static Process> {
    let made = PROCESS.get_or_init(Process::from_environment);
    if made.as_ref().is_ok_and(|process| process.manager.is_some()) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: a function of this library, which C calls while the library is loaded.
            unsafe { libc::atexit(at_exit) };
        });
    }
    made.as_ref().map_err(|failure| Error::new(failure.class, failure.text.clone()))
}

/// A program that used the tool interface only has joined its job all the same.
extern "C" fn at_exit() {
    if let Some(Ok(process)) = PROCESS.get() {
        process.part_from_launcher();
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
    // SAFETY: only `announce` stores another address than null: that of the record in `PROCESS`, which is initialised
    // and stays where it is for ever.
    Ok(unsafe { &*running })
}

#[cold]
fn not_running() -> Error {
    Error::new(
        MPI_ERR_OTHER,
        if is_finalized() {
            "MPI_Finalize was called and no session lives; only the tool interface can be used, and MPI_Session_init"
        } else {
            "MPI is not initialized; call MPI_Init, MPI_Init_thread or MPI_Session_init first"
        },
    )
}

/// `MPI_Init_thread` of the one process; returns the thread level provided. Errors: as [`process`] and
/// [`Process::init`].
pub fn init(required: i32) -> Result<i32> {
    process()?.init(required)
}

/// Called when a process gets its first user, with its lock held: if it is the one process of the C interface, that is
/// running now.
pub(crate) fn announce(process: &Process) {
    if let Some(Ok(one)) = PROCESS.get()
        && std::ptr::eq(one, process)
    {
        // Release pairs with the Acquire in `running`.
        RUNNING.store(std::ptr::from_ref(one).cast_mut(), Ordering::Release);
    }
}

/// Called when a process has lost its last user, with its lock held.
pub(crate) fn renounce(process: &Process) {
    let _ = RUNNING.compare_exchange(
        std::ptr::from_ref(process).cast_mut(),
        std::ptr::null_mut(),
        Ordering::AcqRel,
        Ordering::Relaxed,
    );
}

fn life() -> Life {
    match PROCESS.get() {
        Some(Ok(process)) => process.life(),
        _ => Life::New,
    }
}

/// `MPI_Initialized`: whether MPI has been initialised, finalised since or not. Thread-safe and async-signal-safe.
pub fn is_initialized() -> bool {
    matches!(life(), Life::Initialised | Life::Finalising | Life::Finalised)
}

/// `MPI_Finalized`. Thread-safe and async-signal-safe.
pub fn is_finalized() -> bool {
    life() == Life::Finalised
}
