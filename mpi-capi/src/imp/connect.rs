//! Ports and connections with other jobs (MPI-5.0, 11.8).
//!
//! Invariant: a port's name and the info object of a connection are significant at the root; a wrong one there is an
//! error in all processes of the communicator.
//! Not here: starting processes, published names.
#![allow(unsafe_code)] // the program's descriptor, borrowed for the call

use core::ffi::c_char;
use std::os::fd::BorrowedFd;

use mpi_core::Handle;
use mpi_core::abi;
use mpi_env::Process;
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
pub fn close_port(cx: CallContext, name: &core::ffi::CStr) -> Outcome {
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
    let process = intracomm(cx, comm)?;
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
    let process = intracomm(cx, comm)?;
    new.set(process.comm_connect(comm.handle, root as u32, || named(name, info))?.0);
    Ok(())
}

/// `MPI_Comm_join`
pub fn comm_join(cx: CallContext, fd: i32, new: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    if !is_stream_socket(fd) {
        let rule = "a connected stream socket is needed";
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("fd", &fd).into());
    }
    // SAFETY: it is open, as just seen, and the program leaves it so until the call returns.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    new.set(process.comm_join(socket)?.0);
    Ok(())
}

/// The port's name and the info object at the root.
fn named(name: *const c_char, info: usize) -> Result<String> {
    let name = check::text("port_name", name)?;
    hints(info)?;
    Ok(name.to_string_lossy().into_owned())
}

/// The process, with its lock released because the call is collective. Errors: `MPI_ERR_COMM` for an intercommunicator.
fn intracomm(cx: CallContext, comm: CommView) -> Result<&'static Process> {
    let process = cx.process;
    drop(cx);
    match process.is_intercomm(comm.handle) {
        Some(true) => {
            let rule = "an intracommunicator is needed";
            Err(Error::new(abi::MPI_ERR_COMM, rule).arg("comm", &Handle(comm.handle.0)))
        }
        _ => Ok(process),
    }
}

/// Whether a descriptor is a stream socket with a process at the other end.
fn is_stream_socket(fd: i32) -> bool {
    let (mut kind, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: room for the value, with its length; a number that is no descriptor is an error of the call.
    let got = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &mut length) };
    // SAFETY: plain data, for which zeros are a value; filled by the call.
    let connected = unsafe {
        let mut address: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        libc::getpeername(fd, (&raw mut address).cast(), &mut length) == 0
    };
    got == 0 && kind == libc::SOCK_STREAM && connected
}
