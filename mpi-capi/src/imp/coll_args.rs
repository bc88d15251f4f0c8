//! The arguments of collective operations: which are significant in this process, and `MPI_IN_PLACE`.
//!
//! Not here: what is done with them (`coll`, mpi-coll).

use core::ffi::c_void;

use mpi_coll::op::Op;
use mpi_coll::{Buffers, CollOp, Root, Sizes};
use mpi_core::abi;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use super::coll_blocks::{Blocks, RECVS, SENDS, Types};
use super::coll_number::Number;
use crate::call_context::{CallContext, CommView, TypeRef};
use crate::check;
use crate::fortran_section;

/// The arguments of a collective operation, checked.
pub struct Arguments {
    pub which: CollOp,
    pub root: Root,
    pub send: Buffers<SendBuf<'static>>,
    pub recv: Buffers<RecvBuf<'static>>,
    /// Operation, type and count of a reduction.
    pub reducing: Option<(Op, TypeRef, u64)>,
    /// Elements of each process's part of a result that is scattered.
    pub counts: Sizes,
}

impl Arguments {
    /// Those of an operation on these buffers.
    #[inline(always)]
    pub fn new(which: CollOp, send: Buffers<SendBuf<'static>>, recv: Buffers<RecvBuf<'static>>) -> Arguments {
        Arguments { which, root: Root::Rank(0), send, recv, reducing: None, counts: Sizes::default() }
    }

    /// Those of a broadcast of this buffer.
    pub fn of_bcast(buffer: Option<RecvBuf<'static>>, root: i32) -> Arguments {
        let buffer = buffer.map_or(Buffers::Absent, Buffers::one);
        Arguments::new(CollOp::Bcast, Buffers::Absent, buffer).rooted(root)
    }

    /// With this root argument.
    #[inline(always)]
    pub fn rooted(self, root: i32) -> Arguments {
        Arguments { root: Root::of(root), ..self }
    }

    /// Rejects the same address for both buffers, a common mistake in place of `MPI_IN_PLACE`.
    #[inline(always)]
    pub fn distinct(self) -> Result<Arguments> {
        if let (Buffers::Whole { buffer: send, .. }, Buffers::Whole { buffer: recv, .. }) = (&self.send, &self.recv) {
            differ(send, recv)?;
        }
        Ok(self)
    }
}

/// A side of a collective operation, as unchecked arguments of the program.
pub struct Side<B> {
    names: [&'static str; 3],
    buffer: B,
    count: i64,
    datatype: usize,
}

impl<B> Side<B> {
    /// The number of elements for `parts` processes, and their type.
    #[inline(always)]
    fn described(&self, cx: &CallContext, parts: u32) -> Result<(u64, TypeRef)> {
        let each = check::count(self.names[1], self.count)?;
        let datatype = cx.datatype(self.names[2], self.datatype)?;
        match each.checked_mul(u64::from(parts)) {
            Some(count) => Ok((count, datatype)),
            None => Err(check::too_many(self.names[1], each, &datatype)),
        }
    }
}

/// What a process sends.
#[inline(always)]
pub fn sending<C: Number>(buffer: *const c_void, count: C, datatype: usize) -> Side<*const c_void> {
    Side { names: ["sendbuf", "sendcount", "sendtype"], buffer, count: count.wide(), datatype }
}

/// What a process receives.
#[inline(always)]
pub fn receiving<C: Number>(buffer: *mut c_void, count: C, datatype: usize) -> Side<*mut c_void> {
    Side { names: ["recvbuf", "recvcount", "recvtype"], buffer, count: count.wide(), datatype }
}

impl Side<*const c_void> {
    /// The buffer of the data for `blocks` processes.
    #[inline(always)]
    pub fn send(&self, cx: &CallContext, blocks: u32) -> Result<Buffers<SendBuf<'static>>> {
        let (count, datatype) = self.described(cx, blocks)?;
        Ok(Buffers::Whole {
            buffer: fortran_section::send_buffer(cx, self.names[0], self.buffer, count, &datatype)?,
            blocks,
        })
    }

    /// The root's own block of a gather.
    #[inline(always)]
    fn of_root(&self, cx: &CallContext, comm: CommView) -> Result<Buffers<SendBuf<'static>>> {
        if comm.inter { Ok(Buffers::Absent) } else { self.send_or_in_place(cx, 1) }
    }

    /// As [`Side::send`]; of `MPI_IN_PLACE` count and type are ignored.
    #[inline(always)]
    fn send_or_in_place(&self, cx: &CallContext, blocks: u32) -> Result<Buffers<SendBuf<'static>>> {
        if is_in_place(self.buffer) { Ok(Buffers::InPlace) } else { self.send(cx, blocks) }
    }
}

