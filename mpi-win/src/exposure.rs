//! What a process exposes in a window that it creates (MPI-5.0, 12.2).

use mpi_core::Info;

/// Where a window's memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// `MPI_Win_create`: it is the program's.
    Create {
        /// Its address, exposed.
        base: usize,
    },
    /// `MPI_Win_allocate`: it is the window's own.
    Allocate {
        /// The least alignment, a hint.
        alignment: u64,
    },
    /// `MPI_Win_allocate_shared`: it is the window's own, and the program reaches all of it in every process.
    Shared,
}

/// What a process exposes.
#[derive(Debug, Clone)]
pub struct Exposure {
    /// Where its memory comes from.
    pub flavor: Flavor,
    /// Its size in bytes.
    pub size: i64,
    /// Bytes that one displacement stands for.
    pub disp_unit: i64,
    /// Hints.
    pub hints: Info,
}
