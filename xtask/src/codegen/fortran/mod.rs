//! The Fortran bindings: the list of their generated files, and what all of them share: the names of a routine, the
//! form and the type of each of its arguments.
//!
//! Invariant: the form of an argument follows from its kind (`kinds.tsv`, column `fortran`) and its extras; none depends on
//! a routine's name. Not here: hand-written C (`mpi-capi/fortran`), the compilation (`dist/fortran.rs`).

pub mod c_layer;
pub mod conversion;
pub mod f08;
pub mod module_mpi;
mod mpif_h;

use std::collections::BTreeSet;

use crate::spec::{Constant, Function, GENERATED, Parameter, Spec};
use crate::{Failure, Result};

/// All generated files: path below the workspace, and text.
pub fn outputs(spec: &Spec) -> Result<Vec<(String, String)>> {
    let folder = "mpi-capi/fortran/generated";
    let mut outputs = vec![
        (format!("{folder}/mpif.h"), mpif_h::text(spec)?),
        (format!("{folder}/mpi.f90"), module_mpi::text(spec)?),
        (format!("{folder}/types.f90"), module_mpi::types(spec)?),
        (format!("{folder}/variables.h"), c_layer::variables(spec)?),
        (format!("{folder}/variables.c"), c_layer::definitions(spec)),
    ];
    for chapter in chapters(spec) {
        outputs.push((format!("{folder}/c/{chapter}.c"), c_layer::chapter(spec, chapter)?));
    }
    outputs.extend(f08::outputs(spec)?);
    Ok(outputs)
}

/// The functions with a binding in `mpif.h` and in module `mpi`. Large counts are in `mpi_f08` alone (MPI-5.0, 19.2).
pub fn routines(spec: &Spec) -> impl Iterator<Item = &Function> {
    spec.implemented().filter(|function| is_bound(function))
}

/// The functions that will have such a binding once C has them.
pub fn absent_routines(spec: &Spec) -> impl Iterator<Item = &Function> {
    spec.functions.iter().filter(|function| function.implementation.is_none() && is_bound(function))
}

fn is_bound(function: &Function) -> bool {
    !function.large && function.languages.iter().any(|each| each == "f90")
}

/// The chapters of the routines.
pub fn chapters(spec: &Spec) -> Vec<&str> {
    let all: BTreeSet<&str> = routines(spec).map(|function| function.chapter.as_str()).collect();
    all.into_iter().collect()
}

/// The line that marks a generated file of Fortran or C.
pub fn marked() -> &'static str {
    GENERATED
}

/// The name of a routine in Fortran, with its prefix.
pub fn routine_name(prefix: &str, function: &Function) -> String {
    format!("{prefix}{}", function.name.to_uppercase())
}

/// The name of a routine for the linker.
pub fn symbol(prefix: &str, function: &Function) -> String {
    format!("{}{}_", prefix.to_lowercase(), function.name.to_lowercase())
}

/// The form of an argument in Fortran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `INTEGER`
    Integer,
    /// `INTEGER(KIND=MPI_ADDRESS_KIND)`
    Address,
    /// `INTEGER(KIND=MPI_OFFSET_KIND)`
    Offset,
    /// `INTEGER(KIND=MPI_COUNT_KIND)`
    Count,
    /// `LOGICAL`
    Logical,
    /// `DOUBLE PRECISION`
    Double,
    /// A handle, as an `INTEGER`
    Handle,
    /// `INTEGER(MPI_STATUS_SIZE)`
    Status,
    /// `TYPE(MPI_Status)`
    F08Status,
    /// `CHARACTER*(*)`
    Text,
    /// An array of `CHARACTER*(*)` that ends with a blank one
    Texts,
    /// A matrix of `CHARACTER*(*)`, whose rows end with a blank one
    TextLists,
    /// A buffer of any type
    Choice,
    /// The address of memory that the library allocated, as `INTEGER(KIND=MPI_ADDRESS_KIND)` or `TYPE(C_PTR)`
    Pointer,
    /// A buffer that the call does not use
    Unused,
    /// The value of an attribute, as `INTEGER(KIND=MPI_ADDRESS_KIND)`
    Attribute,
    /// The value of an attribute, as `INTEGER`
    AttributeInteger,
    /// The extra state of callbacks, as `INTEGER(KIND=MPI_ADDRESS_KIND)`
    State,
    /// The extra state of callbacks, as `INTEGER`
    StateInteger,
    /// A procedure
    Procedure,
    /// Weights of edges
    Weight,
    /// No argument of the Fortran binding
    Absent,
}

