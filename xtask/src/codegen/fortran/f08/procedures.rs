//! The specific procedures of module `mpi_f08`: external subroutines that call C.
//!
//! A procedure without choice buffers calls the C function of the older bindings, whose arguments have the same memory: a
//! handle is one INTEGER, a status eight. Choice buffers go to C as descriptors. Invariant: `MPI_X` reaches C as `MPI_X`,
//! `PMPI_X` as `PMPI_X`. Not here: the C functions (`c_layer`).

use std::fmt::Write;

use super::super::{Form, marked, module_mpi::continued, result_form, symbol, type_text};
use super::{arguments_of, c_layer, functions, generics, has_choice, has_own_c, specific};
use crate::Result;
use crate::spec::{Function, Spec};

/// What stands before each procedure in the file of a chapter, so that the file can be cut into one for each.
const BEGINNING: &str = "! Procedure ";

/// The text of the file of one chapter.
pub fn chapter(spec: &Spec, chapter: &str) -> Result<String> {
    let mut text = format!(
        "! Specific procedures of module mpi_f08 in the chapter `{chapter}`.\n! {}\n! The library has an object for each \
         procedure.\n",
        marked()
    );
    for function in functions(spec).filter(|function| function.chapter == chapter) {
        for prefix in ["MPI_", "PMPI_"] {
            text.push_str(&procedure(spec, prefix, function)?);
        }
    }
    Ok(text)
}

/// The file of a chapter as one file for each of its procedures, with its name.
pub fn split(text: &str) -> Vec<(String, String)> {
    let mut parts = text.split(BEGINNING);
    let beginning = parts.next().unwrap_or_default();
    let of = |part: &str| {
        let name = part.split('\n').next().unwrap_or_default().to_lowercase();
        (name, format!("{beginning}{BEGINNING}{part}"))
    };
    parts.map(of).collect()
}

/// The text of one procedure.
pub fn procedure(spec: &Spec, prefix: &str, function: &Function) -> Result<String> {
    let name = specific(spec, prefix, function)?;
    let (head, word) = generics::heading(spec, function, &name)?;
    let mut text = format!("\n{BEGINNING}{name}\n{head}\n{}  IMPLICIT NONE\n", uses(spec, function)?);
    text.push_str(&generics::declarations(spec, function, &name, "  ")?);
    let result = result_form(spec, function)?;
    let called = if has_own_c(spec, function)? {
        c_layer::symbol_of(spec, prefix, function)?
    } else if prefix == "MPI_" {
        symbol("ferrum_MPI_", function)
    } else {
        symbol(prefix, function)
    };
    let passed = generics::names(spec, function)?;
    // The compiler adds the underscore to the name of an external procedure.
    let external = called.trim_end_matches('_').to_uppercase();
    if has_choice(spec, function)? {
        text.push_str("  INTERFACE\n");
        let _ = writeln!(text, "    SUBROUTINE to_c({}) &\n        BIND(C, NAME='{called}')", continued(&passed));
        text.push_str("      IMPORT\n");
        text.push_str(&generics::declarations(spec, function, &name, "      ")?);
        text.push_str("    END SUBROUTINE to_c\n  END INTERFACE\n");
        let _ = writeln!(text, "  CALL to_c({})", continued(&passed));
    } else if let Some(form) = result {
        let _ = writeln!(text, "  {}, EXTERNAL :: {external}", type_text(form));
        let _ = writeln!(text, "  {name} = {external}({})", continued(&passed));
    } else {
        let _ = writeln!(text, "  EXTERNAL :: {external}\n  CALL {external}({})", continued(&passed));
    }
    let _ = writeln!(text, "END {word} {name}");
    Ok(text)
}

/// The modules that a procedure uses: the larger one only for the interface of a procedure argument or a constant.
fn uses(spec: &Spec, function: &Function) -> Result<String> {
    let all = arguments_of(spec, function)?;
    let has = |wanted: Form| all.iter().any(|(_, form)| *form == wanted);
    let constant = generics::declarations(spec, function, "", "")?.contains("LEN=MPI_");
    let mut text = String::new();
    if has(Form::Pointer) {
        text.push_str("  USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_PTR\n");
    }
    let module = if has(Form::Procedure) || constant { "mpi_f08_types" } else { "ferrum_mpi_types" };
    let _ = writeln!(text, "  USE {module}");
    Ok(text)
}
