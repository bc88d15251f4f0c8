//! Ports and connections with other jobs (MPI-5.0, 11.8).
//!
//! Invariant: a port's name and the info object of a connection are significant at the root; a wrong one there is an
//! error in all processes of the communicator.
//! Not here: starting processes, published names.

use core::ffi::{CStr, c_char};
use std::time::{Duration, Instant};

use mpi_core::abi;
use mpi_env::PortToUse;
use mpi_errors::{Error, Result};

use super::comm_create::hints;
use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;

/// `MPI_Open_port`
pub fn open_port(cx: CallContext, info: usize, name: *mut c_char) -> Outcome {
    let process = cx.process;
    drop(cx);
    hints(info)?;
    let opened = process.open_port()?;
    // SAFETY: the program passed MPI_MAX_PORT_NAME characters (MPI-5.0, 11.8.2).
    unsafe { check::store_text(name, abi::MPI_MAX_PORT_NAME as usize, &opened) };
    Ok(())
}

/// `MPI_Close_port`
pub fn close_port(cx: CallContext, name: &CStr) -> Outcome {
    let process = cx.process;
    drop(cx);
    Ok(process.close_port(&name.to_string_lossy())?)
}

/// `MPI_Comm_accept`
pub fn comm_accept(
    cx: CallContext,
    name: *const c_char,
    info: usize,
    root: i32,
    comm: CommView,
    new: Out<usize>,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    new.set(process.comm_accept(comm.handle, root as u32, || named(name, info))?.0);
    Ok(())
}

/// `MPI_Comm_connect`
pub fn comm_connect(
    cx: CallContext,
    name: *const c_char,
    info: usize,
    root: i32,
    comm: CommView,
    new: Out<usize>,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    new.set(process.comm_connect(comm.handle, root as u32, || named(name, info))?.0);
    Ok(())
}

/// `MPI_Comm_join`
pub fn comm_join(cx: CallContext, fd: i32, new: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    new.set(process.comm_join(fd)?.0);
    Ok(())
}

/// The port's name and the info object at the root.
fn named(name: *const c_char, info: usize) -> Result<PortToUse> {
    let name = check::text("port_name", name)?;
    let hints = hints(info)?;
    let limit = hints.as_ref().and_then(|hints| hints.get(TIME_LIMIT)).map(seconds).transpose()?;
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    Ok(PortToUse { name: name.to_string_lossy().into_owned(), deadline })
}

/// The info key of the time limit of `MPI_Comm_accept` and `MPI_Comm_connect`, in seconds.
const TIME_LIMIT: &str = "timeout";

/// A time in seconds, which may have decimals. Errors: `MPI_ERR_INFO_VALUE`.
fn seconds(text: &str) -> Result<Duration> {
    let value = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    value.ok_or_else(|| {
        Error::new(abi::MPI_ERR_INFO_VALUE, "a time limit is a number of seconds").arg(TIME_LIMIT, &text)
    })
}
