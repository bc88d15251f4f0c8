//! Data representations that convert one element at a time, in safe code (MPI-5.0, 14.5.3).
//!
//! Invariant: a conversion gets exactly the bytes of one element, in memory and in the file.
//! Not here: representations by functions in C (mpi-capi), registering them (`datarep`).
#![allow(unsafe_code)] // makes slices of the memory of an access

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::slice;

use mpi_core::abi::MPI_ERR_CONVERSION;
use mpi_datatype::{Datatype, predefined};
use mpi_errors::{Error, Result};

use crate::datarep::Conversions;

/// A data representation of the program: how elements of predefined types lie in a file. Its functions run with no lock
/// of the process held, in any thread that accesses a file. They make no calls of MPI.
pub trait DataRepresentation: Send + Sync + 'static {
    /// Bytes of an element of this type in a file, always the same.
    fn stored_bytes(&self, datatype: &Datatype) -> usize;

    /// Converts the bytes of an element in a file to those in memory. An error, of any class, ends the access.
    fn load(&self, datatype: &Datatype, stored: &[u8], element: &mut [u8]) -> Result<()>;

    /// Converts the bytes of an element in memory to those in a file, which are 0 before. An error, of any class, ends
    /// the access.
    fn store(&self, datatype: &Datatype, element: &[u8], stored: &mut [u8]) -> Result<()>;
}

/// The functions of a [`DataRepresentation`] for accesses.
#[derive(Debug)]
pub struct ByElement<R>(pub R);

impl<R: DataRepresentation> Conversions for ByElement<R> {
    fn extent(&self, datatype: usize) -> Result<i64> {
        let bytes = self.0.stored_bytes(one_element(datatype)?);
        i64::try_from(bytes).map_err(|_| too_long(bytes))
    }

    fn converts(&self, _writing: bool) -> bool {
        true
    }

    unsafe fn convert(&self, writing: bool, memory: usize, datatype: usize, items: u64, file: &mut [u8]) -> Result<()> {
        let datatype = one_element(datatype)?;
        let (size, stored, items) = (datatype.size() as usize, self.0.stored_bytes(datatype), items as usize);
        let needed = items.checked_mul(stored).filter(|needed| *needed <= file.len());
        if items == 0 || stored == 0 {
            return Ok(());
        }
        let stored = file[..needed.ok_or_else(too_short)?].chunks_exact_mut(stored);
        if writing {
            // SAFETY: the memory has as many elements of the type, side by side, as the caller promises; it is read.
            let memory = unsafe { slice::from_raw_parts(with_exposed_provenance::<u8>(memory), items * size) };
            return memory
                .chunks_exact(size)
                .zip(stored)
                .try_for_each(|(element, stored)| self.0.store(datatype, element, stored));
        }
        // SAFETY: the same; the access has it alone.
        let memory = unsafe { slice::from_raw_parts_mut(with_exposed_provenance_mut::<u8>(memory), items * size) };
        memory
            .chunks_exact_mut(size)
            .zip(stored)
            .try_for_each(|(element, stored)| self.0.load(datatype, stored, element))
    }
}

/// The predefined type of elements that lie side by side and are one number each. Errors: `MPI_ERR_CONVERSION` for other
/// types.
fn one_element(word: usize) -> Result<&'static Datatype> {
    let one = |datatype: &&Datatype| datatype.is_contiguous() && datatype.basic_elements() == 1;
    predefined(word).filter(one).ok_or_else(|| {
        let rule = "a data representation that converts one element at a time takes elements side by side only";
        Error::new(MPI_ERR_CONVERSION, rule)
    })
}

#[cold]
fn too_long(bytes: usize) -> Error {
    Error::new(MPI_ERR_CONVERSION, format!("no file has an element of {bytes} bytes"))
}

#[cold]
fn too_short() -> Error {
    Error::new(MPI_ERR_CONVERSION, "an element had fewer bytes in the file when the access began")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_DOUBLE, MPI_DOUBLE_INT, MPI_SHORT};

    /// Numbers of two bytes with the bytes of a file in the other order, and one more.
    struct Reversed;

    impl DataRepresentation for Reversed {
        fn stored_bytes(&self, datatype: &Datatype) -> usize {
            datatype.size() as usize + 1
        }

        fn load(&self, _: &Datatype, stored: &[u8], element: &mut [u8]) -> Result<()> {
            element.iter_mut().zip(stored[1..].iter().rev()).for_each(|(to, from)| *to = *from);
            Ok(())
        }

        fn store(&self, _: &Datatype, element: &[u8], stored: &mut [u8]) -> Result<()> {
            stored[0] = element.len() as u8;
            stored[1..].iter_mut().zip(element.iter().rev()).for_each(|(to, from)| *to = *from);
            Ok(())
        }
    }

    /// Elements longer than any file.
    struct Endless;

    impl DataRepresentation for Endless {
        fn stored_bytes(&self, _: &Datatype) -> usize {
            usize::MAX
        }

        fn load(&self, _: &Datatype, _: &[u8], _: &mut [u8]) -> Result<()> {
            Ok(())
        }

        fn store(&self, _: &Datatype, _: &[u8], _: &mut [u8]) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_element_longer_than_any_file_is_an_error_with_its_length() {
        let error = ByElement(Endless).extent(MPI_SHORT).expect_err("too long");
        assert_eq!(error.class(), MPI_ERR_CONVERSION);
        assert!(error.to_string().contains(&usize::MAX.to_string()), "{error}");
    }

    #[test]
    fn elements_are_converted_one_by_one_within_their_bytes() {
        let (conversions, mut file, mut memory) = (ByElement(Reversed), [0u8; 7], [0x0102u16, 0x0304]);
        assert_eq!(conversions.extent(MPI_SHORT).expect("a number"), 3);
        assert!(conversions.extent(MPI_DOUBLE_INT).is_err() && conversions.extent(0).is_err());
        let address = memory.as_mut_ptr().expose_provenance();
        // SAFETY: here and below, the memory has two elements of two bytes, and nothing else uses it meanwhile.
        unsafe { conversions.convert(true, address, MPI_SHORT, 2, &mut file) }.expect("enough bytes");
        assert_eq!(file[..6], [2, 1, 2, 2, 3, 4]);
        file[1] = 9;
        // SAFETY: as above.
        unsafe { conversions.convert(false, address, MPI_SHORT, 2, &mut file) }.expect("enough bytes");
        // SAFETY: as above.
        let short = unsafe { conversions.convert(false, address, MPI_SHORT, 2, &mut file[..5]) };
        assert_eq!(short.expect_err("one byte is missing").class(), MPI_ERR_CONVERSION);
        // SAFETY: no memory is used.
        unsafe { conversions.convert(false, 0, MPI_DOUBLE, 0, &mut []) }.expect("nothing to do");
        assert_eq!(memory, [0x0902, 0x0304]);
    }
}
