//! The arguments of reductions and scans.
//!
//! Not here: those of operations that move data (`coll_args`).

use core::ffi::c_void;

use mpi_coll::{Buffers, CollOp, Sizes};
use mpi_errors::Result;

use super::coll_args::{Arguments, Part, in_place, is_in_place, may_be_in_place};
use super::coll_number::Number;
use crate::call_context::{CallContext, CommView, TypeRef};
use crate::check;
use crate::fortran_section;

/// The buffers of a reduction whose result, `received` elements, this process gets, with its operation.
#[allow(clippy::too_many_arguments)] // the standard's own list
fn reducing(
    cx: &CallContext,
    comm: CommView,
    which: CollOp,
    (send, recv): (*const c_void, *mut c_void),
    (count, received): (u64, u64),
    datatype: TypeRef,
    op: usize,
) -> Result<Arguments> {
    let (word, op) = (op, cx.op("op", op)?);
    may_be_in_place(comm, "sendbuf", send)?;
    // In place, the receive buffer has the whole contribution.
    let received = if is_in_place(send) { count } else { received };
    let recv = Buffers::one(fortran_section::recv_buffer(cx, "recvbuf", recv, received, &datatype)?);
    let send = match is_in_place(send) {
        true => Buffers::InPlace,
        false => Buffers::one(fortran_section::send_buffer(cx, "sendbuf", send, count, &datatype)?),
    };
    let arguments = Arguments::new(which, send, recv).distinct()?;
    cx.on_op_used(word, &datatype, count);
    Ok(Arguments { reducing: Some((op, datatype, count)), ..arguments })
}

/// Of a reduction to one process.
#[inline(always)] // the buffers stay in registers on a short way
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn reduce<C: Number>(
    cx: &CallContext,
    comm: CommView,
    send: *const c_void,
    recv: *mut c_void,
    count: C,
    datatype: usize,
    op: usize,
    root: i32,
) -> Result<Arguments> {
    let part = Part::of(comm, root);
    if part == Part::None {
        return Ok(Arguments::new(CollOp::Reduce, Buffers::Absent, Buffers::Absent).rooted(root));
    }
    let (count, datatype) = (check::count("count", count.wide())?, cx.datatype("datatype", datatype)?);
    if part == Part::Root && !comm.inter {
        return Ok(reducing(cx, comm, CollOp::Reduce, (send, recv), (count, count), datatype, op)?.rooted(root));
    }
    let (word, op) = (op, cx.op("op", op)?);
    let (send, recv) = match part {
        Part::Root => {
            (Buffers::Absent, Buffers::one(fortran_section::recv_buffer(cx, "recvbuf", recv, count, &datatype)?))
        }
        _ if is_in_place(send) => return Err(in_place("sendbuf")),
        _ => (Buffers::one(fortran_section::send_buffer(cx, "sendbuf", send, count, &datatype)?), Buffers::Absent),
    };
    cx.on_op_used(word, &datatype, count);
    let reducing = Some((op, datatype, count));
    Ok(Arguments { reducing, ..Arguments::new(CollOp::Reduce, send, recv).rooted(root) })
}

/// Of reductions for all, and of scans.
macro_rules! reductions {
    ($($name:ident: $which:ident;)*) => {$(
        #[doc = concat!("Of the operation `", stringify!($name), "`.")]
        pub fn $name(
            cx: &CallContext,
            comm: CommView,
            send: *const c_void,
            recv: *mut c_void,
            count: u64,
            datatype: TypeRef,
            op: usize,
        ) -> Result<Arguments> {
            reducing(cx, comm, CollOp::$which, (send, recv), (count, count), datatype, op)
        }
    )*};
}

reductions! {
    allreduce: Allreduce;
    scan: Scan;
    exscan: Exscan;
}

/// Of a reduction whose result is scattered, each process having its count.
pub fn reduce_scatter<C: Number>(
    cx: &CallContext,
    comm: CommView,
    send: *const c_void,
    recv: *mut c_void,
    counts: *const C,
    datatype: TypeRef,
    op: usize,
) -> Result<Arguments> {
    let counts = check::list("recvcounts", counts, comm.size as usize)?;
    let checked = counts
        .iter()
        .enumerate()
        .map(|(index, count)| check::count("recvcounts", count.wide()).map_err(|error| error.in_element(index)));
    let counts = checked.collect::<Result<Sizes>>()?;
    scattered(cx, comm, CollOp::ReduceScatter, (send, recv), counts, datatype, op)
}

/// Of a reduction whose result is scattered in equal parts.
pub fn reduce_scatter_block(
    cx: &CallContext,
    comm: CommView,
    send: *const c_void,
    recv: *mut c_void,
    count: u64,
    datatype: TypeRef,
    op: usize,
) -> Result<Arguments> {
    let counts = std::iter::repeat_n(count, comm.size as usize).collect();
    scattered(cx, comm, CollOp::ReduceScatterBlock, (send, recv), counts, datatype, op)
}

fn scattered(
    cx: &CallContext,
    comm: CommView,
    which: CollOp,
    buffers: (*const c_void, *mut c_void),
    counts: Sizes,
    datatype: TypeRef,
    op: usize,
) -> Result<Arguments> {
    let sum = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    let all = sum.ok_or_else(|| check::too_many("recvcounts", u64::MAX, &datatype))?;
    let own = counts[comm.rank as usize];
    let arguments = reducing(cx, comm, which, buffers, (all, own), datatype, op)?;
    Ok(Arguments { counts, ..arguments })
}
