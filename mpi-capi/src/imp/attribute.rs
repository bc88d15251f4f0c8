//! Attributes and their keys (MPI-5.0, 7.7 and 9.1.2).
//!
//! Invariant: every communicator has the predefined attributes, and a program can neither change them nor free their
//! keys.
//! Not here: calls of the program's callbacks (`crate::attributes`), keys and values (mpi-env).

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

use mpi_core::abi;
use mpi_env::{Attribute, AttributeValue, Holder, KeyName, Keyval, Process};
use mpi_errors::{Error, Result};

use crate::attributes;
use crate::call_context::{CallContext, CommView, LocklessContext, TypeRef};
use crate::check::Out;
use crate::errors::Outcome;
use crate::fortran_language;

/// Every nonnegative int is a valid tag.
static TAG_UB: c_int = c_int::MAX;
/// There is no host process.
static HOST: c_int = abi::MPI_PROC_NULL;
/// Every process can use the language's standard I/O.
static IO: c_int = abi::MPI_ANY_SOURCE;
/// All processes run on one host and read the same clock.
static WTIME_IS_GLOBAL: c_int = 1;
static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(0);

/// The address of a predefined attribute's value; `None` if it is not set, or for a key that is not predefined.
#[inline]
fn predefined(process: &Process, keyval: i32) -> Option<*const c_int> {
    let place: &c_int = match keyval {
        abi::MPI_TAG_UB => &TAG_UB,
        abi::MPI_HOST => &HOST,
        abi::MPI_IO => &IO,
        abi::MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        abi::MPI_APPNUM if process.is_launched() => process.appnum(),
        abi::MPI_LASTUSEDCODE => return Some(process.codes.added.last_used().as_ptr()),
        abi::MPI_UNIVERSE_SIZE => {
            UNIVERSE_SIZE.store(process.universe_size() as i32, Ordering::Relaxed);
            return Some(UNIVERSE_SIZE.as_ptr());
        }
        _ => return None,
    };
    Some(place)
}

fn is_predefined(keyval: i32) -> bool {
    (abi::MPI_TAG_UB..=abi::MPI_UNIVERSE_SIZE).contains(&keyval)
        || (abi::MPI_WIN_BASE..=abi::MPI_WIN_MODEL).contains(&keyval)
}

fn not_predefined(keyval: i32) -> Result<()> {
    if !is_predefined(keyval) {
        return Ok(());
    }
    Err(Error::new(abi::MPI_ERR_KEYVAL, "a predefined attribute can only be read").arg("keyval", &KeyName(keyval)))
}

pub(super) fn create(
    cx: CallContext,
    holder: Holder,
    copy: usize,
    delete: usize,
    keyval: Out<i32>,
    extra_state: *mut c_void,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let (copy, delete) = (fortran_language::callee(copy).0, fortran_language::callee(delete).0);
    let of = Keyval { holder, copy, delete, extra_state: extra_state.expose_provenance() };
    keyval.set(process.attributes.get_mut(&mut guard).create(of)?);
    Ok(())
}

pub(super) fn free(cx: CallContext, holder: Holder, keyval: Out<i32>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    not_predefined(keyval.get())?;
    process.attributes.get_mut(&mut guard).free(holder, keyval.get())?;
    keyval.set(abi::MPI_KEYVAL_INVALID);
    Ok(())
}

/// Sets a value. An earlier value is deleted first, as the standard requires.
pub(super) fn set(cx: CallContext, holder: Holder, object: usize, keyval: i32, value: *mut c_void) -> Outcome {
    not_predefined(keyval)?;
    let word = value.expose_provenance();
    let value = AttributeValue::new(word, fortran_language::of_value(keyval, word));
    let CallContext { process, guard, .. } = cx;
    let all = process.attributes.get(&guard);
    let of = all.keyval_to_set(holder, keyval)?;
    let before = all.get(object, keyval);
    drop(guard);
    if let Some(before) = before {
        attributes::delete(process, object, &Attribute { keyval, value: before, of })?;
    }
    process.attributes.get_mut(&mut process.engine.lock()).put(object, keyval, value);
    Ok(())
}

