//! The abstract interfaces of procedures that a program passes to the library, from their types in C.
//!
//! Invariant: an interface has the name of the type in C. Not here: how the library calls such a procedure.

use std::fmt::Write;

use super::super::module_mpi::{continued, handle_types};
use super::functions;
use crate::spec::{Callback, Constant, Spec};
use crate::{Failure, Result};

/// All abstract interfaces.
pub fn interfaces(spec: &Spec) -> Result<String> {
    let mut text = "\n  ABSTRACT INTERFACE\n".to_owned();
    for callback in spec.callbacks.iter().filter(|each| is_bound(spec, &each.name)) {
        text.push_str(&interface(spec, callback, &callback.name)?);
    }
    text.push_str("  END INTERFACE\n");
    Ok(text)
}

/// The interface of a predefined procedure.
pub fn predefined(spec: &Spec, constant: &Constant) -> Result<Option<String>> {
    let name = constant.c_type.trim_end_matches('*');
    let callback = spec.callbacks.iter().find(|each| each.name == name && is_bound(spec, name));
    callback.map(|callback| interface(spec, callback, &constant.name)).transpose()
}

/// Whether a function of the module takes such a procedure.
fn is_bound(spec: &Spec, name: &str) -> bool {
    functions(spec).any(|function| {
        function.parameters.iter().filter_map(|each| Some((each, each.value("fn")?))).any(|(parameter, base)| {
            let large = function.large && spec.kind(parameter).large.is_some();
            name.strip_suffix("_c").map_or(!large && base == name, |small| large && base == small)
        })
    })
}

fn interface(spec: &Spec, callback: &Callback, name: &str) -> Result<String> {
    let mut arguments: Vec<(String, String)> = Vec::new();
    for parameter in callback.parameters.split(", ").filter(|parameter| *parameter != "...") {
        arguments.push(argument(spec, &callback.name, parameter)?);
    }
    if callback.returns == "int" {
        arguments.push(("ierror".to_owned(), "INTEGER".to_owned()));
    }
    let names: Vec<String> = arguments.iter().map(|(name, _)| name.clone()).collect();
    let mut text = format!("    SUBROUTINE {name}({})\n      IMPORT\n", continued(&names));
    for (argument, declared) in &arguments {
        let _ = writeln!(text, "      {declared} :: {argument}");
    }
    let _ = writeln!(text, "    END SUBROUTINE {name}");
    Ok(text)
}

/// The name and the type of one parameter.
fn argument(spec: &Spec, callback: &str, parameter: &str) -> Result<(String, String)> {
    let (c, name) = parameter.rsplit_once([' ', '*']).unwrap_or((parameter, parameter));
    let base = c.trim_end_matches([' ', '*']);
    let declared = match base {
        // A pointer to data is passed by value, the program's own data as an integer.
        "void" if name == "extra_state" || name.starts_with("attribute_val") => "INTEGER(KIND=MPI_ADDRESS_KIND)",
        "void" => "TYPE(C_PTR), VALUE",
        "int" if ["flag", "complete"].contains(&name) => "LOGICAL",
        "int" => "INTEGER",
        "MPI_Aint" => "INTEGER(KIND=MPI_ADDRESS_KIND)",
        "MPI_Offset" => "INTEGER(KIND=MPI_OFFSET_KIND)",
        "MPI_Count" => "INTEGER(KIND=MPI_COUNT_KIND)",
        other if other == "MPI_Status" || handle_types(spec).any(|each| each == other) => {
            return Ok((name.to_owned(), format!("TYPE({other})")));
        }
        other => return Err(Failure::from(format!("spec/callbacks.tsv: {callback}: Fortran has no type for {other}"))),
    };
    Ok((name.to_owned(), declared.to_owned()))
}
