//! Quadruple precision (IEEE 754 binary128: `MPI_REAL16`), computed with integers.
//!
//! Results are rounded to the nearest number, ties to even, as a Fortran or C compiler's are. Subnormal numbers,
//! infinities and NaN have their meaning.

use super::lanes::{Lane, Real};

const FRACTION_BITS: u32 = 112;
const IMPLICIT: u128 = 1 << FRACTION_BITS;
const FRACTION: u128 = IMPLICIT - 1;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0x7fff << FRACTION_BITS;
const QUIET: u128 = 1 << (FRACTION_BITS - 1);
const LARGEST_EXPONENT: i32 = 0x7fff;
const BIAS: i32 = 16383;

/// A number as its bits.
#[derive(Clone, Copy)]
pub(super) struct Quad(u128);

impl Lane for Quad {
    const SIZE: usize = 16;

    fn read(bytes: &[u8]) -> Self {
        Quad(u128::from_ne_bytes(*bytes.first_chunk().expect("a whole element")))
    }

    fn write(self, bytes: &mut [u8]) {
        *bytes.first_chunk_mut().expect("a whole element") = self.0.to_ne_bytes();
    }
}

impl Real for Quad {
    fn add(self, other: Self) -> Self {
        Quad(sum(self.0, other.0))
    }

    fn sub(self, other: Self) -> Self {
        Quad(sum(self.0, other.0 ^ SIGN))
    }

    fn mul(self, other: Self) -> Self {
        Quad(product(self.0, other.0))
    }

    fn less(self, other: Self) -> bool {
        let (a, b) = (self.0, other.0);
        let (size_a, size_b) = (a & !SIGN, b & !SIGN);
        if size_a > INFINITY || size_b > INFINITY || (size_a | size_b) == 0 {
            return false;
        }
        match (a & SIGN != 0, b & SIGN != 0) {
            (false, false) => size_a < size_b,
            (true, true) => size_a > size_b,
            (negative, _) => negative,
        }
    }
}

/// Exponent and significand of a number that is finite and not zero; the significand has its first bit.
fn parts(bits: u128) -> (i32, u128) {
    let (exponent, fraction) = ((bits >> FRACTION_BITS) as i32 & LARGEST_EXPONENT, bits & FRACTION);
    if exponent != 0 {
        return (exponent, fraction | IMPLICIT);
    }
    let shift = fraction.leading_zeros() - IMPLICIT.leading_zeros();
    (1 - shift as i32, fraction << shift)
}

/// A shift to the right that keeps in the last bit whether bits were lost.
fn shifted(significand: u128, by: u32) -> u128 {
    match by {
        0 => significand,
        1..=127 => significand >> by | u128::from(significand << (128 - by) != 0),
        _ => u128::from(significand != 0),
    }
}

fn sum(a: u128, b: u128) -> u128 {
    // The larger first: it decides sign and exponent.
    let (a, b) = if a & !SIGN >= b & !SIGN { (a, b) } else { (b, a) };
    let (size_a, size_b) = (a & !SIGN, b & !SIGN);
    let opposite = (a ^ b) & SIGN != 0;
    match (size_a, size_b) {
        (nan, _) if nan > INFINITY => return a | QUIET,
        (INFINITY, INFINITY) if opposite => return INFINITY | QUIET,
        (INFINITY, _) => return a,
        // Two zeros are negative only if both are.
        (0, 0) => return a & b,
        (_, 0) => return a,
        _ => {}
    }
    let (sign, (mut exponent, significand_a), (exponent_b, significand_b)) = (a & SIGN, parts(a), parts(b));
    // Three bits more for the rounding.
    let smaller = shifted(significand_b << 3, (exponent - exponent_b) as u32);
    let mut significand = significand_a << 3;
    if opposite {
        significand -= smaller;
        if significand == 0 {
            return 0;
        }
        let shift = significand.leading_zeros() - (IMPLICIT << 3).leading_zeros();
        significand <<= shift;
        exponent -= shift as i32;
    } else {
        significand += smaller;
        if significand & IMPLICIT << 4 != 0 {
            significand = shifted(significand, 1);
            exponent += 1;
        }
    }
    if exponent >= LARGEST_EXPONENT {
        return INFINITY | sign;
    }
    if exponent <= 0 {
        significand = shifted(significand, (1 - exponent) as u32);
        exponent = 0;
    }
    let (rest, result) = (significand & 7, significand >> 3 & FRACTION | (exponent as u128) << FRACTION_BITS | sign);
    // A carry may move into the exponent, which is right.
    result + rounding(rest, 4, result)
}

/// What rounding adds to a result, by the bits behind it and half of their range.
fn rounding(rest: u128, half: u128, result: u128) -> u128 {
    match rest.cmp(&half) {
        std::cmp::Ordering::Greater => 1,
        std::cmp::Ordering::Equal => result & 1,
        std::cmp::Ordering::Less => 0,
    }
}