/// The form of an argument.
pub fn form(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<Form> {
    let kind = spec.kind(parameter);
    let found = match kind.fortran.as_deref() {
        Some("INTEGER") => Form::Integer,
        Some("ADDRESS") => Form::Address,
        Some("OFFSET") => Form::Offset,
        Some("COUNT") => Form::Count,
        Some("LOGICAL") => Form::Logical,
        Some("DOUBLE") => Form::Double,
        Some("HANDLE") => Form::Handle,
        Some("STATUS") => Form::Status,
        Some("F08_STATUS") => Form::F08Status,
        Some("STRING") => Form::Text,
        Some("STRINGS") => Form::Texts,
        Some("STRING_LISTS") => Form::TextLists,
        Some("CHOICE") => Form::Choice,
        Some("POINTER") => Form::Pointer,
        Some("UNUSED") => Form::Unused,
        Some("ATTRIBUTE") => Form::Attribute,
        Some("ATTRIBUTE_INTEGER") => Form::AttributeInteger,
        Some("STATE") => Form::State,
        Some("STATE_INTEGER") => Form::StateInteger,
        Some("PROCEDURE") => Form::Procedure,
        Some("WEIGHT") => Form::Weight,
        Some("ABSENT") => Form::Absent,
        other => {
            let (name, kind) = (&function.name, &parameter.kind);
            return Err(format!("spec: {name}: the kind {kind} has the form {other:?}, which Fortran has not").into());
        }
    };
    // The large-count form has wider integers.
    match (function.large, kind.large.as_deref()) {
        (true, Some("MPI_Count")) => Ok(Form::Count),
        (true, Some("MPI_Aint")) => Ok(Form::Address),
        _ => Ok(found),
    }
}

/// Whether the routine has an IERROR. Functions with a value have none, nor has one with any further arguments in C.
pub fn has_ierror(spec: &Spec, function: &Function) -> bool {
    function.returns == "ERROR_CODE" && function.parameters.iter().all(|each| spec.kind(each).c != "...")
}

/// The form of a function's value; `None` for a subroutine.
pub fn result_form(spec: &Spec, function: &Function) -> Result<Option<Form>> {
    if function.returns == "ERROR_CODE" {
        return Ok(None);
    }
    match spec.kinds[&function.returns].fortran.as_deref() {
        Some("DOUBLE") => Ok(Some(Form::Double)),
        Some("ADDRESS") => Ok(Some(Form::Address)),
        other => Err(format!("spec: {}: a value of the form {other:?}", function.name).into()),
    }
}

/// The arguments that the routine has in Fortran, without IERROR.
pub fn arguments<'f>(spec: &Spec, function: &'f Function) -> Result<Vec<(&'f Parameter, Form)>> {
    let mut all = Vec::new();
    for parameter in &function.parameters {
        match form(spec, function, parameter)? {
            Form::Absent => {}
            form => all.push((parameter, form)),
        }
    }
    Ok(all)
}

/// The type of an argument in Fortran, without bounds. Choice buffers have none: a compiler's directive makes them.
pub fn type_text(form: Form) -> &'static str {
    match form {
        Form::Integer | Form::Handle | Form::Status | Form::AttributeInteger | Form::StateInteger | Form::Weight => {
            "INTEGER"
        }
        Form::Address | Form::Pointer | Form::Attribute | Form::State => "INTEGER(KIND=MPI_ADDRESS_KIND)",
        Form::Offset => "INTEGER(KIND=MPI_OFFSET_KIND)",
        Form::Count => "INTEGER(KIND=MPI_COUNT_KIND)",
        Form::Logical => "LOGICAL",
        Form::Double => "DOUBLE PRECISION",
        Form::F08Status => "TYPE(MPI_Status)",
        Form::Text | Form::Texts | Form::TextLists => "CHARACTER(LEN=*)",
        Form::Choice | Form::Unused => "TYPE(*)",
        Form::Procedure => "EXTERNAL",
        Form::Absent => "",
    }
}

