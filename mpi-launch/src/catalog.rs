//! The catalog of all variables, events and categories of a process of this library, with which `mpiexec` describes
//! them and checks the values of control variables before it starts a process.
//!
//! The declarations are beside the fields that they describe, in the crates of the library. A test of `mpi-env`
//! compares this catalog with the registry of a process; `cargo xtask catalog` writes it again.
//! Invariant: the names, types, limits and texts are those of a process of this release.

use mpi_t::{Bind, CvarDef, EnumDef, PvarClass, Value, ValueType, Verbosity};

/// All that a process of this library registers.
pub struct Catalog {
    /// The control variables, in the order of registration.
    pub cvars: &'static [CvarRow],
    /// The performance variables.
    pub pvars: &'static [PvarRow],
    /// The event types.
    pub events: &'static [EventRow],
    /// The categories.
    pub categories: &'static [CategoryRow],
}

/// One control variable.
pub struct CvarRow {
    /// The declaration.
    pub definition: CvarDef,
    /// Its initial value.
    pub initial: Initial,
}

/// The initial value of a control variable.
#[derive(Clone, Copy)]
pub enum Initial {
    /// Each object has its own.
    Bound,
    /// The process chooses it when it starts, unless it is set.
    Chosen,
    /// A whole number, or the number of a choice.
    I32(i32),
    /// A whole number.
    U32(u32),
    /// A whole number.
    U64(u64),
    /// A number.
    F64(f64),
    /// A text.
    Text(&'static str),
}

/// One performance variable.
pub struct PvarRow {
    /// The name, which variables of several classes may share.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
    /// The unit; empty: none.
    pub unit: &'static str,
    /// The category, a dotted path.
    pub category: &'static str,
    /// The class.
    pub class: PvarClass,
    /// The type.
    pub value: ValueType,
    /// The kind of object that it is bound to.
    pub bind: Bind,
    /// Its intended readers.
    pub verbosity: Verbosity,
    /// The names of the values of a state.
    pub states: Option<&'static EnumDef>,
}

/// One event type.
pub struct EventRow {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
    /// The category, a dotted path.
    pub category: &'static str,
    /// The name of its source.
    pub source: &'static str,
    /// The kind of object that it is bound to.
    pub bind: Bind,
    /// Its intended readers.
    pub verbosity: Verbosity,
    /// Its elements: names and types.
    pub elements: &'static [(&'static str, ValueType)],
}

/// One category.
pub struct CategoryRow {
    /// The name, a dotted path.
    pub name: &'static str,
    /// The description; may be empty.
    pub description: &'static str,
}

impl Catalog {
    /// The name that a value of a state has.
    pub fn state_name(&self, variable: &str, value: i32) -> Option<&'static str> {
        let states = |row: &&PvarRow| row.class == PvarClass::State && row.name == variable;
        self.pvars.iter().find(states)?.states?.name_of(value)
    }
}

impl CvarRow {
    /// The initial value in a registry; `None` for variables that are bound to objects.
    pub fn value(&self) -> Option<Value> {
        match self.initial {
            Initial::Bound => None,
            Initial::Chosen => Some(zero(self.definition.value)),
            Initial::I32(value) => Some(Value::I32(value)),
            Initial::U32(value) => Some(Value::U32(value)),
            Initial::U64(value) => Some(Value::U64(value)),
            Initial::F64(value) => Some(Value::F64(value)),
            Initial::Text(text) => Some(Value::Text(text.to_owned())),
        }
    }
}

fn zero(value: ValueType) -> Value {
    match value {
        ValueType::I32 => Value::I32(0),
        ValueType::U32 => Value::U32(0),
        ValueType::U64 => Value::U64(0),
        ValueType::F64 => Value::F64(0.0),
        ValueType::Text => Value::Text(String::new()),
    }
}
