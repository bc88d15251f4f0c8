//! Completion, freeing and cancellation of one request (MPI-5.0, 3.7.3, 3.7.4, 3.8.4).

use mpi_core::{Handle, Status, abi};
use mpi_errors::Error;
use mpi_fabric::Mark;
use mpi_p2p::{Completion, Found};

use crate::call_context::CallContext;
use crate::check::{Out, StatusOut};
use crate::errors::{Outcome, Raised};

/// `MPI_Wait`
#[inline]
pub fn wait(cx: CallContext, entry: Mark<'_>, request: Out<usize>, status: StatusOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let completion = process.engine.wait_recorded(guard, Handle(request.get()), Some(entry))?;
    if !completion.keeps_request() {
        request.set(abi::MPI_REQUEST_NULL);
    }
    finish(completion, status)
}

/// `MPI_Test`
#[inline]
pub fn test(cx: CallContext, request: Out<usize>, flag: Out<i32>, status: StatusOut) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    match process.engine.test(&mut guard, Handle(request.get()))? {
        None => {
            flag.set(0);
            Ok(())
        }
        Some(completion) => {
            drop(guard);
            if !completion.keeps_request() {
                request.set(abi::MPI_REQUEST_NULL);
            }
            flag.set(1);
            finish(completion, status)
        }
    }
}

/// `MPI_Request_free`
pub fn request_free(cx: CallContext, request: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let handle = active(request)?;
    let context = process.engine.request_context(&guard, handle);
    let freed = process.engine.request_free(&mut guard, handle);
    if freed.is_ok() {
        request.set(abi::MPI_REQUEST_NULL);
        return Ok(());
    }
    // The free callback of a generalized request may fail: the request is freed nevertheless.
    if context.is_some() && process.engine.request_context(&guard, handle).is_none() {
        request.set(abi::MPI_REQUEST_NULL);
    }
    freed.map_err(|error| Raised::on_context(error, context))
}

/// `MPI_Request_get_status`
pub fn request_get_status(cx: CallContext, request: usize, flag: Out<i32>, status: StatusOut) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let found = process.engine.request_get_status(&mut guard, Handle(request))?;
    match found {
        Some(Found::Empty) => status.set_all(Status::EMPTY),
        Some(Found::Complete(found)) => status.set(found),
        None => {}
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Cancel`
pub fn cancel(cx: CallContext, request: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let handle = active(request)?;
    let context = process.engine.request_context(&guard, handle);
    process.engine.cancel(&mut guard, handle).map_err(|error| Raised::on_context(error, context))
}

/// The result of a completed operation: its status, or its error on its communicator.
#[inline]
pub fn finish(completion: Completion, status: StatusOut) -> Outcome {
    match completion.is_empty() {
        false => status.set(completion.status),
        true => status.set_all(completion.status),
    }
    let context = completion.context();
    match completion.error {
        None => Ok(()),
        Some(error) => Err(Raised::on_context(error, context)),
    }
}

/// The request of a call that does not allow a null request.
fn active(request: Out<usize>) -> Result<Handle, Error> {
    match request.get() {
        abi::MPI_REQUEST_NULL => {
            Err(Error::new(abi::MPI_ERR_REQUEST, "a request is needed").arg("request", &"MPI_REQUEST_NULL"))
        }
        word => Ok(Handle(word)),
    }
}
