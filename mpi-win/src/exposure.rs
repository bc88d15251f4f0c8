//! The memory that a process exposes in a window that it creates (MPI-5.0, 12.2).

use mpi_core::Info;

/// The origin of a window's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// `MPI_Win_create`: the program's memory.
    Create {
        /// Its address, exposed.
        base: usize,
    },
    /// `MPI_Win_allocate`: memory of the window.
    Allocate {
        /// The least alignment, a hint.
        alignment: u64,
    },
    /// `MPI_Win_create_dynamic`: memory that the program attaches later.
    Dynamic,
    /// `MPI_Win_allocate_shared`: memory of the window, all of which the program can access in every process.
    Shared,
}

/// The arguments of a process for a new window.
#[derive(Debug, Clone)]
pub struct Exposure {
    /// The origin of its memory.
    pub flavor: Flavor,
    /// Its size in bytes.
    pub size: i64,
    /// Bytes that one displacement stands for.
    pub disp_unit: i64,
    /// Hints.
    pub hints: Info,
}
