//! The memory that an operation names (MPI-5.0, 12.3), and the check that its owner exposed it.
//!
//! Invariant: a [`Place`] lies inside the memory that its owner exposed.

use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_DISP, MPI_ERR_RANK, MPI_ERR_RMA_RANGE, MPI_ERR_TYPE, MPI_PROC_NULL};
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::basic::inside;
use crate::elements::Elements;
use crate::place::Place;
use crate::window::Win;

/// The target of an operation, as the program names it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Rank in the window's group, or `MPI_PROC_NULL`.
    pub rank: i32,
    /// From the start of the target's window, in its displacement units.
    pub displacement: i64,
    /// Number of elements.
    pub count: u64,
    /// Their type.
    pub datatype: &'a Datatype,
    /// The handle word of the type.
    pub handle: usize,
}

impl Target<'_> {
    /// Whether no element is accessed: there is none, or the target is `MPI_PROC_NULL`.
    pub(crate) fn has_no_elements(&self) -> bool {
        self.count == 0 || self.datatype.size() == 0 || self.rank == MPI_PROC_NULL
    }
}

impl Win {
    /// The memory that a target names, whose elements are these; `None` for `MPI_PROC_NULL`. Errors: `MPI_ERR_RANK`,
    /// `MPI_ERR_DISP`, `MPI_ERR_COUNT`, `MPI_ERR_RMA_RANGE`.
    #[inline]
    pub(crate) fn place<'t>(&self, target: &Target<'_>, elements: Elements<'t>) -> Result<Option<Place<'t>>> {
        let Some(exposed) = self.exposed(target.rank) else {
            return if target.rank == MPI_PROC_NULL {
                Ok(None)
            } else {
                Err(self.bad_rank("target_rank", target.rank))
            };
        };
        let offset = u64::try_from(target.displacement).ok().and_then(|units| units.checked_mul(exposed.unit));
        match offset {
            Some(offset) if inside(offset, elements.count, elements.datatype(), exposed.size) => {
                Ok(Some(Place { rank: target.rank as u32, offset, elements }))
            }
            _ => Err(self.bad_place(target, exposed.unit, exposed.size)),
        }
    }

    #[cold]
    pub(crate) fn bad_rank(&self, name: &'static str, rank: i32) -> Error {
        let size = self.size();
        let ranks = mpi_errors::processes_and_ranks(size);
        Error::new(MPI_ERR_RANK, format!("{} has {ranks}", self.described())).arg(name, &rank)
    }

    #[cold]
    fn bad_place(&self, target: &Target<'_>, unit: u64, size: u64) -> Error {
        let (displacement, datatype) = (target.displacement, target.datatype);
        if displacement < 0 {
            let rule = "a displacement in a window is not negative";
            return Error::new(MPI_ERR_DISP, rule).arg("target_disp", &displacement);
        }
        let name = if datatype.name().is_empty() { "a derived datatype" } else { datatype.name() };
        if datatype.bytes_of(target.count).is_none() {
            let elements = format!("{} of {name}", mpi_errors::counted(target.count, "element"));
            return Error::new(MPI_ERR_COUNT, "no memory has that many bytes").arg("target_count", &elements);
        }
        let place = displacement as i128 * i128::from(unit);
        let start = place + i128::from(datatype.lowest_byte(target.count));
        let end = start + i128::from(datatype.span(target.count));
        let begins = if start == place { String::new() } else { format!("begins at byte {start} and ") };
        let (unit, size) = (mpi_errors::counted(unit, "byte"), mpi_errors::counted(size, "byte"));
        let rule = format!(
            "in units of {unit} that is byte {place}, so the access to rank {} {begins}ends at byte {end}, and \
             {} has {size} there",
            target.rank,
            self.described()
        );
        let elements = format!("{} of {name}", target.count);
        Error::new(MPI_ERR_RMA_RANGE, rule).arg("target_disp", &displacement).arg("target_count", &elements)
    }
}

/// Error if elements that are written or changed certainly overlap, which is erroneous (MPI-5.0, 12.3.1 and 12.3.4).
#[inline]
pub(crate) fn overlap_free(elements: &Elements<'_>) -> Result<()> {
    match elements.derived {
        Some(datatype) if datatype.surely_overlaps(elements.count) => Err(overlapping(elements.count)),
        _ => Ok(()),
    }
}

#[cold]
fn overlapping(count: u64) -> Error {
    let rule = "some of its data lie at the same place of the target, which is not allowed where data are stored";
    let elements = if count == 1 { "an element".to_owned() } else { format!("{count} elements") };
    Error::new(MPI_ERR_TYPE, rule).arg("target_datatype", &format_args!("{elements} of a derived datatype"))
}
