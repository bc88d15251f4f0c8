//! Code that all entry points share: entering the library, and passing errors to error handlers.
//!
//! Invariant: an entry point returns `MPI_SUCCESS`, or an error code after its error handler has returned; no panic and
//! no NULL pointer crosses it.

use core::ffi::c_int;

use mpi_core::handle::FIRST_DYNAMIC;
use mpi_core::{Handle, abi};
use mpi_env::Object;

use crate::call_context::{CallContext, LocklessContext};
use crate::errors::{self, Outcome};

/// Runs a call that needs the library between initialisation and finalisation. An error of the call goes to the error
/// handler of `object`.
#[inline]
pub fn running(function: u16, object: Option<Object>, body: impl FnOnce(CallContext) -> Outcome) -> c_int {
    let outcome = match CallContext::new() {
        Ok(cx) => body(cx),
        Err(error) => Err(error.into()),
    };
    finished(function, object, outcome)
}

/// Ends a call as [`running`] does.
#[inline]
pub fn finished(function: u16, object: Option<Object>, outcome: Outcome) -> c_int {
    match outcome {
        Ok(()) if !mpi_t::any_callback_registered() => abi::MPI_SUCCESS,
        outcome => ended(function, object, outcome),
    }
}

/// Runs a call that needs the library running but not the process lock, because it only reads constant data or data
/// with its own lock. `object` as in [`running`].
#[inline]
pub fn lockless(function: u16, object: Option<Object>, body: impl FnOnce(LocklessContext) -> Outcome) -> c_int {
    let outcome = match LocklessContext::new() {
        Ok(cx) => body(cx),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => abi::MPI_SUCCESS,
        outcome => ended(function, object, outcome),
    }
}

/// Ends a call that failed, or that has event callbacks to run. No lock is held here, so callbacks may call any
/// function.
#[cold]
#[inline(never)]
fn ended(function: u16, object: Option<Object>, outcome: Outcome) -> c_int {
    if mpi_t::any_callback_registered()
        && let Some(process) = mpi_env::joined()
    {
        process.registry.deliver_events();
    }
    match outcome {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, object, raised),
    }
}

/// Runs a call that is allowed at any time; `object` as in [`running`].
#[inline]
pub fn anytime(function: u16, object: Option<Object>, body: impl FnOnce() -> Outcome) -> c_int {
    match body() {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, object, raised),
    }
}

/// Runs a call that may free the handle at `address`. Records the function that freed the handle, for errors of later
/// calls that use it.
#[inline]
pub fn freeing(function: u16, address: *const usize, call: impl FnOnce() -> c_int) -> c_int {
    let word = at(address);
    let code = call();
    if word >= FIRST_DYNAMIC
        && at(address) != word
        && let Some(process) = mpi_env::joined()
    {
        process.freed.record(Handle(word), function);
    }
    code
}

/// The handle word that an argument points to; 0 if the argument is NULL. For calls that free the object: their error
/// goes to the error handler of the object that the word named before the call.
#[inline]
pub fn at(address: *const usize) -> usize {
    if address.is_null() {
        return 0;
    }
    // SAFETY: the program passed the address of a handle, which the call reads anyway.
    unsafe { address.read_unaligned() }
}
