//! Collective operations (MPI-5.0, chapter 6): significant arguments and `MPI_IN_PLACE`.
//!
//! Invariant: no guard is held during a collective operation, because it takes the lock for each of its messages. The
//! shortest ones take the guard of the call for their first message.
//! Not here: the algorithms (mpi-coll).

use core::ffi::c_void;

use mpi_coll::Reduction;
use mpi_core::abi;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_env::{CommRef, Process};
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, CommView, TypeRef};
use crate::check;
use crate::errors::Outcome;

/// Releases the lock; returns the process and the whole communicator.
#[inline]
fn enter(cx: CallContext, comm: CommView) -> Result<(&'static Process, CommRef<'static>)> {
    let whole = cx.whole_comm(comm.handle)?;
    Ok((cx.process, whole))
}

/// `MPI_Barrier`
pub fn barrier(cx: CallContext, comm: CommView) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    Ok(process.coll.barrier_with(guard, &whole)?)
}

/// `MPI_Bcast`
pub fn bcast(cx: CallContext, buffer: RecvBuf<'_>, root: u32, comm: CommView) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let CallContext { process, guard, .. } = cx;
    Ok(process.coll.bcast_with(guard, &whole, buffer, root)?)
}

/// `MPI_Reduce`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn reduce(
    cx: CallContext,
    send: *const c_void,
    recv: *mut c_void,
    count: u64,
    datatype: TypeRef,
    op: usize,
    root: u32,
    comm: CommView,
) -> Outcome {
    let (word, op) = (op, cx.op("op", op)?);
    let at_root = root == comm.rank;
    let recv = match at_root {
        true => Some(cx.recv_buffer("recvbuf", recv, count, &datatype)?),
        false => None,
    };
    let send = match is_in_place(send) {
        true if !at_root => return Err(in_place("sendbuf").into()),
        true => None,
        false => Some(cx.send_buffer("sendbuf", send, count, &datatype)?),
    };
    distinct(&send, &recv)?;
    cx.on_op_used(word, &datatype, count);
    let (process, comm) = enter(cx, comm)?;
    let reduction = Reduction { op: &op, datatype: &datatype, handle: datatype.word(), count };
    Ok(process.coll.reduce(&comm, send, recv, &reduction, root)?)
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

/// One side of a collective operation, as unchecked arguments of the program.
struct Side<B> {
    names: [&'static str; 3],
    buffer: B,
    count: i64,
    datatype: usize,
}

impl<B> Side<B> {
    /// The number of elements for `parts` processes, and their type.
    fn described(&self, cx: &CallContext, parts: u32) -> Result<(u64, TypeRef)> {
        let each = check::count(self.names[1], self.count)?;
        let datatype = cx.datatype(self.names[2], self.datatype)?;
        match each.checked_mul(u64::from(parts)) {
            Some(count) => Ok((count, datatype)),
            None => Err(check::too_many(self.names[1], each, &datatype)),
        }
    }
}

fn sending<C: Into<i64>>(buffer: *const c_void, count: C, datatype: usize) -> Side<*const c_void> {
    Side { names: ["sendbuf", "sendcount", "sendtype"], buffer, count: count.into(), datatype }
}

fn receiving<C: Into<i64>>(buffer: *mut c_void, count: C, datatype: usize) -> Side<*mut c_void> {
    Side { names: ["recvbuf", "recvcount", "recvtype"], buffer, count: count.into(), datatype }
}

impl Side<*const c_void> {
    /// The buffer of the data for `parts` processes.
    fn send(&self, cx: &CallContext, parts: u32) -> Result<SendBuf<'static>> {
        let (count, datatype) = self.described(cx, parts)?;
        cx.send_buffer(self.names[0], self.buffer, count, &datatype)
    }

    /// As [`Side::send`]; `None` for `MPI_IN_PLACE`, whose count and type are ignored.
    fn send_or_in_place(&self, cx: &CallContext, parts: u32) -> Result<Option<SendBuf<'static>>> {
        if is_in_place(self.buffer) { Ok(None) } else { self.send(cx, parts).map(Some) }
    }
}

