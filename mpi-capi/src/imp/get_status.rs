//! The status of several requests, which stay as they are (MPI-5.0, 3.7.6).
//!
//! Not here: `MPI_Request_get_status` (`request`), completion (`many`).

use mpi_core::{Handle, Status, abi};
use mpi_errors::Result;
use mpi_p2p::Found;

use super::many::handles;
use crate::call_context::CallContext;
use crate::check::{Out, StatusOut, StatusesOut, slice};
use crate::errors::Outcome;

/// The list of requests that a call only reads.
fn list<'a>(count: usize, requests: *const usize) -> Result<&'a [Handle]> {
    Ok(handles(slice("array_of_requests", requests.cast_mut(), count)?))
}

/// `MPI_Request_get_status_any`
pub fn request_get_status_any(
    cx: CallContext,
    count: usize,
    requests: *const usize,
    index: Out<i32>,
    flag: Out<i32>,
    status: StatusOut,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = list(count, requests)?;
    let found = process.engine.request_get_status_any(&mut guard, requests)?;
    flag.set(i32::from(found.is_some()));
    match found {
        None => index.set(abi::MPI_UNDEFINED),
        Some(None) => {
            index.set(abi::MPI_UNDEFINED);
            status.set_all(Status::EMPTY);
        }
        Some(Some((at, found))) => {
            index.set(at as i32);
            status.set(found);
        }
    }
    Ok(())
}

/// `MPI_Request_get_status_all`
pub fn request_get_status_all(
    cx: CallContext,
    count: usize,
    requests: *const usize,
    flag: Out<i32>,
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = list(count, requests)?;
    let statuses = StatusesOut::new(statuses);
    let store = |index, found| match found {
        Found::Empty => statuses.set(index, Status::EMPTY),
        Found::Complete(status) => statuses.set_keeping_error(index, status),
    };
    let complete = process.engine.request_get_status_all(&mut guard, requests, store)?;
    flag.set(i32::from(complete));
    Ok(())
}

/// `MPI_Request_get_status_some`
pub fn request_get_status_some(
    cx: CallContext,
    count: usize,
    requests: *const usize,
    outcount: Out<i32>,
    indices: *mut i32,
    statuses: *mut Status,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let requests = list(count, requests)?;
    let indices = slice("array_of_indices", indices, requests.len())?;
    let statuses = StatusesOut::new(statuses);
    let mut complete = 0;
    let found = process.engine.request_get_status_some(&mut guard, requests, |index, status| {
        statuses.set_keeping_error(complete, status);
        indices[complete] = index as i32;
        complete += 1;
    })?;
    outcount.set(found.map_or(abi::MPI_UNDEFINED, |count| count as i32));
    Ok(())
}
