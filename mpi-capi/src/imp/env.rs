//! Versions, names, time (MPI-5.0, 9.1, 9.6, 15.2, 20.3).

use core::ffi::c_char;

use mpi_core::abi;

use crate::call_context::LocklessContext;
use crate::check::{self, Out};
use crate::errors::Outcome;

/// `MPI_Get_version`
pub fn get_version(version: Out<i32>, subversion: Out<i32>) -> Outcome {
    version.set(abi::MPI_VERSION);
    subversion.set(abi::MPI_SUBVERSION);
    Ok(())
}

/// `MPI_Get_library_version`
pub fn get_library_version(version: *mut c_char, length: Out<i32>) -> Outcome {
    // SAFETY: the program passed MPI_MAX_LIBRARY_VERSION_STRING characters (MPI-5.0, 9.1.1).
    let stored =
        unsafe { check::store_text(version, abi::MPI_MAX_LIBRARY_VERSION_STRING as usize, mpi_env::library_version()) };
    length.set(stored as i32);
    Ok(())
}

/// `MPI_Get_processor_name`
pub fn get_processor_name(_cx: LocklessContext, name: *mut c_char, length: Out<i32>) -> Outcome {
    // SAFETY: the program passed MPI_MAX_PROCESSOR_NAME characters (MPI-5.0, 9.1.2).
    let stored = unsafe { check::store_text(name, abi::MPI_MAX_PROCESSOR_NAME as usize, mpi_env::processor_name()) };
    length.set(stored as i32);
    Ok(())
}

/// `MPI_Wtime`
#[inline]
pub fn wtime() -> f64 {
    mpi_env::wtime()
}

/// `MPI_Wtick`
#[inline]
pub fn wtick() -> f64 {
    mpi_env::wtick()
}

/// `MPI_Abi_get_version`
pub fn abi_get_version(major: Out<i32>, minor: Out<i32>) -> Outcome {
    major.set(abi::MPI_ABI_VERSION);
    minor.set(abi::MPI_ABI_SUBVERSION);
    Ok(())
}

/// `MPI_Pcontrol`: without a tool the level has no effect (MPI-5.0, 15.2.4); further arguments are ignored.
pub fn pcontrol(level: i32) -> Outcome {
    mpi_pmpi::control(level);
    Ok(())
}