/// Deletes a value; does nothing if there is none.
pub(super) fn delete(cx: CallContext, holder: Holder, object: usize, keyval: i32) -> Outcome {
    not_predefined(keyval)?;
    let CallContext { process, guard, .. } = cx;
    let all = process.attributes.get(&guard);
    let of = all.keyval(holder, keyval)?;
    let Some(value) = all.get(object, keyval) else { return Ok(()) };
    drop(guard);
    attributes::delete(process, object, &Attribute { keyval, value, of })?;
    process.attributes.get_mut(&mut process.engine.lock()).take(object, keyval);
    Ok(())
}

#[inline]
pub(super) fn get(
    cx: CallContext,
    holder: Holder,
    object: usize,
    keyval: i32,
    value: Out<usize>,
    flag: Out<i32>,
) -> Outcome {
    let all = cx.process.attributes.get(&cx.guard);
    all.keyval(holder, keyval)?;
    let found = all.get(object, keyval);
    if let Some(found) = found {
        value.set(found.in_c());
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

pub(super) fn place(value: *mut c_void) -> Result<Out<usize>> {
    crate::check::out("attribute_val", value.cast())
}

/// `MPI_Comm_create_keyval`
pub fn comm_create_keyval(
    cx: CallContext,
    copy: usize,
    delete: usize,
    keyval: Out<i32>,
    extra_state: *mut c_void,
) -> Outcome {
    create(cx, Holder::Comm, copy, delete, keyval, extra_state)
}

/// `MPI_Comm_free_keyval`
pub fn comm_free_keyval(cx: CallContext, keyval: Out<i32>) -> Outcome {
    free(cx, Holder::Comm, keyval)
}

/// `MPI_Comm_set_attr`
pub fn comm_set_attr(cx: CallContext, comm: CommView, keyval: i32, value: *mut c_void) -> Outcome {
    set(cx, Holder::Comm, comm.handle.0, keyval, value)
}

/// `MPI_Comm_delete_attr`
pub fn comm_delete_attr(cx: CallContext, comm: CommView, keyval: i32) -> Outcome {
    delete(cx, Holder::Comm, comm.handle.0, keyval)
}

/// `MPI_Comm_get_attr`
#[inline]
pub fn comm_get_attr(cx: LocklessContext, comm: CommView, keyval: i32, value: *mut c_void, flag: Out<i32>) -> Outcome {
    let value = place(value)?;
    match predefined(cx.process, keyval) {
        Some(found) => {
            value.set(found.expose_provenance());
            flag.set(1);
            Ok(())
        }
        None if (abi::MPI_TAG_UB..=abi::MPI_UNIVERSE_SIZE).contains(&keyval) => {
            flag.set(0);
            Ok(())
        }
        None => get(CallContext::new()?, Holder::Comm, comm.handle.0, keyval, value, flag),
    }
}

/// `MPI_Type_create_keyval`
pub fn type_create_keyval(
    cx: CallContext,
    copy: usize,
    delete: usize,
    keyval: Out<i32>,
    extra_state: *mut c_void,
) -> Outcome {
    create(cx, Holder::Type, copy, delete, keyval, extra_state)
}

/// `MPI_Type_free_keyval`
pub fn type_free_keyval(cx: CallContext, keyval: Out<i32>) -> Outcome {
    free(cx, Holder::Type, keyval)
}

/// `MPI_Type_set_attr`
pub fn type_set_attr(cx: CallContext, datatype: TypeRef, keyval: i32, value: *mut c_void) -> Outcome {
    set(cx, Holder::Type, datatype.word(), keyval, value)
}

/// `MPI_Type_delete_attr`
pub fn type_delete_attr(cx: CallContext, datatype: TypeRef, keyval: i32) -> Outcome {
    delete(cx, Holder::Type, datatype.word(), keyval)
}

/// `MPI_Type_get_attr`
pub fn type_get_attr(cx: CallContext, datatype: TypeRef, keyval: i32, value: *mut c_void, flag: Out<i32>) -> Outcome {
    let value = place(value)?;
    get(cx, Holder::Type, datatype.word(), keyval, value, flag)
}
