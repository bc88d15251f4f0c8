//! `MPI_MINLOC` and `MPI_MAXLOC` on the pair types (MPI-5.0, 6.9.4).
//!
//! The smaller (larger) value wins with its index; on equal values the smaller index does. The padding inside and
//! between pairs keeps its bytes: a whole pair is written, with the padding that it had, so that the loop has vectors.

use std::marker::PhantomData;

use mpi_datatype::Scalar;

use super::lanes::{Lane, Real};
use super::vectors::{Width, Work};
#[cfg(target_arch = "x86_64")]
use super::x87::X87;
use super::{Builtin, Kernel};

pub(super) fn kernel(width: Width, builtin: Builtin, scalar: Scalar) -> Option<Kernel> {
    match scalar {
        Scalar::PairF32I32 => chosen::<f32, (), i32, ()>(width, builtin),
        Scalar::PairF64I32 => chosen::<f64, (), i32, [u8; 4]>(width, builtin),
        Scalar::PairI64I32 => chosen::<i64, (), i32, [u8; 4]>(width, builtin),
        Scalar::PairI32I32 => chosen::<i32, (), i32, ()>(width, builtin),
        Scalar::PairI16I32 => chosen::<i16, [u8; 2], i32, ()>(width, builtin),
        Scalar::PairF32F32 => chosen::<f32, (), f32, ()>(width, builtin),
        Scalar::PairF64F64 => chosen::<f64, (), f64, ()>(width, builtin),
        #[cfg(target_arch = "x86_64")]
        Scalar::PairF80I32 => chosen::<X87, (), i32, [u8; 12]>(Width::Baseline, builtin),
        _ => None,
    }
}

fn chosen<V: Field, G: Lane, I: Field, P: Lane>(width: Width, builtin: Builtin) -> Option<Kernel> {
    match builtin {
        Builtin::Minloc => Some(width.clone_of::<Located<V, G, I, P, false>>()),
        Builtin::Maxloc => Some(width.clone_of::<Located<V, G, I, P, true>>()),
        _ => None,
    }
}

/// Pairs of a value and an index with a gap `G` between them and padding `P` after them.
struct Located<V, G, I, P, const LARGER: bool>(PhantomData<(V, G, I, P)>);

impl<V: Field, G: Lane, I: Field, P: Lane, const LARGER: bool> Located<V, G, I, P, LARGER> {
    const INDEX_AT: usize = V::SIZE + G::SIZE;
    const DATA: usize = Self::INDEX_AT + I::SIZE;
    const EXTENT: usize = Self::DATA + P::SIZE;

    /// The value and the index that win.
    #[inline(always)]
    fn winner(left: (V, I), right: (V, I)) -> (V, I) {
        let wins = |x: V, y: V| if LARGER { y.before(x) } else { x.before(y) };
        let (first, second) = (wins(left.0, right.0), wins(right.0, left.0));
        let lower = if left.1.before(right.1) { left.1 } else { right.1 };
        let index = if second { right.1 } else { lower };
        (if first { left.0 } else { right.0 }, if first { left.1 } else { index })
    }

    #[inline(always)]
    fn pair(bytes: &[u8]) -> (V, I) {
        (V::read(bytes), I::read(&bytes[Self::INDEX_AT..]))
    }
}

impl<V: Field, G: Lane, I: Field, P: Lane, const LARGER: bool> Work for Located<V, G, I, P, LARGER> {
    #[inline(always)]
    fn run(invec: &[u8], inoutvec: &mut [u8]) {
        let mut lefts = invec.chunks_exact(Self::EXTENT);
        let mut rights = inoutvec.chunks_exact_mut(Self::EXTENT);
        for (left, right) in lefts.by_ref().zip(rights.by_ref()) {
            let (gap, padding) = (G::read(&right[V::SIZE..]), P::read(&right[Self::DATA..]));
            let (value, index) = Self::winner(Self::pair(left), Self::pair(right));
            value.write(right);
            gap.write(&mut right[V::SIZE..]);
            index.write(&mut right[Self::INDEX_AT..]);
            padding.write(&mut right[Self::DATA..]);
        }
        // The memory ends with the last pair's data, before its padding.
        let (left, right) = (lefts.remainder(), rights.into_remainder());
        if left.len() >= Self::DATA && right.len() >= Self::DATA {
            let (value, index) = Self::winner(Self::pair(left), Self::pair(right));
            value.write(right);
            index.write(&mut right[Self::INDEX_AT..]);
        }
    }
}

/// Bytes that hold no data.
impl<const BYTES: usize> Lane for [u8; BYTES] {
    const SIZE: usize = BYTES;
    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        *bytes.first_chunk().expect("a whole pair")
    }
    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        *bytes.first_chunk_mut().expect("a whole pair") = self;
    }
}

impl Lane for () {
    const SIZE: usize = 0;
    #[inline(always)]
    fn read(_: &[u8]) -> Self {}
    #[inline(always)]
    fn write(self, _: &mut [u8]) {}
}

/// One part of a pair.
trait Field: Lane {
    fn before(self, other: Self) -> bool;
}

macro_rules! integer_fields {
    ($($integer:ty),+) => {
        $(impl Field for $integer {
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other
            }
        })+
    };
}

integer_fields!(i16, i32, i64);

macro_rules! real_fields {
    ($($(#[$when:meta])? $real:ty),+) => {
        $($(#[$when])? impl Field for $real {
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                Real::less(self, other)
            }
        })+
    };
}

real_fields!(
    f32,
    f64,
    #[cfg(target_arch = "x86_64")]
    X87
);
