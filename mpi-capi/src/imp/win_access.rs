//! Put, get and accumulate (MPI-5.0, 12.3).

use core::ffi::c_void;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_win::Target;

use crate::cx::{Cx, TypeRef, WinRef};
use crate::errors::Outcome;

fn target(rank: i32, displacement: isize, count: u64, datatype: &TypeRef) -> Target<'_> {
    Target { rank, displacement: displacement as i64, count, datatype, handle: datatype.word() }
}

/// `MPI_Put`
pub fn put(
    cx: Cx,
    data: SendBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let Cx { process, mut guard, .. } = cx;
    Ok(process.one_sided.put(&mut guard, &win.win, data, &target(rank, displacement, count, &datatype))?)
}

/// `MPI_Get`
pub fn get(
    cx: Cx,
    memory: RecvBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let Cx { process, mut guard, .. } = cx;
    Ok(process.one_sided.get(&mut guard, &win.win, memory, &target(rank, displacement, count, &datatype))?)
}

/// `MPI_Accumulate`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn accumulate(
    cx: Cx,
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
    let Cx { process, mut guard, .. } = cx;
    let target = target(rank, displacement, count, &datatype);
    Ok(process.one_sided.accumulate(&mut guard, &win.win, data, origin, &target, op)?)
}