/// The product of two words as high and low word.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + (middle & LOW);
    (a_high * b_high + (middle >> 64) + (other >> 64), other << 64 | low & LOW)
}

fn product(a: u128, b: u128) -> u128 {
    let (size_a, size_b, sign) = (a & !SIGN, b & !SIGN, (a ^ b) & SIGN);
    if size_a > INFINITY {
        return a | QUIET;
    }
    if size_b > INFINITY {
        return b | QUIET;
    }
    match (size_a, size_b) {
        (INFINITY, 0) | (0, INFINITY) => return INFINITY | QUIET,
        (INFINITY, _) | (_, INFINITY) => return INFINITY | sign,
        (0, _) | (_, 0) => return sign,
        _ => {}
    }
    let ((exponent_a, significand_a), (exponent_b, significand_b)) = (parts(a), parts(b));
    let mut exponent = exponent_a + exponent_b - BIAS;
    // With 15 bits more in one factor, the high word is a significand, or twice one.
    let (mut high, mut low) = wide_product(significand_a, significand_b << 15);
    if high & IMPLICIT != 0 {
        exponent += 1;
    } else {
        high = high << 1 | low >> 127;
        low <<= 1;
    }
    if exponent >= LARGEST_EXPONENT {
        return INFINITY | sign;
    }
    if exponent <= 0 {
        let shift = (1 - exponent) as u32;
        if shift >= 128 {
            return sign;
        }
        let lost = u128::from(low << (128 - shift) != 0);
        low = high << (128 - shift) | low >> shift | lost;
        high >>= shift;
    } else {
        high = high & FRACTION | (exponent as u128) << FRACTION_BITS;
    }
    let result = high | sign;
    result + rounding(low, SIGN, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number equal to a double.
    fn quad(value: f64) -> Quad {
        let bits = value.to_bits();
        let (sign, exponent, fraction) =
            (u128::from(bits >> 63) << 127, (bits >> 52) as i32 & 0x7ff, u128::from(bits & ((1 << 52) - 1)));
        Quad(match (exponent, fraction) {
            (0, 0) => sign,
            (0, _) => {
                let shift = (fraction as u64).leading_zeros() - 11;
                let exponent = 1 - shift as i32 - 1023 + BIAS;
                sign | (exponent as u128) << FRACTION_BITS | (fraction << shift << 60) & FRACTION
            }
            (0x7ff, _) => sign | INFINITY | fraction << 60,
            _ => sign | ((exponent - 1023 + BIAS) as u128) << FRACTION_BITS | fraction << 60,
        })
    }

    #[test]
    fn exact_results_are_those_of_doubles() {
        let values = [0.0, -0.0, 1.5, -2.25, 3.0, -7.0, 1e10, 2f64.powi(-60), f64::INFINITY, -f64::INFINITY];
        for a in values {
            for b in values {
                assert_eq!(quad(a).less(quad(b)), a < b, "{a} < {b}");
                let is = |got: Quad, wanted: f64| {
                    if wanted.is_nan() { got.0 & !SIGN > INFINITY } else { got.0 == quad(wanted).0 }
                };
                assert!(is(quad(a).mul(quad(b)), a * b), "{a} * {b}");
                let exact = (a + b) - a == b && (a + b) - b == a || !(a + b).is_finite();
                assert!(!exact || is(quad(a).add(quad(b)), a + b), "{a} + {b}");
                assert!(!exact || is(quad(a).sub(quad(-b)), a + b), "{a} - {}", -b);
            }
        }
        assert!(!quad(f64::NAN).less(quad(1.0)) && !quad(1.0).less(quad(f64::NAN)));
    }

    #[test]
    fn a_sum_keeps_113_bits_and_rounds_ties_to_even() {
        let (one, big) = (quad(1.0), quad(2f64.powi(112)));
        assert_eq!(big.add(one).sub(big).0, one.0);
        let bigger = quad(2f64.powi(113));
        assert_eq!(bigger.add(one).0, bigger.0);
        assert_eq!(bigger.add(quad(3.0)).sub(bigger).0, quad(4.0).0);
    }

    #[test]
    fn results_beyond_the_range_are_infinite_or_subnormal() {
        let huge = Quad(0x7ffe << FRACTION_BITS);
        assert_eq!(huge.add(huge).0, INFINITY);
        assert_eq!(huge.mul(quad(-2.0)).0, INFINITY | SIGN);
        let least = Quad(1);
        assert_eq!(least.mul(quad(0.5)).0, 0);
        assert_eq!(least.mul(quad(0.75)).0, 1);
        assert_eq!(least.add(least).0, 2);
        let normal = Quad(IMPLICIT);
        assert_eq!(normal.mul(quad(0.5)).0, IMPLICIT >> 1);
        assert_eq!(normal.sub(least).0, FRACTION);
    }
}
