//! Persistent requests and their start (MPI-5.0, 3.9).
//!
//! Not here: partitioned communication (`partitioned`), completion (`request`, `many`).

use mpi_core::{Handle, functions};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_p2p::{Mode, StartedRequest};

use super::many::handles;
use crate::call_context::{CallContext, CommView};
use crate::check::Out;
use crate::errors::{Outcome, Raised};

macro_rules! sends {
    ($($name:ident: $mode:ident;)*) => {$(
        /// The persistent send of one mode.
        pub fn $name(
            cx: CallContext,
            buffer: SendBuf<'static>,
            dest: i32,
            tag: i32,
            comm: CommView,
            request: Out<usize>,
        ) -> Outcome {
            let CallContext { process, mut guard, .. } = cx;
            request.set(process.engine.send_init(&mut guard, comm.context, dest, tag, buffer, Mode::$mode)?.0);
            Ok(())
        }
    )*};
}

sends! {
    send_init: Standard;
    ssend_init: Synchronous;
    rsend_init: Ready;
    bsend_init: Buffered;
}

/// `MPI_Recv_init`
pub fn recv_init(
    cx: CallContext,
    buffer: RecvBuf<'static>,
    source: i32,
    tag: i32,
    comm: CommView,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    request.set(process.engine.recv_init(&mut guard, comm.context, source, tag, buffer)?.0);
    Ok(())
}

/// `MPI_Start`; the flight recorder gets the peer and the tag of the request.
#[inline(always)] // one caller: the entry point
pub fn start(cx: CallContext, request: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let handle = Handle(request.get());
    let record = |request: StartedRequest| {
        process.recorder.record(functions::MPI_START, request.context, request.peer, request.tag, 0);
    };
    match process.engine.start_recorded(&mut guard, handle, record) {
        Ok(()) => {
            drop(guard);
            Ok(())
        }
        Err(error) => Err(Raised::on_context(error, process.engine.request_context(&guard, handle))),
    }
}

/// `MPI_Startall`: no operation is started if one of the requests cannot be. The flight recorder gets the number of
/// requests, and the communicator, peer and tag of the first.
pub fn startall(cx: CallContext, count: usize, requests: &mut [usize]) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = handles(requests);
    let first = requests.first().map_or(StartedRequest::NONE, |first| process.engine.facts_of(&guard, *first));
    process.recorder.record(functions::MPI_STARTALL, first.context, first.peer, first.tag, count as u64);
    process.engine.start_all(&mut guard, requests).map_err(|(index, error)| {
        let error = error.rename_arguments(&[("request", "array_of_requests")]);
        Raised::on_context(error, process.engine.request_context(&guard, requests[index]))
    })
}
