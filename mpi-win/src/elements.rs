//! The elements that an operation names at its target: of a predefined type, or of a derived one.
//!
//! Invariant: the type is committed. Elements of a derived type that are contiguous are elements of a predefined one.
//! Not here: where the elements lie (`place`).

use mpi_core::abi::MPI_ERR_TYPE;
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::basic::Basic;

/// Some elements of one type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elements<'t> {
    /// Number of elements.
    pub count: u64,
    /// The type of the elements, or, of a derived type, that of its data: `MPI_BYTE` where the operation copies.
    pub basic: Basic,
    /// The type of the elements, if it is derived.
    pub derived: Option<&'t Datatype>,
}

impl<'t> Elements<'t> {
    /// Elements to be copied. Errors: `MPI_ERR_TYPE` for a type that is not committed.
    #[inline]
    pub fn copied(name: &'static str, handle: usize, count: u64, datatype: &'t Datatype) -> Result<Elements<'t>> {
        match Basic::predefined(handle) {
            Some(basic) => Ok(Elements { count, basic, derived: None }),
            None => Elements::of_derived(name, Basic::byte(), count, datatype),
        }
    }

    /// Elements to be combined, with the predefined type of all their data. Errors: as [`Elements::copied`].
    #[inline]
    pub fn combined(
        name: &'static str,
        handle: usize,
        basic: Basic,
        count: u64,
        datatype: &'t Datatype,
    ) -> Result<Elements<'t>> {
        if handle == basic.handle {
            return Ok(Elements { count, basic, derived: None });
        }
        Elements::of_derived(name, basic, count, datatype)
    }

    #[cold]
    fn of_derived(name: &'static str, basic: Basic, count: u64, datatype: &'t Datatype) -> Result<Elements<'t>> {
        if !datatype.is_committed() {
            let rule = "the datatype is not committed; call MPI_Type_commit first";
            return Err(Error::new(MPI_ERR_TYPE, rule).arg(name, &"a derived datatype"));
        }
        let contiguous = datatype.is_contiguous() && basic.datatype.is_contiguous();
        match datatype.bytes_of(count).filter(|_| contiguous) {
            Some(bytes) => Ok(Elements { count: bytes / basic.datatype.size(), basic, derived: None }),
            None => Ok(Elements { count, basic, derived: Some(datatype) }),
        }
    }

    /// The type of the elements.
    #[inline]
    pub fn datatype(&self) -> &Datatype {
        self.derived.unwrap_or(self.basic.datatype)
    }

    /// Bytes of data that the elements have.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.datatype().size())
    }
}
