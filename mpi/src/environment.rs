//! What a program can inquire about the library, its host and its start (MPI-5.0, 9.1, 9.6, 11.5.3).
//!
//! Invariant: every function here may be called at any time, from any thread, and waits for nothing.
//! Not here: the start and end of MPI (`world`).

use mpi_core::abi::{MPI_SUBVERSION, MPI_VERSION};

use crate::Hints;

/// Version and subversion of the standard (`MPI_Get_version`; MPI-5.0, 9.1.1).
pub const fn version() -> (i32, i32) {
    (MPI_VERSION, MPI_SUBVERSION)
}

/// The library with its version, in one line (`MPI_Get_library_version`; MPI-5.0, 9.1.1).
pub fn library_version() -> &'static str {
    mpi_env::library_version()
}

/// The name of the host (`MPI_Get_processor_name`; MPI-5.0, 9.1.2).
pub fn processor_name() -> &'static str {
    mpi_env::processor_name()
}

/// Seconds since a time in the past that all processes of a host share; never decreases (`MPI_Wtime`; MPI-5.0, 9.6).
#[inline]
pub fn wtime() -> f64 {
    mpi_env::wtime()
}

/// Seconds between two ticks of [`wtime`]'s clock (`MPI_Wtick`; MPI-5.0, 9.6).
pub fn wtick() -> f64 {
    mpi_env::wtick()
}

/// Whether MPI has been initialized, also if it is finalized by now (`MPI_Initialized`; MPI-5.0, 11.4.1).
pub fn is_initialized() -> bool {
    mpi_env::is_initialized()
}

/// Whether MPI has been finalized (`MPI_Finalized`; MPI-5.0, 11.4.1).
pub fn is_finalized() -> bool {
    mpi_env::is_finalized()
}

/// How the program was started: `command`, `argv`, `maxprocs`, `host`, `arch`, `wdir`, `mpi_initial_errhandler`, and
/// `soft` and `file` where the launcher was given them (`MPI_INFO_ENV`; MPI-5.0, 11.5.3).
pub fn started_with() -> Hints {
    mpi_env::info_env::contents().clone().into()
}

/// The supported kinds of hardware, such as `sysfs://core`, each with `true` if this process may run on one resource of
/// the kind only, else `false` (`MPI_Get_hw_resource_info`; MPI-5.0, 9.1.3).
pub fn hardware() -> Hints {
    mpi_env::hardware::bindings().into()
}
