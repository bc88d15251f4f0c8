//! Values of variables as Rust sees them.
//!
//! Invariant: a value has exactly one [`ValueType`]. Not here: values in C memory (by type and count).

use std::fmt;

use crate::ValueType;

/// One value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `MPI_INT`
    I32(i32),
    /// `MPI_UNSIGNED`
    U32(u32),
    /// `MPI_UNSIGNED_LONG_LONG`
    U64(u64),
    /// `MPI_DOUBLE`
    F64(f64),
    /// `MPI_CHAR`
    Text(String),
}

impl Value {
    /// The value's type.
    pub fn value_type(&self) -> ValueType {
        match self {
            Value::I32(_) => ValueType::I32,
            Value::U32(_) => ValueType::U32,
            Value::U64(_) => ValueType::U64,
            Value::F64(_) => ValueType::F64,
            Value::Text(_) => ValueType::Text,
        }
    }

    /// The value as a number; a text has none.
    pub fn as_f64(&self) -> Option<f64> {
        Some(match self {
            Value::I32(value) => f64::from(*value),
            Value::U32(value) => f64::from(*value),
            Value::U64(value) => *value as f64,
            Value::F64(value) => *value,
            Value::Text(_) => return None,
        })
    }

    /// The value as a whole number that is not negative, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::I32(value) => u64::try_from(*value).ok(),
            Value::U32(value) => Some(u64::from(*value)),
            Value::U64(value) => Some(*value),
            Value::F64(_) | Value::Text(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::I32(value) => value.fmt(f),
            Value::U32(value) => value.fmt(f),
            Value::U64(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Text(value) => value.fmt(f),
        }
    }
}
