//! `mpif.h`: the constants and functions, for programs in fixed or free form.
//!
//! Invariant: no line is longer than 72 columns, none is continued, and each statement begins in column 7, so that both
//! forms of source accept the text. Not here: routines that are subroutines, which need no declaration.

use std::fmt::Write;

use super::{common_block, constants, marked, predefined_procedures, result_form, routine_name, routines, type_text};
use crate::Result;
use crate::spec::Spec;

/// A division by zero where options of the compiler make a default INTEGER another type than that of the library.
const DEFAULT_KIND: &str = "! An error here: MPI needs INTEGERs of 4 bytes, so leave out the option\n\
    ! -fdefault-integer-8 (or -i8) of the compiler.\n      INTEGER MPI_NEEDS_INTEGERS_OF_4_BYTES\n      \
    PARAMETER (MPI_NEEDS_INTEGERS_OF_4_BYTES=4/(8-KIND(0)))\n";

/// The text of `mpif.h`.
pub fn text(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "! mpif.h: the constants of MPI for programs that include this file.\n! {}\n",
        marked().replace(" from ", "\n! from ")
    );
    text.push_str(DEFAULT_KIND);
    for constant in constants(spec)? {
        let (name, declared, value) = (&constant.name, &constant.declared, &constant.value);
        let _ = write!(text, "      {declared} {name}\n      PARAMETER ({name}={value})\n");
    }
    text.push_str(&variables(spec));
    for procedure in predefined_procedures(spec) {
        let _ = writeln!(text, "      EXTERNAL {}", procedure.name);
    }
    for function in routines(spec) {
        if let Some(form) = result_form(spec, function)? {
            for prefix in ["MPI_", "PMPI_"] {
                let name = routine_name(prefix, function);
                let _ = write!(text, "      EXTERNAL {name}\n      {} {name}\n", type_text(form));
            }
        }
    }
    Ok(text)
}

/// The variables that stand for constants of C, each in a COMMON block of the library.
pub fn variables(spec: &Spec) -> String {
    let mut text = String::new();
    for variable in spec.fortran.iter().filter(|name| name.value.is_none()) {
        let (name, shape) = (&variable.name, variable.shape.as_deref().unwrap_or_default());
        let block = common_block(name);
        let _ = write!(text, "      {} {name}{shape}\n      COMMON /{block}/ {name}\n", variable.declared);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn both_forms_of_source_accept_each_line() {
        let spec = Spec::read(&paths::root()).expect("the table is well formed");
        for line in text(&spec).expect("generated").lines() {
            assert!(line.len() <= 72 && (line.starts_with("! ") || line.starts_with("      ")), "{line}");
        }
    }
}
