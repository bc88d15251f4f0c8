//! Module `mpi`, with an interface for each routine, and the module of the types that it shares with `mpi_f08`.
//!
//! Invariant: an interface declares what `mpif.h` and the standard's older bindings have; choice buffers take any type.
//! Not here: the constants (`super::constants`), `mpi_f08`.

use std::fmt::Write;

use super::{Form, arguments, bounds, constants, marked, predefined_procedures, result_form, routine_name, routines};
use super::{has_ierror, mpif_h, type_text};
use crate::Result;
use crate::spec::{Form as TypeForm, Function, Spec};

/// Intrinsic types and kinds for which `MPI_SIZEOF` exists.
const SIZED: [(&str, &[u32]); 4] = [
    ("INTEGER", &[1, 2, 4, 8, 16]),
    ("REAL", &[4, 8, 10, 16]),
    ("COMPLEX", &[4, 8, 10, 16]),
    ("LOGICAL", &[1, 2, 4, 8, 16]),
];

/// The text of the module of types: kinds, the status, the handles.
pub fn types(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "! Types that the modules mpi and mpi_f08 share.\n! {}\nMODULE ferrum_mpi_types\n  IMPLICIT NONE\n  PUBLIC\n",
        marked()
    );
    for constant in constants(spec)?.iter().filter(|constant| is_layout(&constant.name)) {
        let _ = writeln!(text, "  {}, PARAMETER :: {} = {}", constant.declared, constant.name, constant.value);
    }
    text.push_str(
        "\n  TYPE, BIND(C) :: MPI_Status\n    INTEGER :: MPI_SOURCE\n    INTEGER :: MPI_TAG\n    INTEGER :: MPI_ERROR\n    \
         INTEGER :: MPI_internal(5)\n  END TYPE MPI_Status\n",
    );
    let handles: Vec<&str> = handle_types(spec).collect();
    for name in &handles {
        let _ = write!(text, "\n  TYPE, BIND(C) :: {name}\n    INTEGER :: MPI_VAL\n  END TYPE {name}\n");
    }
    for (operator, word) in [("==", "same"), ("/=", "other")] {
        let _ = writeln!(text, "\n  INTERFACE OPERATOR({operator})");
        for name in &handles {
            let _ = writeln!(text, "    MODULE PROCEDURE {word}_{}", name.to_lowercase());
        }
        text.push_str("  END INTERFACE\n");
    }
    for name in &handles {
        for word in ["same", "other"] {
            let _ = writeln!(text, "  PRIVATE :: {word}_{}", name.to_lowercase());
        }
    }
    text.push_str("\nCONTAINS\n");
    for name in &handles {
        for (operator, word) in [("==", "same"), ("/=", "other")] {
            let function = format!("{word}_{}", name.to_lowercase());
            let _ = write!(
                text,
                "\n  ELEMENTAL LOGICAL FUNCTION {function}(left, right)\n    TYPE({name}), INTENT(IN) :: left, right\n    \
                 {function} = left%MPI_VAL {operator} right%MPI_VAL\n  END FUNCTION {function}\n"
            );
        }
    }
    text.push_str("END MODULE ferrum_mpi_types\n");
    Ok(text)
}

/// The types of handles that the modules have.
pub fn handle_types(spec: &Spec) -> impl Iterator<Item = &str> {
    let handles = spec.types.iter().filter(|each| each.form == TypeForm::Handle && !each.name.starts_with("MPI_T_"));
    handles.map(|each| each.name.as_str())
}

/// Whether a constant states the layout of types.
pub fn is_layout(name: &str) -> bool {
    name.ends_with("_KIND") || name == "MPI_STATUS_SIZE"
}

/// The text of module `mpi`.
pub fn text(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "! Module mpi: the constants of MPI, and an interface for each routine.\n! {}\nMODULE mpi\n  \
         USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_PTR\n  USE ferrum_mpi_types\n  IMPLICIT NONE\n  PUBLIC\n  \
         PRIVATE :: C_PTR\n\n",
        marked()
    );
    for constant in constants(spec)?.iter().filter(|constant| !is_layout(&constant.name)) {
        let _ = writeln!(text, "  {}, PARAMETER :: {} = {}", constant.declared, constant.name, constant.value);
    }
    text.push('\n');
    text.push_str(&mpif_h::variables(spec));
    text.push('\n');
    for procedure in predefined_procedures(spec) {
        let _ = writeln!(text, "  EXTERNAL :: {}", procedure.name);
    }
    let (mut plain, mut overloaded) = (String::new(), String::new());
    for function in routines(spec) {
        for prefix in ["MPI_", "PMPI_"] {
            if !arguments(spec, function)?.iter().any(|(_, form)| *form == Form::Pointer) {
                plain.push_str(&interface(spec, prefix, function, "")?);
                continue;
            }
            let name = routine_name(prefix, function);
            let _ = writeln!(overloaded, "\n  INTERFACE {name}");
            overloaded.push_str(&interface(spec, prefix, function, "")?);
            overloaded.push_str(&interface(spec, prefix, function, "_CPTR")?);
            let _ = writeln!(overloaded, "  END INTERFACE {name}");
        }
    }
    let _ = writeln!(text, "\n  INTERFACE{plain}{}  END INTERFACE", sync_reg());
    text.push_str(&overloaded);
    sizeof(&mut text);
    text.push_str("END MODULE mpi\n");
    Ok(text)
}

