//! Accesses in a data representation of the program (MPI-5.0, 14.5.3).
//!
//! The program's function converts some elements of the buffer at a time; the memory for their bytes of the file is
//! bounded unless one element has more.
//! Invariant: no lock of the process is held while a function of the program runs.
//! Not here: the representations (`datarep`).
#![allow(unsafe_code)] // passes the addresses of a buffer to the program's functions

use mpi_core::abi::MPI_ERR_CONVERSION;
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::datarep::Registered;
use crate::file::File;
use crate::moved::{Moved, PIECE};
use crate::typed::Memory;
use crate::view::View;

/// A buffer, its data in the file, and the functions between them.
pub(crate) struct Conversion<'a> {
    registered: &'a Registered,
    memory: Memory,
    datatype: &'a Datatype,
    writing: bool,
    /// Elements of the buffer.
    count: u64,
    /// Bytes of an element in the file.
    stored: u64,
    /// Bytes of a basic element in the file, if all are of one type.
    item: Option<u64>,
}

impl<'a> Conversion<'a> {
    /// The conversion of an access to elements of a type with so many bytes in the file; `None` where the representation has no function, so that data are as in memory.
    /// Errors: `MPI_ERR_CONVERSION` if there is none and sizes differ, and those of the extent function.
    pub fn new(
        view: &'a View,
        memory: Option<Memory>,
        (datatype, stored): (&'a Datatype, u64),
        bytes: u64,
        writing: bool,
    ) -> Result<Option<Conversion<'a>>> {
        let Some(registered) = view.registered() else { return Ok(None) };
        let Some(memory) = memory.filter(|_| registered.functions().converts(writing)) else {
            return if stored == datatype.size() { Ok(None) } else { Err(no_function(view)) };
        };
        let one = datatype.only_type().and_then(mpi_datatype::predefined);
        let item = one.map(|one| registered.size_of(one)).transpose()?;
        // The two numbers of a pair are not one basic element.
        let item = item.filter(|_| one.is_some_and(|one| one.basic_elements() == 1));
        let count = if datatype.size() == 0 { 0 } else { bytes / datatype.size() };
        Ok(Some(Conversion { registered, memory, datatype, writing, count, stored, item }))
    }

    fn at_once(&self) -> u64 {
        (PIECE as u64 / self.stored.max(1)).max(1)
    }

    /// Converts basic elements from element `done` on.
    fn convert(&self, done: u64, items: u64, file: &mut [u8]) -> Result<()> {
        let way = self.datatype.extent().wrapping_mul(done as i64);
        let memory = self.memory.address.wrapping_add(way as usize);
        // SAFETY: the program passed a buffer of `count` elements at the address, and these are among them; `file` has
        // the bytes of as many basic elements.
        unsafe { self.registered.functions().convert(self.writing, memory, self.memory.word, items, file) }
    }
}

#[cold]
fn no_function(view: &View) -> Error {
    let rule = format!(
        "the data representation {:?} has no function for this access, and other sizes than memory",
        view.representation().name()
    );
    Error::new(MPI_ERR_CONVERSION, rule)
}

impl File {
    /// Reads the elements from `at` on. Returns what was read, and the bytes stored in memory, packed. A last element
    /// that the file's end divides is stored as far as its basic elements are whole, if all are of one type.
    pub(crate) fn read_registered(&self, view: &View, at: u64, conversion: &Conversion<'_>) -> Result<(Moved, u64)> {
        let most = conversion.at_once().min(conversion.count);
        let mut bytes = vec![0; (most * conversion.stored) as usize];
        let (mut done, mut read, mut packed) = (0, 0, 0);
        while done < conversion.count {
            let elements = most.min(conversion.count - done);
            let length = (elements * conversion.stored) as usize;
            let (got, fault) = self.fill(view, at + read, &mut bytes[..length]);
            read += got;
            let whole = got.checked_div(conversion.stored).unwrap_or(elements);
            let size = conversion.datatype.size();
            let each = conversion.datatype.basic_elements();
            let (items, native) = match conversion.item {
                Some(item) if item > 0 => {
                    // The buffer has no more, also where the extent function reports another length in each call.
                    let items = (got / item).min(elements * each);
                    (items, items * (size / each))
                }
                _ => (whole * each, whole * size),
            };
            if items > 0 {
                conversion.convert(done, items, &mut bytes[..got as usize])?;
            }
            packed += native;
            if fault.is_some() || got < length as u64 {
                return Ok(((read, fault), packed));
            }
            done += elements;
        }
        Ok(((read, None), packed))
    }

    /// Writes all elements from `at` on. Returns what was written.
    pub(crate) fn write_registered(&self, view: &View, at: u64, conversion: &Conversion<'_>) -> Result<Moved> {
        let most = conversion.at_once().min(conversion.count);
        let mut bytes = vec![0; (most * conversion.stored) as usize];
        let (mut done, mut written) = (0, 0);
        while done < conversion.count {
            let elements = most.min(conversion.count - done);
            let bytes = &mut bytes[..(elements * conversion.stored) as usize];
            bytes.fill(0);
            conversion.convert(done, elements * conversion.datatype.basic_elements(), bytes)?;
            let (moved, fault) = self.store(view, at + written, bytes);
            written += moved;
            if fault.is_some() {
                return Ok((written, fault));
            }
            done += elements;
        }
        Ok((written, None))
    }
}
