//! Partitioned communication (MPI-5.0, 4.2).
//!
//! Not here: starting and completing the requests (`persistent`, `request`, `many`).

use core::ffi::{c_int, c_void};

use mpi_core::{Handle, abi, functions};
use mpi_errors::{Error, Result};

use super::comm_create::hints;
use crate::call_context::{CallContext, CommView, LocklessContext, TypeRef};
use crate::check::{self, Out};
use crate::errors::{Outcome, Raised};
use crate::fortran_section;

/// `MPI_Psend_init`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn psend_init(
    cx: CallContext,
    buffer: *const c_void,
    partitions: c_int,
    count: u64,
    datatype: TypeRef,
    dest: i32,
    tag: i32,
    comm: CommView,
    info: usize,
    request: Out<usize>,
) -> Outcome {
    let (partitions, all) = shape(partitions, count)?;
    let buffer = fortran_section::send_buffer(&cx, "buf", buffer, all, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    guard.unlocked(|| hints(info).map(drop))?;
    request.set(process.engine.psend_init(&mut guard, comm.context, (dest, tag), buffer, partitions)?.0);
    Ok(())
}

/// `MPI_Precv_init`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn precv_init(
    cx: CallContext,
    buffer: *mut c_void,
    partitions: c_int,
    count: u64,
    datatype: TypeRef,
    source: i32,
    tag: i32,
    comm: CommView,
    info: usize,
    request: Out<usize>,
) -> Outcome {
    let (partitions, all) = shape(partitions, count)?;
    let buffer = fortran_section::recv_buffer(&cx, "buf", buffer, all, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    guard.unlocked(|| hints(info).map(drop))?;
    request.set(process.engine.precv_init(&mut guard, comm.context, (source, tag), buffer, partitions)?.0);
    Ok(())
}

/// `MPI_Pready`
pub fn pready(cx: CallContext, partition: c_int, request: usize) -> Outcome {
    ready(cx, request, core::iter::once((partition, partition)))
}

/// `MPI_Pready_range`
pub fn pready_range(cx: CallContext, low: c_int, high: c_int, request: usize) -> Outcome {
    ready(cx, request, core::iter::once((low, high)))
}

/// `MPI_Pready_list`
pub fn pready_list(cx: CallContext, length: usize, partitions: *const c_int, request: usize) -> Outcome {
    let list = check::list("array_of_partitions", partitions, length)?;
    ready(cx, request, list.iter().map(|partition| (*partition, *partition)))
}

/// `MPI_Parrived`. A call that takes no lock leaves no record.
#[inline]
pub fn parrived(cx: LocklessContext, request: usize, partition: c_int, flag: Out<i32>) -> Outcome {
    let engine = &cx.process.engine;
    let record = || cx.process.recorder.record(functions::MPI_PARRIVED, 0, -1, 0, 0);
    match engine.parrived(Handle(request), partition, record) {
        Ok(arrived) => {
            flag.set(i32::from(arrived));
            Ok(())
        }
        Err(error) => {
            let context = engine.request_context(&engine.lock(), Handle(request));
            Err(Raised::on_context(error, context))
        }
    }
}

/// Marks partitions of a request ready; an error of the call is one of the request's communicator.
fn ready(cx: CallContext, request: usize, ranges: impl Iterator<Item = (c_int, c_int)> + Clone) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    match process.engine.pready(&mut guard, Handle(request), ranges) {
        Ok(()) => Ok(()),
        Err(error) => Err(Raised::on_context(error, process.engine.request_context(&guard, Handle(request)))),
    }
}

/// Number of partitions, and the elements of all of them.
fn shape(partitions: c_int, count: u64) -> Result<(u32, u64)> {
    let Ok(number) = u32::try_from(partitions) else {
        let rule = "a number of partitions must not be negative";
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("partitions", &partitions));
    };
    match u64::from(number).checked_mul(count) {
        Some(all) => Ok((number, all)),
        None => {
            let rule = format!("no memory has {number} partitions of that many elements");
            Err(Error::new(abi::MPI_ERR_COUNT, rule).arg("count", &count))
        }
    }
}
