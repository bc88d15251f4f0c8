//! The buffers of buffered sends: of the process, of communicators, of sessions (MPI-5.0, 3.6).

use core::ffi::c_void;

use mpi_core::{Handle, abi};
use mpi_errors::Error;
use mpi_p2p::{Attached, BufferOwner};

use crate::call_context::{CallContext, CommView};
use crate::check::{CountOut, Out, bad_buffer, is_no_memory};
use crate::errors::Outcome;

fn attach(cx: CallContext, owner: BufferOwner, buffer: *mut c_void, size: u64) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let automatic = buffer as usize == abi::MPI_BUFFER_AUTOMATIC;
    if buffer.is_null() && size > 0 {
        let rule = format!("a buffer of {} has an address", mpi_errors::counted(size, "byte"));
        let error = Error::new(abi::MPI_ERR_BUFFER, rule).arg("buffer", &"NULL");
        return Err(error.hint("Pass memory of that size, or MPI_BUFFER_AUTOMATIC.").into());
    }
    if !automatic && size > 0 && is_no_memory(buffer) {
        return Err(bad_buffer("buffer", buffer).into());
    }
    let attached = Attached { address: buffer as usize, bytes: (!automatic).then_some(size) };
    Ok(process.engine.buffer_attach(&mut guard, owner, attached)?)
}

/// The address is stored at `buffer`, though C declares it as a plain `void *`.
fn detach(cx: CallContext, owner: BufferOwner, buffer: *mut c_void, size: CountOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let (address, bytes) = match process.engine.buffer_detach(guard, owner)? {
        Some(attached) => (attached.address, attached.bytes.unwrap_or(0)),
        None => (0, 0),
    };
    // SAFETY: the program passed the address of a pointer variable; it is not NULL.
    unsafe { buffer.cast::<*mut c_void>().write_unaligned(address as *mut c_void) };
    size.set(bytes as i64);
    Ok(())
}

fn flush(cx: CallContext, owner: BufferOwner) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.engine.buffer_flush(guard, owner)?)
}

fn iflush(cx: CallContext, owner: BufferOwner, request: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    request.set(process.engine.buffer_iflush(&mut guard, owner)?.0);
    Ok(())
}

/// `MPI_Buffer_attach`
pub fn buffer_attach(cx: CallContext, buffer: *mut c_void, size: u64) -> Outcome {
    attach(cx, BufferOwner::Process, buffer, size)
}

/// `MPI_Buffer_detach`
pub fn buffer_detach(cx: CallContext, buffer: *mut c_void, size: CountOut) -> Outcome {
    detach(cx, BufferOwner::Process, buffer, size)
}

/// `MPI_Buffer_flush`
pub fn buffer_flush(cx: CallContext) -> Outcome {
    flush(cx, BufferOwner::Process)
}

/// `MPI_Buffer_iflush`
pub fn buffer_iflush(cx: CallContext, request: Out<usize>) -> Outcome {
    iflush(cx, BufferOwner::Process, request)
}

/// `MPI_Comm_attach_buffer`
pub fn comm_attach_buffer(cx: CallContext, comm: CommView, buffer: *mut c_void, size: u64) -> Outcome {
    attach(cx, BufferOwner::Comm(comm.context), buffer, size)
}

/// `MPI_Comm_detach_buffer`
pub fn comm_detach_buffer(cx: CallContext, comm: CommView, buffer: *mut c_void, size: CountOut) -> Outcome {
    detach(cx, BufferOwner::Comm(comm.context), buffer, size)
}

/// `MPI_Comm_flush_buffer`
pub fn comm_flush_buffer(cx: CallContext, comm: CommView) -> Outcome {
    flush(cx, BufferOwner::Comm(comm.context))
}

/// `MPI_Comm_iflush_buffer`
pub fn comm_iflush_buffer(cx: CallContext, comm: CommView, request: Out<usize>) -> Outcome {
    iflush(cx, BufferOwner::Comm(comm.context), request)
}

/// `MPI_Session_attach_buffer`
pub fn session_attach_buffer(cx: CallContext, session: Handle, buffer: *mut c_void, size: u64) -> Outcome {
    attach(cx, BufferOwner::Session(session), buffer, size)
}

/// `MPI_Session_detach_buffer`
pub fn session_detach_buffer(cx: CallContext, session: Handle, buffer: *mut c_void, size: CountOut) -> Outcome {
    detach(cx, BufferOwner::Session(session), buffer, size)
}

/// `MPI_Session_flush_buffer`
pub fn session_flush_buffer(cx: CallContext, session: Handle) -> Outcome {
    flush(cx, BufferOwner::Session(session))
}

/// `MPI_Session_iflush_buffer`
pub fn session_iflush_buffer(cx: CallContext, session: Handle, request: Out<usize>) -> Outcome {
    iflush(cx, BufferOwner::Session(session), request)
}
