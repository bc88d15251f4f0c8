//! Accesses to files with data that do not lie side by side in memory (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! Invariant: a layout reaches no byte outside of its slice.
//! Not here: elements that do not lie side by side in the file, which a view selects (`file_view`).

use mpi_core::abi::MPI_ERR_CONVERSION;
use mpi_core::functions;
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf};
use mpi_io::{Representation, Typed};

use crate::call::CallName;
use crate::file::{File, at_place, elements_in};
use crate::threads::ThreadUse;
use crate::{Error, Layout, Result};

const READ: CallName = CallName::new("File::read_layout", functions::MPI_FILE_READ);
const WRITE: CallName = CallName::new("File::write_layout", functions::MPI_FILE_WRITE);
const READ_AT: CallName = CallName::new("File::read_layout_at", functions::MPI_FILE_READ_AT);
const WRITE_AT: CallName = CallName::new("File::write_layout_at", functions::MPI_FILE_WRITE_AT);

impl<M: ThreadUse> File<'_, M> {
    /// As [`File::read`], into the elements of `into` that `layout` selects. Errors: also `MPI_ERR_BUFFER` when the slice
    /// is too short or elements overlap, `MPI_ERR_CONVERSION` in a data representation of the program.
    pub fn read_layout<T: Element>(&self, into: &mut [T], layout: &Layout<T>) -> Result<usize> {
        let read = |file: &mpi_io::File| file.read(room(file, into, layout)?);
        self.call(READ, layout.count() as u64, read).map(|status| elements_in::<T>(&status))
    }

    /// As [`File::write`], of the elements of `data` that `layout` selects. Errors: also as [`File::read_layout`].
    pub fn write_layout<T: Element>(&self, data: &[T], layout: &Layout<T>) -> Result<()> {
        self.call(WRITE, layout.count() as u64, |file| file.write(selected(file, data, layout)?)).map(drop)
    }

    /// As [`File::read_at`], into the elements of `into` that `layout` selects. Errors: also as [`File::read_layout`].
    pub fn read_layout_at<T: Element>(&self, offset: u64, into: &mut [T], layout: &Layout<T>) -> Result<usize> {
        let read =
            |file: &mpi_io::File| at_place("offset", offset, |offset| file.read_at(offset, room(file, into, layout)?));
        self.call(READ_AT, layout.count() as u64, read).map(|status| elements_in::<T>(&status))
    }

    /// As [`File::write_at`], of the elements of `data` that `layout` selects. Errors: also as [`File::read_layout`].
    pub fn write_layout_at<T: Element>(&self, offset: u64, data: &[T], layout: &Layout<T>) -> Result<()> {
        let write = |file: &mpi_io::File| {
            at_place("offset", offset, |offset| file.write_at(offset, selected(file, data, layout)?))
        };
        self.call(WRITE_AT, layout.count() as u64, write).map(drop)
    }
}

fn room<'a, T: Element>(file: &mpi_io::File, into: &'a mut [T], layout: &Layout<T>) -> Result<Typed<RecvBuf<'a>>> {
    let buffer = layout.receive_into(into)?;
    Ok(Typed::new(buffer, in_view(file, layout)?))
}

fn selected<'a, T: Element>(file: &mpi_io::File, data: &'a [T], layout: &Layout<T>) -> Result<Typed<SendBuf<'a>>> {
    let buffer = layout.send_from(data)?;
    Ok(Typed::new(buffer, in_view(file, layout)?))
}

/// The type of the layout. Errors: `MPI_ERR_CONVERSION` in a data representation of the program.
fn in_view<T: Element>(file: &mpi_io::File, layout: &Layout<T>) -> Result<Datatype> {
    match file.view().representation() {
        Representation::Registered(_) => {
            let rule = "data representations of the program convert elements that lie side by side in memory only";
            Err(Error::new(MPI_ERR_CONVERSION, rule))
        }
        _ => Ok(layout.datatype().clone()),
    }
}
