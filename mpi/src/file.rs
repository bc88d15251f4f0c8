//! Files that all processes of a communicator open together (MPI-5.0, chapter 14).
//!
//! Invariant: a [`File`] borrows its communicator, so no file is open when MPI is finalized.
//! Not here: file pointers (`file_access`), views (`file_view`), collective accesses (`file_collective`), those that go
//! on after the call (`file_started`, `file_split`), data with gaps (`file_layout`).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mpi_core::abi::{
    MPI_MODE_APPEND, MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_EXCL, MPI_MODE_RDONLY, MPI_MODE_RDWR,
    MPI_MODE_SEQUENTIAL, MPI_MODE_UNIQUE_OPEN, MPI_MODE_WRONLY,
};
use mpi_core::{Handle, Status, functions};
use mpi_datatype::Element;
use mpi_env::Process;
use mpi_io::{AccessMode, OpenArgs, Typed};

use crate::call::{Call, CallName};
use crate::{Communicator, Error, Hints, Result, Single, ThreadUse};

const OPEN: CallName = CallName::new("Communicator::open", functions::MPI_FILE_OPEN);
const SET_HINTS: CallName = CallName::new("File::set_hints", functions::MPI_FILE_SET_INFO);
const READ_AT: CallName = CallName::new("File::read_at", functions::MPI_FILE_READ_AT);
const WRITE_AT: CallName = CallName::new("File::write_at", functions::MPI_FILE_WRITE_AT);
const SIZE: CallName = CallName::new("File::size", functions::MPI_FILE_GET_SIZE);
const SET_SIZE: CallName = CallName::new("File::set_size", functions::MPI_FILE_SET_SIZE);
const SYNC: CallName = CallName::new("File::sync", functions::MPI_FILE_SYNC);
const CLOSE: CallName = CallName::new("File::close", functions::MPI_FILE_CLOSE);

/// The access mode of a file, the same in all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    bits: i32,
}

impl Access {
    /// Reading a file that exists.
    pub const READ: Access = Access { bits: MPI_MODE_RDONLY };
    /// Writing.
    pub const WRITE: Access = Access { bits: MPI_MODE_WRONLY };
    /// Reading and writing.
    pub const READ_WRITE: Access = Access { bits: MPI_MODE_RDWR };

    /// The file is created when it does not exist.
    pub const fn create(self) -> Access {
        Access { bits: self.bits | MPI_MODE_CREATE }
    }

    /// The file is created, and that it exists already is an error.
    pub const fn create_new(self) -> Access {
        Access { bits: self.bits | MPI_MODE_CREATE | MPI_MODE_EXCL }
    }

    /// File pointers begin at the end of the file.
    pub const fn append(self) -> Access {
        Access { bits: self.bits | MPI_MODE_APPEND }
    }

    /// The file is accessed by the shared file pointer only, as a pipe or a terminal is; reading and writing exclude
    /// each other then.
    pub const fn sequential(self) -> Access {
        Access { bits: self.bits | MPI_MODE_SEQUENTIAL }
    }

    /// A promise that nothing else opens the file meanwhile.
    pub const fn unique(self) -> Access {
        Access { bits: self.bits | MPI_MODE_UNIQUE_OPEN }
    }

    /// The file is deleted when it is closed.
    pub const fn delete_on_close(self) -> Access {
        Access { bits: self.bits | MPI_MODE_DELETE_ON_CLOSE }
    }
}

/// An open file. What a process writes, others may read once it has returned from the call and they have learned of that,
/// by a message or a barrier; collective reads and writes do not wait for the other processes.
///
/// Dropping it closes it, as [`File::close`] does, but reports no error. With a world of
/// [`Multiple`](crate::Multiple) any thread may use it at any time; calls at one file pointer take turns.
///
/// ```no_run
/// use mpi::Access;
///
/// mpi::run(|world| {
///     let file = world.open("squares", Access::READ_WRITE.create())?;
///     let own = [u64::from(world.rank()).pow(2)];
///     file.write_at(u64::from(world.rank()) * 8, &own)?;
///     world.barrier()?;
///     let mut all = vec![0u64; world.size() as usize];
///     assert_eq!(file.read_at(0, &mut all)?, all.len());
///     file.close()
/// });
/// ```
pub struct File<'c, M: ThreadUse = Single> {
    comm: &'c Communicator<'c, M>,
    handle: Handle,
    closed: bool,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Opens a file in all processes (`MPI_File_open`); waits for all. Errors, in all processes or in none:
    /// `MPI_ERR_AMODE` for contradictory modes, `MPI_ERR_NOT_SAME` when the processes differ,
    /// `MPI_ERR_NO_SUCH_FILE` and the like for errors of the system.
    pub fn open(&self, path: impl AsRef<Path>, access: Access) -> Result<File<'_, M>> {
        self.open_with_hints(path, access, &Hints::new())
    }

    /// As [`Communicator::open`], with hints (MPI-5.0, 14.2.8): `access_style`, and `file_perm` for a file that is
    /// created. Errors: as there.
    pub fn open_with_hints(&self, path: impl AsRef<Path>, access: Access, hints: &Hints) -> Result<File<'_, M>> {
        let args = OpenArgs {
            name: Ok(path.as_ref().as_os_str().to_owned()),
            amode: AccessMode::new(access.bits),
            hints: Ok(hints.info().clone()),
        };
        let handle = self.call(OPEN, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.file_open(self.handle(), args)
        })?;
        Ok(File { comm: self, handle, closed: false })
    }
}

