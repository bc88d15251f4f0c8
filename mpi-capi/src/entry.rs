//! What all entry points have in common: entering the library, and passing errors to handlers.
//!
//! Invariant: an entry point returns `MPI_SUCCESS`, or the code that the error handler let through; no panic and no
//! NULL pointer crosses it.

use core::ffi::c_int;

use mpi_core::handle::FIRST_DYNAMIC;
use mpi_core::{Handle, abi};
use mpi_env::Object;

use crate::call_context::{CallContext, LocklessContext};
use crate::errors::{self, Outcome};

/// A call that needs the library between initialisation and finalisation. `object` is the one whose error handler
/// takes an error of this call.
#[inline]
pub fn running(function: u16, object: Option<Object>, body: impl FnOnce(CallContext) -> Outcome) -> c_int {
    let outcome = match CallContext::new() {
        Ok(cx) => body(cx),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) if !mpi_t::somebody_listens() => abi::MPI_SUCCESS,
        outcome => ended(function, object, outcome),
    }
}

/// A call that needs the library running, and only reads what does not change or what has a lock of its own: it does
/// not take the process's lock. `object` as in [`running`].
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

/// The end of a call that failed, or that events wait for: callbacks that may call anything run here, where no lock is
/// held.
#[cold]
#[inline(never)]
fn ended(function: u16, object: Option<Object>, outcome: Outcome) -> c_int {
    if mpi_t::somebody_listens()
        && let Some(process) = mpi_env::joined()
    {
        process.registry.deliver_events();
    }
    match outcome {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, object, raised),
    }
}

/// A call that is allowed at any time; `object` as in [`running`].
#[inline]
pub fn anytime(function: u16, object: Option<Object>, body: impl FnOnce() -> Outcome) -> c_int {
    match body() {
        Ok(()) => abi::MPI_SUCCESS,
        Err(raised) => errors::raise(function, object, raised),
    }
}

/// A call that may free the handle at `address`: records that it did, for errors of calls that use the handle later.
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

/// The handle word that an argument points to, for calls that take away what it names: the object whose error handler
/// takes an error of the call is the one that stood there before. 0 where the argument is NULL.
#[inline]
pub fn at(address: *const usize) -> usize {
    if address.is_null() {
        return 0;
    }
    // SAFETY: the program passed the address of a handle, which the call reads anyway.
    unsafe { address.read_unaligned() }
}
