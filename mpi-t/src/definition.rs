//! What a control variable is as declared: its name, its type, and the values that it takes.
//!
//! Invariant: a value that a definition accepts is one that its cell can keep.
//! Not here: cells and declaring them (`setting`), performance variables (`declare`).

use crate::setting::SettingType;
use crate::{Bind, EnumDef, Scope, Value, ValueType, Verbosity};

/// Which values a control variable can take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limits {
    /// Whole numbers from the first to the second.
    Whole(i128, i128),
    /// Numbers from the first to the second.
    Real(f64, f64),
    /// At most so many bytes.
    Length(usize),
}

/// One control variable as declared.
#[derive(Debug, Clone, Copy)]
pub struct CvarDef {
    /// The name, unique in a process.
    pub name: &'static str,
    /// What it controls, as written above the field.
    pub description: &'static str,
    /// The unit, for people; empty: none.
    pub unit: &'static str,
    /// The category, a dotted path.
    pub category: &'static str,
    /// The type.
    pub value: ValueType,
    /// What it is bound to.
    pub bind: Bind,
    /// Who must agree on a change.
    pub scope: Scope,
    /// For whom it is meant.
    pub verbosity: Verbosity,
    /// The values it can take.
    pub limits: Limits,
    /// The names of its values.
    pub states: Option<&'static EnumDef>,
    /// Whether it can be set only until MPI is initialized.
    pub until_init: bool,
}

impl CvarDef {
    #[doc(hidden)]
    pub const fn declare<T: SettingType>(
        name: &'static str,
        description: &'static str,
        unit: &'static str,
        category: &'static str,
        bind: Bind,
        scope: Scope,
    ) -> CvarDef {
        CvarDef {
            name,
            description,
            unit,
            category,
            value: T::TYPE,
            bind,
            scope,
            verbosity: Verbosity::UserBasic,
            limits: T::LIMITS,
            states: T::STATES,
            until_init: false,
        }
    }

    /// For whom it is meant; users if not said.
    pub const fn verbosity(self, verbosity: Verbosity) -> CvarDef {
        CvarDef { verbosity, ..self }
    }

    /// The smallest and the largest whole number it can take; all of the type if not said.
    pub const fn range(self, range: std::ops::RangeInclusive<i128>) -> CvarDef {
        CvarDef { limits: Limits::Whole(*range.start(), *range.end()), ..self }
    }

    /// The smallest and the largest number it can take, for `f64`.
    pub const fn real_range(self, range: std::ops::RangeInclusive<f64>) -> CvarDef {
        CvarDef { limits: Limits::Real(*range.start(), *range.end()), ..self }
    }

    /// The names of its values, for `i32`; no other value can be set.
    pub const fn states(self, states: &'static EnumDef) -> CvarDef {
        CvarDef { states: Some(states), ..self }
    }

    /// Whether it can be set only until MPI is initialized.
    pub const fn until_init(self, until_init: bool) -> CvarDef {
        CvarDef { until_init, ..self }
    }

    /// Whether the value is of the right type and in range.
    pub fn accepts(&self, value: &Value) -> bool {
        let in_limits = match (value, self.limits) {
            (Value::Text(text), Limits::Length(most)) => text.len() < most && !text.contains('\0'),
            (Value::F64(value), Limits::Real(low, high)) => (low..=high).contains(value),
            (Value::I32(value), Limits::Whole(low, high)) => (low..=high).contains(&i128::from(*value)),
            (Value::U32(value), Limits::Whole(low, high)) => (low..=high).contains(&i128::from(*value)),
            (Value::U64(value), Limits::Whole(low, high)) => (low..=high).contains(&i128::from(*value)),
            _ => false,
        };
        let named = match (value, self.states) {
            (Value::I32(value), Some(states)) => states.items.iter().any(|(item, _)| item == value),
            _ => true,
        };
        value.value_type() == self.value && in_limits && named
    }

    /// Number of elements: 1, or the bytes of the longest text with its null.
    pub const fn count(&self) -> usize {
        match self.limits {
            Limits::Length(most) => most,
            _ => 1,
        }
    }
}
