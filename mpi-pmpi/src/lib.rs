//! The profiling interface: the level that `MPI_Pcontrol` sets (MPI-5.0, section 15.2.4).
//!
//! The name shift itself is generated: every entry point is `PMPI_X`, strong, with `MPI_X` as a weak alias, so a tool
//! takes any of them over by link order or preload. With no tool, the level changes nothing: a tool that is there
//! defines `MPI_Pcontrol` itself, or reads the level here.
//! Invariant: the level starts at 1, normal profiling. Not here: the aliases (mpi-capi), which are in its library.

use std::sync::atomic::{AtomicI32, Ordering};

/// The levels that the standard gives a meaning; others are a tool's own.
pub mod level {
    /// Profiling is off.
    pub const OFF: i32 = 0;
    /// Normal profiling.
    pub const NORMAL: i32 = 1;
}

// Relaxed: the level orders nothing else.
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
    fn profiling_is_normal_until_told_otherwise() {
        assert_eq!(current(), level::NORMAL);
        control(level::OFF);
        assert_eq!(current(), level::OFF);
    }
}
