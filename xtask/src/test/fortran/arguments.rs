//! What the generated programs of all bindings pass and expect in the same words.
//!
//! Not here: the numbers (`values`), what the bindings write differently (`program`, `f08`).

use super::values::{ELEMENTS, TEXT_OUT, Value, Variant, handles};
use crate::codegen::fortran::Form;
use crate::spec::Spec;

/// Whether a status may be ignored.
pub fn is_ignorable(value: &Value<'_>) -> bool {
    value.comes_out() && !value.goes_in() && value.parameter.kind == "STATUS"
}

/// The bounds with which the variable of an argument is declared.
pub fn bounds(value: &Value<'_>) -> String {
    match value.elements() {
        1 => String::new(),
        9 => format!("(3,{ELEMENTS})"),
        elements => format!("({elements})"),
    }
}

/// Whether the program passes a constant in place of this result.
pub fn is_ignored(value: &Value<'_>, variant: Variant) -> bool {
    let ignored = matches!(variant, Variant::Bottom | Variant::InPlace);
    ignored && (value.form == Form::Weight || value.form == Form::Status && is_ignorable(value))
}

/// The constant or the buffer that a call gets; `None` if it gets the variable, or a procedure.
pub fn constant(index: usize, value: &Value<'_>, variant: Variant) -> Option<String> {
    let text = match (value.form, variant) {
        (Form::Choice, Variant::Bottom) => "MPI_BOTTOM",
        (Form::Choice, Variant::InPlace) => "MPI_IN_PLACE",
        (Form::Choice, Variant::Automatic) => "MPI_BUFFER_AUTOMATIC",
        (Form::Choice, _) => return Some(format!("buffer({})", 1 + 10 * index)),
        (Form::Weight, Variant::Bottom) => "MPI_UNWEIGHTED",
        (Form::Weight, Variant::InPlace) => "MPI_WEIGHTS_EMPTY",
        (Form::Status, _) if is_ignored(value, variant) && value.is_array() => "MPI_STATUSES_IGNORE",
        (Form::Status, _) if is_ignored(value, variant) => "MPI_STATUS_IGNORE",
        _ => return None,
    };
    Some(text.to_owned())
}

/// What holds for a logical value, a handle or a text that comes out.
pub fn plain_condition(spec: &Spec, index: usize, value: &Value<'_>) -> Option<String> {
    let handle = || handles(&spec.kind(value.parameter).c).1;
    Some(match value.form {
        Form::Logical if value.is_array() => format!("ALL(a{index})"),
        Form::Logical => format!("a{index}"),
        Form::Handle if value.is_array() => format!("ALL(a{index} == {})", handle()),
        Form::Handle => format!("a{index} == {}", handle()),
        Form::Text => format!("a{index} == '{TEXT_OUT}'"),
        _ => return None,
    })
}
