//! Memory allocation and hardware information (MPI-5.0, 9.2 and 9.1.3).

use core::ffi::c_void;

use mpi_core::abi;

use super::info;
use crate::call_context::CallContext;
use crate::check::{self, Out};
use crate::errors::Outcome;

/// `MPI_Alloc_mem`: stores the address at `base`. The only hint with an effect is the alignment; with
/// `memory_share_alloc_mem` long blocks are shared memory.
pub fn alloc_mem(cx: CallContext, size: isize, info: usize, base: *mut c_void) -> Outcome {
    let (bytes, base) = (check::size("size", size as i64)?, check::out::<usize>("baseptr", base.cast())?);
    let alignment = match info {
        abi::MPI_INFO_NULL => 0,
        _ => info::with("info", info, |info| info.get("mpi_minimum_memory_alignment")?.parse().ok())?.unwrap_or(0),
    };
    let CallContext { process, mut guard, .. } = cx;
    let address = process.allocate_block(&mut guard, bytes, alignment)?;
    base.set(address);
    Ok(())
}

/// `MPI_Free_mem`
pub fn free_mem(cx: CallContext, base: *mut c_void) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    process.free_block(&mut guard, base.addr())?;
    Ok(())
}

/// `MPI_Get_hw_resource_info`: each supported kind of hardware, with "true" if this process is bound to one resource of
/// the kind.
pub fn get_hw_resource_info(_cx: CallContext, found: Out<usize>) -> Outcome {
    found.set(info::insert(mpi_env::hardware::bindings())?);
    Ok(())
}
