//! Reduction operations that the program creates, and local reductions (MPI-5.0, 6.9.5 and 6.9.7).
//!
//! Invariant: no lock of the library is held during a call of the program's function.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use mpi_coll::op::Op;
use mpi_core::{Handle, abi};
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, Function, Out, bad_buffer, is_no_memory};
use crate::errors::Outcome;
use crate::handle_errors::bad_op;

/// `MPI_User_function`
type UserFunction = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut usize);
/// `MPI_User_function_c`
type UserFunctionLarge = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i64, *mut usize);

/// `MPI_Op_create`
pub fn op_create(cx: CallContext, function: Function, commute: bool, op: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let user = if function.large { large_function(function.address) } else { int_function(function.address) };
    op.set(process.op_create(&mut guard, Op::user(user, commute))?.0);
    Ok(())
}

fn large_function(address: usize) -> Arc<mpi_coll::op::UserFunction> {
    // SAFETY: the program passed a function of this type to MPI_Op_create_c; it is not NULL.
    let function: UserFunctionLarge = unsafe { core::mem::transmute(address) };
    Arc::new(move |invec: &[u8], inoutvec: &mut [u8], count: u64, datatype: usize| {
        let (mut length, mut datatype) = (count as i64, datatype);
        // SAFETY: both vectors hold `count` elements of the datatype; C has no way to promise `const`.
        unsafe { function(invec.as_ptr().cast_mut().cast(), inoutvec.as_mut_ptr().cast(), &mut length, &mut datatype) }
    })
}

fn int_function(address: usize) -> Arc<mpi_coll::op::UserFunction> {
    // SAFETY: the program passed a function of this type to MPI_Op_create; it is not NULL.
    let function: UserFunction = unsafe { core::mem::transmute(address) };
    Arc::new(move |invec: &[u8], inoutvec: &mut [u8], count: u64, datatype: usize| {
        // A count larger than an int is split into several calls: the operation works on each element separately.
        let (input, output) = (invec.as_ptr().cast_mut(), inoutvec.as_mut_ptr());
        let step = if count == 0 { 0 } else { span_of_one(inoutvec.len(), count) };
        let mut done = 0u64;
        while done < count {
            let mut length = (count - done).min(c_int::MAX as u64) as c_int;
            let (mut datatype, offset) = (datatype, done as usize * step);
            // SAFETY: both vectors hold `count` elements of the datatype, and `done + length <= count`.
            unsafe { function(input.add(offset).cast(), output.add(offset).cast(), &mut length, &mut datatype) };
            done += length.max(1) as u64;
        }
    })
}

/// Bytes from one element to the next. The vectors end at the last data byte, so the last element may be shorter.
fn span_of_one(bytes: usize, count: u64) -> usize {
    bytes.div_ceil(count as usize)
}

/// `MPI_Op_free`
pub fn op_free(cx: CallContext, op: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let word = op.get();
    if Op::predefined(word).is_some() {
        let rule = "a predefined operation cannot be freed";
        return Err(Error::new(abi::MPI_ERR_OP, rule).arg("op", &format_args!("{word:#x}")).into());
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
    if datatype.bytes_of(count).is_none() {
        return Err(check::too_many("inbuf", count, &datatype).into());
    }
    cx.on_op_used(op, &datatype, count);
    let operation = cx.op("op", op)?;
    let span = datatype.span(count) as usize;
    let (input, output) = (memory("inbuf", invec, span)?, memory("inoutbuf", inoutvec, span)?);
    let reducer = operation.on(&datatype, datatype.word())?;
    drop(cx);
    // SAFETY: the program passed two buffers of `count` elements, which do not overlap (MPI-5.0, 6.9.7).
    let (input, output) =
        unsafe { (core::slice::from_raw_parts(input, span), core::slice::from_raw_parts_mut(output.cast_mut(), span)) };
    reducer.apply(input, output, count);
    Ok(())
}

/// The address of `span` bytes; for 0 bytes, any address is valid.
fn memory(name: &'static str, address: *const c_void, span: usize) -> Result<*const u8> {
    match is_no_memory(address) {
        true if span > 0 => Err(bad_buffer(name, address)),
        true => Ok(core::ptr::dangling()),
        false => Ok(address.cast()),
    }
}
