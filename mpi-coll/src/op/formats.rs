//! Binary formats of real numbers, split into sign, mantissa and exponent, and rounded to.
//!
//! Not here: arithmetic in these formats (`lanes`, `half`, `x87`).

use super::binned::{Number, Total};

/// A format of real numbers.
pub(super) trait Format {
    /// Bytes of memory of one number.
    const SIZE: usize;
    /// The number at the start of `bytes`.
    fn read(bytes: &[u8]) -> Number;
    /// Writes the nearest number, on ties the even one, to the start of `bytes`.
    fn write(total: Total, bytes: &mut [u8]);
}

/// A format of IEEE 754 of so many bytes and bits of precision, whose exponents have this bias.
pub(super) struct Interchange<const BYTES: usize, const PRECISION: u32, const BIAS: i32>;

/// `_Float16`
pub(super) type Half = Interchange<2, 11, 15>;
/// `float`
pub(super) type Single = Interchange<4, 24, 127>;
/// `double`
pub(super) type Double = Interchange<8, 53, 1023>;

/// A finite number rounded to a precision: its mantissa, which is `2^precision` if rounding carried, and its biased
/// exponent, 0 for subnormal numbers.
fn rounded(mantissa: u128, exponent: i32, precision: u32, bias: i32) -> (u128, i32) {
    let lead = mantissa.leading_zeros();
    let mantissa = mantissa << lead;
    // The exponent of the leading bit.
    let exponent = exponent - lead as i32 + 127;
    let below = (1 - bias - exponent).max(0) as u32;
    let drop = 128 - precision + below;
    let biased = if below > 0 { 0 } else { exponent + bias };
    if drop > 128 {
        return (0, biased);
    }
    let (kept, rest, half) = match drop {
        128 => (0, mantissa, 1 << 127),
        _ => (mantissa >> drop, mantissa & ((1 << drop) - 1), 1 << (drop - 1)),
    };
    let up = rest > half || rest == half && kept & 1 == 1;
    (kept + u128::from(up), biased)
}

impl<const BYTES: usize, const PRECISION: u32, const BIAS: i32> Interchange<BYTES, PRECISION, BIAS> {
    const FRACTION: u32 = PRECISION - 1;
    /// The biased exponent of infinities and of what is not a number.
    const SPECIAL: u64 = 2 * BIAS as u64 + 1;
    const SIGN: u64 = 1 << (8 * BYTES as u32 - 1);
    const INFINITY: u64 = Self::SPECIAL << Self::FRACTION;

    fn bits(total: Total) -> u64 {
        let sign = |negative: bool| if negative { Self::SIGN } else { 0 };
        match total {
            Total::Nan => Self::INFINITY | 1 << (Self::FRACTION - 1),
            Total::Infinite { negative } => sign(negative) | Self::INFINITY,
            Total::Zero { negative } => sign(negative),
            Total::Finite { negative, mantissa, exponent } => {
                let (kept, biased) = rounded(mantissa, exponent, PRECISION, BIAS);
                let magnitude = match u64::try_from(biased) {
                    // The leading bit of a number that is not subnormal adds 1 to the exponent, as a carry does.
                    Ok(biased @ 1..) => ((biased.min(Self::SPECIAL) - 1) << Self::FRACTION) + kept as u64,
                    _ => kept as u64,
                };
                sign(negative) | magnitude.min(Self::INFINITY)
            }
        }
    }
}

impl<const BYTES: usize, const PRECISION: u32, const BIAS: i32> Format for Interchange<BYTES, PRECISION, BIAS> {
    const SIZE: usize = BYTES;

    #[inline]
    fn read(bytes: &[u8]) -> Number {
        let mut word = [0; 8];
        let low = if cfg!(target_endian = "little") { 0 } else { 8 - BYTES };
        word[low..low + BYTES].copy_from_slice(&bytes[..BYTES]);
        let bits = u64::from_ne_bytes(word);
        let (negative, fraction) = (bits & Self::SIGN != 0, bits & ((1 << Self::FRACTION) - 1));
        let exponent = bits >> Self::FRACTION & Self::SPECIAL;
        if exponent == Self::SPECIAL {
            return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
        }
        let lead = if exponent == 0 { 0 } else { 1 << Self::FRACTION };
        let exponent = exponent.max(1) as i32 - BIAS - Self::FRACTION as i32;
        Number::Finite { negative, mantissa: lead | fraction, exponent }
    }

    #[inline]
    fn write(total: Total, bytes: &mut [u8]) {
        let word = Self::bits(total).to_ne_bytes();
        let low = if cfg!(target_endian = "little") { 0 } else { 8 - BYTES };
        bytes[..BYTES].copy_from_slice(&word[low..low + BYTES]);
    }
}

/// `long double` on x86-64: 10 of 16 bytes, with the leading bit of the mantissa.
#[cfg(target_arch = "x86_64")]
pub(super) struct Extended;

#[cfg(target_arch = "x86_64")]
impl Extended {
    const BIAS: i32 = 16383;
    const SPECIAL: u16 = 0x7fff;
    const LEAD: u64 = 1 << 63;
}

#[cfg(target_arch = "x86_64")]
impl Format for Extended {
    const SIZE: usize = 16;

    fn read(bytes: &[u8]) -> Number {
        let mantissa = u64::from_le_bytes(*bytes.first_chunk().expect("a whole number"));
        let high = u16::from_le_bytes([bytes[8], bytes[9]]);
        let (negative, exponent) = (high & 0x8000 != 0, high & Self::SPECIAL);
        match exponent {
            Self::SPECIAL if mantissa == Self::LEAD => Number::Infinite { negative },
            Self::SPECIAL => Number::Nan,
            // The unit refuses numbers without the leading bit.
            1.. if mantissa & Self::LEAD == 0 => Number::Nan,
            _ => Number::Finite { negative, mantissa, exponent: i32::from(exponent.max(1)) - Self::BIAS - 63 },
        }
    }

    fn write(total: Total, bytes: &mut [u8]) {
        let (negative, exponent, mantissa) = match total {
            Total::Nan => (false, Self::SPECIAL, Self::LEAD | Self::LEAD >> 1),
            Total::Infinite { negative } => (negative, Self::SPECIAL, Self::LEAD),
            Total::Zero { negative } => (negative, 0, 0),
            Total::Finite { negative, mantissa, exponent } => {
                let (kept, biased) = rounded(mantissa, exponent, 64, Self::BIAS);
                // A carry out of the mantissa, or into the leading bit of a subnormal number.
                let (kept, biased) = if kept >> 64 != 0 { (kept >> 1, biased + 1) } else { (kept, biased) };
                let biased = if biased == 0 && kept >> 63 != 0 { 1 } else { biased };
                match u16::try_from(biased) {
                    Ok(biased) if biased < Self::SPECIAL => (negative, biased, kept as u64),
                    _ => (negative, Self::SPECIAL, Self::LEAD),
                }
            }
        };
        bytes[..8].copy_from_slice(&mantissa.to_le_bytes());
        bytes[8..10].copy_from_slice(&(exponent | u16::from(negative) << 15).to_le_bytes());
    }
}
