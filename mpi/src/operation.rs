//! The operations of the library that reductions combine values by (MPI-5.0, 6.9.2).
//!
//! Not here: functions of the program in their place (`combine`), the reductions (`collective`, `varying`, `started`).

use mpi_core::abi::{
    MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAX, MPI_MAXLOC, MPI_MIN, MPI_MINLOC, MPI_PROD,
    MPI_SUM,
};

/// The operation of a reduction.
///
/// ```no_run
/// use mpi::{Located, Operation};
///
/// # fn work(world: &mpi::World, seconds: f64) -> mpi::Result<()> {
/// let slowest = world.reduce(&[Located::new(seconds, world.rank() as i32)], Operation::MaxLocation, 0)?;
/// if let Some(slowest) = slowest {
///     println!("rank {} took {} s", slowest[0].place, slowest[0].value);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Bits set in all; whole numbers only.
    BitAnd,
    /// Bits set in any; whole numbers only.
    BitOr,
    /// Bits set in an odd number; whole numbers only.
    BitXor,
    /// One if none is zero; whole numbers only.
    And,
    /// One if any is not zero; whole numbers only.
    Or,
    /// One if an odd number is not zero; whole numbers only.
    Xor,
    /// The smallest value with its place, the lowest of those of equal values; [`Located`](crate::Located) only.
    MinLocation,
    /// The largest value with its place, the lowest of those of equal values; [`Located`](crate::Located) only.
    MaxLocation,
}

impl Operation {
    /// The handle word.
    pub(crate) fn handle(self) -> usize {
        match self {
            Operation::Sum => MPI_SUM,
            Operation::Product => MPI_PROD,
            Operation::Max => MPI_MAX,
            Operation::Min => MPI_MIN,
            Operation::BitAnd => MPI_BAND,
            Operation::BitOr => MPI_BOR,
            Operation::BitXor => MPI_BXOR,
            Operation::And => MPI_LAND,
            Operation::Or => MPI_LOR,
            Operation::Xor => MPI_LXOR,
            Operation::MinLocation => MPI_MINLOC,
            Operation::MaxLocation => MPI_MAXLOC,
        }
    }
}
