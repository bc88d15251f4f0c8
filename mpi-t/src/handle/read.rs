//! `MPI_T_pvar_read`: from a handle word to a value in about twenty instructions.
//!
//! Invariant: no lock, no allocation, no system call.
//! Not here: the handles that take more instructions (`access`), the table of slots (`table`).
#![allow(unsafe_code)] // sources are found through pointers, values are stored in callers' buffers

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::handle::access;
use crate::handle::table::slot_of;
use crate::state_word::state::State;

/// Reads a performance variable into `out` (`MPI_T_pvar_read`): `MPI_SUCCESS` or an `MPI_T_ERR_*` code.
/// Async-signal-safe; thread-safe. No lock, no allocation, no system call.
///
/// # Safety
/// `out` has room for the variable's elements, by the variable's type and the handle's count. Any words are
/// fine as `session` and `handle`.
#[inline(always)]
pub unsafe fn pvar_read_raw(session: usize, handle: usize, out: *mut c_void) -> i32 {
    let slot = slot_of(handle);
    // The order matters: state, then the slot's word, then the source, then the state again. The handle was allocated
    // before this call, so a state loaded before its word is one of this handle's or of a later one; and an equal state
    // after the source proves that the slot was this handle's all the time. Acquire keeps the order.
    let state = State(slot.state.load(Ordering::Acquire));
    let mine = slot.word.load(Ordering::Relaxed) == handle && slot.session.load(Ordering::Relaxed) == session;
    if mine {
        let source = slot.source.load(Ordering::Acquire);
        // SAFETY: a slot's source is static memory of atomic words, whichever handle has the slot.
        let value = unsafe { &*source }.load(Ordering::Acquire);
        if slot.state.load(Ordering::Relaxed) == state.0 {
            let value = state.narrow_own().wrapping_add(value);
            if state.is_running_u64() {
                // SAFETY: the format of the handle is u64, so `out` has room for one, by the caller's promise.
                unsafe { out.cast::<u64>().write_unaligned(value) };
                return 0;
            }
            if state.is_running_u32() {
                let value = u32::try_from(value).unwrap_or(u32::MAX);
                // SAFETY: as above, for u32.
                unsafe { out.cast::<u32>().write_unaligned(value) };
                return 0;
            }
        }
    }
    // SAFETY: the caller's promise.
    unsafe { access::read_raw(session, handle, out) }
}
