//! Receives, combined sends and receives, and probes (MPI-5.0, 3.2.4, 3.8, 3.10).

use core::ffi::{c_int, c_void};

use mpi_core::{Guard, Handle, Status, abi, functions};
use mpi_datatype::{RecvBuf, SendBuf, short_bytes};
use mpi_env::{Object, Process};
use mpi_errors::Error;
use mpi_fabric::Mark;
use mpi_p2p::ReceiveFailure;

use crate::call_context::{CallContext, CommView, Record};
use crate::check::{self, Out, StatusOut};
use crate::entry;
use crate::errors::{Outcome, Raised};
use crate::imp::short_way::short_way;

/// `MPI_Recv`
#[inline]
pub fn recv(cx: CallContext, buffer: RecvBuf<'_>, source: i32, tag: i32, comm: CommView, status: StatusOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    received(process.engine.recv(guard, comm.context, source, tag, buffer), status)
}

/// What the short ways of receives check first: this process, and the bytes of the buffer. `None`: something is unusual.
#[inline(always)] // two callers, which are short
fn usual_target(buf: *mut c_void, count: c_int, datatype: usize, tag: c_int) -> Option<(&'static Process, usize)> {
    let process = mpi_env::running_quickly()?;
    let bytes = short_bytes(datatype, count, usize::MAX >> 1)?;
    if tag < 0 && tag != abi::MPI_ANY_TAG || check::is_no_memory(buf) || mpi_t::whole_calls_requested() {
        return None;
    }
    Some((process, bytes))
}

short_way! {
    /// The short way of `MPI_Recv`, from one process and into elements of a predefined type: checks all arguments, and waits for
    /// the next message of that process if it has nothing else to do. Returns the code of the call; `None`: nothing has happened,
    /// and the longer way finds the reason.
    fn recv_quickly<ALONE>(
        buf: *mut c_void,
        count: c_int,
        datatype: usize,
        source: c_int,
        tag: c_int,
        comm: usize,
        status: *mut Status,
    ) -> Option<c_int> {
        let (process, bytes) = usual_target(buf, count, datatype, tag)?;
        let engine = &*process.engine;
        let mut guard = engine.lock_quickly::<ALONE>()?;
        let context = process.comm_facts(&guard, Handle(comm))?.context();
        let receive = engine.recv_quickly(&mut guard, context, source, tag)?;
        let entry = process.recorder.enter_untimed(functions::MPI_RECV, context, source, tag, count as u64);
        // SAFETY: the program passed a buffer of `count` elements, which it does not use during the call.
        let memory = unsafe { core::slice::from_raw_parts_mut(buf.cast::<u8>(), bytes) };
        let Some(message) = receive.wait(memory) else {
            return Some(recv_further(
                (process, guard.into_guard(), entry),
                (buf, bytes),
                source,
                tag,
                (comm, context),
                status,
            ));
        };
        entry.leave_untimed();
        if let Ok(status) = check::status_out("status", status) {
            status.set(Status::new(source, message.tag, message.bytes as u64));
        }
        Some(abi::MPI_SUCCESS)
    }
}

/// Continues a receive that its short way has begun, and recorded.
#[cold]
#[inline(never)]
fn recv_further(
    (process, guard, entry): (&'static Process, Guard<'static>, Mark<'static>),
    (buf, bytes): (*mut c_void, usize),
    source: i32,
    tag: i32,
    (comm, context): (usize, u32),
    status: *mut Status,
) -> c_int {
    // SAFETY: the program passed a buffer of so many bytes, which it does not use during the call.
    let buffer = unsafe { RecvBuf::of_bytes(buf.cast(), bytes) };
    let outcome = check::status_out("status", status)
        .map_err(Into::into)
        .and_then(|status| received(process.engine.recv(guard, context, source, tag, buffer), status));
    entry::finished(functions::MPI_RECV, Some(Object::comm(comm)), Record::of(entry).end(outcome))
}

short_way! {
    /// The short way of `MPI_Irecv`, from one process and into elements of a predefined type: checks all arguments, and starts
    /// the receive if no message of the communicator waits. Otherwise nothing has happened, and the longer way finds the reason.
    fn irecv_quickly<ALONE>(
        buf: *mut c_void,
        count: c_int,
        datatype: usize,
        source: c_int,
        tag: c_int,
        comm: usize,
        request: *mut usize,
    ) -> bool {
        let start = || {
            let (process, bytes) = usual_target(buf, count, datatype, tag)?;
            if request.is_null() {
                return None;
            }
            let engine = &*process.engine;
            let mut guard = engine.lock_quickly::<ALONE>()?;
            let context = process.comm_facts(&guard, Handle(comm))?.context();
            // SAFETY: the program passed a buffer of `count` elements, which it does not use until the operation is complete.
            let buffer = unsafe { RecvBuf::of_bytes(buf.cast(), bytes) };
            let started = engine.irecv_quickly(&mut guard, context, source, tag, buffer).ok()?;
            process.recorder.record_untimed(functions::MPI_IRECV, context, source, tag, count as u64);
            // Before the lock is released, so that nothing has to be kept until then.
            check::set_quickly(request, started.0).then_some(())
        };
        start().is_some()
    }
}

/// `MPI_Irecv`
#[inline]
pub fn irecv(
    cx: CallContext,
    buffer: RecvBuf<'static>,
    source: i32,
    tag: i32,
    comm: CommView,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    request.set(process.engine.irecv(&mut guard, comm.context, source, tag, buffer)?.0);
    Ok(())
}

/// `MPI_Sendrecv`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn sendrecv(
    cx: CallContext,
    send_buffer: SendBuf<'_>,
    dest: i32,
    send_tag: i32,
    recv_buffer: RecvBuf<'_>,
    source: i32,
    recv_tag: i32,
    comm: CommView,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    process.recorder.receives(source, recv_tag);
    let engine = &process.engine;
    let result = engine.sendrecv(guard, comm.context, dest, send_tag, send_buffer, source, recv_tag, recv_buffer);
    received(result, status)
}

