//! The effect of an accumulation on one element of 4 or 8 bytes: integers, and sums and replacements of floating-point
//! numbers, as words.
//!
//! Invariant: results are those of the kernels of `mpi_coll::Op`, bit by bit, but for the payload of a NaN.
//! Not here: all other types and operations (`combine`).

use mpi_core::abi::{MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAX, MPI_MIN, MPI_NO_OP, MPI_REPLACE, MPI_SUM};
use mpi_datatype::Number;

/// The word before those of all operations.
const BEFORE_OPS: usize = MPI_SUM - 1;

const fn bit(op: usize) -> u32 {
    1 << (op - BEFORE_OPS)
}

/// The operations on floating-point numbers, and on integers, one bit each.
const ON_ANY: u32 = bit(MPI_SUM) | bit(MPI_REPLACE);
const ON_INTEGERS: u32 = ON_ANY | bit(MPI_BAND) | bit(MPI_BOR) | bit(MPI_BXOR) | bit(MPI_MIN) | bit(MPI_MAX);

/// An operation on one element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single {
    number: Number,
    op: usize,
}

impl Single {
    /// One of an accumulation; `None` for all that have no short way.
    #[inline(always)]
    pub fn changing(number: Number, op: usize) -> Option<Single> {
        Single::among(number, op, 0)
    }

    /// One of an accumulation that fetches.
    #[inline(always)]
    pub fn fetching(number: Number, op: usize) -> Option<Single> {
        Single::among(number, op, bit(MPI_NO_OP))
    }

    #[inline(always)]
    fn among(number: Number, op: usize, more: u32) -> Option<Single> {
        let ops = if number.is_integer() { ON_INTEGERS | more } else { ON_ANY | more };
        let place = op.wrapping_sub(BEFORE_OPS);
        (place < 32 && ops >> place & 1 != 0).then_some(Single { number, op })
    }

    /// The new value of an element; `None` if it does not change. The caller has looked whether it is long.
    #[inline(always)]
    pub fn combined<W: Word>(self, data: W, before: W) -> Option<W> {
        Some(match self.op {
            MPI_SUM => data.plus(before, self.number),
            MPI_REPLACE => data,
            MPI_BAND => data.and(before),
            MPI_BOR => data.or(before),
            MPI_BXOR => data.xor(before),
            MPI_MIN | MPI_MAX => {
                if data.is_less(before, self.number) == (self.op == MPI_MIN) {
                    data
                } else {
                    before
                }
            }
            _ => return None,
        })
    }
}

/// The bits of a number.
pub(crate) trait Word: Copy + PartialEq {
    /// The sum; of integers that of any sign.
    fn plus(self, other: Self, number: Number) -> Self;
    /// Whether it is the smaller integer.
    fn is_less(self, other: Self, number: Number) -> bool;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

macro_rules! words {
    ($($word:ident, $signed:ident, $float:ident, $of_float:ident, $of_signed:ident;)*) => {$(
        impl Word for $word {
            #[inline(always)]
            fn plus(self, other: $word, number: Number) -> $word {
                match number {
                    Number::$of_float => ($float::from_bits(self) + $float::from_bits(other)).to_bits(),
                    _ => self.wrapping_add(other),
                }
            }

            #[inline(always)]
            fn is_less(self, other: $word, number: Number) -> bool {
                match number {
                    Number::$of_signed => (self as $signed) < other as $signed,
                    _ => self < other,
                }
            }

            #[inline(always)]
            fn and(self, other: $word) -> $word {
                self & other
            }

            #[inline(always)]
            fn or(self, other: $word) -> $word {
                self | other
            }

            #[inline(always)]
            fn xor(self, other: $word) -> $word {
                self ^ other
            }
        }
    )*};
}

words! {
    u32, i32, f32, F32, I32;
    u64, i64, f64, F64, I64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_coll::Op;
    use mpi_datatype::{Scalar, predefined, short_number};

    const OPS: [usize; 7] = [MPI_SUM, MPI_REPLACE, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MIN, MPI_MAX];

    #[test]
    fn results_are_those_of_reductions() {
        let values = [0u64, 1, 7, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1, u64::MAX, 0x4045_0000_3f80_0000];
        let mut compared = 0;
        for (handle, datatype) in predefined::all() {
            for op in OPS {
                let single = short_number(handle).and_then(|number| Single::changing(number, op));
                let Some(single) = single else { continue };
                let reducer = match op {
                    MPI_REPLACE => None,
                    _ => Some(Op::predefined(op).expect("predefined").on(datatype, handle).expect("defined on it")),
                };
                for (data, before) in values.iter().flat_map(|data| values.map(|before| (*data, before))) {
                    let size = single.number.bytes();
                    let mut expected = before.to_ne_bytes();
                    match &reducer {
                        Some(reducer) => reducer.apply(&data.to_ne_bytes()[..size], &mut expected[..size], 1),
                        None => expected = data.to_ne_bytes(),
                    }
                    let got = match single.number.is_long() {
                        true => single.combined(data, before).expect("it changes"),
                        false => u64::from(single.combined(data as u32, before as u32).expect("it changes")),
                    };
                    let got = got.to_ne_bytes();
                    let nan = |bytes: [u8; 8]| match datatype.scalar() {
                        Scalar::F64 => f64::from_ne_bytes(bytes).is_nan(),
                        Scalar::F32 => f32::from_bits(u64::from_ne_bytes(bytes) as u32).is_nan(),
                        _ => false,
                    };
                    assert!(got[..size] == expected[..size] || nan(got) && nan(expected), "{handle:#x} {op:#x}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 5000, "{compared}");
    }

    #[test]
    fn operations_that_a_type_does_not_have_take_the_longer_way() {
        use mpi_core::abi::{MPI_BYTE, MPI_DOUBLE, MPI_INT, MPI_PROD, MPI_SHORT};
        let of = |handle| short_number(handle).expect("a number");
        assert!(short_number(MPI_SHORT).is_none() && short_number(MPI_BYTE).is_none());
        let changes = |handle, op| Single::changing(of(handle), op).is_some();
        assert!(!changes(MPI_DOUBLE, MPI_BAND) && changes(MPI_DOUBLE, MPI_SUM));
        for op in [MPI_PROD, MPI_NO_OP, 0, MPI_SUM - 1, MPI_NO_OP + 1, MPI_SUM + 32, MPI_SUM + (1 << 32), usize::MAX] {
            assert!(!changes(MPI_INT, op), "{op:#x}");
        }
        assert!(Single::fetching(of(MPI_INT), MPI_NO_OP).is_some_and(|single| single.combined(1u32, 2).is_none()));
        assert!(Single::fetching(of(MPI_DOUBLE), MPI_NO_OP).is_some());
    }
}
