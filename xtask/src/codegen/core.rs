//! The generated files of `mpi-core`: the constants, the predefined handles, and the numbers and names of the
//! functions.
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
    const KINDS: [&str; 11] =
        ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];
    let mut text = format!(
        "//! The predefined handles, with their kinds and names.\n//! {GENERATED}\n\nuse crate::handle::Kind;\n\n\
         /// Each handle once.\npub(crate) static PREDEFINED: &[(usize, Kind, &str)] = &[\n"
    );
    let mut seen = Vec::new();
    for constant in &spec.constants {
        let kind = KINDS.iter().find(|kind| constant.c_type.strip_prefix("MPI_") == Some(**kind));
        if let Some(kind) = kind
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
