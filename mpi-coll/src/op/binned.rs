//! Sums that depend neither on the order nor on the grouping of their operands.
//!
//! The number line has fixed places, 32 bits each. A number is split into its digits at these places; a sum keeps the
//! sums of the digits at the highest place that any operand reaches and at the three places below, as integers. Digits
//! further down are left out. Adding is integer addition, and the highest place is a maximum, so every order and every
//! grouping of the same operands gives the same sum, which is rounded once at the end.
//! Invariant: fewer than 2^31 operands, so that no integer overflows.
//! Not here: the formats of numbers (`formats`), which reductions are summed up in this way (`reproducible`).

use super::lanes::{Combine, Lane};

/// Bits of a digit.
const DIGIT: i32 = 32;
/// Places of a sum.
const PLACES: usize = 4;

/// No number but zeros yet: a place below all others.
const NO_PLACE: i32 = -1_000_000;

/// A sum of real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Binned {
    /// The highest place.
    top: i32,
    /// Which special operands there are.
    special: u32,
    /// The sums of the digits, the highest place first.
    digits: [i64; PLACES],
}

const NOT_A_NUMBER: u32 = 1;
const INFINITY: u32 = 2;
const NEGATIVE_INFINITY: u32 = 4;
/// An operand that is not a negative zero.
const OTHER_THAN_NEGATIVE_ZERO: u32 = 8;

/// A real number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Nan,
    Infinite {
        negative: bool,
    },
    /// `mantissa` * 2^`exponent`
    Finite {
        negative: bool,
        mantissa: u64,
        exponent: i32,
    },
}

/// The value of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Total {
    Nan,
    Infinite {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// `mantissa` * 2^`exponent`; the last bit is also set for digits below it, so that it rounds as the whole sum does.
    Finite {
        negative: bool,
        mantissa: u128,
        exponent: i32,
    },
}

impl Binned {
    /// The sum of one number.
    #[inline]
    pub fn of(number: Number) -> Binned {
        let special = |special: u32| Binned { top: NO_PLACE, special, digits: [0; PLACES] };
        match number {
            Number::Nan => special(NOT_A_NUMBER | OTHER_THAN_NEGATIVE_ZERO),
            Number::Infinite { negative: false } => special(INFINITY | OTHER_THAN_NEGATIVE_ZERO),
            Number::Infinite { negative: true } => special(NEGATIVE_INFINITY | OTHER_THAN_NEGATIVE_ZERO),
            Number::Finite { negative: true, mantissa: 0, .. } => special(0),
            Number::Finite { mantissa: 0, .. } => special(OTHER_THAN_NEGATIVE_ZERO),
            Number::Finite { negative, mantissa, exponent } => {
                // 64 bits and a shift by less than a digit lie in three digits.
                let bits = u128::from(mantissa) << exponent.rem_euclid(DIGIT);
                let above = (127 - bits.leading_zeros() as i32) / DIGIT;
                let digit = |down: i32| match above - down {
                    place @ 0.. => (bits >> (place * DIGIT)) as u32,
                    _ => 0,
                };
                let signed = |digit: u32| if negative { -i64::from(digit) } else { i64::from(digit) };
                Binned {
                    top: exponent.div_euclid(DIGIT) + above,
                    special: OTHER_THAN_NEGATIVE_ZERO,
                    digits: [digit(0), digit(1), digit(2), digit(3)].map(signed),
                }
            }
        }
    }

    /// The digits, from this place down, which is the highest or above.
    #[inline]
    fn digits_from(&self, top: i32) -> [i64; PLACES] {
        let mut digits = [0; PLACES];
        let above = (top - self.top) as usize;
        if above < PLACES {
            digits[above..].copy_from_slice(&self.digits[..PLACES - above]);
        }
        digits
    }

    /// The sum of both.
    #[inline]
    pub fn plus(&self, other: &Binned) -> Binned {
        let top = self.top.max(other.top);
        let (mut digits, more) = (self.digits_from(top), other.digits_from(top));
        digits.iter_mut().zip(more).for_each(|(digit, more)| *digit = digit.wrapping_add(more));
        Binned { top, special: self.special | other.special, digits }
    }

    /// The value.
    pub fn total(&self) -> Total {
        match self.special & (NOT_A_NUMBER | INFINITY | NEGATIVE_INFINITY) {
            0 => {}
            INFINITY => return Total::Infinite { negative: false },
            NEGATIVE_INFINITY => return Total::Infinite { negative: true },
            _ => return Total::Nan,
        }
        let (above, _) = carried(self.digits.map(i128::from));
        let negative = above < 0;
        let digits = self.digits.map(|digit| if negative { -i128::from(digit) } else { i128::from(digit) });
        let (above, digits) = carried(digits);
        let [high, low] = [[digits[0], digits[1]], [digits[2], digits[3]]].map(|[one, two]| one << DIGIT | two);
        let high = (above as u128) << 64 | u128::from(high);
        let exponent = (self.top - (PLACES as i32 - 1)) * DIGIT;
        // The bits that do not fit into 128.
        let beyond = (64 - high.leading_zeros() as i32).max(0);
        let mantissa = match beyond {
            0 => high << 64 | u128::from(low),
            _ => high << (64 - beyond) | u128::from(low >> beyond) | u128::from(low << (64 - beyond) != 0),
        };
        match mantissa {
            0 => Total::Zero { negative: self.special & OTHER_THAN_NEGATIVE_ZERO == 0 },
            _ => Total::Finite { negative, mantissa, exponent: exponent + beyond },
        }
    }
}

/// The digits after carrying, and what is above the highest: negative for a negative sum.
fn carried(digits: [i128; PLACES]) -> (i128, [u64; PLACES]) {
    let (mut carry, mut places) = (0, [0; PLACES]);
    for (place, digit) in places.iter_mut().zip(digits).rev() {
        let sum = digit + carry;
        *place = (sum & 0xffff_ffff) as u64;
        carry = sum >> DIGIT;
    }
    (carry, places)
}

impl Lane for Binned {
    const SIZE: usize = 8 + 8 * PLACES;

    #[inline(always)]
    fn read(bytes: &[u8]) -> Binned {
        let word = |at: usize| *bytes[8 * at..].first_chunk::<8>().expect("a whole sum");
        let [a, b, c, d, e, f, g, h] = word(0);
        Binned {
            top: i32::from_ne_bytes([a, b, c, d]),
            special: u32::from_ne_bytes([e, f, g, h]),
            digits: [1, 2, 3, 4].map(|at| i64::from_ne_bytes(word(at))),
        }
    }

    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&self.top.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.special.to_ne_bytes());
        for (word, digit) in bytes[8..].chunks_exact_mut(8).zip(self.digits) {
            word.copy_from_slice(&digit.to_ne_bytes());
        }
    }
}

/// Adds sums.
pub(super) struct Add;

impl Combine<Binned> for Add {
    #[inline(always)]
    fn of(x: Binned, y: Binned) -> Binned {
        x.plus(&y)
    }
}
