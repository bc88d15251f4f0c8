//! Accesses to files by file pointers, and what concerns a file as a whole (MPI-5.0, 14.2 to 14.6).
//!
//! Not here: opening, closing, and accesses by explicit offset (`file`), views (`file_view`).

use std::io::SeekFrom;
use std::path::Path;

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_io::{Typed, Whence};

use crate::call::CallName;
use crate::file::{File, at_place, elements_in};
use crate::threads::ThreadUse;
use crate::{Communicator, Result};

const READ: CallName = CallName::new("File::read", functions::MPI_FILE_READ);
const WRITE: CallName = CallName::new("File::write", functions::MPI_FILE_WRITE);
const SEEK: CallName = CallName::new("File::seek", functions::MPI_FILE_SEEK);
const POSITION: CallName = CallName::new("File::position", functions::MPI_FILE_GET_POSITION);
const READ_SHARED: CallName = CallName::new("File::read_shared", functions::MPI_FILE_READ_SHARED);
const WRITE_SHARED: CallName = CallName::new("File::write_shared", functions::MPI_FILE_WRITE_SHARED);
const READ_ORDERED: CallName = CallName::new("File::read_ordered", functions::MPI_FILE_READ_ORDERED);
const WRITE_ORDERED: CallName = CallName::new("File::write_ordered", functions::MPI_FILE_WRITE_ORDERED);
const SEEK_SHARED: CallName = CallName::new("File::seek_shared", functions::MPI_FILE_SEEK_SHARED);
const POSITION_SHARED: CallName = CallName::new("File::position_shared", functions::MPI_FILE_GET_POSITION_SHARED);
const PREALLOCATE: CallName = CallName::new("File::preallocate", functions::MPI_FILE_PREALLOCATE);
const SET_ATOMIC: CallName = CallName::new("File::set_atomic", functions::MPI_FILE_SET_ATOMICITY);
const DELETE: CallName = CallName::new("Communicator::delete_file", functions::MPI_FILE_DELETE);

impl<M: ThreadUse> Communicator<'_, M> {
    /// Deletes a file, for which one process suffices. Errors: `MPI_ERR_NO_SUCH_FILE`, those of the system.
    pub fn delete_file(&self, path: impl AsRef<Path>) -> Result<()> {
        self.call(DELETE, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.file_delete(path.as_ref().as_os_str().to_owned())
        })
    }
}

impl<M: ThreadUse> File<'_, M> {
    /// Reads at this process's file pointer until `into` is full or the file ends, and advances the pointer; returns the
    /// number of elements read. Errors: `MPI_ERR_ACCESS`, those of the system.
    pub fn read<T: Element>(&self, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        self.call(READ, count, |file| file.read(Typed::into_slice(into))).map(|status| elements_in::<T>(&status))
    }

    /// Writes all of `data` at this process's file pointer, and advances it. Errors: `MPI_ERR_READ_ONLY`, those of the
    /// system.
    pub fn write<T: Element>(&self, data: &[T]) -> Result<()> {
        self.call(WRITE, data.len() as u64, |file| file.write(Typed::of_slice(data))).map(drop)
    }

    /// Moves this process's file pointer. Errors: `MPI_ERR_ARG` for a place that no file has.
    pub fn seek(&self, to: SeekFrom) -> Result<()> {
        self.call(SEEK, 0, |file| at_position(to, |offset, whence| file.seek(offset, whence)))
    }

    /// This process's file pointer.
    pub fn position(&self) -> Result<u64> {
        self.call(POSITION, 0, mpi_io::File::position)
    }

    /// As [`File::read`], at the file pointer that all processes share.
    pub fn read_shared<T: Element>(&self, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        let status = self.call(READ_SHARED, count, |file| file.read_shared(Typed::into_slice(into)))?;
        Ok(elements_in::<T>(&status))
    }

    /// As [`File::write`], at the file pointer that all processes share.
    pub fn write_shared<T: Element>(&self, data: &[T]) -> Result<()> {
        self.call(WRITE_SHARED, data.len() as u64, |file| file.write_shared(Typed::of_slice(data))).map(drop)
    }

    /// As [`File::read_shared`], in the order of ranks: all processes call it.
    pub fn read_ordered<T: Element>(&self, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        let status = self.call(READ_ORDERED, count, |file| file.read_ordered(Typed::into_slice(into)))?;
        Ok(elements_in::<T>(&status))
    }

    /// As [`File::write_shared`], in the order of ranks: all processes call it.
    pub fn write_ordered<T: Element>(&self, data: &[T]) -> Result<()> {
        self.call(WRITE_ORDERED, data.len() as u64, |file| file.write_ordered(Typed::of_slice(data))).map(drop)
    }

    /// Moves the file pointer that all processes share; all call it with the same place, and wait for each other. Errors:
    /// also `MPI_ERR_NOT_SAME`.
    pub fn seek_shared(&self, to: SeekFrom) -> Result<()> {
        self.call(SEEK_SHARED, 0, |file| at_position(to, |offset, whence| file.seek_shared(offset, whence)))
    }

    /// The file pointer that all processes share.
    pub fn position_shared(&self) -> Result<u64> {
        self.call(POSITION_SHARED, 0, mpi_io::File::position_shared)
    }

    /// Makes the file at least this long, with storage for all of it; all processes call it with the same value, and wait
    /// for each other. Errors: as [`File::set_size`].
    pub fn preallocate(&self, bytes: u64) -> Result<()> {
        self.call(PREALLOCATE, 0, |file| at_place("bytes", bytes, |bytes| file.preallocate(bytes)))
    }

    /// Whether accesses of several processes that overlap take effect one after the other; all processes call it with the
    /// same value, and wait for each other. Errors: `MPI_ERR_NOT_SAME`.
    pub fn set_atomic(&self, atomic: bool) -> Result<()> {
        self.call(SET_ATOMIC, 0, |file| file.set_atomic(atomic))
    }

    /// What [`File::set_atomic`] has set; false at first (`MPI_File_get_atomicity`).
    pub fn is_atomic(&self) -> bool {
        self.file().is_atomic()
    }
}

/// Runs `seek` with a position in the library's form.
fn at_position(to: SeekFrom, seek: impl FnOnce(i64, Whence) -> Result<()>) -> Result<()> {
    match to {
        SeekFrom::Start(offset) => at_place("to", offset, |offset| seek(offset, Whence::Start)),
        SeekFrom::Current(offset) => seek(offset, Whence::Current),
        SeekFrom::End(offset) => seek(offset, Whence::End),
    }
}
