//! Control variables that another program declares, such as the processes that a launcher starts, and facts that need
//! no handle: values and the names of states.
//!
//! Invariant: a value is accepted or refused as in a program that declares the variable itself, with the same sentence.
//! Not here: variables beside the fields that they set (`cvars`), variables of plug-ins (`runtime_variables`).

use mpi_errors::Result;

use super::{CvarInfo, Registry};
use crate::{Cell, CvarDef, PvarClass, SettingType, Text, Value};

impl Registry {
    /// Registers control variables by their definitions and initial values, and sets those that file, environment or
    /// option name. A variable that is bound to objects has no initial value.
    /// # Errors
    /// `MPI_ERR_OTHER` for a name that is taken.
    ///
    /// ```
    /// use mpi_t::{Bind, CvarDef, Registry, Value};
    ///
    /// let limit = CvarDef::declare::<u64>("queue_limit", "Most items.", Bind::NoObject).unit("items");
    /// let registry = Registry::with_environment([("FERRUM_QUEUE_LIMIT".to_owned(), "7".to_owned())]);
    /// registry.register_definitions([(limit, Some(Value::U64(64)))])?;
    /// assert_eq!(registry.cvar_value("queue_limit"), Some(Value::U64(7)));
    /// # Ok::<(), mpi_errors::Error>(())
    /// ```
    pub fn register_definitions(&self, rows: impl IntoIterator<Item = (CvarDef, Option<Value>)>) -> Result<()> {
        let (definitions, cells): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|(definition, initial)| (definition, initial.as_ref().map(cell))).unzip();
        self.add_settings(definitions, cells.into_iter(), None)
    }

    /// The value of a control variable of the process; `None` if no variable has this name, and for variables that are
    /// bound to objects. Also before the first initialization.
    pub fn cvar_value(&self, name: &str) -> Option<Value> {
        self.cvar_named(name).and_then(|index| self.cvars.get(index)).and_then(CvarInfo::read)
    }
}

impl Registry {
    /// The name of a state's value; `None` for a number without a name. Also before the first initialization.
    pub fn state_name(&self, variable: &str, value: i32) -> Option<&'static str> {
        let info = self.pvars.get(self.pvar_named(variable, PvarClass::State)?)?;
        info.definition.states?.name_of(value)
    }
}

/// A cell that is never freed, with an initial value.
pub(super) fn cell(initial: &Value) -> &'static dyn Cell {
    match initial {
        Value::I32(value) => Box::leak(Box::new(i32::cell(*value))),
        Value::U32(value) => Box::leak(Box::new(u32::cell(*value))),
        Value::U64(value) => Box::leak(Box::new(u64::cell(*value))),
        Value::F64(value) => Box::leak(Box::new(f64::cell(*value))),
        Value::Text(text) => Box::leak(Box::new(Text::cell(String::leak(text.clone())))),
    }
}