impl Side<*mut c_void> {
    /// The place of the root's own block of a scatter.
    #[inline(always)]
    fn of_root(&self, cx: &CallContext, comm: CommView) -> Result<Buffers<RecvBuf<'static>>> {
        match comm.inter {
            true => Ok(Buffers::Absent),
            false if is_in_place(self.buffer) => Ok(Buffers::InPlace),
            false => self.recv(cx, 1),
        }
    }

    /// The buffer for the data of `blocks` processes.
    #[inline(always)]
    pub fn recv(&self, cx: &CallContext, blocks: u32) -> Result<Buffers<RecvBuf<'static>>> {
        let (count, datatype) = self.described(cx, blocks)?;
        Ok(Buffers::Whole {
            buffer: fortran_section::recv_buffer(cx, self.names[0], self.buffer, count, &datatype)?,
            blocks,
        })
    }
}

/// The part of a process in a rooted operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The root.
    Root,
    /// A process that the root exchanges data with.
    Other,
    /// Neither: another process of its group is the root of an intercommunicator's operation.
    None,
}

impl Part {
    /// That of this process for a root argument.
    #[inline(always)]
    pub fn of(comm: CommView, root: i32) -> Part {
        match Root::of(root) {
            Root::Elsewhere => Part::None,
            Root::Here => Part::Root,
            Root::Rank(root) if root == comm.rank && !comm.inter => Part::Root,
            Root::Rank(_) => Part::Other,
        }
    }
}

/// Rejects `MPI_IN_PLACE` in an intercommunicator.
#[inline(always)]
pub fn may_be_in_place(comm: CommView, name: &'static str, buffer: *const c_void) -> Result<()> {
    if comm.inter && is_in_place(buffer) {
        return Err(
            Error::new(abi::MPI_ERR_BUFFER, "it has no meaning on an intercommunicator").arg(name, &"MPI_IN_PLACE")
        );
    }
    Ok(())
}

/// Of a barrier.
pub fn barrier(_cx: &CallContext, _comm: CommView) -> Result<Arguments> {
    Ok(Arguments::new(CollOp::Barrier, Buffers::Absent, Buffers::Absent))
}

/// The buffer of a broadcast; `None` where it is not significant.
#[inline]
pub fn bcast_buffer<C: Number>(
    cx: &CallContext,
    comm: CommView,
    buffer: *mut c_void,
    count: C,
    datatype: usize,
    root: i32,
) -> Result<Option<RecvBuf<'static>>> {
    if comm.inter && root == abi::MPI_PROC_NULL {
        return Ok(None);
    }
    let count = check::count("count", count.wide())?;
    let datatype = cx.borrowed_datatype("datatype", datatype)?;
    fortran_section::recv_buffer(cx, "buffer", buffer, count, datatype).map(Some)
}

/// Of a broadcast.
pub fn bcast<C: Number>(
    cx: &CallContext,
    comm: CommView,
    buffer: *mut c_void,
    count: C,
    datatype: usize,
    root: i32,
) -> Result<Arguments> {
    Ok(Arguments::of_bcast(bcast_buffer(cx, comm, buffer, count, datatype, root)?, root))
}

/// Of a gather of equal blocks.
#[inline(always)] // the buffers stay in registers on a short way
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn gather<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    root: i32,
) -> Result<Arguments> {
    let (send, recv) = (sending(sendbuf, sendcount, sendtype), receiving(recvbuf, recvcount, recvtype));
    let (send, recv) = match Part::of(comm, root) {
        Part::Root => (send.of_root(cx, comm)?, recv.recv(cx, comm.peers)?),
        Part::Other => (send.send(cx, 1)?, Buffers::Absent),
        Part::None => (Buffers::Absent, Buffers::Absent),
    };
    Arguments::new(CollOp::Gather, send, recv).rooted(root).distinct()
}

/// Of a gather of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn gatherv<C: Number, D: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcounts: *const C,
    displs: *const D,
    recvtype: usize,
    root: i32,
) -> Result<Arguments> {
    let send = sending(sendbuf, sendcount, sendtype);
    let (send, recv) = match Part::of(comm, root) {
        Part::Root => {
            let recv = Blocks::new(RECVS, comm.peers, recvcounts, ("displs", displs), Types::One(recvtype))?;
            (send.of_root(cx, comm)?, recv.recv(cx, recvbuf)?)
        }
        Part::Other => (send.send(cx, 1)?, Buffers::Absent),
        Part::None => (Buffers::Absent, Buffers::Absent),
    };
    Ok(Arguments::new(CollOp::Gatherv, send, recv).rooted(root))
}

/// Of a scatter of equal blocks.
#[inline(always)] // the buffers stay in registers on a short way
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn scatter<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    root: i32,
) -> Result<Arguments> {
    let (send, recv) = (sending(sendbuf, sendcount, sendtype), receiving(recvbuf, recvcount, recvtype));
    let (send, recv) = match Part::of(comm, root) {
        Part::Root => (send.send(cx, comm.peers)?, recv.of_root(cx, comm)?),
        Part::Other => (Buffers::Absent, recv.recv(cx, 1)?),
        Part::None => (Buffers::Absent, Buffers::Absent),
    };
    Arguments::new(CollOp::Scatter, send, recv).rooted(root).distinct()
}

