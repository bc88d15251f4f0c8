//! Accesses to files that the program waits for later (MPI-5.0, 14.4.2 to 14.4.4).
//!
//! Invariants: an access owns its data, so a value that is forgotten is no danger to memory. It borrows its file, which is
//! not closed before the access ends.
//! This library moves the data in the call that starts the access, as the standard permits, so that call reports errors.
//! Not here: collective accesses of which one at a time is under way (`file_split`).

use std::fmt;

use mpi_core::{Handle, Status, functions};
use mpi_datatype::Element;
use mpi_env::Process;
use mpi_io::Typed;

use crate::Result;
use crate::call::CallName;
use crate::file::{File, at_place, elements_in};
use crate::request::{Request, sealed};
use crate::threads::{Single, ThreadUse};

const START_READ: CallName = CallName::new("File::start_read", functions::MPI_FILE_IREAD);
const START_WRITE: CallName = CallName::new("File::start_write", functions::MPI_FILE_IWRITE);
const START_READ_AT: CallName = CallName::new("File::start_read_at", functions::MPI_FILE_IREAD_AT);
const START_WRITE_AT: CallName = CallName::new("File::start_write_at", functions::MPI_FILE_IWRITE_AT);
const START_READ_ALL: CallName = CallName::new("File::start_read_all", functions::MPI_FILE_IREAD_ALL);
const START_WRITE_ALL: CallName = CallName::new("File::start_write_all", functions::MPI_FILE_IWRITE_ALL);
const START_READ_AT_ALL: CallName = CallName::new("File::start_read_at_all", functions::MPI_FILE_IREAD_AT_ALL);
const START_WRITE_AT_ALL: CallName = CallName::new("File::start_write_at_all", functions::MPI_FILE_IWRITE_AT_ALL);
const START_READ_SHARED: CallName = CallName::new("File::start_read_shared", functions::MPI_FILE_IREAD_SHARED);
const START_WRITE_SHARED: CallName = CallName::new("File::start_write_shared", functions::MPI_FILE_IWRITE_SHARED);

/// An access to a file under way, with its data. When it is dropped, the access goes on, and its data are lost. With a
/// world of [`Multiple`](crate::Multiple) any thread may wait for it.
///
/// ```no_run
/// # fn work(file: &mpi::File) -> mpi::Result<()> {
/// let reading = file.start_read_at(0, vec![0.0f64; 1000])?;
/// // Work that does not need the data.
/// let (data, count) = reading.wait()?;
/// println!("{:?}", &data[..count]);
/// # Ok(())
/// # }
/// ```
#[must_use = "`wait` gives the data back"]
pub struct FileAccess<'f, T: Element, M: ThreadUse = Single> {
    file: &'f File<'f, M>,
    data: Vec<T>,
    status: Status,
}

impl<T: Element, M: ThreadUse> FileAccess<'_, T, M> {
    /// Waits until the access is complete: the data, and how many elements were read or written, which are fewer than
    /// there is room for if the file ended.
    pub fn wait(self) -> Result<(Vec<T>, usize)> {
        Ok((self.data, elements_in::<T>(&self.status)))
    }

    /// Whether it is complete, so that [`FileAccess::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        Ok(true)
    }
}

impl<T: Element, M: ThreadUse> Request for FileAccess<'_, T, M> {}
impl<T: Element, M: ThreadUse> sealed::Sealed for FileAccess<'_, T, M> {
    fn place(&self) -> (&'static Process, u32) {
        self.file.place()
    }

    fn handle(&self) -> Option<Handle> {
        None
    }
}

impl<M: ThreadUse> File<'_, M> {
    /// Starts [`File::read`] into `data`. Errors: as there.
    pub fn start_read<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_READ, data, |file, data| file.read(Typed::into_slice(data)))
    }

    /// Starts [`File::write`] of `data`. Errors: as there.
    pub fn start_write<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_WRITE, data, |file, data| file.write(Typed::of_slice(data)))
    }

    /// Starts [`File::read_at`] into `data`. Errors: as there.
    pub fn start_read_at<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_READ_AT, data, |file, data| {
            at_place("offset", offset, |offset| file.read_at(offset, Typed::into_slice(data)))
        })
    }

    /// Starts [`File::write_at`] of `data`. Errors: as there.
    pub fn start_write_at<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_WRITE_AT, data, |file, data| {
            at_place("offset", offset, |offset| file.write_at(offset, Typed::of_slice(data)))
        })
    }

    /// Starts [`File::read_all`] into `data`. Errors: as there.
    pub fn start_read_all<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_READ_ALL, data, |file, data| file.read(Typed::into_slice(data)))
    }

    /// Starts [`File::write_all`] of `data`. Errors: as there.
    pub fn start_write_all<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_WRITE_ALL, data, |file, data| file.write(Typed::of_slice(data)))
    }

    /// Starts [`File::read_at_all`] into `data`. Errors: as there.
    pub fn start_read_at_all<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_READ_AT_ALL, data, |file, data| {
            at_place("offset", offset, |offset| file.read_at(offset, Typed::into_slice(data)))
        })
    }

    /// Starts [`File::write_at_all`] of `data`. Errors: as there.
    pub fn start_write_at_all<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_WRITE_AT_ALL, data, |file, data| {
            at_place("offset", offset, |offset| file.write_at(offset, Typed::of_slice(data)))
        })
    }

    /// Starts [`File::read_shared`] into `data`. Errors: as there.
    pub fn start_read_shared<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_READ_SHARED, data, |file, data| file.read_shared(Typed::into_slice(data)))
    }

    /// Starts [`File::write_shared`] of `data`. Errors: as there.
    pub fn start_write_shared<T: Element>(&self, data: Vec<T>) -> Result<FileAccess<'_, T, M>> {
        self.start(START_WRITE_SHARED, data, |file, data| file.write_shared(Typed::of_slice(data)))
    }

    fn start<T: Element>(
        &self,
        name: CallName,
        mut data: Vec<T>,
        access: impl FnOnce(&mpi_io::File, &mut [T]) -> Result<Status>,
    ) -> Result<FileAccess<'_, T, M>> {
        let status = self.call(name, data.len() as u64, |file| access(file, &mut data))?;
        Ok(FileAccess { file: self, data, status })
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for FileAccess<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileAccess").field("file", self.file).field("len", &self.data.len()).finish()
    }
}
