//! `long double` on x86-64: the 80-bit format of the x87 unit, in the first 10 of 16 bytes.
//!
//! The unit itself computes, so results are those of the C compiler's `long double`. The 6 bytes of padding are never
//! read and never written.
#![allow(unsafe_code)] // the only way to the x87 unit

use std::arch::asm;

use super::lanes::{Lane, Real};

/// An 80-bit number as its bytes.
#[derive(Clone, Copy)]
pub(super) struct X87([u8; 10]);

macro_rules! binary {
    ($left:expr, $right:expr, $instruction:literal) => {{
        let mut result = [0u8; 10];
        // SAFETY: reads ten bytes of each operand and writes ten of the result; all eight x87 registers are declared
        // as changed, so the unit's stack is empty on entry, and it is empty again on exit.
        unsafe {
            asm!(
                "fld tbyte ptr [{left}]",
                "fld tbyte ptr [{right}]",
                $instruction,
                "fstp tbyte ptr [{result}]",
                left = in(reg) $left.0.as_ptr(),
                right = in(reg) $right.0.as_ptr(),
                result = in(reg) result.as_mut_ptr(),
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        X87(result)
    }};
}

impl Lane for X87 {
    const SIZE: usize = 16;

    fn read(bytes: &[u8]) -> Self {
        X87(*bytes.first_chunk().expect("a whole element"))
    }

    fn write(self, bytes: &mut [u8]) {
        *bytes.first_chunk_mut().expect("a whole element") = self.0;
    }
}

impl Real for X87 {
    fn add(self, other: Self) -> Self {
        binary!(self, other, "faddp st(1), st")
    }

    fn sub(self, other: Self) -> Self {
        binary!(self, other, "fsubp st(1), st")
    }

    fn mul(self, other: Self) -> Self {
        binary!(self, other, "fmulp st(1), st")
    }

    fn less(self, other: Self) -> bool {
        let above: u8;
        // SAFETY: reads ten bytes of each operand; all x87 registers are declared as changed, and the unit's stack
        // is empty on exit. With `other` on top, "above" means that it is greater, and is false when unordered.
        unsafe {
            asm!(
                "fld tbyte ptr [{left}]",
                "fld tbyte ptr [{right}]",
                "fucomip st, st(1)",
                "fstp st(0)",
                "seta {above}",
                left = in(reg) self.0.as_ptr(),
                right = in(reg) other.0.as_ptr(),
                above = out(reg_byte) above,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        above != 0
    }
}

#[cfg(test)]
impl X87 {
    /// The number nearest to a double: exact.
    pub fn from_f64(value: f64) -> X87 {
        let mut result = [0u8; 10];
        // SAFETY: reads eight bytes and writes ten; the unit's stack is empty on exit.
        unsafe {
            asm!(
                "fld qword ptr [{from}]",
                "fstp tbyte ptr [{to}]",
                from = in(reg) &value,
                to = in(reg) result.as_mut_ptr(),
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        X87(result)
    }

    /// The double nearest to the number.
    pub fn to_f64(self) -> f64 {
        let mut result = 0f64;
        // SAFETY: reads ten bytes and writes eight; the unit's stack is empty on exit.
        unsafe {
            asm!(
                "fld tbyte ptr [{from}]",
                "fstp qword ptr [{to}]",
                from = in(reg) self.0.as_ptr(),
                to = in(reg) &mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_combine_exactly_where_the_result_is_a_double() {
        let values = [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, f64::INFINITY, 3.0];
        for a in values {
            for b in values {
                let (x, y) = (X87::from_f64(a), X87::from_f64(b));
                assert_eq!(x.less(y), a < b, "{a} < {b}");
                assert_eq!(x.sub(y).to_f64().to_bits() << 1, (a - b).to_bits() << 1, "{a} - {b}");
                assert_eq!(x.add(y).to_f64(), a + b, "{a} + {b}");
            }
        }
        assert!(!X87::from_f64(f64::NAN).less(X87::from_f64(1.0)) && !X87::from_f64(1.0).less(X87::from_f64(f64::NAN)));
        assert_eq!(X87::from_f64(1.5).mul(X87::from_f64(-3.0)).to_f64(), -4.5);
    }

    #[test]
    fn a_sum_keeps_the_64_bits_of_the_format() {
        // 2^63 + 1 needs 64 bits of fraction: a double loses the 1, the x87 format keeps it.
        let big = X87::from_f64(9_223_372_036_854_775_808.0);
        let sum = big.add(X87::from_f64(1.0));
        assert_eq!(sum.sub(big).to_f64(), 1.0);
    }
}
