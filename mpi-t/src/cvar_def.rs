//! The definition of a control variable: its name, its type, and the values that it accepts.
//!
//! Invariant: the cell of a definition can hold every value that the definition accepts.
//! Not here: cells (`cell`), declaring variables (`setting`), performance variables (`pvar_def`).

use crate::cell::{Limits, SettingType};
use crate::{Bind, EnumDef, Scope, Value, ValueType, Verbosity};

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
    /// The processes in which it must be changed together.
    pub scope: Scope,
    /// Its intended readers.
    pub verbosity: Verbosity,
    /// The values it accepts.
    pub limits: Limits,
    /// The names of its values.
    pub states: Option<&'static EnumDef>,
    /// Whether it can be set only until MPI is initialized.
    pub until_init: bool,
}

impl CvarDef {
    #[doc(hidden)]
    pub const fn declare<T: SettingType>(name: &'static str, description: &'static str, bind: Bind) -> CvarDef {
        CvarDef {
            name,
            description,
            unit: "",
            category: subsystem(name),
            value: T::TYPE,
            bind,
            scope: Scope::Local,
            verbosity: Verbosity::UserBasic,
            limits: T::LIMITS,
            states: T::STATES,
            until_init: false,
        }
    }

    /// The unit, for people; none by default.
    pub const fn unit(self, unit: &'static str) -> CvarDef {
        CvarDef { unit, ..self }
    }

    /// The category, a dotted path; by default the name up to its first `_`.
    pub const fn category(self, category: &'static str) -> CvarDef {
        CvarDef { category, ..self }
    }

    /// The processes in which it must be changed together; by default each process may change its own.
    pub const fn scope(self, scope: Scope) -> CvarDef {
        CvarDef { scope, ..self }
    }

    /// Its intended readers; [`Verbosity::UserBasic`] by default.
    pub const fn verbosity(self, verbosity: Verbosity) -> CvarDef {
        CvarDef { verbosity, ..self }
    }

    /// The smallest and the largest whole number it accepts; all values of the type by default.
    pub const fn range(self, range: std::ops::RangeInclusive<i128>) -> CvarDef {
        CvarDef { limits: Limits::Whole(*range.start(), *range.end()), ..self }
    }

    /// The smallest and the largest number it accepts, for `f64`.
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

/// A variable's name up to its first `_`.
const fn subsystem(name: &'static str) -> &'static str {
    let mut end = 0;
    while end < name.len() {
        if name.as_bytes()[end] == b'_' {
            return name.split_at(end).0;
        }
        end += 1;
    }
    name
}
