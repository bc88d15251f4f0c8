//! Module `mpi_f08_types`: what `mpi_f08` has besides procedures: constants, the variables that stand for constants of C, and
//! abstract interfaces.
//!
//! Not here: the types of handles and of the status, which module `mpi` has too (`module_mpi::types`).

use std::fmt::Write;

use super::super::module_mpi::{handle_types, is_layout};
use super::super::{common_block, constants, marked};
use super::callbacks;
use crate::Result;
use crate::spec::{FortranName, Spec};

/// The text of the module.
pub fn text(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "! Constants and abstract interfaces of module mpi_f08.\n! {}\nMODULE mpi_f08_types\n  \
         USE, INTRINSIC :: ISO_C_BINDING, ONLY: C_CHAR, C_INT, C_PTR\n  USE ferrum_mpi_types\n  IMPLICIT NONE\n  PUBLIC\n  \
         PRIVATE :: C_CHAR, C_INT, C_PTR\n\n",
        marked()
    );
    for constant in constants(spec)?.iter().filter(|constant| !is_layout(&constant.name)) {
        let (name, value) = (&constant.name, &constant.value);
        let of_c = spec.constants.iter().find(|each| each.name == *name).map(|each| each.c_type.as_str());
        let handle = of_c.filter(|c| handle_types(spec).any(|each| each == *c));
        let _ = match handle {
            Some(handle) => writeln!(text, "  TYPE({handle}), PARAMETER :: {name} = {handle}({value})"),
            None => {
                let own = spec.fortran.iter().find(|each| each.name == *name).and_then(|each| each.f08.as_ref());
                let value = own.unwrap_or(value);
                writeln!(text, "  {}, PARAMETER :: {name} = {value}", constant.declared)
            }
        };
    }
    text.push('\n');
    for variable in spec.fortran.iter().filter(|name| name.value.is_none()) {
        text.push_str(&declared_variable(variable));
    }
    text.push_str(&callbacks::interfaces(spec)?);
    text.push_str("END MODULE mpi_f08_types\n");
    Ok(text)
}

/// A variable that stands for a constant of C: the one that the older bindings have in a COMMON block.
fn declared_variable(variable: &FortranName) -> String {
    let (name, shape) = (&variable.name, variable.shape.as_deref().unwrap_or_default());
    let (declared, shape) = match (variable.declared.as_str(), shape) {
        (_, "(MPI_STATUS_SIZE)") => ("TYPE(MPI_Status)", ""),
        (_, "(MPI_STATUS_SIZE,1)") => ("TYPE(MPI_Status)", "(1)"),
        (text, shape) if text.starts_with("CHARACTER") => ("CHARACTER(KIND=C_CHAR, LEN=1)", shape),
        (_, shape) => ("INTEGER(KIND=C_INT)", shape),
    };
    let symbol = format!("{}_", common_block(name).to_lowercase());
    format!("  {declared}, BIND(C, NAME='{symbol}'), TARGET, PUBLIC :: {name}{shape}\n")
}
