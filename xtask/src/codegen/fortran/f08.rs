//! Module `mpi_f08`: the list of its generated files, and the names and ways of its procedures.
//!
//! A function of C has a generic name in Fortran, `MPI_Send`, with a specific procedure for each form: `MPI_Send_f08ts` and,
//! with large counts, `MPI_Send_c_f08ts`. A specific procedure is an external subroutine of Fortran, so that a tool can
//! define another one. It calls C. Invariant: what a procedure is and calls follows from the forms of its arguments.
//! Not here: the conversion of arguments other than choice buffers (`conversion`), hand-written C
//! (`mpi-capi/fortran/f08`).

mod buffers;
mod c_layer;
mod callbacks;
pub mod declared;
mod generics;
mod procedures;
mod types;

use std::collections::BTreeSet;

use super::{Form, arguments, form};
use crate::Result;
use crate::spec::{Function, Parameter, Spec};

pub use procedures::split;

/// All generated files: path below the workspace, and text.
pub fn outputs(spec: &Spec) -> Result<Vec<(String, String)>> {
    let folder = "mpi-capi/fortran/generated/f08";
    let mut outputs = vec![
        (format!("{folder}/mpi_f08_types.f90"), types::text(spec)?),
        (format!("{folder}/mpi_f08.f90"), generics::text(spec)?),
    ];
    for chapter in chapters(spec) {
        outputs.push((format!("{folder}/procedures/{chapter}.f90"), procedures::chapter(spec, chapter)?));
        if let Some(text) = c_layer::chapter(spec, chapter)? {
            outputs.push((format!("{folder}/c/{chapter}.c"), text));
        }
    }
    Ok(outputs)
}

/// The functions with a binding in module `mpi_f08`; the large-count form follows its small one.
pub fn functions(spec: &Spec) -> impl Iterator<Item = &Function> {
    spec.implemented().filter(|function| function.languages.iter().any(|each| each == "f08"))
}

/// The chapters of the functions.
pub fn chapters(spec: &Spec) -> Vec<&str> {
    let all: BTreeSet<&str> = functions(spec).map(|function| function.chapter.as_str()).collect();
    all.into_iter().collect()
}

/// The form of an argument in module `mpi_f08`, where addresses of memory are results.
pub fn form_of(spec: &Spec, function: &Function, parameter: &Parameter) -> Result<Form> {
    Ok(match form(spec, function, parameter)? {
        Form::Unused => Form::Pointer,
        other => other,
    })
}

/// The arguments that a procedure has, without IERROR.
pub fn arguments_of<'f>(spec: &Spec, function: &'f Function) -> Result<Vec<(&'f Parameter, Form)>> {
    let all = arguments(spec, function)?;
    all.into_iter().map(|(parameter, _)| Ok((parameter, form_of(spec, function, parameter)?))).collect()
}

/// Whether the function has choice buffers.
pub fn has_choice(spec: &Spec, function: &Function) -> Result<bool> {
    Ok(arguments_of(spec, function)?.iter().any(|(_, form)| *form == Form::Choice))
}

/// Whether the older bindings have no C function that the procedure could call: it has choice buffers, whose descriptors
/// it passes on, or large counts, or an address as its result.
pub fn has_own_c(spec: &Spec, function: &Function) -> Result<bool> {
    let unused = arguments(spec, function)?.iter().any(|(_, form)| *form == Form::Unused);
    Ok(function.large || unused || has_choice(spec, function)?)
}

/// The name of the specific procedure (MPI-5.0, 19.1.5).
pub fn specific(spec: &Spec, prefix: &str, function: &Function) -> Result<String> {
    let support = if has_choice(spec, function)? { "f08ts" } else { "f08" };
    Ok(format!("{prefix}{}_{support}", function.name))
}

/// The generic names with their functions. Two forms share a name unless a compiler could not tell their arguments
/// apart: then a form that takes another procedure has a name of its own, and one with the same arguments has none.
pub fn generic_names(spec: &Spec) -> Result<Vec<(String, Vec<&Function>)>> {
    let mut all: Vec<(String, Vec<&Function>)> = Vec::new();
    for function in functions(spec) {
        let small = all.last().filter(|(name, _)| function.large && format!("{name}_c") == function.name);
        match small {
            Some((_, forms)) if told_apart(spec, forms[0], function)? => {
                all.last_mut().expect("the small form is there").1.push(function);
            }
            Some(_) if !takes_procedure(spec, function)? => {}
            _ => all.push((function.name.clone(), vec![function])),
        }
    }
    Ok(all)
}

fn takes_procedure(spec: &Spec, function: &Function) -> Result<bool> {
    Ok(arguments_of(spec, function)?.iter().any(|(_, form)| *form == Form::Procedure))
}

/// Whether the arguments of two forms differ in their number or in a type. Procedures count as equal.
fn told_apart(spec: &Spec, one: &Function, other: &Function) -> Result<bool> {
    let types = |function| -> Result<Vec<String>> {
        let all = arguments_of(spec, function)?;
        Ok(all.iter().map(|(parameter, form)| declared::type_and_rank(spec, parameter, *form)).collect())
    };
    Ok(types(one)? != types(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    fn spec() -> Spec {
        Spec::read(&paths::root()).expect("the table is well formed")
    }

    #[test]
    fn forms_share_a_generic_name_unless_a_compiler_could_not_tell_them_apart() {
        let spec = spec();
        let names = generic_names(&spec).expect("names");
        let forms = |name: &str| names.iter().find(|(each, _)| each == name).map(|(_, forms)| forms.len());
        assert_eq!((forms("Send"), forms("Send_c")), (Some(2), None));
        assert_eq!((forms("Op_create"), forms("Op_create_c")), (Some(1), Some(1)));
        assert_eq!((forms("Barrier"), forms("Type_get_extent"), forms("Type_get_extent_c")), (Some(1), Some(1), None));
    }

    #[test]
    fn functions_that_c_has_not_yet_will_have_their_procedures() {
        let spec = spec();
        let is_bound = |function: &&Function| function.languages.iter().any(|each| each == "f08");
        for function in spec.functions.iter().filter(|function| function.implementation.is_none()).filter(is_bound) {
            procedures::procedure(&spec, "MPI_", function).expect("a procedure");
            if has_own_c(&spec, function).expect("forms") {
                c_layer::function_text(&spec, function).expect("a function of C");
            }
        }
    }

    #[test]
    fn specific_names_are_those_of_the_standard() {
        let spec = spec();
        let name = |function: &str| {
            let function = functions(&spec).find(|each| each.name == function).expect("in the table");
            specific(&spec, "MPI_", function).expect("a name")
        };
        assert_eq!(name("Send"), "MPI_Send_f08ts");
        assert_eq!(name("Send_c"), "MPI_Send_c_f08ts");
        assert_eq!(name("Barrier"), "MPI_Barrier_f08");
        assert_eq!(name("Get_count_c"), "MPI_Get_count_c_f08");
    }
}
