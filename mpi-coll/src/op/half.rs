//! Half precision (IEEE 754 binary16), computed in single precision.
//!
//! A sum or product of two half-precision numbers rounded to single and then to half precision equals the one rounded
//! directly, because 24 >= 2 * 11 + 2 bits.

use super::lanes::{Lane, Real};

/// A half-precision number, held as the single-precision number of the same value.
#[derive(Clone, Copy)]
pub(super) struct Half(f32);

impl Lane for Half {
    const SIZE: usize = 2;

    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        Half(widen(u16::from_ne_bytes(*bytes.first_chunk().expect("a whole element"))))
    }

    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        *bytes.first_chunk_mut().expect("a whole element") = narrow(self.0).to_ne_bytes();
    }
}

impl Real for Half {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Half(self.0 + other.0)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Half(self.0 - other.0)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Half(self.0 * other.0)
    }

    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.0 < other.0
    }
}

/// The value of a half-precision bit pattern; exact.
#[inline(always)]
fn widen(bits: u16) -> f32 {
    let sign = (bits as u32 & 0x8000) << 16;
    let exponent = (bits >> 10) as u32 & 0x1f;
    let fraction = bits as u32 & 0x3ff;
    // Subnormal: fraction * 2^-24, exact in single precision. Each case is computed, so that a loop has vectors.
    let subnormal = (fraction as f32 * (1.0 / 16_777_216.0)).to_bits();
    let special = 0x7f80_0000 | fraction << 13;
    let normal = (exponent + 127 - 15) << 23 | fraction << 13;
    let finite = if exponent == 0 { subnormal } else { normal };
    let magnitude = if exponent == 0x1f { special } else { finite };
    f32::from_bits(sign | magnitude)
}

/// The nearest half-precision bit pattern, ties to even.
#[inline(always)]
fn narrow(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Not a number: keep the top of the payload, and keep it quiet.
    let not_a_number = 0x7e00 | magnitude >> 13 & 0x1ff;
    // Normal in half precision: round away 13 bits; a carry may move into the exponent, which is right.
    let even = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + even) >> 13;
    // Subnormal: adding 2^-1 makes the hardware round at 2^-24.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if magnitude >= 0x3880_0000 { normal } else { subnormal };
    // 65520 and above round to infinity.
    let ordered = if magnitude >= 0x477f_f000 { 0x7c00 } else { finite };
    let rounded = if magnitude > 0x7f80_0000 { not_a_number } else { ordered };
    sign | rounded as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_survives_widening_and_narrowing() {
        for bits in 0..=u16::MAX {
            let value = widen(bits);
            if value.is_nan() {
                assert!(widen(narrow(value)).is_nan(), "{bits:#x}");
            } else {
                assert_eq!(narrow(value), bits, "{value}");
            }
        }
    }

    #[test]
    fn narrowing_picks_the_nearest_and_on_ties_the_even_one() {
        for bits in 0..0x7bffu16 {
            let (low, high) = (widen(bits) as f64, widen(bits + 1) as f64);
            let middle = ((low + high) / 2.0) as f32;
            assert_eq!(narrow(middle), bits + (bits & 1), "between {low} and {high}");
            assert_eq!(narrow(f32::from_bits(middle.to_bits() + 1)), bits + 1);
            assert_eq!(narrow(f32::from_bits(middle.to_bits() - 1)), bits);
        }
        assert_eq!((narrow(65519.99), narrow(65520.0), narrow(-1e9)), (0x7bff, 0x7c00, 0xfc00));
    }
}