/// Of a scatter of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn scatterv<C: Number, D: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcounts: *const C,
    displs: *const D,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
    root: i32,
) -> Result<Arguments> {
    let recv = receiving(recvbuf, recvcount, recvtype);
    let (send, recv) = match Part::of(comm, root) {
        Part::Root => {
            let send = Blocks::new(SENDS, comm.peers, sendcounts, ("displs", displs), Types::One(sendtype))?;
            (send.send(cx, sendbuf)?, recv.of_root(cx, comm)?)
        }
        Part::Other => (Buffers::Absent, recv.recv(cx, 1)?),
        Part::None => (Buffers::Absent, Buffers::Absent),
    };
    Ok(Arguments::new(CollOp::Scatterv, send, recv).rooted(root))
}

/// Of an allgather of equal blocks.
#[inline(always)] // the buffers stay in registers on a short way
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn allgather<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
) -> Result<Arguments> {
    may_be_in_place(comm, "sendbuf", sendbuf)?;
    let recv = receiving(recvbuf, recvcount, recvtype).recv(cx, comm.peers)?;
    let send = sending(sendbuf, sendcount, sendtype).send_or_in_place(cx, 1)?;
    Ok(Arguments::new(CollOp::Allgather, send, recv))
}

/// Of an allgather of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn allgatherv<C: Number, D: Number>(
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
    may_be_in_place(comm, "sendbuf", sendbuf)?;
    let recv = Blocks::new(RECVS, comm.peers, recvcounts, ("displs", displs), Types::One(recvtype))?;
    let recv = recv.recv(cx, recvbuf)?;
    let send = sending(sendbuf, sendcount, sendtype).send_or_in_place(cx, 1)?;
    Ok(Arguments::new(CollOp::Allgatherv, send, recv))
}

/// Of an exchange of equal blocks.
#[inline(always)] // the buffers stay in registers on a short way
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn alltoall<C: Number>(
    cx: &CallContext,
    comm: CommView,
    sendbuf: *const c_void,
    sendcount: C,
    sendtype: usize,
    recvbuf: *mut c_void,
    recvcount: C,
    recvtype: usize,
) -> Result<Arguments> {
    may_be_in_place(comm, "sendbuf", sendbuf)?;
    let recv = receiving(recvbuf, recvcount, recvtype).recv(cx, comm.peers)?;
    let send = sending(sendbuf, sendcount, sendtype).send_or_in_place(cx, comm.peers)?;
    Ok(Arguments::new(CollOp::Alltoall, send, recv))
}

/// Of an exchange of blocks with their own lengths and places.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn alltoallv<C: Number, D: Number>(
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
    may_be_in_place(comm, "sendbuf", sendbuf)?;
    let recv = Blocks::new(RECVS, comm.peers, recvcounts, ("rdispls", rdispls), Types::One(recvtype))?;
    let recv = recv.recv(cx, recvbuf)?;
    let send = match is_in_place(sendbuf) {
        true => Buffers::InPlace,
        false => {
            Blocks::new(SENDS, comm.peers, sendcounts, ("sdispls", sdispls), Types::One(sendtype))?.send(cx, sendbuf)?
        }
    };
    Ok(Arguments::new(CollOp::Alltoallv, send, recv))
}

/// Of an exchange of blocks with their own lengths, places and types.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn alltoallw<C: Number, D: Number>(
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
    may_be_in_place(comm, "sendbuf", sendbuf)?;
    let recv = Blocks::new(RECVS, comm.peers, recvcounts, ("rdispls", rdispls), Types::Each(recvtypes))?;
    let recv = recv.recv(cx, recvbuf)?;
    let send = match is_in_place(sendbuf) {
        true => Buffers::InPlace,
        false => Blocks::new(SENDS, comm.peers, sendcounts, ("sdispls", sdispls), Types::Each(sendtypes))?
            .send(cx, sendbuf)?,
    };
    Ok(Arguments::new(CollOp::Alltoallw, send, recv))
}

/// Whether a buffer argument is `MPI_IN_PLACE`.
#[inline(always)]
pub fn is_in_place(buffer: *const c_void) -> bool {
    buffer as usize == abi::MPI_IN_PLACE
}

/// `MPI_IN_PLACE` in a process that is not the root.
#[cold]
pub fn in_place(name: &'static str) -> Error {
    Error::new(abi::MPI_ERR_BUFFER, "only the root may pass that here").arg(name, &"MPI_IN_PLACE")
}

/// Rejects the same memory for both buffers.
#[inline]
pub fn differ(send: &SendBuf<'_>, recv: &RecvBuf<'_>) -> Result<()> {
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
