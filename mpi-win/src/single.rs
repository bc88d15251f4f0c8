//! The effect of an accumulation on one element of 4 or 8 bytes: integers, and sums and replacements of floating-point
//! numbers, as words.
//!
//! Invariant: results are those of the kernels of `mpi_coll::Op`, bit by bit, but for the payload of a NaN.
//! Not here: all other types and operations (`combine`).
#![allow(unsafe_code)] // reads and writes elements of the program

use mpi_core::abi::{MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAX, MPI_MIN, MPI_NO_OP, MPI_REPLACE, MPI_SUM};
use mpi_datatype::{Category, Datatype, Scalar};

/// An operation on one element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single {
    scalar: Scalar,
    op: usize,
}

impl Single {
    /// One of an accumulation; `None` for all that have no short way.
    #[inline(always)]
    pub fn changing(datatype: &Datatype, op: usize) -> Option<Single> {
        let scalar = datatype.scalar();
        let integer = matches!(scalar, Scalar::I64 | Scalar::I32 | Scalar::U64 | Scalar::U32);
        let is_defined = match datatype.category() {
            Category::CInteger | Category::FortranInteger | Category::MultiLanguage => {
                integer && matches!(op, MPI_SUM | MPI_REPLACE | MPI_BAND | MPI_BOR | MPI_BXOR | MPI_MIN | MPI_MAX)
            }
            Category::Floating => matches!(scalar, Scalar::F64 | Scalar::F32) && matches!(op, MPI_SUM | MPI_REPLACE),
            _ => false,
        };
        is_defined.then_some(Single { scalar, op })
    }

    /// One of an accumulation that fetches.
    #[inline(always)]
    pub fn fetching(datatype: &Datatype, op: usize) -> Option<Single> {
        if op == MPI_NO_OP {
            return Single::changing(datatype, MPI_REPLACE).map(|single| Single { op, ..single });
        }
        Single::changing(datatype, op)
    }

    /// The element of a compare and swap.
    #[inline(always)]
    pub fn swapping(datatype: &Datatype) -> Option<Single> {
        Single::changing(datatype, MPI_BAND)
    }

    /// Bytes of the element.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        if matches!(self.scalar, Scalar::I64 | Scalar::U64 | Scalar::F64) { 8 } else { 4 }
    }

    /// Whether the operation has data.
    #[inline(always)]
    pub fn needs_data(self) -> bool {
        self.op != MPI_NO_OP
    }

    /// The new value of an element; `None` if it does not change.
    #[inline(always)]
    pub fn combined(self, data: u64, before: u64) -> Option<u64> {
        Some(match self.op {
            MPI_SUM => match self.scalar {
                Scalar::F64 => (f64::from_bits(data) + f64::from_bits(before)).to_bits(),
                Scalar::F32 => u64::from((f32::from_bits(data as u32) + f32::from_bits(before as u32)).to_bits()),
                // The low half is the sum of the low halves.
                _ => data.wrapping_add(before),
            },
            MPI_REPLACE => data,
            MPI_BAND => data & before,
            MPI_BOR => data | before,
            MPI_BXOR => data ^ before,
            MPI_MIN | MPI_MAX => {
                let less = match self.scalar {
                    Scalar::I64 => (data as i64) < before as i64,
                    Scalar::I32 => (data as i32) < before as i32,
                    Scalar::U32 => (data as u32) < before as u32,
                    _ => data < before,
                };
                if less == (self.op == MPI_MIN) { data } else { before }
            }
            _ => return None,
        })
    }

    /// The element at an address, which need not be aligned.
    ///
    /// # Safety
    /// It is readable.
    #[inline(always)]
    pub unsafe fn read(self, address: *const u8) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes() {
                8 => address.cast::<u64>().read_unaligned(),
                _ => u64::from(address.cast::<u32>().read_unaligned()),
            }
        }
    }

    /// Stores the element.
    ///
    /// # Safety
    /// It is writable.
    #[inline(always)]
    pub unsafe fn write(self, address: *mut u8, value: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bytes() {
                8 => address.cast::<u64>().write_unaligned(value),
                _ => address.cast::<u32>().write_unaligned(value as u32),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_coll::Op;
    use mpi_datatype::predefined;

    const OPS: [usize; 7] = [MPI_SUM, MPI_REPLACE, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MIN, MPI_MAX];

    #[test]
    fn results_are_those_of_reductions() {
        let values = [0u64, 1, 7, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1, u64::MAX, 0x4045_0000_3f80_0000];
        let mut compared = 0;
        for (handle, datatype) in predefined::all() {
            for op in OPS {
                let Some(single) = Single::changing(datatype, op) else { continue };
                assert_eq!(single.bytes() as u64, datatype.size());
                let reducer = match op {
                    MPI_REPLACE => None,
                    _ => Some(Op::predefined(op).expect("predefined").on(datatype, handle).expect("defined on it")),
                };
                for (data, before) in values.iter().flat_map(|data| values.map(|before| (*data, before))) {
                    let size = single.bytes();
                    let mut expected = before.to_ne_bytes();
                    match &reducer {
                        Some(reducer) => reducer.apply(&data.to_ne_bytes()[..size], &mut expected[..size], 1),
                        None => expected = data.to_ne_bytes(),
                    }
                    let got = single.combined(data, before).expect("it changes").to_ne_bytes();
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
        let of = |handle| predefined(handle).expect("predefined");
        use mpi_core::abi::{MPI_BYTE, MPI_DOUBLE, MPI_INT, MPI_PROD, MPI_SHORT};
        assert!(
            Single::changing(of(MPI_DOUBLE), MPI_BAND).is_none() && Single::changing(of(MPI_INT), MPI_PROD).is_none()
        );
        assert!(
            Single::changing(of(MPI_SHORT), MPI_SUM).is_none() && Single::changing(of(MPI_BYTE), MPI_BOR).is_none()
        );
        assert!(
            Single::changing(of(MPI_INT), MPI_NO_OP).is_none() && Single::fetching(of(MPI_INT), MPI_NO_OP).is_some()
        );
        assert!(Single::swapping(of(MPI_INT)).is_some() && Single::swapping(of(MPI_DOUBLE)).is_none());
    }
}
