//! The generated files of `mpi-core`: the constants, the predefined handles, and the numbers and names of the
//! functions; and of `mpi-errors`: the error classes as an enum.
//!
//! Invariant: a function's number is its place in the order of all names of MPI-5.0, counted from 1; 0 is no function.

use std::fmt::Write;

use crate::Result;
use crate::spec::GENERATED;
use crate::spec::Spec;

/// The text of `constants.rs`.
pub fn constants(spec: &Spec) -> Result<String> {
    let mut text = format!(
        "//! The constants of the standard ABI, by their official names.\n//! {GENERATED}\n\n\
         #![allow(missing_docs)] // the names are the standard's own\n\n"
    );
    for constant in &spec.constants {
        // A type that is neither a C int nor an offset is a handle or an address.
        let rust = match constant.c_type.as_str() {
            "int" => "i32",
            "MPI_Offset" => "i64",
            listed if listed.starts_with("enum ") => "i32",
            _ => "usize",
        };
        let _ = writeln!(text, "pub const {}: {rust} = {};", constant.name, constant.value);
    }
    Ok(text)
}

/// The text of `predefined.rs`. Of two names of one handle the first stands there.
pub fn predefined(spec: &Spec) -> String {
    let mut text = format!(
        "//! The predefined handles, with their kinds and names.\n//! {GENERATED}\n\nuse crate::handle::Kind;\n\n\
         /// Each handle once.\npub(crate) static PREDEFINED: &[(usize, Kind, &str)] = &[\n"
    );
    let mut seen = Vec::new();
    for constant in &spec.constants {
        if let Some(kind) = constant.object_kind()
            && !seen.contains(&&constant.value)
        {
            seen.push(&constant.value);
            let _ = writeln!(text, "({}, Kind::{kind}, \"{}\"),", constant.value, constant.name);
        }
    }
    text + "];\n"
}

/// The text of `functions.rs`.
pub fn functions(spec: &Spec) -> String {
    let mut text = format!(
        "//! Numbers of the functions, for the flight recorder and for error texts.\n//! {GENERATED}\n\n\
         #![allow(missing_docs)] // the names are the standard's own\n\n"
    );
    for (index, function) in spec.functions.iter().enumerate() {
        let _ = writeln!(text, "pub const MPI_{}: u16 = {};", function.name.to_uppercase(), index + 1);
    }
    let names: Vec<String> =
        spec.functions.iter().map(|function| format!("    \"MPI_{}\",\n", function.name)).collect();
    let _ = write!(
        text,
        "\n/// Number of functions of MPI-5.0; their numbers run from 1 to this.\npub const COUNT: u16 = {};\n\n\
         static NAMES: [&str; COUNT as usize] = [\n{}];\n\n\
         /// The name of the function with this number.\n\
         pub fn name(number: u16) -> Option<&'static str> {{\n    \
         NAMES.get(usize::from(number).checked_sub(1)?).copied()\n}}\n",
        names.len(),
        names.concat()
    );
    text
}

/// The text of `error_class.rs` of `mpi-errors`. Of two names of one class the first stands there.
pub fn error_classes(spec: &Spec) -> String {
    let mut seen = Vec::new();
    let mut classes = Vec::new();
    for constant in spec.constants.iter().filter(|constant| constant.group == "error-class") {
        let name = constant.name.trim_start_matches("MPI_");
        if ["SUCCESS", "ERR_LASTCODE"].contains(&name) || seen.contains(&&constant.value) {
            continue;
        }
        seen.push(&constant.value);
        // MPI_ERR_NO_MEM is NoMem, MPI_T_ERR_INVALID_INDEX is ToolInvalidIndex.
        let (prefix, words) = match name.strip_prefix("T_ERR_") {
            Some(words) => ("Tool", words),
            None => ("", name.trim_start_matches("ERR_")),
        };
        let variant: String = words.split('_').map(capitalised).collect();
        classes.push((format!("{prefix}{variant}"), &constant.name));
    }
    let variants: String =
        classes.iter().map(|(variant, name)| format!("    /// `{name}`\n    {variant},\n")).collect();
    let from: String = classes.iter().map(|(variant, name)| format!("{name} => ErrorClass::{variant},\n")).collect();
    let to: String = classes.iter().map(|(variant, name)| format!("ErrorClass::{variant} => {name},\n")).collect();
    format!(
        "//! The error classes as an enum (MPI-5.0, 9.4).\n//! {GENERATED}\n\nuse mpi_core::abi::*;\n\n\
         /// An error class: what kind of error a call had. `match` on it with a last arm for all others.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum ErrorClass {{\n{variants}\
         /// A class that the program added (`MPI_Add_error_class`), by its number.\n    Added(i32),\n}}\n\n\
         impl ErrorClass {{\n    /// The class with this number; one that the ABI does not have is of the program.\n    \
         pub fn of(number: i32) -> ErrorClass {{\n        match number {{\n{from}added => ErrorClass::Added(added),\n}}\n}}\n\n    \
         /// Its number: `MPI_ERR_RANK` for [`ErrorClass::Rank`].\n    pub fn number(self) -> i32 {{\n        \
         match self {{\n{to}ErrorClass::Added(added) => added,\n}}\n}}\n}}\n"
    )
}

/// A word with its first letter only in upper case.
fn capitalised(word: &str) -> String {
    let lower = word[1..].to_lowercase();
    format!("{}{lower}", &word[..1])
}
