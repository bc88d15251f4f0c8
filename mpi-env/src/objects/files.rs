//! Files by handle (MPI-5.0, 14.2).
//!
//! Invariant: a file is in the table from the time when all its processes have opened it until this process has closed
//! it.
//! Not here: open, read and write operations (mpi-io), error handlers of files (`handlers`).

use std::ffi::OsString;
use std::sync::Arc;

use mpi_core::abi::{MPI_ERR_FILE, MPI_ERR_NO_MEM};
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_io::{File, OpenArgs};

use crate::record::process::Process;

impl Process {
    /// The file that a handle names; `None` for a null, closed, forged or wrong-kind word.
    #[inline]
    pub fn file<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Arc<File>> {
        self.files.get(guard).get(handle)
    }

    /// `MPI_File_open`. Collective over the communicator; waits, with no guard held. Errors: those of
    /// [`mpi_io::Io::open`], `MPI_ERR_NO_MEM`, and `MPI_ERR_COMM` for the caller alone.
    pub fn file_open(&self, comm: Handle, mut args: OpenArgs) -> Result<Handle> {
        let parent = self.parent(comm)?;
        let (reserved, errhandler) = {
            let guard = &mut self.engine.lock();
            let errhandler = self.file_default.get();
            self.errhandlers.get_mut(guard).attach_again(errhandler);
            (self.files.get_mut(guard).reserve(), errhandler)
        };
        if reserved.is_err() {
            args.amode = Err(Error::new(MPI_ERR_NO_MEM, "there are too many open files"));
        }
        let opened = self.io.open(&parent, &self.context_ids, &*self.memory, errhandler, args);
        let guard = &mut self.engine.lock();
        match (opened, reserved) {
            (Ok(file), Ok(handle)) => {
                self.registry.bind(handle.0, file.instruments());
                self.on_demand.made(guard, handle, file.group());
                let filled = self.files.get_mut(guard).fill(handle, Arc::new(file));
                debug_assert!(filled, "the handle was reserved for this file");
                self.metrics.counts.files.follow(self.files.get(guard).len() as u64);
                Ok(handle)
            }
            (opened, reserved) => {
                self.errhandlers.get_mut(guard).detach(errhandler);
                if let Ok(handle) = reserved {
                    self.files.get_mut(guard).give_back(handle);
                    self.metrics.counts.files.follow(self.files.get(guard).len() as u64);
                }
                Err(opened.err().unwrap_or_else(|| Error::new(MPI_ERR_NO_MEM, "there are too many open files")))
            }
        }
    }

    /// `MPI_File_close`: the handle is stale from here on, also after an error. Collective over the file's processes;
    /// waits, with no guard held. Errors: those of [`File::close`], and `MPI_ERR_FILE` for the caller alone.
    pub fn file_close(&self, handle: Handle) -> Result<()> {
        let file = self.file(&self.engine.lock(), handle).cloned();
        let file = file.ok_or_else(|| no_file(handle))?;
        let closed = file.close();
        if closed.is_err() {
            self.on_errhandler_called(&self.engine.lock(), file.errhandler().get());
        }
        drop(file);
        self.remove_file(handle);
        closed
    }

    fn remove_file(&self, handle: Handle) {
        let guard = &mut self.engine.lock();
        let Some(file) = self.files.get_mut(guard).remove(handle) else { return };
        self.metrics.counts.files.follow(self.files.get(guard).len() as u64);
        self.errhandlers.get_mut(guard).detach(file.errhandler().get());
        self.update_errhandlers(guard);
        self.registry.unbind(handle.0, file.instruments());
        self.on_demand.object_freed(guard, handle);
        self.io.leave(guard, file.comm());
        // A concurrent call of another thread, which is an error in the program, may still write the instruments.
        if let Some(file) = Arc::into_inner(file) {
            mpi_t::retire(&*self.memory, file.instruments());
        }
    }

    /// `MPI_File_delete`. Errors: those of [`mpi_io::Io::delete`].
    pub fn file_delete(&self, name: OsString) -> Result<()> {
        self.io.delete(name)
    }

    /// Closes files that the program has left open at finalisation, which is an error in the program (MPI-5.0, 14.2.2):
    /// prints a warning, writes the data to the device, and deletes files that were opened with delete-on-close.
    pub(crate) fn close_left_files(&self) {
        let left: Vec<_> =
            self.files.get(&self.engine.lock()).iter().map(|(handle, file)| (handle, file.clone())).collect();
        for (handle, file) in left {
            let outcome = match file.close_alone() {
                Ok(()) => "it is closed now".to_owned(),
                Err(error) => format!("closing it failed: {error}"),
            };
            let (rank, name) = (self.rank(), file.name());
            self.warn(&format!("rank {rank}: the file {name:?} is open at MPI_Finalize; {outcome}"));
            drop(file);
            self.remove_file(handle);
        }
    }
}

#[cold]
fn no_file(handle: Handle) -> Error {
    Error::new(MPI_ERR_FILE, "no file has that handle").arg("fh", &handle)
}
