//! Initialisation, finalisation, and the inquiries about them that are allowed at any time (MPI-5.0, 11.2 to 11.4).
//!
//! Not here: the steps of initialisation (mpi-env).

use core::ffi::c_char;

use mpi_core::abi;
use mpi_env::Object;

use crate::attributes;
use crate::call_context::{CallContext, CommView, LocklessContext};
use crate::check::Out;
use crate::debugger;
use crate::errors::Outcome;

/// `MPI_Init`: the library does not read or change the arguments.
pub fn init(_count: *mut i32, _arguments: *mut *mut *mut c_char) -> Outcome {
    mpi_env::init(abi::MPI_THREAD_SINGLE)?;
    mpi_env::info_env::contents();
    debugger::announce();
    Ok(())
}

/// `MPI_Init_thread`
pub fn init_thread(_count: *mut i32, _arguments: *mut *mut *mut c_char, required: i32, provided: Out<i32>) -> Outcome {
    provided.set(mpi_env::init(required)?);
    mpi_env::info_env::contents();
    debugger::announce();
    Ok(())
}

/// `MPI_Query_thread`
pub fn query_thread(cx: LocklessContext, provided: Out<i32>) -> Outcome {
    provided.set(cx.process.thread_level());
    Ok(())
}

/// `MPI_Is_thread_main`
pub fn is_thread_main(cx: LocklessContext, flag: Out<i32>) -> Outcome {
    flag.set(i32::from(cx.process.is_main_thread()));
    Ok(())
}

/// `MPI_Initialized`
pub fn initialized(flag: Out<i32>) -> Outcome {
    flag.set(i32::from(mpi_env::is_initialized()));
    Ok(())
}

/// `MPI_Finalize`
pub fn finalize(cx: CallContext) -> Outcome {
    let process = cx.process;
    // Finalisation is collective, so the lock is released first.
    drop(cx);
    // The attributes of MPI_COMM_SELF are deleted before any other step (MPI-5.0, 11.2.4).
    attributes::delete_all(process, abi::MPI_COMM_SELF)?;
    Ok(process.finalize()?)
}

/// `MPI_Finalized`
pub fn finalized(flag: Out<i32>) -> Outcome {
    flag.set(i32::from(mpi_env::is_finalized()));
    Ok(())
}

/// `MPI_Abort`: the processes of the communicator end with this code.
pub fn abort(cx: CallContext, comm: CommView, code: i32) -> Outcome {
    let process = cx.process;
    let members = process.members_of(&cx.guard, Object::comm(comm.handle.0)).unwrap_or_default();
    drop(cx);
    process.abort_of(&members, code)
}
