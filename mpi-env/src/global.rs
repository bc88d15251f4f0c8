//! The one process of the C interface.
//!
//! Only calls that start the library join the process's job ([`join_job`]); all others use the record that such a call
//! has made. A child of `fork` is no part of the job: it has no record, and cannot make one.
//! Invariant: the record, once made, is never moved or dropped. `RECORD` holds its address, and `RUNNING` holds it
//! while the library has a user: from `MPI_Init` to `MPI_Finalize`, and while a session lives. In a child of `fork` both
//! are null.
#![allow(unsafe_code)] // the address of the record is read by one load, as the message path needs it

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once, OnceLock};

use mpi_core::Handle;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, ErrorCodes, Result};
use mpi_fabric::Job;

use crate::life::Life;
use crate::process::Process;
use crate::tool_failure;

static PROCESS: OnceLock<std::result::Result<Box<Process>, StartFailure>> = OnceLock::new();
static RECORD: AtomicPtr<Process> = AtomicPtr::new(null_mut());
static RUNNING: AtomicPtr<Process> = AtomicPtr::new(null_mut());
/// In a child of `fork`, the error handler that `MPI_COMM_WORLD` had in its parent; else 0.
static PARENTS_ERRHANDLER: AtomicUsize = AtomicUsize::new(0);

/// Why there is no process; each call reports it.
pub struct StartFailure {
    class: i32,
    pub(crate) text: String,
    /// The job that the process is in, and its rank there, if it got so far.
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

    fn error(&self) -> Error {
        Error::new(self.class, self.text.clone())
    }
}

/// The failure, if making the process has failed.
pub(crate) fn start_failure() -> Option<&'static StartFailure> {
    PROCESS.get().and_then(|made| made.as_ref().err())
}

/// The process's record, if a call that starts the library has made it. Joins no job; thread-safe and
/// async-signal-safe.
#[inline]
pub fn joined() -> Option<&'static Process> {
    // Acquire pairs with the Release in `make`.
    let record = RECORD.load(Ordering::Acquire);
    // SAFETY: only `make` stores another address than null: that of the record in `PROCESS`, which is initialised and
    // stays where it is.
    if record.is_null() { None } else { Some(unsafe { &*record }) }
}

/// The process's record; the first call makes it: attached to its job, its variables registered, MPI not initialised.
/// For calls that start the library. Thread-safe. Errors: `MPI_ERR_OTHER` if the launcher's facts are not usable, the
/// same at each call, and in a child of `fork`.
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
    let process = PROCESS.get_or_init(Process::from_environment).as_ref().map_err(StartFailure::error)?;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tool_failure::begin(process.errors, process.rank());
        // SAFETY: functions of this library, which C calls while the library is loaded. Without memory for the first
        // one, children of `fork` are not told apart from their parent.
        unsafe {
            pthread_atfork(None, None, Some(in_child));
            if process.manager.is_some() {
                libc::atexit(at_exit);
            }
        }
        // Release pairs with the Acquire in `joined`.
        RECORD.store(std::ptr::from_ref::<Process>(process).cast_mut(), Ordering::Release);
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

/// Runs in a child of `fork`, before `fork` returns: takes the record away from all calls. Async-signal-safe.
extern "C" fn in_child() {
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

/// The error codes of the process; usable at any time.
#[inline]
pub fn codes() -> &'static Arc<ErrorCodes> {
    static CODES: LazyLock<Arc<ErrorCodes>> = LazyLock::new(Arc::default);
    &CODES
}

/// A program that used the tool interface only has joined its job all the same.
extern "C" fn at_exit() {
    if let Some(process) = joined() {
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
    // and stays where it is.
    Ok(unsafe { &*running })
}

#[cold]
fn not_running() -> Error {
    if let Some(error) = forked() {
        return error;
    }
    Error::new(
        MPI_ERR_OTHER,
        if is_finalized() {
            "MPI_Finalize was called and no session lives; only the tool interface can be used, and MPI_Session_init"
        } else {
            "MPI is not initialized; call MPI_Init, MPI_Init_thread or MPI_Session_init first"
        },
    )
}

/// Why a call has no process although one is needed: the process is a child of `fork`, or making it has failed; `None`
/// if no call has started the library.
pub fn cause_of_absence() -> Option<Error> {
    forked().or_else(|| start_failure().map(StartFailure::error))
}

/// `MPI_Init_thread` of the one process; returns the thread level provided. Errors: as [`join_job`] and
/// [`Process::init`].
pub fn init(required: i32) -> Result<i32> {
    join_job()?.init(required)
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
