//! How a datatype was constructed (MPI-5.0, 5.1.13).
//!
//! Invariant: a derived datatype in the contents is a new handle, which the program frees, unless it is one of those of
//! Fortran's precisions, which have one handle each.

use core::ffi::c_int;

use mpi_core::{Handle, abi};
use mpi_datatype::{Datatype, Envelope};
use mpi_env::Process;
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, CountOut, CountWord};
use crate::errors::Outcome;

/// `MPI_Type_get_envelope`
pub fn type_get_envelope(
    _cx: CallContext,
    datatype: TypeRef,
    integers: CountOut,
    addresses: CountOut,
    datatypes: CountOut,
    combiner: check::Out<i32>,
) -> Outcome {
    if let Some(envelope) = datatype.envelope().filter(|envelope| !envelope.large_counts.is_empty()) {
        return Err(needs_large_form(envelope, "MPI_Type_get_envelope_c").into());
    }
    store_envelope(&datatype, integers, addresses, None, datatypes, combiner)
}

/// `MPI_Type_get_envelope_c`
pub fn type_get_envelope_c(
    _cx: CallContext,
    datatype: TypeRef,
    integers: CountOut,
    addresses: CountOut,
    large_counts: CountOut,
    datatypes: CountOut,
    combiner: check::Out<i32>,
) -> Outcome {
    store_envelope(&datatype, integers, addresses, Some(large_counts), datatypes, combiner)
}

fn store_envelope(
    datatype: &Datatype,
    integers: CountOut,
    addresses: CountOut,
    large_counts: Option<CountOut>,
    datatypes: CountOut,
    combiner: check::Out<i32>,
) -> Outcome {
    let of = |length: fn(&Envelope<Datatype>) -> usize| datatype.envelope().map_or(0, length) as i64;
    integers.set(of(|envelope| envelope.integers.len()));
    addresses.set(of(|envelope| envelope.addresses.len()));
    if let Some(large_counts) = large_counts {
        large_counts.set(of(|envelope| envelope.large_counts.len()));
    }
    datatypes.set(of(|envelope| envelope.datatypes.len()));
    combiner.set(datatype.envelope().map_or(abi::MPI_COMBINER_NAMED, |envelope| envelope.combiner));
    Ok(())
}

/// Arrays that the program passed, with their lengths.
struct Room {
    integers: (*mut c_int, i64),
    addresses: (*mut isize, i64),
    large_counts: (*mut i64, i64),
    datatypes: (*mut usize, i64),
}

/// `MPI_Type_get_contents`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn type_get_contents(
    cx: CallContext,
    datatype: TypeRef,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    integers: *mut c_int,
    addresses: *mut isize,
    datatypes: *mut usize,
) -> Outcome {
    if let Some(envelope) = datatype.envelope().filter(|envelope| !envelope.large_counts.is_empty()) {
        return Err(needs_large_form(envelope, "MPI_Type_get_contents_c").into());
    }
    let room = Room {
        integers: (integers, max_integers.wide()),
        addresses: (addresses, max_addresses.wide()),
        large_counts: (core::ptr::null_mut(), 0),
        datatypes: (datatypes, max_datatypes.wide()),
    };
    store_contents(cx, &datatype, room)
}

/// `MPI_Type_get_contents_c`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn type_get_contents_c(
    cx: CallContext,
    datatype: TypeRef,
    max_integers: i64,
    max_addresses: i64,
    max_large_counts: i64,
    max_datatypes: i64,
    integers: *mut c_int,
    addresses: *mut isize,
    large_counts: *mut i64,
    datatypes: *mut usize,
) -> Outcome {
    let room = Room {
        integers: (integers, max_integers),
        addresses: (addresses, max_addresses),
        large_counts: (large_counts, max_large_counts),
        datatypes: (datatypes, max_datatypes),
    };
    store_contents(cx, &datatype, room)
}

fn store_contents(cx: CallContext, datatype: &TypeRef, room: Room) -> Outcome {
    let Some(envelope) = datatype.envelope() else {
        let rule = "a predefined datatype has no contents";
        return Err(Error::new(abi::MPI_ERR_TYPE, rule).arg("datatype", &datatype.name()).into());
    };
    let integers = place(("max_integers", "array_of_integers"), room.integers, envelope.integers.len())?;
    let addresses = place(("max_addresses", "array_of_addresses"), room.addresses, envelope.addresses.len())?;
    let counts = ("max_large_counts", "array_of_large_counts");
    let large_counts = place(counts, room.large_counts, envelope.large_counts.len())?;
    let datatypes = place(("max_datatypes", "array_of_datatypes"), room.datatypes, envelope.datatypes.len())?;
    let handles = handles(cx, &envelope.datatypes)?;
    integers.copy_from_slice(&envelope.integers);
    addresses.iter_mut().zip(&envelope.addresses).for_each(|(place, address)| *place = *address as isize);
    large_counts.copy_from_slice(&envelope.large_counts);
    datatypes.copy_from_slice(&handles);
    Ok(())
}

/// The program's array for `needed` values; it has room for `most`.
fn place<'a, T>(
    names: (&'static str, &'static str),
    (address, most): (*mut T, i64),
    needed: usize,
) -> Result<&'a mut [T]> {
    if most < needed as i64 {
        let rule = format!("the datatype has {needed}; MPI_Type_get_envelope returns how many there are");
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg(names.0, &most));
    }
    check::slice(names.1, address, needed)
}

/// Handles of these types: the words of predefined ones, and new handles of all others.
fn handles(cx: CallContext, datatypes: &[Datatype]) -> Result<Vec<usize>> {
    let CallContext { process, mut guard, .. } = cx;
    let mut handles = Vec::with_capacity(datatypes.len());
    let mut new = Vec::new();
    for datatype in datatypes {
        if datatype.word() != 0 {
            handles.push(datatype.word());
            continue;
        }
        let selected = datatype.envelope().filter(|_| datatype.is_selected());
        let handle = match selected {
            Some(envelope) => process.type_selected(&mut guard, datatype, envelope.combiner, &envelope.integers),
            None => process.type_create(&mut guard, datatype.clone()).inspect(|handle| new.push(*handle)),
        };
        match handle {
            Ok(handle) => handles.push(handle.0),
            Err(error) => {
                give_back(process, &mut guard, &new);
                return Err(error);
            }
        }
    }
    Ok(handles)
}

/// Frees the new handles of a call that failed.
fn give_back(process: &Process, guard: &mut mpi_core::Guard<'_>, handles: &[Handle]) {
    for handle in handles {
        // The handle was made by this call, so it is there.
        let _ = process.type_free(guard, *handle);
    }
}

#[cold]
fn needs_large_form(envelope: &Envelope<Datatype>, other: &str) -> Error {
    let counts = mpi_errors::counted(envelope.large_counts.len(), "argument");
    let rule = format!("a large-count constructor made the datatype, with {counts} of type MPI_Count; call {other}");
    Error::new(abi::MPI_ERR_TYPE, rule).arg("datatype", &"a derived datatype")
}
