//! The buffer of buffered sends (MPI-5.0, 3.6).

use core::ffi::c_void;

use mpi_core::abi;
use mpi_p2p::Attached;

use crate::call_context::CallContext;
use crate::check::{CountOut, bad_buffer, is_no_memory};
use crate::errors::Outcome;

/// `MPI_Buffer_attach`
pub fn buffer_attach(cx: CallContext, buffer: *mut c_void, size: u64) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let automatic = buffer as usize == abi::MPI_BUFFER_AUTOMATIC;
    if !automatic && size > 0 && is_no_memory(buffer) {
        return Err(bad_buffer("buffer", buffer).into());
    }
    let attached = Attached { address: buffer as usize, bytes: (!automatic).then_some(size) };
    Ok(process.engine.buffer_attach(&mut guard, attached)?)
}

/// `MPI_Buffer_detach`: the address is stored at `buffer`, though C declares it as a plain `void *`.
pub fn buffer_detach(cx: CallContext, buffer: *mut c_void, size: CountOut) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    let (address, bytes) = match process.engine.buffer_detach(guard)? {
        Some(attached) => (attached.address, attached.bytes.unwrap_or(0)),
        None => (0, 0),
    };
    // SAFETY: the program passed the address of a pointer variable; it is not NULL.
    unsafe { buffer.cast::<*mut c_void>().write_unaligned(address as *mut c_void) };
    size.set(bytes as i64);
    Ok(())
}

/// `MPI_Buffer_flush`
pub fn buffer_flush(cx: CallContext) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.engine.buffer_flush(guard)?)
}
