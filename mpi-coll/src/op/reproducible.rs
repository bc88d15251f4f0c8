//! Reductions whose result is independent of order and grouping: sums of real and complex numbers, in memory that holds
//! a sum of digits for each number.
//!
//! Not here: the sums (`binned`), the control variable and the steps that convert (`prepare`, `Shape`).

use mpi_datatype::{Datatype, Scalar};

use super::binned::{Add, Binned};
#[cfg(target_arch = "x86_64")]
use super::formats::Extended;
use super::formats::{Double, Format, Half, Single};
use super::lanes::{Fold, Lane};
use super::vectors::Width;
use super::{Builtin, Op};

/// How the numbers of a type are converted to sums of digits and back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binning {
    /// Numbers in each element.
    numbers: u64,
    widen: fn(&[u8], &mut [u8]),
    narrow: fn(&[u8], &mut [u8]),
}

impl Binning {
    /// That of a reduction; `None` if it is no sum, or one of numbers that have no rounding.
    pub fn of(op: &Op, datatype: &Datatype) -> Option<Binning> {
        if op.builtin() != Some(Builtin::Sum) {
            return None;
        }
        match datatype.scalar() {
            Scalar::F16 => Some(Binning::in_format::<Half>(1)),
            Scalar::F32 => Some(Binning::in_format::<Single>(1)),
            Scalar::F64 => Some(Binning::in_format::<Double>(1)),
            Scalar::ComplexF16 => Some(Binning::in_format::<Half>(2)),
            Scalar::ComplexF32 => Some(Binning::in_format::<Single>(2)),
            Scalar::ComplexF64 => Some(Binning::in_format::<Double>(2)),
            #[cfg(target_arch = "x86_64")]
            Scalar::F80 => Some(Binning::in_format::<Extended>(1)),
            #[cfg(target_arch = "x86_64")]
            Scalar::ComplexF80 => Some(Binning::in_format::<Extended>(2)),
            _ => None,
        }
    }

    fn in_format<F: Format>(numbers: u64) -> Binning {
        Binning { numbers, widen: widen::<F>, narrow: narrow::<F> }
    }

    /// Bytes of the sums for an element.
    pub fn size(&self) -> u64 {
        self.numbers * Binned::SIZE as u64
    }

    /// Converts numbers, as they stand in memory, to sums of one number each.
    pub fn widen(&self, numbers: &[u8], sums: &mut [u8]) {
        (self.widen)(numbers, sums);
    }

    /// Rounds sums to numbers.
    pub fn narrow(&self, sums: &[u8], numbers: &mut [u8]) {
        (self.narrow)(sums, numbers);
    }

    /// Adds sums: `inout[i] = more[i] + inout[i]`.
    pub fn add(more: &[u8], inout: &mut [u8]) {
        Width::widest().clone_of::<Fold<Binned, Add>>()(more, inout);
    }
}

fn widen<F: Format>(numbers: &[u8], sums: &mut [u8]) {
    for (number, sum) in numbers.chunks_exact(F::SIZE).zip(sums.chunks_exact_mut(Binned::SIZE)) {
        Binned::of(F::read(number)).write(sum);
    }
}

fn narrow<F: Format>(sums: &[u8], numbers: &mut [u8]) {
    for (sum, number) in sums.chunks_exact(Binned::SIZE).zip(numbers.chunks_exact_mut(F::SIZE)) {
        F::write(Binned::read(sum).total(), number);
    }
}

#[cfg(test)]
#[path = "reproducible_tests.rs"]
mod tests;
