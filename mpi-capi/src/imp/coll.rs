//! Collective operations in all forms (MPI-5.0, chapter 6).
//!
//! Invariant: no guard is held during a collective operation, because it takes the lock for each of its messages. The
//! shortest ones take the guard of the call for their first message.
//! Not here: which arguments are significant (`coll_args`), the algorithms (mpi-coll).

use core::ffi::c_void;

use mpi_coll::Reduction;

use super::coll_args::{self as arguments, Arguments, differ, is_in_place};
use super::coll_forms::{Form, begin, block, block_short, operations};
use super::coll_number::Number;
use super::reduction_args;
use crate::call_context::{CallContext, CommView, TypeRef};
use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::fortran_section;

operations! {
    arguments;
    barrier [] (): , ibarrier, barrier_init;
    bcast [C] (
        buffer: *mut c_void,
        count: C,
        datatype: usize,
        root: i32,
    ): , ibcast, bcast_init;
    gather [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
        root: i32,
    ): block_short gather, igather, gather_init;
    scatter [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
        root: i32,
    ): block_short scatter, iscatter, scatter_init;
    allgather [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
    ): block_short allgather, iallgather, allgather_init;
    alltoall [C] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
    ): block_short alltoall, ialltoall, alltoall_init;
    gatherv [C, D] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        displs: *const D,
        recvtype: usize,
        root: i32,
    ): block gatherv, igatherv, gatherv_init;
    scatterv [C, D] (
        sendbuf: *const c_void,
        sendcounts: *const C,
        displs: *const D,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcount: C,
        recvtype: usize,
        root: i32,
    ): block scatterv, iscatterv, scatterv_init;
    allgatherv [C, D] (
        sendbuf: *const c_void,
        sendcount: C,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        displs: *const D,
        recvtype: usize,
    ): block allgatherv, iallgatherv, allgatherv_init;
    alltoallv [C, D] (
        sendbuf: *const c_void,
        sendcounts: *const C,
        sdispls: *const D,
        sendtype: usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        rdispls: *const D,
        recvtype: usize,
    ): block alltoallv, ialltoallv, alltoallv_init;
    alltoallw [C, D] (
        sendbuf: *const c_void,
        sendcounts: *const C,
        sdispls: *const D,
        sendtypes: *const usize,
        recvbuf: *mut c_void,
        recvcounts: *const C,
        rdispls: *const D,
        recvtypes: *const usize,
    ): block alltoallw, ialltoallw, alltoallw_init;
}

operations! {
    reduction_args;
    reduce [C] (
        send: *const c_void,
        recv: *mut c_void,
        count: C,
        datatype: usize,
        op: usize,
        root: i32,
    ): , ireduce, reduce_init;
    allreduce [] (
        send: *const c_void,
        recv: *mut c_void,
        count: u64,
        datatype: TypeRef,
        op: usize,
    ): , iallreduce, allreduce_init;
    scan [] (
        send: *const c_void,
        recv: *mut c_void,
        count: u64,
        datatype: TypeRef,
        op: usize,
    ): block scan, iscan, scan_init;
    exscan [] (
        send: *const c_void,
        recv: *mut c_void,
        count: u64,
        datatype: TypeRef,
        op: usize,
    ): block exscan, iexscan, exscan_init;
    reduce_scatter_block [] (
        send: *const c_void,
        recv: *mut c_void,
        count: u64,
        datatype: TypeRef,
        op: usize,
    ): block reduce_scatter_block, ireduce_scatter_block, reduce_scatter_block_init;
    reduce_scatter [C] (
        send: *const c_void,
        recv: *mut c_void,
        counts: *const C,
        datatype: TypeRef,
        op: usize,
    ): block reduce_scatter, ireduce_scatter, reduce_scatter_init;
}

/// `MPI_Barrier`
pub fn barrier(cx: CallContext, comm: CommView) -> Outcome {
    if comm.inter {
        let arguments = arguments::barrier(&cx, comm)?;
        return block(cx, comm, arguments);
    }
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    Ok(process.coll.barrier_with(guard, &whole)?)
}

/// `MPI_Bcast`
pub fn bcast<C: Number>(
    cx: CallContext,
    buffer: *mut c_void,
    count: C,
    datatype: usize,
    root: i32,
    comm: CommView,
) -> Outcome {
    let buffer = arguments::bcast_buffer(&cx, comm, buffer, count, datatype, root)?;
    let buffer = match buffer {
        Some(buffer) if !comm.inter => buffer,
        // Without a buffer the process only compares its arguments, if it does.
        buffer => return block(cx, comm, Arguments::of_bcast(buffer, root)),
    };
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    Ok(process.coll.bcast_with(guard, &whole, buffer, root as u32)?)
}

/// `MPI_Reduce`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn reduce<C: Number>(
    cx: CallContext,
    send: *const c_void,
    recv: *mut c_void,
    count: C,
    datatype: usize,
    op: usize,
    root: i32,
    comm: CommView,
) -> Outcome {
    let at_root = root as u32 == comm.rank;
    if comm.inter || is_in_place(send) && !at_root {
        let arguments = reduction_args::reduce(&cx, comm, send, recv, count, datatype, op, root)?;
        return block(cx, comm, arguments);
    }
    let (count, datatype) = (check::count("count", count.wide())?, cx.datatype("datatype", datatype)?);
    let (word, op) = (op, cx.op("op", op)?);
    let recv = match at_root {
        true => Some(fortran_section::recv_buffer(&cx, "recvbuf", recv, count, &datatype)?),
        false => None,
    };
    let send = match is_in_place(send) {
        true => None,
        false => Some(fortran_section::send_buffer(&cx, "sendbuf", send, count, &datatype)?),
    };
    if let (Some(send), Some(recv)) = (&send, &recv) {
        differ(send, recv)?;
    }
    cx.on_op_used(word, &datatype, count);
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    let reduction = Reduction { op: &op, datatype: &datatype, handle: datatype.word(), count };
    Ok(process.coll.reduce_with(guard, &whole, send, recv, &reduction, root as u32)?)
}

/// `MPI_Allreduce`
pub fn allreduce(
    cx: CallContext,
    send: *const c_void,
    recv: *mut c_void,
    count: u64,
    datatype: TypeRef,
    op: usize,
    comm: CommView,
) -> Outcome {
    if comm.inter {
        let arguments = reduction_args::allreduce(&cx, comm, send, recv, count, datatype, op)?;
        return block(cx, comm, arguments);
    }
    let (word, op) = (op, cx.op("op", op)?);
    let recv = cx.recv_buffer("recvbuf", recv, count, &datatype)?;
    let send = match is_in_place(send) {
        true => None,
        false => Some(cx.send_buffer("sendbuf", send, count, &datatype)?),
    };
    if let Some(send) = &send {
        differ(send, &recv)?;
    }
    cx.on_op_used(word, &datatype, count);
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    let reduction = Reduction { op: &op, datatype: &datatype, handle: datatype.word(), count };
    Ok(process.coll.allreduce_with(guard, &whole, send, recv, &reduction)?)
}
