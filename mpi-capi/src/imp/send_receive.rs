//! A send and a receive under one request (MPI-5.0, 3.10).
//!
//! Not here: the blocking forms (`receive`).

use mpi_datatype::{RecvBuf, SendBuf};

use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::Outcome;

/// `MPI_Isendrecv`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn isendrecv(
    cx: CallContext,
    send_buffer: SendBuf<'static>,
    dest: i32,
    send_tag: i32,
    recv_buffer: RecvBuf<'static>,
    source: i32,
    recv_tag: i32,
    comm: CommView,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    process.recorder.receives(source, recv_tag);
    let (to, from) = ((dest, send_tag), (source, recv_tag));
    request.set(process.engine.isendrecv(&mut guard, comm.context, to, send_buffer, from, recv_buffer)?.0);
    Ok(())
}

/// `MPI_Isendrecv_replace`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn isendrecv_replace(
    cx: CallContext,
    buffer: RecvBuf<'static>,
    dest: i32,
    send_tag: i32,
    source: i32,
    recv_tag: i32,
    comm: CommView,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    process.recorder.receives(source, recv_tag);
    let (to, from) = ((dest, send_tag), (source, recv_tag));
    request.set(process.engine.isendrecv_replace(&mut guard, comm.context, to, from, buffer)?.0);
    Ok(())
}