impl Side<*mut c_void> {
    /// The buffer for the data of `parts` processes.
    fn recv(&self, cx: &CallContext, parts: u32) -> Result<RecvBuf<'static>> {
        let (count, datatype) = self.described(cx, parts)?;
        cx.recv_buffer(self.names[0], self.buffer, count, &datatype)
    }
}

/// `MPI_Gather`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn gather<C: Into<i64>>(
    cx: CallContext,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    root: u32,
    comm: CommView,
) -> Outcome {
    let (send, recv) = (sending(sendbuf, sendcount, sendtype), receiving(recvbuf, recvcount, recvtype));
    let (send, recv) = match root == comm.rank {
        true => (send.send_or_in_place(&cx, 1)?, Some(recv.recv(&cx, comm.size)?)),
        false => (Some(send.send(&cx, 1)?), None),
    };
    distinct(&send, &recv)?;
    let (process, comm) = enter(cx, comm)?;
    Ok(process.coll.gather(&comm, send, recv, root)?)
}

/// `MPI_Scatter`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn scatter<C: Into<i64>>(
    cx: CallContext,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    root: u32,
    comm: CommView,
) -> Outcome {
    let (send, recv) = (sending(sendbuf, sendcount, sendtype), receiving(recvbuf, recvcount, recvtype));
    let (send, recv) = match root == comm.rank {
        true if is_in_place(recv.buffer) => (Some(send.send(&cx, comm.size)?), None),
        true => (Some(send.send(&cx, comm.size)?), Some(recv.recv(&cx, 1)?)),
        false => (None, Some(recv.recv(&cx, 1)?)),
    };
    distinct(&send, &recv)?;
    let (process, comm) = enter(cx, comm)?;
    Ok(process.coll.scatter(&comm, send, recv, root)?)
}

/// `MPI_Allgather`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn allgather<C: Into<i64>>(
    cx: CallContext,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    comm: CommView,
) -> Outcome {
    let recv = receiving(recvbuf, recvcount, recvtype).recv(&cx, comm.size)?;
    let send = sending(sendbuf, sendcount, sendtype).send_or_in_place(&cx, 1)?;
    let (process, comm) = enter(cx, comm)?;
    Ok(process.coll.allgather(&comm, send, recv)?)
}

/// `MPI_Alltoall`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn alltoall<C: Into<i64>>(
    cx: CallContext,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    comm: CommView,
) -> Outcome {
    let recv = receiving(recvbuf, recvcount, recvtype).recv(&cx, comm.size)?;
    let send = sending(sendbuf, sendcount, sendtype).send_or_in_place(&cx, comm.size)?;
    let (process, comm) = enter(cx, comm)?;
    Ok(process.coll.alltoall(&comm, send, recv)?)
}

fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == abi::MPI_IN_PLACE
}

#[cold]
fn in_place(name: &'static str) -> Error {
    Error::new(abi::MPI_ERR_BUFFER, "only the root may pass that here").arg(name, &"MPI_IN_PLACE")
}

/// Rejects the same address for both buffers, a common mistake in place of `MPI_IN_PLACE`.
#[inline]
fn distinct(send: &Option<SendBuf<'_>>, recv: &Option<RecvBuf<'_>>) -> Result<()> {
    match (send, recv) {
        (Some(send), Some(recv)) => differ(send, recv),
        _ => Ok(()),
    }
}

/// As [`distinct`], of two buffers.
#[inline]
fn differ(send: &SendBuf<'_>, recv: &RecvBuf<'_>) -> Result<()> {
    match send.address() {
        Some(address) if recv.address() == Some(address) && send.bytes() > 0 && recv.bytes() > 0 => {
            Err(same_memory(address))
        }
        _ => Ok(()),
    }
}

#[cold]
#[inline(never)]
fn same_memory(address: usize) -> Error {
    let error = Error::new(abi::MPI_ERR_BUFFER, "the send buffer and the receive buffer must not be the same memory");
    let error = error.arg("sendbuf", &format_args!("{address:#x}")).arg("recvbuf", &format_args!("{address:#x}"));
    error.hint("Pass MPI_IN_PLACE for the one that the function allows it for, or two different buffers.")
}
