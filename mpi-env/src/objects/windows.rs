//! Handles of windows, and the functions that create and free windows (MPI-5.0, 12.2).
//!
//! Invariant: a window is in the table, with its variables bound, from the time when all its processes have created it
//! until the first of them begins to free it.
//! Not here: operations on windows (`mpi-win`).
#![allow(unsafe_code)] // passes on the program's promise about its memory

use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::abi::{MPI_ERR_NO_MEM, MPI_ERR_WIN};
use mpi_core::{Guard, Handle, Info};
use mpi_datatype::Element;
use mpi_errors::{Error, Result};
use mpi_win::{Exposure, Flavor, Win};

use crate::record::process::Process;

impl Process {
    /// The window that a handle names; `None` for a null, freed, forged or wrong-kind word.
    #[inline]
    pub fn win<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Arc<Win>> {
        self.windows.get(guard).get(handle)
    }

    /// `MPI_Win_create`, `MPI_Win_allocate` and `MPI_Win_allocate_shared`: the handle of a new window over the
    /// processes of a communicator. Collective; waits, with no guard held. Errors: `MPI_ERR_COMM`, `MPI_ERR_SIZE`,
    /// `MPI_ERR_DISP`, `MPI_ERR_BASE`, `MPI_ERR_NO_MEM`, `MPI_ERR_RMA_SHARED`, `MPI_ERR_OTHER`.
    ///
    /// # Safety
    /// The program's memory that the window exposes stays valid until the window is freed.
    pub unsafe fn win_create(&self, parent: Handle, what: Exposure) -> Result<Handle> {
        self.win_insert(parent, |parent, room| {
            // SAFETY: the caller's promise.
            unsafe { self.one_sided.create(parent, &self.context_ids, what, room, &*self.memory) }
        })
    }

    /// Creates a window by `create`, which gets the communicator and whether there is room for the window.
    fn win_insert(&self, parent: Handle, create: impl FnOnce(&Comm, bool) -> Result<Win>) -> Result<Handle> {
        let parent = self.parent(parent)?;
        let reserved = self.windows.get_mut(&mut self.engine.lock()).reserve();
        let room = reserved.is_ok();
        let made = create(&parent, room);
        let guard = &mut self.engine.lock();
        match (made, reserved) {
            (Ok(win), Ok(handle)) => {
                self.registry.bind(handle.0, win.instruments());
                self.on_demand.made(guard, handle, win.group());
                let filled = self.windows.get_mut(guard).fill(handle, Arc::new(win));
                debug_assert!(filled, "the handle was reserved for this window");
                self.metrics.counts.windows.follow(self.windows.get(guard).len() as u64);
                Ok(handle)
            }
            (Err(error), Ok(handle)) => {
                self.windows.get_mut(guard).give_back(handle);
                self.metrics.counts.windows.follow(self.windows.get(guard).len() as u64);
                Err(error)
            }
            // No process has created the window.
            (_, Err(_)) => Err(Error::new(MPI_ERR_NO_MEM, "there are too many windows")),
        }
    }

    /// [`Process::win_create`] for a window that has memory of its own, shared or not: `bytes` bytes, with a
    /// displacement unit. The hint `mpi_minimum_memory_alignment` is the least alignment. Errors: as there.
    pub fn win_allocate(&self, parent: Handle, bytes: (i64, i64), shared: bool, hints: Info) -> Result<Handle> {
        let alignment = hints.get("mpi_minimum_memory_alignment").and_then(|value| value.parse().ok()).unwrap_or(0);
        let flavor = if shared { Flavor::Shared } else { Flavor::Allocate { alignment } };
        let (size, disp_unit) = bytes;
        // SAFETY: the window exposes no memory of the program.
        unsafe { self.win_create(parent, Exposure { flavor, size, disp_unit, hints }) }
    }

    /// `MPI_Win_create_dynamic`, as [`Process::win_create`].
    pub fn win_create_dynamic(&self, parent: Handle, hints: Info) -> Result<Handle> {
        let what = Exposure { flavor: Flavor::Dynamic, size: 0, disp_unit: 1, hints };
        // SAFETY: the window has no memory yet, so no promise about the program's memory is needed.
        unsafe { self.win_create(parent, what) }
    }

    /// [`Process::win_create`] for a window that owns the memory that it exposes, in units of an element. Errors: as
    /// there; the vector is freed then.
    pub fn win_create_owning<T: Element>(&self, parent: Handle, data: Vec<T>, hints: Info) -> Result<Handle> {
        self.win_insert(parent, |parent, room| {
            self.one_sided.create_owning(parent, &self.context_ids, (data, hints), room, &*self.memory)
        })
    }

    /// [`Process::win_free`], which gives back the vector that the window owns; `None` if it owns none of these
    /// elements. Errors: as there; the vector is leaked then.
    pub fn win_free_owning<T: Element>(&self, handle: Handle) -> Result<Option<Vec<T>>> {
        let win = self.win(&self.engine.lock(), handle).cloned();
        self.win_free(handle)?;
        Ok(win.and_then(Arc::into_inner).and_then(Win::into_data))
    }

    /// `MPI_Win_free`: the handle is stale from here on. Collective; waits, with no guard held. Errors: `MPI_ERR_WIN`;
    /// `MPI_ERR_RMA_SYNC` while operations are under way, in that case the window is not freed.
    pub fn win_free(&self, handle: Handle) -> Result<()> {
        let win = {
            let guard = &mut self.engine.lock();
            let win = self.win(guard, handle).cloned();
            let win = win.ok_or_else(|| Error::new(MPI_ERR_WIN, "no window has that handle"))?;
            win.is_complete(guard)?;
            self.windows.get_mut(guard).remove(handle);
            self.registry.unbind(handle.0, win.instruments());
            self.on_demand.object_freed(guard, handle);
            self.metrics.counts.windows.follow(self.windows.get(guard).len() as u64);
            win
        };
        let ended = self.one_sided.end(&win);
        let guard = &mut self.engine.lock();
        self.errhandlers.get_mut(guard).detach(win.errhandler().get());
        mpi_t::retire(&*self.memory, win.instruments());
        ended
    }
}
