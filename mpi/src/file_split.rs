//! Split collective accesses to files: a call that begins one and a call that ends it (MPI-5.0, 14.4.5).
//!
//! Invariants: a [`SplitAccess`] owns its data and borrows its file. It ends its access exactly once, at the latest when
//! it is dropped; a file has at most one at a time.
//! Not here: the accesses themselves (`mpi_io`).

use std::fmt;

use mpi_core::Status;
use mpi_core::functions;
use mpi_datatype::Element;
use mpi_io::{SplitKind, Typed};

use crate::Result;
use crate::call::CallName;
use crate::file::{File, at_place, elements_in};
use crate::threads::{Single, ThreadUse};

const READ_ALL: CallName = CallName::new("File::read_all_begin", functions::MPI_FILE_READ_ALL_BEGIN);
const WRITE_ALL: CallName = CallName::new("File::write_all_begin", functions::MPI_FILE_WRITE_ALL_BEGIN);
const READ_AT_ALL: CallName = CallName::new("File::read_at_all_begin", functions::MPI_FILE_READ_AT_ALL_BEGIN);
const WRITE_AT_ALL: CallName = CallName::new("File::write_at_all_begin", functions::MPI_FILE_WRITE_AT_ALL_BEGIN);
const READ_ORDERED: CallName = CallName::new("File::read_ordered_begin", functions::MPI_FILE_READ_ORDERED_BEGIN);
const WRITE_ORDERED: CallName = CallName::new("File::write_ordered_begin", functions::MPI_FILE_WRITE_ORDERED_BEGIN);

/// A collective access between its two calls, with its data. All processes end it with [`SplitAccess::end`] or by
/// dropping it. Until then, no other such access of the file can begin in this process, and the file is not closed. Where
/// it is forgotten, no other one can begin any more. With a world of [`Multiple`](crate::Multiple) any thread may end it.
///
/// ```no_run
/// # fn work(file: &mpi::File) -> mpi::Result<()> {
/// let writing = file.write_ordered_begin(vec![1u32, 2, 3])?;
/// // Work that does not change the data.
/// let (data, _) = writing.end()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "`end` gives the data back"]
pub struct SplitAccess<'f, T: Element, M: ThreadUse = Single> {
    file: &'f File<'f, M>,
    kind: SplitKind,
    data: Vec<T>,
    ended: bool,
}

impl<T: Element, M: ThreadUse> SplitAccess<'_, T, M> {
    /// Ends the access: the data, and how many elements were read or written, which are fewer than there is room for if
    /// the file ended.
    pub fn end(mut self) -> Result<(Vec<T>, usize)> {
        let status = self.finish()?;
        Ok((std::mem::take(&mut self.data), elements_in::<T>(&status)))
    }

    fn finish(&mut self) -> Result<Status> {
        self.ended = true;
        let (rust, function) = match self.kind {
            SplitKind::ReadAll => ("end of File::read_all_begin", functions::MPI_FILE_READ_ALL_END),
            SplitKind::ReadAtAll => ("end of File::read_at_all_begin", functions::MPI_FILE_READ_AT_ALL_END),
            SplitKind::WriteAll => ("end of File::write_all_begin", functions::MPI_FILE_WRITE_ALL_END),
            SplitKind::WriteAtAll => ("end of File::write_at_all_begin", functions::MPI_FILE_WRITE_AT_ALL_END),
            SplitKind::ReadOrdered => ("end of File::read_ordered_begin", functions::MPI_FILE_READ_ORDERED_END),
            SplitKind::WriteOrdered => ("end of File::write_ordered_begin", functions::MPI_FILE_WRITE_ORDERED_END),
        };
        // The access was begun without an address, so any address ends it.
        self.file.call(CallName::new(rust, function), 0, |file| file.end(self.kind, 0))
    }
}

impl<M: ThreadUse> File<'_, M> {
    /// Begins [`File::read_all`] into `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn read_all_begin<T: Element>(&self, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(READ_ALL, SplitKind::ReadAll, data, |file, data| file.read_all(Ok(Typed::into_slice(data))))
    }

    /// Begins [`File::write_all`] of `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn write_all_begin<T: Element>(&self, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(WRITE_ALL, SplitKind::WriteAll, data, |file, data| file.write_all(Ok(Typed::of_slice(data))))
    }

    /// Begins [`File::read_at_all`] into `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn read_at_all_begin<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(READ_AT_ALL, SplitKind::ReadAtAll, data, |file, data| {
            at_place("offset", offset, |offset| file.read_at_all(offset, Ok(Typed::into_slice(data))))
        })
    }

    /// Begins [`File::write_at_all`] of `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn write_at_all_begin<T: Element>(&self, offset: u64, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(WRITE_AT_ALL, SplitKind::WriteAtAll, data, |file, data| {
            at_place("offset", offset, |offset| file.write_at_all(offset, Ok(Typed::of_slice(data))))
        })
    }

    /// Begins [`File::read_ordered`] into `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn read_ordered_begin<T: Element>(&self, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(READ_ORDERED, SplitKind::ReadOrdered, data, |file, data| file.read_ordered(Typed::into_slice(data)))
    }

    /// Begins [`File::write_ordered`] of `data`. Errors: as there, and `MPI_ERR_IO` while another [`SplitAccess`] is under way.
    pub fn write_ordered_begin<T: Element>(&self, data: Vec<T>) -> Result<SplitAccess<'_, T, M>> {
        self.begin(WRITE_ORDERED, SplitKind::WriteOrdered, data, |file, data| file.write_ordered(Typed::of_slice(data)))
    }

    fn begin<T: Element>(
        &self,
        name: CallName,
        kind: SplitKind,
        mut data: Vec<T>,
        access: impl FnOnce(&mpi_io::File, &mut [T]) -> Result<Status>,
    ) -> Result<SplitAccess<'_, T, M>> {
        self.call(name, data.len() as u64, |file| file.begin(kind, None, || access(file, &mut data)))?;
        Ok(SplitAccess { file: self, kind, data, ended: false })
    }
}

impl<T: Element, M: ThreadUse> Drop for SplitAccess<'_, T, M> {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.finish();
        }
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for SplitAccess<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitAccess").field("file", self.file).field("kind", &self.kind).finish()
    }
}
