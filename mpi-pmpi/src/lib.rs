//! The profiling interface: the level that `MPI_Pcontrol` sets (MPI-5.0, section 15.2.4).
//!
//! The name shift itself is generated: every entry point is `PMPI_X`, strong, with `MPI_X` as a weak alias, so a tool
//! replaces any of them by link order or preload. Without a tool the level has no effect. A tool defines `MPI_Pcontrol`
//! itself, or reads the level here.
//!
//! ```
//! use mpi_pmpi::{control, current, level};
//!
//! assert_eq!(current(), level::NORMAL);
//! control(level::OFF); // the program's MPI_Pcontrol(0): a part that is not to be measured
//! assert_eq!(current(), level::OFF);
//! control(level::NORMAL);
//! ```
//!
//! - [`mod@interceptor`]: tools that see every call through a trait.
//! - [`records`]: what the tools `profile` and `timeline` write for `mpiexec`.
//!
//! Invariant: the level starts at 1, normal profiling. Not here: the aliases (mpi-capi), which are in its library.

pub mod interceptor;
pub mod records;

use std::sync::atomic::{AtomicI32, Ordering};

/// The levels that the standard defines; a tool gives others a meaning.
pub mod level {
    /// Profiling is off.
    pub const OFF: i32 = 0;
    /// Normal profiling.
    pub const NORMAL: i32 = 1;
}

// Relaxed: the level orders no other memory access.
static LEVEL: AtomicI32 = AtomicI32::new(level::NORMAL);

/// Sets the level (`MPI_Pcontrol`). Thread-safe and async-signal-safe.
pub fn control(level: i32) {
    LEVEL.store(level, Ordering::Relaxed);
}

/// The level set last. Thread-safe and async-signal-safe.
pub fn current() -> i32 {
    LEVEL.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiling_is_normal_until_the_level_is_set() {
        assert_eq!(current(), level::NORMAL);
        control(level::OFF);
        assert_eq!(current(), level::OFF);
    }
}
