//! Module `mpi_f08`: generic names over the interfaces of specific procedures, by both names of the profiling interface.
//!
//! Not here: constants and types (`types`), the procedures (`procedures`).

use std::fmt::Write;

use super::super::{has_ierror, marked, module_mpi::continued, predefined_procedures, result_form, type_text};
use super::{arguments_of, callbacks, declared, generic_names, specific};
use crate::Result;
use crate::spec::{Function, Spec};

/// The text of the module.
pub fn text(spec: &Spec) -> Result<String> {
    // MPI_SIZEOF is the same in both modules.
    let mut text = format!(
        "! Module mpi_f08: a generic name for each function of MPI.\n! {}\nMODULE mpi_f08\n  \
         USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_PTR\n  USE mpi_f08_types\n  USE mpi, ONLY: MPI_SIZEOF, PMPI_SIZEOF\n  \
         IMPLICIT NONE\n  PUBLIC\n  PRIVATE :: C_PTR\n\n  INTERFACE\n",
        marked()
    );
    for procedure in predefined_procedures(spec) {
        text.push_str(&callbacks::predefined(spec, procedure)?.unwrap_or_default());
    }
    text.push_str("  END INTERFACE\n");
    for prefix in ["MPI_", "PMPI_"] {
        text.push_str(&sync_reg(prefix));
    }
    for (name, forms) in generic_names(spec)? {
        for prefix in ["MPI_", "PMPI_"] {
            let _ = writeln!(text, "\n  INTERFACE {prefix}{name}");
            for function in &forms {
                text.push_str(&interface(spec, prefix, function)?);
            }
            let _ = writeln!(text, "  END INTERFACE {prefix}{name}");
        }
    }
    text.push_str("END MODULE mpi_f08\n");
    Ok(text)
}

/// The interface of `MPI_F_sync_reg`, which C has not.
fn sync_reg(prefix: &str) -> String {
    let name = format!("{prefix}F_sync_reg_f08ts");
    format!(
        "\n  INTERFACE {prefix}F_sync_reg\n    SUBROUTINE {name}(buf)\n      TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf\n    \
         END SUBROUTINE {name}\n  END INTERFACE {prefix}F_sync_reg\n"
    )
}

/// The interface of one specific procedure.
fn interface(spec: &Spec, prefix: &str, function: &Function) -> Result<String> {
    let name = specific(spec, prefix, function)?;
    let (head, word) = heading(spec, function, &name)?;
    let mut text = format!("    {head}\n      IMPORT\n");
    text.push_str(&declarations(spec, function, &name, "      ")?);
    let _ = writeln!(text, "    END {word} {name}");
    Ok(text)
}

/// The first line of a procedure, and whether it is a SUBROUTINE or a FUNCTION.
pub fn heading(spec: &Spec, function: &Function, name: &str) -> Result<(String, &'static str)> {
    let word = if result_form(spec, function)?.is_some() { "FUNCTION" } else { "SUBROUTINE" };
    Ok((format!("{word} {name}({})", continued(&names(spec, function)?)), word))
}

/// The names of the arguments, with IERROR.
pub fn names(spec: &Spec, function: &Function) -> Result<Vec<String>> {
    let mut names: Vec<String> =
        arguments_of(spec, function)?.iter().map(|(parameter, _)| parameter.name.clone()).collect();
    if has_ierror(spec, function) {
        names.push("ierror".to_owned());
    }
    Ok(names)
}

/// The declarations of the arguments and of the result.
pub fn declarations(spec: &Spec, function: &Function, name: &str, indent: &str) -> Result<String> {
    let mut text = String::new();
    for (parameter, form) in arguments_of(spec, function)? {
        let _ = writeln!(text, "{indent}{}", declared::declaration(spec, function, parameter, form));
    }
    if has_ierror(spec, function) {
        let _ = writeln!(text, "{indent}INTEGER, OPTIONAL, INTENT(OUT) :: ierror");
    }
    if let Some(form) = result_form(spec, function)? {
        let _ = writeln!(text, "{indent}{} :: {name}", type_text(form));
    }
    Ok(text)
}
