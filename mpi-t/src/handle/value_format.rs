//! Conversion of a word's bits to a value, and storing values in callers' memory.
//!
//! Invariant: a value made from a word converts back to that word, as far as its type can hold it.
//! Not here: which word (`state`), whose memory (`access`).
#![allow(unsafe_code)] // values are stored in callers' buffers

use std::ffi::c_void;

use crate::field::WordUnit;
use crate::{Value, ValueType};

/// How the bits of a word become a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueFormat {
    pub(crate) value: ValueType,
    pub(crate) unit: WordUnit,
}

/// One element's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    I32(i32),
    U32(u32),
    U64(u64),
    F64(f64),
}

const WHOLE: f64 = crate::Percentage::WHOLE as f64;

impl ValueFormat {
    /// A word that is the value, as `u64`.
    pub(crate) const WHOLE: ValueFormat = ValueFormat { value: ValueType::U64, unit: WordUnit::One };

    pub(crate) const fn bits(self) -> u8 {
        self.value as u8 | (self.unit as u8) << 4
    }

    #[inline(always)]
    pub(crate) const fn from_bits(bits: u8) -> ValueFormat {
        let value = match bits & 15 {
            0 => ValueType::I32,
            1 => ValueType::U32,
            2 => ValueType::U64,
            _ => ValueType::F64,
        };
        let unit = match bits >> 4 {
            0 => WordUnit::One,
            1 => WordUnit::Nanosecond,
            _ => WordUnit::Fraction,
        };
        ValueFormat { value, unit }
    }

    pub(crate) fn to_scalar(self, word: u64) -> Scalar {
        match (self.value, self.unit) {
            (ValueType::I32, _) => Scalar::I32(word as u32 as i32),
            (ValueType::U32, _) => Scalar::U32(u32::try_from(word).unwrap_or(u32::MAX)),
            (ValueType::U64, _) => Scalar::U64(word),
            (_, WordUnit::One) => Scalar::F64(word as f64),
            (_, WordUnit::Nanosecond) => Scalar::F64(word as f64 / 1e9),
            (_, WordUnit::Fraction) => Scalar::F64((word as f64 / WHOLE).min(1.0)),
        }
    }

    /// As [`ValueFormat::to_scalar`] and [`Scalar::store`], in fewer instructions.
    ///
    /// # Safety
    /// `at` has room for one element of the value's type, aligned or not.
    #[inline(always)]
    pub(crate) unsafe fn store_word(self, word: u64, at: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.value {
                ValueType::U64 => at.cast::<u64>().write_unaligned(word),
                ValueType::I32 => at.cast::<u32>().write_unaligned(word as u32),
                ValueType::F64 => {
                    // The processor converts signed numbers in one instruction.
                    let number = i64::try_from(word).map_or_else(|_| word as f64, |word| word as f64);
                    let value = match self.unit {
                        WordUnit::One => number,
                        WordUnit::Nanosecond => number / 1e9,
                        WordUnit::Fraction => (number / WHOLE).min(1.0),
                    };
                    at.cast::<f64>().write_unaligned(value);
                }
                _ => self.to_scalar(word).store(at, 0),
            }
        }
    }

    pub(crate) fn to_word(self, value: Scalar) -> u64 {
        match (value, self.unit) {
            (Scalar::I32(value), _) => u64::from(value as u32),
            (Scalar::U32(value), _) => u64::from(value),
            (Scalar::U64(value), _) => value,
            // A conversion to an integer saturates, and turns NaN into zero.
            (Scalar::F64(value), WordUnit::One) => value as u64,
            (Scalar::F64(value), WordUnit::Nanosecond) => (value * 1e9).round() as u64,
            (Scalar::F64(value), WordUnit::Fraction) => (value.clamp(0.0, 1.0) * WHOLE) as u64,
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        match scalar {
            Scalar::I32(value) => Value::I32(value),
            Scalar::U32(value) => Value::U32(value),
            Scalar::U64(value) => Value::U64(value),
            Scalar::F64(value) => Value::F64(value),
        }
    }
}

impl Scalar {
    pub(crate) fn from_value(value: &Value) -> Option<Scalar> {
        Some(match value {
            Value::I32(value) => Scalar::I32(*value),
            Value::U32(value) => Scalar::U32(*value),
            Value::U64(value) => Scalar::U64(*value),
            Value::F64(value) => Scalar::F64(*value),
            Value::Text(_) => return None,
        })
    }

    /// # Safety
    /// `at` has room for one element of the scalar's type, aligned or not.
    pub(crate) unsafe fn store(self, at: *mut c_void, i: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Scalar::I32(value) => at.cast::<i32>().add(i).write_unaligned(value),
                Scalar::U32(value) => at.cast::<u32>().add(i).write_unaligned(value),
                Scalar::U64(value) => at.cast::<u64>().add(i).write_unaligned(value),
                Scalar::F64(value) => at.cast::<f64>().add(i).write_unaligned(value),
            }
        }
    }

    /// # Safety
    /// At `at` lie at least `i + 1` elements of this type, aligned or not.
    pub(crate) unsafe fn fetch(value: ValueType, at: *const c_void, i: usize) -> Scalar {
        // SAFETY: the caller's promise.
        unsafe {
            match value {
                ValueType::I32 => Scalar::I32(at.cast::<i32>().add(i).read_unaligned()),
                ValueType::U32 => Scalar::U32(at.cast::<u32>().add(i).read_unaligned()),
                ValueType::U64 => Scalar::U64(at.cast::<u64>().add(i).read_unaligned()),
                ValueType::F64 | ValueType::Text => Scalar::F64(at.cast::<f64>().add(i).read_unaligned()),
            }
        }
    }
}
