//! Sends in all modes, blocking and non-blocking (MPI-5.0, 3.4 and 3.7).

use core::ffi::{c_int, c_void};

use mpi_core::{Guard, Handle, functions};
use mpi_datatype::{SendBuf, short_bytes};
use mpi_env::Process;
use mpi_fabric::{INLINE_BYTES, Mark};
use mpi_p2p::Mode;

use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::imp::short_way::short_way;

/// What the short ways of sends check first: this process, and the bytes of the data, at most [`INLINE_BYTES`] of a
/// predefined type. `None`: something is unusual.
#[inline(always)] // two callers, which are short
fn usual_source(buf: *const c_void, count: c_int, datatype: usize, tag: c_int) -> Option<(&'static Process, usize)> {
    let process = mpi_env::running_quickly()?;
    let bytes = short_bytes(datatype, count, INLINE_BYTES)?;
    if tag < 0 || check::is_no_memory(buf) || mpi_t::whole_calls_requested() {
        return None;
    }
    Some((process, bytes))
}

short_way! {
    /// The short way of `MPI_Send`, for few bytes: checks all arguments, and sends if nothing but stores is needed. Otherwise
    /// nothing has happened, and the longer way finds the reason.
    fn send_quickly<ALONE>(
        buf: *const c_void,
        count: c_int,
        datatype: usize,
        dest: c_int,
        tag: c_int,
        comm: usize,
    ) -> bool {
        let send = || {
            let (process, bytes) = usual_source(buf, count, datatype, tag)?;
            let engine = &*process.engine;
            let mut guard = engine.lock_quickly::<ALONE>()?;
            let context = process.comm_facts(&guard, Handle(comm))?.context();
            // SAFETY: the program passed a buffer of `count` elements, which it does not modify during the call.
            let memory = unsafe { core::slice::from_raw_parts(buf.cast::<u8>(), bytes) };
            let record = || process.recorder.enter_untimed(functions::MPI_SEND, context, dest, tag, count as u64);
            engine.send_quickly(&mut guard, context, dest, tag, memory, record).map(Mark::leave_untimed)
        };
        send().is_some()
    }
}

short_way! {
    /// The short way of `MPI_Isend`, as that of `MPI_Send`.
    fn isend_quickly<ALONE>(
        buf: *const c_void,
        count: c_int,
        datatype: usize,
        dest: c_int,
        tag: c_int,
        comm: usize,
        request: *mut usize,
    ) -> bool {
        let send = || {
            let (process, bytes) = usual_source(buf, count, datatype, tag)?;
            if request.is_null() {
                return None;
            }
            let engine = &*process.engine;
            let mut guard = engine.lock_quickly::<ALONE>()?;
            let context = process.comm_facts(&guard, Handle(comm))?.context();
            // SAFETY: the program passed a buffer of `count` elements, which it does not modify during the call.
            let memory = unsafe { core::slice::from_raw_parts(buf.cast::<u8>(), bytes) };
            let started = engine.isend_quickly(&mut guard, context, dest, tag, bytes)?;
            // Before the message leaves, so that what only these need is not kept beside what the rest needs.
            process.recorder.record_untimed(functions::MPI_ISEND, context, dest, tag, count as u64);
            check::set_quickly(request, started.request.0);
            started.send(memory);
            Some(())
        };
        send().is_some()
    }
}

macro_rules! sends {
    ($($blocking:ident, $started:ident: $mode:ident;)*) => {$(
        /// The blocking send of one mode.
        #[inline(always)] // one caller each: the entry point
        pub fn $blocking(cx: CallContext, buffer: SendBuf<'_>, dest: i32, tag: i32, comm: CommView) -> Outcome {
            let CallContext { process, guard, .. } = cx;
            Ok(process.engine.send(guard, comm.context, dest, tag, buffer, Mode::$mode)?)
        }

        /// The non-blocking send of one mode.
        #[inline(always)] // one caller each: the entry point
        pub fn $started(
            cx: CallContext,
            buffer: SendBuf<'static>,
            dest: i32,
            tag: i32,
            comm: CommView,
            request: Out<usize>,
        ) -> Outcome {
            let CallContext { process, mut guard, .. } = cx;
            let guard: &mut Guard<'_> = &mut guard;
            request.set(process.engine.isend(guard, comm.context & !1, dest, tag, buffer, Mode::$mode)?.0);
            Ok(())
        }
    )*};
}

sends! {
    send, isend: Standard;
    ssend, issend: Synchronous;
    rsend, irsend: Ready;
    bsend, ibsend: Buffered;
}
