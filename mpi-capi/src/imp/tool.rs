//! Initialisation and finalisation of the tools interface (MPI-5.0, 15.3.4).

use core::ffi::c_int;

use mpi_core::{abi, functions};

use crate::tool_edge::{failed, required, store, with_registry};

/// `MPI_T_init_thread`: provides `MPI_THREAD_MULTIPLE` for any requested level, also an invalid one, so any thread may
/// use the interface at any time. If the process record cannot be created, the reason is printed once on the standard
/// error output.
pub fn init_thread(_required: c_int, provided: *mut c_int) -> c_int {
    if let Err(error) = required("provided", provided) {
        return failed(functions::MPI_T_INIT_THREAD, &error);
    }
    match mpi_env::join_job() {
        Ok(process) => match process.registry.init_thread() {
            Ok(level) => {
                store(provided, level);
                abi::MPI_SUCCESS
            }
            Err(error) => failed(functions::MPI_T_INIT_THREAD, &error),
        },
        Err(error) => {
            mpi_t::record_failure("MPI_T_init_thread", &error);
            mpi_env::report_start_failure();
            abi::MPI_T_ERR_CANNOT_INIT
        }
    }
}

/// `MPI_T_finalize`
pub fn finalize() -> c_int {
    with_registry(functions::MPI_T_FINALIZE, |registry| registry.finalize())
}
