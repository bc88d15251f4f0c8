//! Errors of refused names, classes, objects and values: their sentences name them, and what is allowed.
//!
//! Not here: handles and sessions (`handle::refusal`), the checks.

use mpi_core::Handle;

use super::nearest::nearest;
use super::{PREFIX, Registry, expectation};
use crate::{ArgumentValue, Bind, CvarDef, PvarClass, PvarDef, TError, Value};

/// The most characters of a name that a sentence repeats.
const SHOWN: usize = 80;

impl Registry {
    #[cold]
    pub(super) fn no_pvar(&self, name: &[u8], class: PvarClass) -> TError {
        let of_name: Vec<_> = self.pvars.iter().filter(|info| info.name().as_bytes() == name).collect();
        if of_name.is_empty() {
            return no_name(name, "performance variable", self.pvars.iter().map(|info| info.name()));
        }
        let classes: Vec<_> = of_name.iter().map(|info| info.class().name()).collect();
        let rule = format!("{} is of the class {}", shown(name), classes.join(" and of the class "));
        TError::INVALID_NAME.because(format!("argument var_class is {}, but {rule}", class.name()))
    }

    #[cold]
    pub(super) fn no_cvar(&self, name: &[u8]) -> TError {
        no_name(name, "control variable", self.cvars.iter().map(|info| info.name()))
    }

    #[cold]
    pub(super) fn no_event(&self, name: &[u8]) -> TError {
        no_name(name, "event type", self.events.iter().map(|info| info.definition.name))
    }

    #[cold]
    pub(super) fn no_category(&self, name: &[u8]) -> TError {
        no_name(name, "category", self.categories.iter().map(|info| info.name()))
    }
}

/// A name that no variable of a kind has, with a suggestion.
fn no_name<'a>(name: &[u8], kind: &str, known: impl Iterator<Item = &'a str>) -> TError {
    let name = shown(name);
    let near = nearest(PREFIX, &name, known).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
    TError::INVALID_NAME.because(format!("argument name is {name:?}, but there is no {kind} of that name{near}"))
}

fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

/// A number that is no class.
#[cold]
pub(super) fn class(word: i32) -> TError {
    TError::INVALID_NAME.argument("var_class", word, "a class is one of MPI_T_PVAR_CLASS_*")
}

/// An object for which a variable or an event type does not exist; `None`: no object was given.
#[cold]
pub(super) fn no_object(name: &str, bind: Bind, object: Option<usize>) -> TError {
    let kind = bind.object();
    TError::INVALID.because(match object {
        None => format!("argument obj_handle is NULL, but {name} is bound to a {kind}"),
        Some(word) => {
            let word = ArgumentValue::from(Handle(word));
            format!("argument obj_handle points to {word}, but {name} exists for no {kind} with that handle")
        }
    })
}

/// The owner of an object opened no handle for it.
#[cold]
pub(super) fn by_owner(def: &PvarDef, object: usize, error: TError) -> TError {
    error.or_explained(|error| match error == TError::INVALID {
        true => no_object(def.name, def.bind, Some(object)),
        false => {
            error.because(format!("{} cannot be had in this callback, or while this thread is in a call", def.name))
        }
    })
}

/// A value that a control variable does not accept.
#[cold]
pub(super) fn value(definition: &CvarDef, value: &Value) -> TError {
    let of_type = match value.value_type() == definition.value {
        true => String::new(),
        false => format!(" of type {}", value.value_type().name()),
    };
    let wanted = format!("{} of type {} {}", definition.name, definition.value.name(), expectation(definition));
    TError::INVALID.because(format!("the value is {value}{of_type}, but {wanted}"))
}

/// A control variable that cannot be set any more.
#[cold]
pub(super) fn set_never(definition: &CvarDef) -> TError {
    let (name, scope) = (definition.name, definition.scope);
    TError::CVAR_SET_NEVER.because(match scope.is_writable() {
        true => format!("{name} can be set only before MPI is initialized"),
        false => format!("{name} cannot be set: its scope is {}", scope.name()),
    })
}
