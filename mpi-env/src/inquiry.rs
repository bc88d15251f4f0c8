//! Versions and names (MPI-4.1, 9.1). Thread-safe; works at any time, before and after initialisation too.

use std::sync::OnceLock;

/// Version and subversion of the standard that the library implements in full (`MPI_Get_version`).
pub const VERSION: (i32, i32) = (mpi_core::abi::MPI_VERSION, mpi_core::abi::MPI_SUBVERSION);

/// Version of the standard ABI (`MPI_Abi_get_version`).
pub const ABI_VERSION: (i32, i32) = (mpi_core::abi::MPI_ABI_VERSION, mpi_core::abi::MPI_ABI_SUBVERSION);

/// One line that tells library, version, build and platform (`MPI_Get_library_version`).
pub fn library_version() -> &'static str {
    concat!("Ferrum MPI ", env!("CARGO_PKG_VERSION"), ", MPI standard ABI 1.0, shared memory, Linux")
}

/// The name of the host this process runs on (`MPI_Get_processor_name`).
pub fn processor_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(mpi_fabric::host::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_the_abi_and_say_something() {
        assert!(library_version().len() < mpi_core::abi::MPI_MAX_LIBRARY_VERSION_STRING as usize);
        assert!(!processor_name().is_empty());
        assert!(processor_name().len() < mpi_core::abi::MPI_MAX_PROCESSOR_NAME as usize);
    }
}