/// The interface of `MPI_F_SYNC_REG`, which C has not.
fn sync_reg() -> String {
    let of = |name: &str| {
        format!(
            "\n    SUBROUTINE {name}(buf)\n      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n      TYPE(*) :: buf(*)\n    \
             END SUBROUTINE {name}\n"
        )
    };
    of("MPI_F_SYNC_REG") + &of("PMPI_F_SYNC_REG")
}

/// The interface of one routine.
fn interface(spec: &Spec, prefix: &str, function: &Function, suffix: &str) -> Result<String> {
    let name = routine_name(prefix, function) + suffix;
    let all = arguments(spec, function)?;
    let mut names: Vec<String> = all.iter().map(|(parameter, _)| parameter.name.clone()).collect();
    if has_ierror(spec, function) {
        names.push("ierror".to_owned());
    }
    let result = result_form(spec, function)?;
    let head = match result {
        Some(_) => format!("FUNCTION {name}"),
        None => format!("SUBROUTINE {name}"),
    };
    let mut text = format!("\n    {head}({})\n      IMPORT\n", continued(&names));
    for (parameter, form) in &all {
        let (name, bounds) = (&parameter.name, bounds(parameter, *form));
        let declared = if *form == Form::Pointer && !suffix.is_empty() { "TYPE(C_PTR)" } else { type_text(*form) };
        if matches!(form, Form::Choice | Form::Unused) {
            let _ = writeln!(text, "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}");
        }
        let _ = writeln!(text, "      {declared} :: {name}{bounds}");
    }
    if has_ierror(spec, function) {
        text.push_str("      INTEGER :: ierror\n");
    }
    if let Some(form) = result {
        let _ = writeln!(text, "      {} :: {name}", type_text(form));
    }
    let word = if result.is_some() { "FUNCTION" } else { "SUBROUTINE" };
    let _ = writeln!(text, "    END {word} {name}");
    Ok(text)
}

/// A list of names in lines of at most 120 columns.
pub fn continued(names: &[String]) -> String {
    let (mut text, mut column) = (String::new(), 40);
    for (index, name) in names.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        if column + separator.len() + name.len() > 112 {
            text.push_str(", &\n        ");
            column = 8;
        } else {
            text.push_str(separator);
        }
        text.push_str(name);
        column += separator.len() + name.len();
    }
    text
}

/// A type with a procedure for its size: the name of the procedure, the type, and the macro that gfortran defines where it
/// has the kind, if not everywhere.
fn sized() -> Vec<(String, String, Option<&'static str>)> {
    let macro_of = |name: &str, kind: u32| match (name, kind) {
        ("REAL" | "COMPLEX", 10) => Some("__GFC_REAL_10__"),
        ("REAL" | "COMPLEX", 16) => Some("__GFC_REAL_16__"),
        (_, 16) => Some("__GFC_INT_16__"),
        _ => None,
    };
    let mut all = Vec::new();
    for (name, kinds) in SIZED {
        for &kind in kinds {
            let procedure = format!("sizeof_{name}{kind}").to_lowercase();
            all.push((procedure, format!("{name}({kind})"), macro_of(name, kind)));
        }
    }
    all.push(("sizeof_character".to_owned(), "CHARACTER(LEN=*)".to_owned(), None));
    all
}

/// Text that the preprocessor leaves out where a macro is not defined.
fn only_with(defined: Option<&str>, text: &str) -> String {
    match defined {
        Some(name) => format!("#ifdef {name}\n{text}#endif\n"),
        None => text.to_owned(),
    }
}

/// `MPI_SIZEOF`, for scalars and arrays of each intrinsic type that the compiler has.
fn sizeof(text: &mut String) {
    let all = sized();
    for prefix in ["MPI_", "PMPI_"] {
        let _ = writeln!(text, "\n  INTERFACE {prefix}SIZEOF");
        for (name, _, defined) in &all {
            text.push_str(&only_with(*defined, &format!("    MODULE PROCEDURE {name}\n")));
        }
        let _ = writeln!(text, "  END INTERFACE {prefix}SIZEOF");
    }
    for (name, _, defined) in &all {
        text.push_str(&only_with(*defined, &format!("  PRIVATE :: {name}\n")));
    }
    text.push_str("\nCONTAINS\n");
    for (name, declared, defined) in &all {
        let procedure = format!(
            "\n  SUBROUTINE {name}(x, size, ierror)\n    {declared}, INTENT(IN) :: x(..)\n    \
             INTEGER, INTENT(OUT) :: size\n    INTEGER, INTENT(OUT) :: ierror\n    size = STORAGE_SIZE(x) / 8\n    \
             ierror = MPI_SUCCESS\n  END SUBROUTINE {name}\n"
        );
        text.push_str(&only_with(*defined, &procedure));
    }
}
