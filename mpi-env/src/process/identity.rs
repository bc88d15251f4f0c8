//! Versions, the processor's name, time (MPI-5.0, 9.1 and 9.6).
#![allow(unsafe_code)] // reads the clock by C functions

use std::sync::OnceLock;

use mpi_core::abi::{MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_SUBVERSION, MPI_VERSION};

use mpi_core::clock;

/// `MPI_Get_library_version`: one line. Thread-safe.
pub fn library_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "Ferrum MPI {} (MPI {MPI_VERSION}.{MPI_SUBVERSION}, standard ABI {MPI_ABI_VERSION}.{MPI_ABI_SUBVERSION}, \
             shared memory, {} {})",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH,
            std::env::consts::OS
        )
    })
}

/// `MPI_Get_processor_name`: the host's name, read from the kernel once. Thread-safe.
pub fn processor_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(mpi_fabric::host::name)
}

/// `MPI_Wtime`: seconds since a fixed time in the past, the same for all processes of a host up to the error of reading
/// (`clock`); never decreases.
/// Thread-safe and async-signal-safe.
#[inline]
pub fn wtime() -> f64 {
    // As a signed number, which the processor converts in one instruction.
    clock::now_ns() as i64 as f64 * 1e-9
}

/// `MPI_Wtick`: seconds between two ticks of [`wtime`]'s clock. Thread-safe and async-signal-safe.
pub fn wtick() -> f64 {
    let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 1 };
    // SAFETY: as in `wtime`.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut tick) };
    tick.tv_sec as f64 + tick.tv_nsec as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_in_ticks() {
        let before = wtime();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let elapsed = wtime() - before;
        assert!((0.002..5.0).contains(&elapsed), "{elapsed}");
        assert!(wtick() > 0.0 && wtick() <= 0.01);
    }

    #[test]
    fn texts_fit_the_standards_limits() {
        assert!(library_version().starts_with("Ferrum MPI ") && !library_version().contains('\n'));
        assert!(library_version().len() < mpi_core::abi::MPI_MAX_LIBRARY_VERSION_STRING as usize);
        assert!((1..mpi_core::abi::MPI_MAX_PROCESSOR_NAME as usize).contains(&processor_name().len()));
    }
}
