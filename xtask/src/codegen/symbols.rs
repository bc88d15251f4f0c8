//! Symbols of the library: the linker's version script, and the weak `MPI_` names.

use std::fmt::Write;

use crate::spec::GENERATED;
use crate::spec::Spec;

/// The text of the version script: both names of every implemented function, and nothing else.
pub fn version_script(spec: &Spec) -> String {
    let mut text = format!("# The symbols of libmpi_abi.so.1. {GENERATED}\n{{\n  global:\n");
    for function in spec.implemented() {
        let _ = writeln!(text, "    MPI_{name}; PMPI_{name};", name = function.name);
    }
    // Debuggers look them up.
    text.push_str("    MPIR_debug_gate; MPIR_dll_name; ferrum_queue_map;\n");
    // ferrum_tool.h: shared objects add variables of their own.
    text.push_str("    ferrum_tool_add; ferrum_tool_error;\n");
    // libmpifort states the language of callbacks and attributes.
    text.push_str("    ferrum_fortran_procedures; ferrum_fortran_attribute; ferrum_fortran_value;\n");
    text.push_str("    ferrum_section_datatype; ferrum_section_free; ferrum_section_room; ferrum_section_refuse;\n");
    text.push_str("    ferrum_section_raise; ferrum_section_state;\n  local: *;\n};\n");
    text
}

/// The text of `aliases.rs`.
pub fn aliases(spec: &Spec) -> String {
    let mut text = format!(
        "//! `MPI_X` as a weak alias of `PMPI_X` (MPI-5.0, 15.2), so that a tool can put itself in between.\n//! \
         {GENERATED}\n//!\n//! Invariant: an alias and its target stand in one object file, which takes fat LTO and one \
         codegen unit.\n\ncore::arch::global_asm!(\n"
    );
    for function in spec.implemented() {
        let name = &function.name;
        let _ = writeln!(text, "    \".weak MPI_{name}\", \".set MPI_{name}, PMPI_{name}\",");
    }
    text.push_str(");\n");
    text
}
