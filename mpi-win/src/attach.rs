//! Attaching memory to a window without memory of its own, and detaching it (MPI-5.0, 12.2.4).
//!
//! Not here: the pieces (`attached`).
#![allow(unsafe_code)] // passes on the program's promise about its memory

use mpi_core::abi::{MPI_ERR_BASE, MPI_ERR_RMA_FLAVOR, MPI_ERR_SIZE};
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::attached::Attached;
use crate::create::is_memory;
use crate::window::Win;

impl OneSided {
    /// `MPI_Win_attach`: other processes may access `size` bytes from `base`, an exposed address, on.
    ///
    /// Errors: `MPI_ERR_SIZE`, `MPI_ERR_BASE`; `MPI_ERR_RMA_FLAVOR` for a window that has memory; `MPI_ERR_RMA_ATTACH` for
    /// memory that is attached in part.
    ///
    /// # Safety
    /// The memory is readable and writable until it is detached, or the window is freed.
    pub unsafe fn attach(&self, win: &Win, base: usize, size: i64) -> Result<()> {
        let Ok(bytes) = u64::try_from(size) else {
            return Err(Error::new(MPI_ERR_SIZE, "the size of memory in bytes is not negative").arg("size", &size));
        };
        if bytes > 0 && !is_memory(base, bytes) {
            let rule = "that is not the address of as many bytes of memory";
            let base = format_args!("{base:#x}").to_string();
            return Err(Error::new(MPI_ERR_BASE, rule).arg("base", &base).arg("size", &size));
        }
        of(win)?.add(base as u64, bytes)
    }

    /// `MPI_Win_detach`: other processes access the memory that was attached at `base` no longer. Errors:
    /// `MPI_ERR_RMA_FLAVOR`, `MPI_ERR_BASE` when no attached memory begins there.
    pub fn detach(&self, win: &Win, base: usize) -> Result<()> {
        of(win)?.remove(base as u64)
    }
}

fn of(win: &Win) -> Result<&Attached> {
    win.memory.attached().ok_or_else(|| {
        let rule = format!("{} has its memory since it was created: only MPI_Win_create_dynamic", win.described());
        Error::new(MPI_ERR_RMA_FLAVOR, format!("{rule} makes windows that memory is attached to"))
    })
}
