//! The memory that an operation names (MPI-5.0, 12.3), and the check that its owner exposed it.
//!
//! Invariant: a [`Place`] lies inside the memory that its owner exposed.

use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_DISP, MPI_ERR_RANK, MPI_ERR_RMA_RANGE, MPI_PROC_NULL};
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

use crate::basic::{Basic, inside};
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
        self.count == 0 || self.rank == MPI_PROC_NULL
    }
}

impl Win {
    /// The memory that a target names; `None` for `MPI_PROC_NULL`. Errors: `MPI_ERR_RANK`, `MPI_ERR_DISP`,
    /// `MPI_ERR_TYPE`, `MPI_ERR_COUNT`, `MPI_ERR_RMA_RANGE`.
    #[inline]
    pub(crate) fn place(&self, target: &Target<'_>) -> Result<Option<Place>> {
        let Some(exposed) = self.exposed(target.rank) else {
            return if target.rank == MPI_PROC_NULL {
                Ok(None)
            } else {
                Err(self.bad_rank("target_rank", target.rank))
            };
        };
        let basic = Basic::of("target_datatype", target.handle, target.datatype)?;
        let offset = u64::try_from(target.displacement).ok().and_then(|units| units.checked_mul(exposed.unit));
        match offset {
            Some(offset) if inside(offset, target.count, basic.datatype, exposed.size) => {
                Ok(Some(Place { rank: target.rank as u32, offset, count: target.count, basic }))
            }
            _ => Err(self.bad_place(target, basic, exposed.unit, exposed.size)),
        }
    }

    #[cold]
    pub(crate) fn bad_rank(&self, name: &'static str, rank: i32) -> Error {
        let size = self.size();
        let ranks = if size == 1 {
            "1 process, rank 0".to_owned()
        } else {
            format!("{size} processes, ranks 0 to {}", size - 1)
        };
        Error::new(MPI_ERR_RANK, format!("{} has {ranks}", self.described())).arg(name, &rank)
    }

    #[cold]
    fn bad_place(&self, target: &Target<'_>, basic: Basic, unit: u64, size: u64) -> Error {
        let displacement = target.displacement;
        if displacement < 0 {
            let rule = "a displacement in a window is not negative";
            return Error::new(MPI_ERR_DISP, rule).arg("target_disp", &displacement);
        }
        if basic.datatype.bytes_of(target.count).is_none() {
            let elements = format!("{} elements of {}", target.count, basic.datatype.name());
            return Error::new(MPI_ERR_COUNT, "no memory has that many bytes").arg("target_count", &elements);
        }
        let start = displacement as u128 * u128::from(unit);
        let end = start + u128::from(basic.datatype.span(target.count));
        let rule = format!(
            "in units of {unit} bytes that is byte {start}, so the access to rank {} ends at byte {end}, and {} has \
             {size} bytes there",
            target.rank,
            self.described()
        );
        let elements = format!("{} of {}", target.count, basic.datatype.name());
        Error::new(MPI_ERR_RMA_RANGE, rule).arg("target_disp", &displacement).arg("target_count", &elements)
    }
}