impl<M: ThreadUse> File<'_, M> {
    pub(crate) fn file(&self) -> Arc<mpi_io::File> {
        let process = self.comm.process;
        process.file(&process.engine.lock(), self.handle).cloned().expect("it is open as long as this is")
    }

    pub(crate) fn process(&self) -> &'static Process {
        self.comm.process
    }

    /// The process, and the context id of the communicator.
    pub(crate) fn place(&self) -> (&'static Process, u32) {
        self.comm.place()
    }

    /// A call on the file, which the flight recorder shows with the file's own communicator.
    pub(crate) fn call<T>(
        &self,
        name: CallName,
        count: u64,
        body: impl FnOnce(&mpi_io::File) -> Result<T>,
    ) -> Result<T> {
        let file = self.file();
        Call::run(self.comm.process, file.comm().context(), name, |call| {
            drop(call.enter(-1, 0, count));
            body(&file)
        })
    }

    fn close_in_place(&self) -> Result<()> {
        let context = self.file().comm().context();
        Call::run(self.comm.process, context, CLOSE, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.file_close(self.handle)
        })
    }

    /// Reads from byte `offset` on, or from this element of the view ([`File::set_view`]), until `into` is full or the file ends; returns the number of elements read.
    /// Errors: `MPI_ERR_ARG` for a place that no file has, `MPI_ERR_ACCESS`, those of the system.
    pub fn read_at<T: Element>(&self, offset: u64, into: &mut [T]) -> Result<usize> {
        let count = into.len() as u64;
        let status = self.call(READ_AT, count, |file| {
            at_place("offset", offset, |offset| file.read_at(offset, Typed::into_slice(into)))
        })?;
        Ok(elements_in::<T>(&status))
    }

    /// Writes all of `data` from byte `offset` on, or from this element of the view. Errors: as [`File::read_at`], but `MPI_ERR_READ_ONLY`.
    pub fn write_at<T: Element>(&self, offset: u64, data: &[T]) -> Result<()> {
        let count = data.len() as u64;
        self.call(WRITE_AT, count, |file| {
            at_place("offset", offset, |offset| file.write_at(offset, Typed::of_slice(data)))
        })
        .map(drop)
    }

    /// The name with which it was opened.
    pub fn name(&self) -> String {
        self.file().name().to_owned()
    }

    /// The access mode with which it was opened (`MPI_File_get_amode`).
    pub fn access(&self) -> Access {
        Access { bits: self.file().amode().bits() }
    }

    /// Sets hints (`MPI_File_set_info`; MPI-5.0, 14.2.8); waits for all processes of the file. Of hints that have to be
    /// the same in all, those of rank 0 count. Errors: `MPI_ERR_OTHER` when a process is lost.
    pub fn set_hints(&self, hints: &Hints) -> Result<()> {
        self.call(SET_HINTS, 0, |file| file.set_hints(Ok(hints.info().clone())))
    }

    /// The hints that the file has, and its name as `filename` (`MPI_File_get_info`).
    pub fn hints(&self) -> Hints {
        self.file().hints().into()
    }

    /// Bytes in the file. Errors: those of the system.
    pub fn size(&self) -> Result<u64> {
        self.call(SIZE, 0, mpi_io::File::size)
    }

    /// Sets the file's size; all processes call it with the same value, and it waits for all. Errors:
    /// `MPI_ERR_NOT_SAME`, `MPI_ERR_ARG`, `MPI_ERR_READ_ONLY`, those of the system.
    pub fn set_size(&self, bytes: u64) -> Result<()> {
        self.call(SET_SIZE, 0, |file| at_place("bytes", bytes, |bytes| file.set_size(bytes)))
    }

    /// Writes the data of this process to the device; does not wait for the other processes. Errors: those of the system.
    pub fn sync(&self) -> Result<()> {
        self.call(SYNC, 0, mpi_io::File::sync)
    }

    /// The file's handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Closes the file, which all processes do; its data are on the device then. Waits for all if the file may be
    /// written. Errors: those of the system, also of writes that seemed to succeed.
    pub fn close(mut self) -> Result<()> {
        self.closed = true;
        self.close_in_place()
    }
}

/// The whole elements that an access has moved.
pub(crate) fn elements_in<T: Element>(status: &Status) -> usize {
    status.bytes() as usize / T::BYTES.max(1)
}

/// Runs `access` with a place, the argument of this name, in the library's form. One that is too large becomes negative,
/// which the library refuses, in a collective call after all processes have met; the error names the value as it was
/// given.
pub(crate) fn at_place<R>(name: &'static str, place: u64, access: impl FnOnce(i64) -> Result<R>) -> Result<R> {
    if let Ok(place) = i64::try_from(place) {
        return access(place);
    }
    access(-1).map_err(|error| {
        let of_place = error.arguments().next().is_some_and(|(_, value)| value == "-1");
        let rule = "a file has fewer than 2^63 bytes";
        if of_place { Error::new(error.class(), rule).arg(name, &place) } else { error }
    })
}

impl<M: ThreadUse> Drop for File<'_, M> {
    fn drop(&mut self) {
        // After a panic the job ends, so waiting for the others is useless.
        if !self.closed && !std::thread::panicking() {
            let _ = self.close_in_place();
        }
    }
}

impl<M: ThreadUse> fmt::Debug for File<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("name", &self.file().name()).finish()
    }
}
