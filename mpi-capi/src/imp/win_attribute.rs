//! Attributes of windows (MPI-5.0, 7.7.3 and 12.2.6).
//!
//! Invariant: every window has the predefined attributes, and a program can neither change them nor free their keys.
//! Windows are never duplicated, so the copy callback of a window's key is never called.
//! Not here: code for all kinds of objects (`attribute`).

use core::ffi::c_void;

use mpi_core::abi;
use mpi_env::Holder;
use mpi_win::WinAttributes;

use super::attribute::{create, delete, free, get, place, set};
use crate::call_context::{CallContext, WinRef};
use crate::check::Out;
use crate::errors::Outcome;

/// `MPI_Win_create_keyval`
pub fn win_create_keyval(
    cx: CallContext,
    copy: usize,
    delete: usize,
    keyval: Out<i32>,
    extra_state: *mut c_void,
) -> Outcome {
    create(cx, Holder::Win, copy, delete, keyval, extra_state)
}

/// `MPI_Win_free_keyval`
pub fn win_free_keyval(cx: CallContext, keyval: Out<i32>) -> Outcome {
    free(cx, Holder::Win, keyval)
}

/// `MPI_Win_set_attr`
pub fn win_set_attr(cx: CallContext, win: WinRef, keyval: i32, value: *mut c_void) -> Outcome {
    set(cx, Holder::Win, win.handle.0, keyval, value)
}

/// `MPI_Win_delete_attr`
pub fn win_delete_attr(cx: CallContext, win: WinRef, keyval: i32) -> Outcome {
    delete(cx, Holder::Win, win.handle.0, keyval)
}

/// `MPI_Win_get_attr`: the value of `MPI_WIN_BASE` is the address itself; all other values are returned by address.
pub fn win_get_attr(cx: CallContext, win: WinRef, keyval: i32, value: *mut c_void, flag: Out<i32>) -> Outcome {
    let value = place(value)?;
    let values: &WinAttributes = win.win.attributes();
    let found = match keyval {
        abi::MPI_WIN_BASE => values.base,
        abi::MPI_WIN_SIZE => (&raw const values.size).expose_provenance(),
        abi::MPI_WIN_DISP_UNIT => (&raw const values.disp_unit).expose_provenance(),
        abi::MPI_WIN_CREATE_FLAVOR => (&raw const values.flavor).expose_provenance(),
        abi::MPI_WIN_MODEL => (&raw const values.model).expose_provenance(),
        _ => return get(cx, Holder::Win, win.handle.0, keyval, value, flag),
    };
    value.set(found);
    flag.set(1);
    Ok(())
}
