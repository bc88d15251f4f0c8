//! Operations on a handle: read, write, start, stop, reset, readreset (MPI-5.0, section 15.3.7).
//!
//! Invariant: no lock, no allocation, no call out of this crate: async-signal-safe and thread-safe at all times.
//! Not here: what is done with a live handle (`found`), the fast read (`table`), allocating handles (`pool`).
#![allow(unsafe_code)] // values are stored in callers' buffers

use std::ffi::c_void;

use mpi_core::abi::{MPI_SUCCESS, MPI_T_PVAR_ALL_HANDLES};

use crate::handle::found::{Found, all_of, find};
use crate::handle::pool;
use crate::handle::slot::Slot;
use crate::handle::table::{self, Step};
use crate::handle::value_format::{Scalar, ValueFormat};
use crate::last_error::record_failure;
use crate::state_word::state;
use crate::{TError, TResult, Value};

/// The code of a call of the C interface, whose reason is recorded if it failed.
fn code(call: &'static str, result: TResult<()>) -> i32 {
    match result {
        Ok(()) => MPI_SUCCESS,
        Err(error) => {
            record_failure(call, &error);
            error.code()
        }
    }
}

/// Reads a handle's elements, whatever their number and type. `slot` is the handle's, if its index is one of the first.
///
/// # Safety
/// `out` has room for all of the handle's elements; at `slot` is memory of a slot, which is never unmapped.
#[doc(hidden)]
pub unsafe extern "C" fn read_at(session: usize, handle: usize, out: *mut c_void, slot: *const c_void) -> i32 {
    // SAFETY: the caller's promise.
    let slot = unsafe { &*slot.cast::<Slot>() };
    if let Some((value, facts)) = table::read_single_of(slot, session, handle) {
        // SAFETY: the caller's promise, and the facts are this handle's.
        unsafe { ValueFormat::from_bits(facts.value_format()).store_word(value, out) };
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { read_many(session, handle, out, slot) }
}

/// Reads a handle's elements, whatever their number and type.
///
/// # Safety
/// `out` has room for all of the handle's elements.
pub(super) unsafe fn read_raw(session: usize, handle: usize, out: *mut c_void) -> i32 {
    if let Some((value, facts)) = table::read_single(session, handle) {
        // SAFETY: the caller's promise, and the facts are this handle's.
        unsafe { ValueFormat::from_bits(facts.value_format()).store_word(value, out) };
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { read_many(session, handle, out, table::slot_of(handle)) }
}

/// The remaining cases: arrays, values beside their words, and errors. A function of its own, so that the others need
/// no stack.
///
/// # Safety
/// As [`read_raw`].
#[inline(never)]
unsafe extern "C" fn read_many(session: usize, handle: usize, out: *mut c_void, slot: &Slot) -> i32 {
    if !std::ptr::eq(slot, table::slot_of(handle)) {
        // SAFETY: the caller's promise.
        return unsafe { read_raw(session, handle, out) };
    }
    // SAFETY: the caller's promise.
    if unsafe { read_running(session, handle, out) } {
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { read_any(session, handle, out) }
}

/// Reads a handle of many running elements of type `u64`; false for all others, of which some elements may have been
/// stored.
///
/// # Safety
/// As [`read_raw`].
#[inline(always)] // one caller
unsafe fn read_running(session: usize, handle: usize, out: *mut c_void) -> bool {
    let slot = table::slot_of(handle);
    let Some(view) = slot.view(session, handle) else { return false };
    let (facts, states) = (view.facts, view.elements);
    if facts.is_mark() || facts.value_format() != ValueFormat::WHOLE.bits() || states.is_null() {
        return false;
    }
    let (count, stride, out) = (facts.count(), facts.stride(), out.cast::<u64>());
    // SAFETY: an array has `count` states, and as many sources with this distance, all static; the caller's promise is
    // the room.
    let read = (0..count).all(|i| unsafe {
        let value = state::read_narrow(&*states.add(i), &*view.source.add(i * stride));
        value.inspect(|value| out.add(i).write_unaligned(*value)).is_some()
    });
    // Afterwards, so that sources that belong to another object by then are not read as these.
    read && !(Found { handle, slot, view }).has_ended()
}

/// # Safety
/// As [`read_raw`].
#[inline(never)]
unsafe fn read_any(session: usize, handle: usize, out: *mut c_void) -> i32 {
    code(
        "MPI_T_pvar_read",
        // SAFETY: the caller's promise, and the elements come with consistent facts.
        find(session, handle).and_then(|found| found.read(|i, value| unsafe { value.store(out, i) })),
    )
}

/// Reads a handle's elements and gives them their starting values (`MPI_T_pvar_readreset`): `MPI_SUCCESS` or an
/// `MPI_T_ERR_*` code. Async-signal-safe; thread-safe. No event is lost or counted twice in between.
///
/// # Safety
/// As [`pvar_read_raw`](crate::pvar_read_raw).
#[inline]
pub unsafe fn pvar_readreset_raw(session: usize, handle: usize, out: *mut c_void) -> i32 {
    if let Some((value, state)) = table::step_sum(session, handle, Step::Reset) {
        if state.is_u64() {
            // SAFETY: the format of the handle is u64, so `out` has room for one, by the caller's promise.
            unsafe { out.cast::<u64>().write_unaligned(value) };
        } else {
            let value = u32::try_from(value).unwrap_or(u32::MAX);
            // SAFETY: as above, for u32.
            unsafe { out.cast::<u32>().write_unaligned(value) };
        }
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { readreset_raw(session, handle, out) }
}

/// # Safety
/// As [`pvar_readreset_raw`].
#[cold]
#[inline(never)]
unsafe fn readreset_raw(session: usize, handle: usize, out: *mut c_void) -> i32 {
    if let Some(value) = reset_single(session, handle) {
        // SAFETY: the caller's promise, and the value is of the handle's type.
        unsafe { value.store(out, 0) };
        return MPI_SUCCESS;
    }
    // SAFETY: the caller's promise.
    unsafe { readreset_slowly(session, handle, out) }
}

/// Resets a live handle of one element that can be reset; its value before. `None`, and nothing is changed, for all
/// others: arrays and errors.
#[inline(always)] // in the two functions that are out of line for it
fn reset_single(session: usize, handle: usize) -> Option<Scalar> {
    let slot = table::slot_of(handle);
    let view = slot.view(session, handle)?;
    let facts = view.facts;
    if !table::is_enabled() || facts.readonly() || facts.count() != 1 || !view.elements.is_null() {
        return None;
    }
    let found = Found { handle, slot, view };
    let step = state::reset(slot, found.element(0).1, facts.kind()).ok()?;
    found.watch(step);
    Some(found.value_format().to_scalar(step.value))
}

/// The remaining cases: arrays and errors, which need room for a [`TError`].
///
/// # Safety
/// As [`pvar_readreset_raw`].
#[inline(never)]
unsafe fn readreset_slowly(session: usize, handle: usize, out: *mut c_void) -> i32 {
    code(
        "MPI_T_pvar_readreset",
        find(session, handle).and_then(|found| {
            readable_and_resettable(&found)?;
            // SAFETY: the caller's promise, and the elements come with consistent facts.
            found.reset(|i, value| unsafe { value.store(out, i) })
        }),
    )
}

/// Sets a handle's elements (`MPI_T_pvar_write`): `MPI_SUCCESS` or an `MPI_T_ERR_*` code. Async-signal-safe;
/// thread-safe; no other handle changes.
///
/// # Safety
/// At `from` lie as many values of the variable's type as the handle has elements.
pub unsafe fn pvar_write_raw(session: usize, handle: usize, from: *const c_void) -> i32 {
    code(
        "MPI_T_pvar_write",
        find(session, handle).and_then(|found| {
            let value = found.value_format().value;
            // SAFETY: the caller's promise.
            found.write(|i| unsafe { Scalar::fetch(value, from, i) })
        }),
    )
}

/// `MPI_T_pvar_start` (`running`) or `MPI_T_pvar_stop` by words alone: `MPI_SUCCESS` or an `MPI_T_ERR_*` code.
/// Async-signal-safe; thread-safe.
#[inline]
pub fn pvar_set_running(session: usize, handle: usize, running: bool) -> i32 {
    let step = if running { Step::Start } else { Step::Stop };
    if table::step_sum(session, handle, step).is_some() {
        return MPI_SUCCESS;
    }
    set_running_code(session, handle, running)
}

/// `MPI_T_pvar_reset` by words alone: `MPI_SUCCESS` or an `MPI_T_ERR_*` code. Async-signal-safe; thread-safe.
#[inline]
pub fn pvar_reset(session: usize, handle: usize) -> i32 {
    if table::step_sum(session, handle, Step::Reset).is_some() {
        return MPI_SUCCESS;
    }
    reset_code(session, handle)
}

// Separate functions, so that the fast paths need no stack for them.
#[cold]
#[inline(never)]
fn set_running_code(session: usize, handle: usize, running: bool) -> i32 {
    let slot = table::slot_of(handle);
    if let Some(view) = slot.view(session, handle)
        && table::is_enabled()
        && view.elements.is_null()
        && !view.facts.continuous()
        && let found = (Found { handle, slot, view })
        && let Ok(step) = state::set_running(slot, found.element(0).1, view.facts.kind(), running)
    {
        found.watch(step);
        return MPI_SUCCESS;
    }
    set_running_slowly(session, handle, running)
}

/// The remaining cases: arrays, all handles of a session, and errors, which need room for a [`TError`].
#[inline(never)]
fn set_running_slowly(session: usize, handle: usize, running: bool) -> i32 {
    code(if running { "MPI_T_pvar_start" } else { "MPI_T_pvar_stop" }, set_running(session, handle, running))
}

#[cold]
#[inline(never)]
fn reset_code(session: usize, handle: usize) -> i32 {
    if reset_single(session, handle).is_some() {
        return MPI_SUCCESS;
    }
    reset_slowly(session, handle)
}

/// The remaining cases: arrays, all handles of a session, and errors.
#[inline(never)]
fn reset_slowly(session: usize, handle: usize) -> i32 {
    code("MPI_T_pvar_reset", reset(session, handle))
}

/// Reads a handle's first element into a value.
pub(crate) fn read_first(session: usize, handle: usize) -> TResult<Value> {
    if let Some((value, facts)) = table::read_single(session, handle) {
        return Ok(ValueFormat::from_bits(facts.value_format()).to_scalar(value).into());
    }
    let mut first = None;
    read(session, handle, |value| first = first.take().or(Some(value)))?;
    first.ok_or_else(|| pool::refused(session, handle))
}

/// Reads a handle's elements into values.
pub(crate) fn read(session: usize, handle: usize, mut each: impl FnMut(Value)) -> TResult<()> {
    find(session, handle)?.read(|_, value| each(value.into()))
}

/// As [`read`], and gives them their starting values.
pub(crate) fn read_and_reset(session: usize, handle: usize, mut each: impl FnMut(Value)) -> TResult<()> {
    let found = find(session, handle)?;
    readable_and_resettable(&found)?;
    found.reset(|_, value| each(value.into()))
}

/// Sets a handle's elements; the values must be as many and of the type that the handle has.
pub(crate) fn write(session: usize, handle: usize, values: &[Value]) -> TResult<()> {
    let found = find(session, handle)?;
    let right = |value: &Value| value.value_type() == found.value_format().value;
    if values.len() != found.count() || !values.iter().all(right) {
        return Err(wrong_values(&found, values));
    }
    found.write(|i| Scalar::from_value(&values[i]).expect("types were compared, and no handle has texts"))
}

/// Starts or stops a handle, or all of a session that can be (`MPI_T_pvar_start`, `MPI_T_pvar_stop`).
/// Async-signal-safe; thread-safe.
pub(crate) fn set_running(session: usize, handle: usize, running: bool) -> TResult<()> {
    if handle == MPI_T_PVAR_ALL_HANDLES {
        return all_of(session)?
            .filter(|found| !found.view.facts.continuous() && !found.has_ended())
            .try_for_each(|found| found.set_running(running).map_err(|_| one_ended(TError::PVAR_NO_STARTSTOP)));
    }
    let found = find(session, handle)?;
    if found.view.facts.continuous() {
        return Err(found.of_variable(TError::PVAR_NO_STARTSTOP, "cannot be started or stopped: it is continuous"));
    }
    found.set_running(running)
}

/// Gives a handle, or all of a session that can have it, the starting value (`MPI_T_pvar_reset`).
/// Async-signal-safe; thread-safe.
pub(crate) fn reset(session: usize, handle: usize) -> TResult<()> {
    if handle == MPI_T_PVAR_ALL_HANDLES {
        return all_of(session)?
            .filter(|found| !found.view.facts.readonly() && !found.has_ended())
            .try_for_each(|found| found.reset(|_, _| ()).map_err(|_| one_ended(TError::PVAR_NO_WRITE)));
    }
    let found = find(session, handle)?;
    if found.view.facts.readonly() {
        return Err(found.no_write());
    }
    found.reset(|_, _| ())
}

/// The index of a handle's variable.
pub(crate) fn variable_of(session: usize, handle: usize) -> TResult<usize> {
    Ok(find(session, handle)?.view.variable as usize)
}

fn readable_and_resettable(found: &Found) -> TResult<()> {
    // Everything that can be reset can be read and reset in one step.
    if !found.view.facts.readonly() {
        return Ok(());
    }
    Err(found.of_variable(TError::PVAR_NO_ATOMIC, "cannot be read and reset in one step: it is not atomic"))
}

/// The object of one of a session's handles was freed during the call.
#[cold]
fn one_ended(error: TError) -> TError {
    error.argument("handle", "MPI_T_PVAR_ALL_HANDLES", "the object of one of the session's handles was just freed")
}

#[cold]
fn wrong_values(found: &Found, values: &[Value]) -> TError {
    let (count, wanted) = (found.count(), found.value_format().value.name());
    let given = values.iter().map(|value| value.value_type().name()).find(|name| *name != wanted).unwrap_or(wanted);
    TError::INVALID.because(format!("{} of {given} were given, but the handle has {count} of {wanted}", values.len()))
}
