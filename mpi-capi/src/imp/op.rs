//! Reduction operations that the program creates, and local reductions (MPI-5.0, 6.9.5 and 6.9.7).
//!
//! Invariant: no lock of the library is held during a call of the program's function.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use mpi_coll::op::{Elements, Op};
use mpi_core::{Handle, Language, abi};
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, Function, Out, is_no_memory};
use crate::errors::Outcome;
use crate::fortran_language;
use crate::handle_errors::bad_op;

/// `MPI_User_function`
type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut usize);
/// `MPI_User_function_c`
type UserFunctionLarge = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut usize);

/// The last argument of a function: a word for the datatype. In Fortran it is an integer, in the first four bytes.
fn datatype_argument(language: Language, handle: usize) -> usize {
    match language {
        Language::C => handle,
        // The function reads an INTEGER at this address.
        _ => usize::from_ne_bytes({
            let word = Handle(handle).to_fortran().unwrap_or(abi::MPI_DATATYPE_NULL as c_int);
            let mut bytes = [0; size_of::<usize>()];
            bytes[..size_of::<c_int>()].copy_from_slice(&word.to_ne_bytes());
            bytes
        }),
    }
}

/// `MPI_Op_create`
pub fn op_create(cx: CallContext, function: Function, commute: bool, op: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let user = if function.large { large_function(function.address) } else { int_function(function.address) };
    op.set(process.op_create(&mut guard, Op::user(user, commute))?.0);
    Ok(())
}

fn large_function(address: usize) -> Arc<mpi_coll::op::UserFunction> {
    let language = fortran_language::callee(address).language();
    // SAFETY: the program passed a function of this type to MPI_Op_create_c; it is not NULL.
    let function: UserFunctionLarge = unsafe { core::mem::transmute(address) };
    Arc::new(move |invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
        let (mut length, mut datatype) = (elements.count as i64, datatype_argument(language, elements.handle));
        let (input, output) = (first(invec.as_ptr(), elements), first(inoutvec.as_mut_ptr().cast_const(), elements));
        // SAFETY: both vectors hold `count` elements of the datatype; C has no way to promise `const`.
        unsafe { function(input.cast(), output.cast(), &mut length, &mut datatype) }
    })
}

fn int_function(address: usize) -> Arc<mpi_coll::op::UserFunction> {
    let language = fortran_language::callee(address).language();
    // SAFETY: the program passed a function of this type to MPI_Op_create; it is not NULL.
    let function: UserFunction = unsafe { core::mem::transmute(address) };
    Arc::new(move |invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
        // A count larger than an int is split into several calls: the operation works on each element separately.
        let (input, output) = (first(invec.as_ptr(), elements), first(inoutvec.as_mut_ptr().cast_const(), elements));
        let mut done = 0u64;
        while done < elements.count {
            // The function may change what it gets.
            let part = (elements.count - done).min(c_int::MAX as u64);
            let mut length = part as c_int;
            let mut datatype = datatype_argument(language, elements.handle);
            let offset = done as isize * elements.extent as isize;
            let (input, output) = (input.wrapping_offset(offset), output.wrapping_offset(offset));
            // SAFETY: both vectors hold `count` elements of the datatype, and `done + length <= count`.
            unsafe { function(input.cast(), output.cast(), &mut length, &mut datatype) };
            done += part;
        }
    })
}

/// The address of the first element: the vectors begin at the lowest data byte.
fn first(vector: *const u8, elements: &Elements) -> *mut u8 {
    vector.cast_mut().wrapping_offset(elements.lowest.wrapping_neg() as isize)
}

/// `MPI_Op_free`
pub fn op_free(cx: CallContext, op: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let word = op.get();
    if Op::predefined(word).is_some() {
        let rule = "a predefined operation cannot be freed";
        return Err(Error::new(abi::MPI_ERR_OP, rule).arg("op", &Handle(word)).into());
    }
    if word == abi::MPI_OP_NULL {
        return Err(bad_op("op", word).into());
    }
    process.op_free(&mut guard, Handle(word))?;
    op.set(abi::MPI_OP_NULL);
    Ok(())
}

/// `MPI_Op_commutative`
pub fn op_commutative(cx: CallContext, op: usize, commute: Out<i32>) -> Outcome {
    commute.set(i32::from(cx.op("op", op)?.is_commutative()));
    Ok(())
}

/// `MPI_Reduce_local`
pub fn reduce_local(
    cx: CallContext,
    invec: *const c_void,
    inoutvec: *mut c_void,
    count: u64,
    datatype: TypeRef,
    op: usize,
) -> Outcome {
    if !datatype.is_committed() || datatype.bytes_of(count).is_none() {
        return Err(check::no_buffer("inbuf", count, &datatype).into());
    }
    cx.on_op_used(op, &datatype, count);
    let operation = cx.op("op", op)?;
    let span = datatype.span(count) as usize;
    let (input, output) = (memory("inbuf", invec, count, &datatype)?, memory("inoutbuf", inoutvec, count, &datatype)?);
    let reducer = operation.on(&datatype, datatype.word())?;
    drop(cx);
    // SAFETY: the program passed two buffers of `count` elements, which do not overlap (MPI-5.0, 6.9.7).
    let (input, output) =
        unsafe { (core::slice::from_raw_parts(input, span), core::slice::from_raw_parts_mut(output.cast_mut(), span)) };
    reducer.apply(input, output, count);
    Ok(())
}

/// The address of the lowest data byte of elements; without data, any address is valid.
fn memory(name: &'static str, address: *const c_void, count: u64, datatype: &TypeRef) -> Result<*const u8> {
    if datatype.span(count) == 0 {
        return Ok(core::ptr::dangling());
    }
    if is_no_memory(address) {
        check::no_data(name, address, count, datatype)?;
    }
    // With MPI_BOTTOM the displacements are addresses of memory that the program exposed.
    let start = core::ptr::with_exposed_provenance::<u8>(address.addr());
    let start = if address.is_null() { start } else { address.cast() };
    Ok(start.wrapping_offset(datatype.lowest_byte(count) as isize))
}
