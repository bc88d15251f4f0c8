//! Cells of control variables, which an engine reads and users set, and the types that they can have.
//!
//! The engine reads a cell with one relaxed load, so a change takes effect with the next message.
//! Invariant: a cell's value always lies in the declared range; the registry checks it before it writes.
//! Not here: definitions of variables (`cvar_def`), declaring them (`setting`), the environment (`environment`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::{EnumDef, TError, TResult, Value, ValueType};

/// The values that a control variable accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limits {
    /// Whole numbers from the first to the second.
    Whole(i128, i128),
    /// Numbers from the first to the second.
    Real(f64, f64),
    /// At most so many bytes.
    Length(usize),
}

/// A type that a control variable can have: `bool`, `i32`, `u32`, `u64`, `f64` and [`Text`].
pub trait SettingType: 'static {
    /// The cell of a value of this type.
    type Cell: Cell;
    /// The type of an initial value.
    type Initial;
    /// The type that tools read.
    const TYPE: ValueType;
    /// All values of the type.
    const LIMITS: Limits;
    /// Names of the values, if the type has some.
    const STATES: Option<&'static EnumDef> = None;
    /// A cell with this value.
    fn cell(initial: Self::Initial) -> Self::Cell;
}

/// The cell that keeps a `T`.
pub type Setting<T> = <T as SettingType>::Cell;

/// A control variable's cell, as the registry sees it.
pub trait Cell: Sync {
    /// The value now.
    fn read(&self) -> Value;
    /// Sets a value that [`CvarDef::accepts`](crate::CvarDef::accepts); one of a wrong type is refused.
    fn write(&self, value: &Value) -> TResult<()>;
    /// The word that holds the value in its C format, in its low bytes; `None` if reading it takes more.
    fn word(&self) -> Option<&AtomicU64> {
        None
    }
}

/// A number or switch: one word, read without any lock.
#[derive(Debug)]
pub struct Word<T> {
    bits: AtomicU64,
    kind: std::marker::PhantomData<fn() -> T>,
}

/// A text of less than [`TEXT_BYTES`] bytes without null characters.
#[derive(Debug)]
pub enum Text {}

/// The longest text a variable can have, with its null.
pub const TEXT_BYTES: usize = 1024;

/// The cell of a [`Text`].
#[derive(Debug)]
pub struct TextCell(Mutex<String>);

impl TextCell {
    /// The text now. Takes a lock: not for signal handlers.
    pub fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Cell for TextCell {
    fn read(&self) -> Value {
        Value::Text(self.get())
    }

    fn write(&self, value: &Value) -> TResult<()> {
        let Value::Text(text) = value else { return Err(TError::INVALID) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(text);
        Ok(())
    }
}

impl SettingType for Text {
    type Cell = TextCell;
    type Initial = &'static str;
    const TYPE: ValueType = ValueType::Text;
    const LIMITS: Limits = Limits::Length(TEXT_BYTES);

    fn cell(initial: &'static str) -> TextCell {
        TextCell(Mutex::new(initial.to_owned()))
    }
}

/// The names of a switch's positions.
pub static SWITCH: EnumDef = EnumDef { name: "switch", items: &[(0, "off"), (1, "on")] };

macro_rules! word {
    ($type:ty, $variant:ident, $limits:expr, $states:expr, $to_bits:expr, $from_bits:expr, $to_tool:expr, $from_tool:expr) => {
        impl SettingType for $type {
            type Cell = Word<$type>;
            type Initial = $type;
            const TYPE: ValueType = ValueType::$variant;
            const LIMITS: Limits = $limits;
            const STATES: Option<&'static EnumDef> = $states;

            fn cell(initial: $type) -> Word<$type> {
                Word { bits: AtomicU64::new($to_bits(initial)), kind: std::marker::PhantomData }
            }
        }

        impl Word<$type> {
            /// The value now: one relaxed load.
            #[inline(always)]
            pub fn get(&self) -> $type {
                $from_bits(self.bits.load(Relaxed))
            }

            /// Sets the value, unchecked against the declared range; for the engine itself.
            pub fn set(&self, value: $type) {
                self.bits.store($to_bits(value), Relaxed);
            }
        }

        impl Cell for Word<$type> {
            fn read(&self) -> Value {
                Value::$variant($to_tool(self.get()))
            }

            fn write(&self, value: &Value) -> TResult<()> {
                let Value::$variant(value) = value else { return Err(TError::INVALID) };
                self.set($from_tool(*value));
                Ok(())
            }

            fn word(&self) -> Option<&AtomicU64> {
                Some(&self.bits)
            }
        }
    };
}

word!(u64, U64, Limits::Whole(0, u64::MAX as i128), None, |v| v, |b| b, |v| v, |v| v);
word!(u32, U32, Limits::Whole(0, u32::MAX as i128), None, u64::from, |b| b as u32, |v| v, |v| v);
word!(
    i32,
    I32,
    Limits::Whole(i32::MIN as i128, i32::MAX as i128),
    None,
    |v: i32| u64::from(v as u32),
    |b| b as u32 as i32,
    |v| v,
    |v| v
);
word!(f64, F64, Limits::Real(f64::MIN, f64::MAX), None, f64::to_bits, f64::from_bits, |v| v, |v| v);
word!(bool, I32, Limits::Whole(0, 1), Some(&SWITCH), u64::from, |b| b != 0, i32::from, |v| v != 0);