/// The bounds of an array argument; empty for a scalar.
pub fn bounds(parameter: &Parameter, form: Form) -> &'static str {
    let columns = parameter.value("len").map(|length| length.ends_with("/3"));
    match (form, columns) {
        (Form::Choice | Form::Unused, _) => "(*)",
        (Form::Status, None) => "(MPI_STATUS_SIZE)",
        (Form::Status, Some(_)) => "(MPI_STATUS_SIZE,*)",
        (Form::Texts, _) => "(*)",
        (Form::TextLists, _) => "(count,*)",
        (Form::Text | Form::Procedure, _) | (_, None) => "",
        (_, Some(true)) => "(3,*)",
        (_, Some(false)) => "(*)",
    }
}

/// Whether a constant of `mpi.h` is a PARAMETER in Fortran.
fn is_parameter(constant: &Constant) -> bool {
    let own_of_c = constant.name.starts_with("MPI_F_")
        || constant.name.starts_with("MPI_T_") && constant.group != "error-class"
        || constant.name.starts_with("MPIX_");
    let integer = ["int", "MPI_Offset"].contains(&constant.c_type.as_str());
    !own_of_c && (integer || constant.object_kind().is_some())
}

/// A constant of the Fortran bindings.
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its Fortran type.
    pub declared: String,
    /// Its value.
    pub value: String,
}

/// The constants of the Fortran bindings: their own, then those of `mpi.h`. Strings have no NUL, so their greatest
/// lengths are one less.
pub fn constants(spec: &Spec) -> Result<Vec<Named>> {
    let mut all = Vec::new();
    for name in &spec.fortran {
        if let Some(value) = &name.value {
            let (name, declared) = (name.name.clone(), name.declared.clone());
            all.push(Named { name, declared, value: value.clone() });
        }
    }
    for constant in spec.constants.iter().filter(|constant| is_parameter(constant)) {
        let number = integer(&constant.value)
            .ok_or_else(|| Failure::from(format!("spec/constants.tsv: {} is no integer", constant.name)))?;
        let number = if constant.group == "max-string" { number - 1 } else { number };
        // Handles are integers.
        let declared = match constant.c_type.as_str() {
            "MPI_Offset" => "INTEGER(KIND=MPI_OFFSET_KIND)",
            _ => "INTEGER",
        };
        let value = if declared == "INTEGER" { number.to_string() } else { format!("{number}_MPI_OFFSET_KIND") };
        all.push(Named { name: constant.name.clone(), declared: declared.to_owned(), value });
    }
    Ok(all)
}

/// An integer in decimal or, with `0x`, in hexadecimal digits.
fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The callbacks that a program may name though it cannot call them in C: procedures of the library in Fortran.
pub fn predefined_procedures(spec: &Spec) -> impl Iterator<Item = &Constant> {
    spec.constants.iter().filter(|constant| constant.group.starts_with("predefined-callback"))
}

/// The COMMON block that holds a variable, of which a program passes the address.
pub fn common_block(variable: &str) -> String {
    variable.replacen("MPI_", "FERRUM_", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn every_routine_has_a_form_for_each_argument() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        for function in routines(&spec) {
            arguments(&spec, function).expect("a form");
            result_form(&spec, function).expect("a form");
        }
    }

    #[test]
    fn strings_are_one_shorter_than_in_c_and_handles_keep_their_values() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        let all = constants(&spec).expect("integers");
        let value = |name: &str| all.iter().find(|each| each.name == name).map(|each| each.value.clone());
        assert_eq!(value("MPI_MAX_ERROR_STRING").as_deref(), Some("511"));
        assert_eq!(value("MPI_COMM_WORLD").as_deref(), Some("257"));
        assert_eq!((value("MPI_BOTTOM"), value("MPI_F_SOURCE"), value("MPI_T_SCOPE_ALL")), (None, None, None));
    }
}
