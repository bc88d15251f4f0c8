//! Collective accesses to files, which all processes of a file make together (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! Invariant: an access may wait for those of the others; it does so where views have gaps between short runs.
//! Not here: those that end with a second call (`file_split`), those in the order of ranks (`file_access`).

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_io::Typed;

use crate::Result;
use crate::call::CallName;
use crate::file::{File, at_place, elements_in};
use crate::threads::ThreadUse;

const READ_ALL: CallName = CallName::new("File::read_all", functions::MPI_FILE_READ_ALL);
const WRITE_ALL: CallName = CallName::new("File::write_all", functions::MPI_FILE_WRITE_ALL);
const READ_AT_ALL: CallName = CallName::new("File::read_at_all", functions::MPI_FILE_READ_AT_ALL);
const WRITE_AT_ALL: CallName = CallName::new("File::write_at_all", functions::MPI_FILE_WRITE_AT_ALL);

impl<M: ThreadUse> File<'_, M> {
    /// As [`File::read`], in all processes, each at its own file pointer.
    pub fn read_all<T: Element>(&self, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        self.call(READ_ALL, count, |file| file.read_all(Ok(Typed::into_slice(into))))
            .map(|status| elements_in::<T>(&status))
    }

    /// As [`File::write`], in all processes, each at its own file pointer.
    pub fn write_all<T: Element>(&self, data: &[T]) -> Result<()> {
        self.call(WRITE_ALL, data.len() as u64, |file| file.write_all(Ok(Typed::of_slice(data)))).map(drop)
    }

    /// As [`File::read_at`], in all processes, each at a place of its own.
    pub fn read_at_all<T: Element>(&self, offset: u64, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        let read = |file: &mpi_io::File| {
            at_place("offset", offset, |offset| file.read_at_all(offset, Ok(Typed::into_slice(into))))
        };
        self.call(READ_AT_ALL, count, read).map(|status| elements_in::<T>(&status))
    }

    /// As [`File::write_at`], in all processes, each at a place of its own.
    pub fn write_at_all<T: Element>(&self, offset: u64, data: &[T]) -> Result<()> {
        let write = |file: &mpi_io::File| {
            at_place("offset", offset, |offset| file.write_at_all(offset, Ok(Typed::of_slice(data))))
        };
        self.call(WRITE_AT_ALL, data.len() as u64, write).map(drop)
    }
}
