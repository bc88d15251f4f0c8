//! The declarations of arguments in module `mpi_f08`.
//!
//! Invariant: an argument has the intent, the shape and the ASYNCHRONOUS that the standard gives it; buffers and results
//! for which a constant such as `MPI_IN_PLACE` may stand have no intent. Not here: which arguments there are.

use super::super::{Form, type_text};
use crate::spec::{Direction, Function, Parameter, Spec};

/// The type of an argument.
pub fn type_of(spec: &Spec, parameter: &Parameter, form: Form) -> String {
    let kind = spec.kind(parameter);
    match form {
        Form::Handle => format!("TYPE({})", kind.c),
        Form::Status if kind.c == "MPI_Status" => "TYPE(MPI_Status)".to_owned(),
        Form::Pointer => "TYPE(C_PTR)".to_owned(),
        Form::Choice => "TYPE(*), DIMENSION(..)".to_owned(),
        other => type_text(other).to_owned(),
    }
}

/// What a compiler tells the arguments of generic names apart by. Integers of the three kinds of MPI have the same kind in
/// Fortran.
pub fn type_and_rank(spec: &Spec, parameter: &Parameter, form: Form) -> String {
    let declared = match form {
        Form::Procedure => "PROCEDURE".to_owned(),
        Form::Address | Form::Offset | Form::Count | Form::Attribute | Form::State => "wide INTEGER".to_owned(),
        _ => type_of(spec, parameter, form),
    };
    let array = if parameter.value("len").is_some() && form != Form::Text { "(:)" } else { "" };
    format!("{declared}{array}")
}

/// The declaration of an argument.
pub fn declaration(spec: &Spec, function: &Function, parameter: &Parameter, form: Form) -> String {
    let name = &parameter.name;
    if form == Form::Procedure {
        return format!("PROCEDURE({}) :: {name}", callback_of(spec, function, parameter));
    }
    let declared = match form {
        Form::Text => format!("CHARACTER(LEN={})", text_length(function, parameter)),
        _ => type_of(spec, parameter, form),
    };
    let intent = intent(parameter, form).map(|intent| format!(", INTENT({intent})")).unwrap_or_default();
    let asynchronous = if parameter.has("async") { ", ASYNCHRONOUS" } else { "" };
    format!("{declared}{intent}{asynchronous} :: {name}{}", shape(function, parameter, form))
}

/// The abstract interface of a procedure argument; the large-count form has its own.
fn callback_of(spec: &Spec, function: &Function, parameter: &Parameter) -> String {
    let suffix = if function.large && spec.kind(parameter).large.is_some() { "_c" } else { "" };
    format!("{}{suffix}", parameter.value("fn").unwrap_or_default())
}

/// The intent, if the argument has one.
fn intent(parameter: &Parameter, form: Form) -> Option<&'static str> {
    // A constant of the library may stand for the argument, which then is no variable of the program.
    let constant_may_stand = matches!(form, Form::Status | Form::Weight)
        || form == Form::Choice
        || parameter.kind == "ERROR_CODE" && parameter.value("len").is_some();
    match parameter.direction {
        Direction::In if form == Form::Choice && !parameter.has("const") => None,
        Direction::In => Some("IN"),
        _ if constant_may_stand && parameter.kind != "F90_STATUS" => None,
        Direction::Out => Some("OUT"),
        Direction::InOut => Some("INOUT"),
    }
}

fn shape(function: &Function, parameter: &Parameter, form: Form) -> String {
    if form == Form::Choice || form == Form::Text {
        return String::new();
    }
    if parameter.kind == "F90_STATUS" {
        return "(MPI_STATUS_SIZE)".to_owned();
    }
    match parameter.value("len") {
        _ if form == Form::Texts => "(*)".to_owned(),
        _ if form == Form::TextLists => "(count,*)".to_owned(),
        None => String::new(),
        Some(length) if length.ends_with("/3") => format!("(3,{})", number_of(function, length.trim_end_matches("/3"))),
        Some(length) => format!("({})", number_of(function, length)),
    }
}

/// The number of elements, if another argument states it.
fn number_of<'l>(function: &Function, length: &'l str) -> &'l str {
    let stated = function.parameters.iter().any(|each| each.name == length && each.direction == Direction::In);
    if stated { length } else { "*" }
}

/// The length of a text: texts of the program have any, results the one that the call may need.
fn text_length(function: &Function, parameter: &Parameter) -> String {
    if parameter.direction == Direction::In {
        return "*".to_owned();
    }
    match parameter.value("len").or(parameter.value("room")) {
        // In C the constant counts the NUL, in Fortran it has the same name and does not.
        Some(constant) if constant.starts_with("MPI_") => constant.to_owned(),
        Some(length) if number_of(function, length) == length => length.to_owned(),
        _ => "*".to_owned(),
    }
}
