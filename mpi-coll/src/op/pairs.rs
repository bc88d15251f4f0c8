//! `MPI_MINLOC` and `MPI_MAXLOC` on the pair types (MPI-5.0, 6.9.4).
//!
//! The smaller (larger) value wins with its index; on equal values the smaller index does. Only data bytes are
//! written, so padding inside and between pairs stays as it was.

use mpi_datatype::Scalar;

#[cfg(target_arch = "x86_64")]
use super::x87::X87;
use super::{Builtin, Kernel, lanes::Real};

pub(super) fn kernel(builtin: Builtin, scalar: Scalar) -> Option<Kernel> {
    Some(match scalar {
        Scalar::PairF32I32 => chosen::<f32, i32, 4, 8>(builtin)?,
        Scalar::PairF64I32 => chosen::<f64, i32, 8, 16>(builtin)?,
        Scalar::PairI64I32 => chosen::<i64, i32, 8, 16>(builtin)?,
        Scalar::PairI32I32 => chosen::<i32, i32, 4, 8>(builtin)?,
        Scalar::PairI16I32 => chosen::<i16, i32, 4, 8>(builtin)?,
        Scalar::PairF32F32 => chosen::<f32, f32, 4, 8>(builtin)?,
        Scalar::PairF64F64 => chosen::<f64, f64, 8, 16>(builtin)?,
        #[cfg(target_arch = "x86_64")]
        Scalar::PairF80I32 => chosen::<X87, i32, 16, 32>(builtin)?,
        _ => return None,
    })
}

fn chosen<V: Field, I: Field, const INDEX_AT: usize, const EXTENT: usize>(builtin: Builtin) -> Option<Kernel> {
    match builtin {
        Builtin::Minloc => Some(|a, b| fold::<V, I, INDEX_AT, EXTENT>(a, b, |x, y| x.before(y))),
        Builtin::Maxloc => Some(|a, b| fold::<V, I, INDEX_AT, EXTENT>(a, b, |x, y| y.before(x))),
        _ => None,
    }
}

/// `wins(x, y)`: whether value `x` is strictly preferred to value `y`.
#[inline(always)]
fn fold<V: Field, I: Field, const INDEX_AT: usize, const EXTENT: usize>(
    invec: &[u8],
    inoutvec: &mut [u8],
    wins: impl Fn(V, V) -> bool,
) {
    let data = INDEX_AT + I::BYTES;
    // `chunks`, not `chunks_exact`: the memory ends with the last pair's data, before its padding.
    for (left, right) in invec.chunks(EXTENT).zip(inoutvec.chunks_mut(EXTENT)) {
        if left.len() < data || right.len() < data {
            return;
        }
        let (left_value, right_value) = (V::get(left), V::get(right));
        if wins(left_value, right_value) {
            left_value.put(right);
            I::get(&left[INDEX_AT..]).put(&mut right[INDEX_AT..]);
        } else if !wins(right_value, left_value) {
            let (left_index, right_index) = (I::get(&left[INDEX_AT..]), I::get(&right[INDEX_AT..]));
            if left_index.before(right_index) {
                left_index.put(&mut right[INDEX_AT..]);
            }
        }
    }
}

/// One part of a pair.
trait Field: Copy {
    const BYTES: usize;
    fn get(bytes: &[u8]) -> Self;
    fn put(self, bytes: &mut [u8]);
    fn before(self, other: Self) -> bool;
}

macro_rules! integer_fields {
    ($($integer:ty),+) => {
        $(impl Field for $integer {
            const BYTES: usize = size_of::<$integer>();
            fn get(bytes: &[u8]) -> Self {
                <$integer>::from_ne_bytes(*bytes.first_chunk().expect("a whole pair"))
            }
            fn put(self, bytes: &mut [u8]) {
                *bytes.first_chunk_mut().expect("a whole pair") = self.to_ne_bytes();
            }
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
            const BYTES: usize = <$real as Real>::SIZE;
            fn get(bytes: &[u8]) -> Self {
                Real::read(bytes)
            }
            fn put(self, bytes: &mut [u8]) {
                Real::write(self, bytes);
            }
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
