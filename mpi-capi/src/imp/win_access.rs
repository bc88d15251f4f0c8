//! Put, get, accumulate, and fetching accumulates, also with requests (MPI-5.0, 12.3).

use core::ffi::c_void;

use mpi_core::{Guard, abi};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_win::Target;

use crate::call_context::{CallContext, TypeRef, WinRef};
use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::fortran_section;

fn target(rank: i32, displacement: isize, count: u64, datatype: &TypeRef) -> Target<'_> {
    Target { rank, displacement: displacement as i64, count, datatype, handle: datatype.word() }
}

/// `MPI_Put`
pub fn put(
    cx: CallContext,
    data: SendBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    Ok(process.one_sided.put(&mut guard, &win.win, data, &target(rank, displacement, count, &datatype))?)
}

/// `MPI_Get`
pub fn get(
    cx: CallContext,
    memory: RecvBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    Ok(process.one_sided.get(&mut guard, &win.win, memory, &target(rank, displacement, count, &datatype))?)
}

/// `MPI_Accumulate`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn accumulate(
    cx: CallContext,
    address: *const c_void,
    origin_count: u64,
    origin_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
) -> Outcome {
    let data = cx.send_buffer("origin_addr", address, origin_count, &origin_datatype)?;
    let origin = (&*origin_datatype, origin_datatype.word());
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, count, &datatype);
    Ok(process.one_sided.accumulate(&mut guard, &win.win, data, origin, &target, op)?)
}

/// `MPI_Get_accumulate`: `MPI_NO_OP` ignores all origin arguments.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn get_accumulate<C: Into<i64>>(
    cx: CallContext,
    address: *const c_void,
    origin_count: C,
    origin_datatype: usize,
    result: *mut c_void,
    result_count: u64,
    result_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
) -> Outcome {
    let Origin { data, datatype: origin_datatype } =
        origin_unless_ignored(&cx, op, address, origin_count.into(), origin_datatype)?;
    let result = cx.recv_buffer("result_addr", result, result_count, &result_datatype)?;
    let of_result = (&*result_datatype, result_datatype.word());
    let of_data = origin_datatype.as_ref().map_or(of_result, |datatype| (&**datatype, datatype.word()));
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, count, &datatype);
    Ok(process.one_sided.get_accumulate(&mut guard, &win.win, data, of_data, result, of_result, &target, op)?)
}

/// `MPI_Fetch_and_op`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn fetch_and_op(
    cx: CallContext,
    address: *const c_void,
    result: *mut c_void,
    datatype: TypeRef,
    rank: i32,
    displacement: isize,
    op: usize,
    win: WinRef,
) -> Outcome {
    let data = match op {
        abi::MPI_NO_OP => SendBuf::empty(),
        _ => fortran_section::send_buffer(&cx, "origin_addr", address, 1, &datatype)?,
    };
    let result = fortran_section::recv_buffer(&cx, "result_addr", result, 1, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, 1, &datatype);
    Ok(process.one_sided.fetch_and_op(&mut guard, &win.win, data, result, &target, op)?)
}

/// `MPI_Compare_and_swap`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn compare_and_swap(
    cx: CallContext,
    address: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: TypeRef,
    rank: i32,
    displacement: isize,
    win: WinRef,
) -> Outcome {
    let data = fortran_section::send_buffer(&cx, "origin_addr", address, 1, &datatype)?;
    let compare = fortran_section::send_buffer(&cx, "compare_addr", compare, 1, &datatype)?;
    let result = fortran_section::recv_buffer(&cx, "result_addr", result, 1, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, 1, &datatype);
    Ok(process.one_sided.compare_and_swap(&mut guard, &win.win, &data, &compare, result, &target)?)
}

/// `MPI_Rput`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rput(
    cx: CallContext,
    data: SendBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let (one_sided, win, target) = (&process.one_sided, &win.win, target(rank, displacement, count, &datatype));
    let start = |guard: &mut Guard<'_>| one_sided.put(guard, win, data, &target);
    request.set(one_sided.requested(&mut guard, win, &target, start)?.0);
    Ok(())
}

/// `MPI_Rget`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rget(
    cx: CallContext,
    memory: RecvBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let (one_sided, win, target) = (&process.one_sided, &win.win, target(rank, displacement, count, &datatype));
    let start = |guard: &mut Guard<'_>| one_sided.get(guard, win, memory, &target);
    request.set(one_sided.requested(&mut guard, win, &target, start)?.0);
    Ok(())
}

/// `MPI_Raccumulate`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn raccumulate(
    cx: CallContext,
    address: *const c_void,
    origin_count: u64,
    origin_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let data = cx.send_buffer("origin_addr", address, origin_count, &origin_datatype)?;
    let origin = (&*origin_datatype, origin_datatype.word());
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let (one_sided, win, target) = (&process.one_sided, &win.win, target(rank, displacement, count, &datatype));
    let start = |guard: &mut Guard<'_>| one_sided.accumulate(guard, win, data, origin, &target, op);
    request.set(one_sided.requested(&mut guard, win, &target, start)?.0);
    Ok(())
}

/// `MPI_Rget_accumulate`: `MPI_NO_OP` ignores all origin arguments.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rget_accumulate<C: Into<i64>>(
    cx: CallContext,
    address: *const c_void,
    origin_count: C,
    origin_datatype: usize,
    result: *mut c_void,
    result_count: u64,
    result_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let Origin { data, datatype: origin_datatype } =
        origin_unless_ignored(&cx, op, address, origin_count.into(), origin_datatype)?;
    let result = cx.recv_buffer("result_addr", result, result_count, &result_datatype)?;
    let of_result = (&*result_datatype, result_datatype.word());
    let of_data = origin_datatype.as_ref().map_or(of_result, |datatype| (&**datatype, datatype.word()));
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let (one_sided, win, target) = (&process.one_sided, &win.win, target(rank, displacement, count, &datatype));
    let start =
        |guard: &mut Guard<'_>| one_sided.get_accumulate(guard, win, data, of_data, result, of_result, &target, op);
    request.set(one_sided.requested(&mut guard, win, &target, start)?.0);
    Ok(())
}

/// The origin's data of a fetching accumulation.
struct Origin {
    data: SendBuf<'static>,
    /// `None`: the arguments of the origin are ignored.
    datatype: Option<TypeRef>,
}

/// The origin's data, unless the operation ignores them.
fn origin_unless_ignored(
    cx: &CallContext,
    op: usize,
    address: *const c_void,
    count: i64,
    datatype: usize,
) -> mpi_errors::Result<Origin> {
    if op == abi::MPI_NO_OP {
        return Ok(Origin { data: SendBuf::empty(), datatype: None });
    }
    let count = check::count("origin_count", count)?;
    let datatype = cx.datatype("origin_datatype", datatype)?;
    Ok(Origin { data: cx.send_buffer("origin_addr", address, count, &datatype)?, datatype: Some(datatype) })
}