/// `MPI_Sendrecv_replace`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn sendrecv_replace(
    cx: CallContext,
    buffer: RecvBuf<'_>,
    dest: i32,
    send_tag: i32,
    source: i32,
    recv_tag: i32,
    comm: CommView,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    process.recorder.receives(source, recv_tag);
    let (to, from) = ((dest, send_tag), (source, recv_tag));
    received(process.engine.sendrecv_replace(guard, comm.context, to, from, buffer), status)
}

/// `MPI_Probe`
pub fn probe(cx: CallContext, source: i32, tag: i32, comm: CommView, status: StatusOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    if source == abi::MPI_PROC_NULL {
        status.set(Status::PROC_NULL);
        return Ok(());
    }
    status.set(process.engine.probe(guard, comm.context, source, tag)?);
    Ok(())
}

/// `MPI_Iprobe`
pub fn iprobe(cx: CallContext, source: i32, tag: i32, comm: CommView, flag: Out<i32>, status: StatusOut) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let found = match source {
        abi::MPI_PROC_NULL => Some(Status::PROC_NULL),
        _ => process.engine.iprobe(&mut guard, comm.context, source, tag)?,
    };
    if let Some(found) = found {
        status.set(found);
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Mprobe`
pub fn mprobe(
    cx: CallContext,
    source: i32,
    tag: i32,
    comm: CommView,
    message: Out<usize>,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let (handle, found) = match source {
        abi::MPI_PROC_NULL => (Handle(abi::MPI_MESSAGE_NO_PROC), Status::PROC_NULL),
        _ => process.engine.mprobe(guard, comm.context, source, tag)?,
    };
    message.set(handle.0);
    status.set(found);
    Ok(())
}

/// `MPI_Improbe`
pub fn improbe(
    cx: CallContext,
    source: i32,
    tag: i32,
    comm: CommView,
    flag: Out<i32>,
    message: Out<usize>,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let found = match source {
        abi::MPI_PROC_NULL => Some((Handle(abi::MPI_MESSAGE_NO_PROC), Status::PROC_NULL)),
        _ => process.engine.improbe(&mut guard, comm.context, source, tag)?,
    };
    if let Some((handle, found)) = found {
        message.set(handle.0);
        status.set(found);
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Mrecv`
pub fn mrecv(cx: CallContext, buffer: RecvBuf<'_>, message: Out<usize>, status: StatusOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let handle = Handle(message.get());
    let context = process.engine.message_context(&guard, handle);
    match process.engine.mrecv(guard, handle, buffer) {
        Ok(Some(received)) => {
            message.set(abi::MPI_MESSAGE_NULL);
            status.set(received);
            Ok(())
        }
        Ok(None) => Err(no_such_message(handle).into()),
        Err(failure) => {
            if process.engine.message_context(&process.engine.lock(), handle).is_none() {
                message.set(abi::MPI_MESSAGE_NULL);
            }
            if let Some(received) = failure.status() {
                status.set(received);
            }
            Err(Raised::on_context(failure.into(), context))
        }
    }
}

/// `MPI_Imrecv`
pub fn imrecv(cx: CallContext, buffer: RecvBuf<'static>, message: Out<usize>, request: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let handle = Handle(message.get());
    let context = process.engine.message_context(&guard, handle);
    match process.engine.imrecv(&mut guard, handle, buffer) {
        Ok(Some(started)) => {
            message.set(abi::MPI_MESSAGE_NULL);
            request.set(started.0);
            Ok(())
        }
        Ok(None) => Err(no_such_message(handle).into()),
        Err(error) => Err(Raised::on_context(error, context)),
    }
}

/// Ends a blocking receive. If a message was received, stores its source, tag and length in the status, as `MPI_Wait`
/// does, even if the receive failed (MPI-5.0, 3.2.5).
#[inline]
fn received(result: Result<Status, ReceiveFailure>, status: StatusOut) -> Outcome {
    match result {
        Ok(received) => {
            status.set(received);
            Ok(())
        }
        Err(failure) => {
            if let Some(received) = failure.status() {
                status.set(received);
            }
            Err(Error::from(failure).into())
        }
    }
}

#[cold]
fn no_such_message(message: Handle) -> Error {
    match message.0 {
        abi::MPI_MESSAGE_NULL => Error::new(abi::MPI_ERR_REQUEST, "a message of MPI_Mprobe or MPI_Improbe is needed")
            .arg("message", &"MPI_MESSAGE_NULL"),
        word => Error::new(abi::MPI_ERR_REQUEST, "no message has that handle; each is received once")
            .arg("message", &Handle(word)),
    }
}
