//! The arguments of collective operations of neighbourhoods (MPI-5.0, 8.6).
//!
//! Not here: those of all processes of a communicator (`coll_args`).

use core::ffi::c_void;

use mpi_coll::CollOp;
use mpi_errors::Result;

use super::coll_args::{Arguments, receiving, sending};
use super::coll_blocks::{Blocks, RECVS, SENDS, Types};
use super::coll_number::Number;
use crate::call_context::{CallContext, CommView};

/// The numbers of neighbours that a process receives from and sends to. Errors: `MPI_ERR_TOPOLOGY`.
fn degrees(cx: &CallContext, comm: CommView) -> Result<(u32, u32)> {
    cx.whole_comm(comm.handle)?.neighbor_counts()
}

/// Of an allgather of equal blocks.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn neighbor_allgather<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
) -> Result<Arguments> {
    let (sources, _) = degrees(cx, comm)?;
    let recv = receiving(recvbuf, recvcount, recvtype).recv(cx, sources)?;
    let send = sending(sendbuf, sendcount, sendtype).send(cx, 1)?;
    Ok(Arguments::new(CollOp::NeighborAllgather, send, recv))
}

/// Of an allgather of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn neighbor_allgatherv<C: Number, D: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    displs: *const D,
    recvtype: usize,
) -> Result<Arguments> {
    let (sources, _) = degrees(cx, comm)?;
    let recv = Blocks::new(RECVS, sources, recvcounts, ("displs", displs), Types::One(recvtype))?.recv(cx, recvbuf)?;
    let send = sending(sendbuf, sendcount, sendtype).send(cx, 1)?;
    Ok(Arguments::new(CollOp::NeighborAllgatherv, send, recv))
}

/// Of an exchange of equal blocks.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn neighbor_alltoall<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
) -> Result<Arguments> {
    let (sources, destinations) = degrees(cx, comm)?;
    let recv = receiving(recvbuf, recvcount, recvtype).recv(cx, sources)?;
    let send = sending(sendbuf, sendcount, sendtype).send(cx, destinations)?;
    Ok(Arguments::new(CollOp::NeighborAlltoall, send, recv))
}

/// Of an exchange of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn neighbor_alltoallv<C: Number, D: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcounts: *const C,
    sdispls: *const D,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    rdispls: *const D,
    recvtype: usize,
) -> Result<Arguments> {
    let (sources, destinations) = degrees(cx, comm)?;
    let recv =
        Blocks::new(RECVS, sources, recvcounts, ("rdispls", rdispls), Types::One(recvtype))?.recv(cx, recvbuf)?;
    let send = Blocks::new(SENDS, destinations, sendcounts, ("sdispls", sdispls), Types::One(sendtype))?;
    Ok(Arguments::new(CollOp::NeighborAlltoallv, send.send(cx, sendbuf)?, recv))
}

/// Of an exchange of blocks with their own lengths, places and types.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn neighbor_alltoallw<C: Number, D: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcounts: *const C,
    sdispls: *const D,
    sendtypes: *const usize,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    rdispls: *const D,
    recvtypes: *const usize,
) -> Result<Arguments> {
    let (sources, destinations) = degrees(cx, comm)?;
    let recv = Blocks::new(RECVS, sources, recvcounts, ("rdispls", rdispls), Types::Each(recvtypes))?;
    let recv = recv.recv(cx, recvbuf)?;
    let send = Blocks::new(SENDS, destinations, sendcounts, ("sdispls", sdispls), Types::Each(sendtypes))?;
    Ok(Arguments::new(CollOp::NeighborAlltoallw, send.send(cx, sendbuf)?, recv))
}
