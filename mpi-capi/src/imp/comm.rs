//! Communicators (MPI-5.0, chapter 7).

use core::ffi::{CStr, c_char};

use mpi_core::{Handle, abi};
use mpi_env::Process;
use mpi_errors::{Error, Result};

use super::comm_create;
use crate::attributes;
use crate::call_context::{CallContext, CommView, LocklessContext};
use crate::check::{self, Out};
use crate::errors::Outcome;

/// The short way of `MPI_Comm_rank`.
#[inline(always)] // one caller: the entry point
pub fn comm_rank_quickly(comm: usize, rank: *mut i32) -> bool {
    let found = mpi_env::running_quickly().and_then(|process| process.rank_and_size_quickly(Handle(comm)));
    found.is_some_and(|(own, _)| check::set_quickly(rank, own as i32))
}

/// The short way of `MPI_Comm_size`.
#[inline(always)] // one caller: the entry point
pub fn comm_size_quickly(comm: usize, size: *mut i32) -> bool {
    let found = mpi_env::running_quickly().and_then(|process| process.rank_and_size_quickly(Handle(comm)));
    found.is_some_and(|(_, number)| check::set_quickly(size, number as i32))
}

/// `MPI_Comm_rank`
#[inline]
pub fn comm_rank(_cx: LocklessContext, comm: CommView, rank: Out<i32>) -> Outcome {
    rank.set(comm.rank as i32);
    Ok(())
}

/// `MPI_Comm_size`
#[inline]
pub fn comm_size(_cx: LocklessContext, comm: CommView, size: Out<i32>) -> Outcome {
    size.set(comm.size as i32);
    Ok(())
}

/// `MPI_Comm_dup`
pub fn comm_dup(cx: CallContext, comm: CommView, new: Out<usize>) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    comm_create::duplicate(process, comm.handle, None, new)
}

/// `MPI_Comm_free`
pub fn comm_free(cx: CallContext, comm: Out<usize>) -> Outcome {
    free(cx, comm, Process::comm_free)
}

/// `MPI_Comm_disconnect`
pub fn comm_disconnect(cx: CallContext, comm: Out<usize>) -> Outcome {
    free(cx, comm, Process::comm_disconnect)
}

fn free(mut cx: CallContext, comm: Out<usize>, by: fn(&Process, Handle) -> Result<()>) -> Outcome {
    let handle = cx.comm("comm", comm.get())?.handle;
    if matches!(handle.0, abi::MPI_COMM_WORLD | abi::MPI_COMM_SELF) {
        let name = if handle.0 == abi::MPI_COMM_WORLD { "MPI_COMM_WORLD" } else { "MPI_COMM_SELF" };
        let rule = "a predefined communicator cannot be freed";
        return Err(Error::new(abi::MPI_ERR_COMM, rule).arg("comm", &name).into());
    }
    let process = cx.process;
    drop(cx);
    attributes::delete_all(process, handle.0)?;
    by(process, handle)?;
    comm.set(abi::MPI_COMM_NULL);
    Ok(())
}

/// `MPI_Comm_compare`
pub fn comm_compare(cx: CallContext, first: CommView, second: CommView, result: Out<i32>) -> Outcome {
    let (first, second) = (cx.whole_comm(first.handle)?, cx.whole_comm(second.handle)?);
    result.set(first.compare(&second) as i32);
    Ok(())
}

/// `MPI_Comm_set_name`
pub fn comm_set_name(cx: CallContext, comm: CommView, name: &CStr) -> Outcome {
    let comm = cx.whole_comm(comm.handle)?;
    comm.set_name(&name.to_string_lossy());
    cx.process.on_comm_named(&comm);
    Ok(())
}

/// `MPI_Comm_get_name`: also of `MPI_COMM_NULL`.
pub fn comm_get_name(mut cx: CallContext, comm: usize, name: *mut c_char, length: Out<i32>) -> Outcome {
    let text = match comm {
        abi::MPI_COMM_NULL => "MPI_COMM_NULL".into(),
        _ => {
            let handle = cx.comm("comm", comm)?.handle;
            cx.whole_comm(handle)?.name()
        }
    };
    // SAFETY: the program passed MPI_MAX_OBJECT_NAME characters (MPI-5.0, 7.8).
    let stored = unsafe { check::store_text(name, abi::MPI_MAX_OBJECT_NAME as usize, &text) };
    length.set(stored as i32);
    Ok(())
}
