//! The symbols of a distribution, read with `readelf`.
//!
//! Invariant checked: every function that `mpi.h` declares is exported as a strong `PMPI_X` with a weak `MPI_X` at the
//! same address, by the shared and by the static library, and neither exports anything else. No relocation of either
//! names a function of the standard, so that no call inside the library can reach a tool.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Failure, Result, process};

/// Exported besides the functions of the standard; each needs a reason here.
const OTHERS: [&str; 14] = [
    // Debuggers look them up.
    "MPIR_debug_gate",
    "MPIR_dll_name",
    "ferrum_queue_map",
    // ferrum_tool.h: shared objects add variables of their own.
    "ferrum_tool_add",
    "ferrum_tool_error",
    // libmpifort states the language of callbacks and attributes.
    "ferrum_fortran_procedures",
    "ferrum_fortran_attribute",
    "ferrum_fortran_value",
    // Module mpi_f08 passes array sections.
    "ferrum_section_datatype",
    "ferrum_section_free",
    "ferrum_section_room",
    "ferrum_section_refuse",
    "ferrum_section_raise",
    "ferrum_section_state",
];

/// All names that a library exports, as a list for other programs.
pub fn exported(prefix: &Path) -> Result<Vec<String>> {
    let both = declared(prefix)?.into_iter().flat_map(|name| [format!("P{name}"), name]);
    Ok(both.chain(OTHERS.iter().map(|&name| name.to_owned())).collect())
}

/// The functions of the header, without the profiling names.
pub fn declared(prefix: &Path) -> Result<Vec<String>> {
    let header = fs::read_to_string(prefix.join("include/mpi.h"))?;
    let mut names = BTreeSet::new();
    for line in header.lines().filter(|line| !line.starts_with('#') && !line.contains("typedef")) {
        let Some((before, _)) = line.split_once('(') else { continue };
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
        if let Some(plain) = name.strip_prefix('P').filter(|plain| plain.starts_with("MPI_")) {
            names.insert(plain.to_owned());
        } else if name.starts_with("MPI_") {
            names.insert(name.to_owned());
        }
    }
    Ok(names.into_iter().collect())
}

/// The functions of a checked distribution.
pub fn functions(prefix: &Path) -> Result<Vec<String>> {
    check(prefix)?;
    declared(prefix)
}

/// Checks both libraries.
pub fn check(prefix: &Path) -> Result<()> {
    let declared = declared(prefix)?;
    for (file, option) in [("libmpi_abi.so.1", "--dyn-syms"), ("libmpi.a", "--syms")] {
        let path = prefix.join("lib").join(file);
        let mut readelf = Command::new("readelf");
        let listing = process::must(readelf.args([option, "--wide"]).arg(&path), Duration::from_secs(60))?.stdout;
        let mut problems = problems(&declared, &parse(&listing));
        let mut readelf = Command::new("readelf");
        let listing = process::must(readelf.args(["--relocs", "--wide"]).arg(&path), Duration::from_secs(60))?.stdout;
        problems.extend(relocations(&listing).map(|name| format!("the library itself refers to {name}")));
        if !problems.is_empty() {
            let more = problems.len().saturating_sub(20);
            let shown = problems[..problems.len() - more].join("\n  ");
            return Err(Failure::from(format!("{} symbols:\n  {shown}\n  ({more} more)", problems.len())).during(file));
        }
    }
    Ok(())
}

/// The names of the symbols that a listing of `readelf` defines for others.
pub fn defined(listing: &str) -> Vec<String> {
    parse(listing).into_keys().collect()
}

/// Name to binding and place (section and value).
type Symbols = BTreeMap<String, (String, String)>;

/// The defined symbols that are visible outside.
fn parse(listing: &str) -> Symbols {
    let mut symbols = Symbols::new();
    for line in listing.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, value, _, _, binding, visibility, section, name] = words[..]
            && section != "UND"
            && matches!(binding, "GLOBAL" | "WEAK")
            && visibility != "HIDDEN"
        {
            symbols.insert(name.to_owned(), (binding.to_owned(), format!("{section}:{value}")));
        }
    }
    symbols
}

/// The functions of the standard that a relocation names.
fn relocations(listing: &str) -> impl Iterator<Item = &str> {
    let names = listing.lines().filter_map(|line| line.split_whitespace().nth(4));
    names.filter(|name| name.trim_start_matches('P').starts_with("MPI_"))
}

fn problems(declared: &[String], symbols: &Symbols) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expected: BTreeSet<String> = OTHERS.iter().map(|&name| name.to_owned()).collect();
    for name in declared {
        let profiling = format!("P{name}");
        match (symbols.get(&profiling), symbols.get(name)) {
            (Some((strong, _)), _) if strong != "GLOBAL" => problems.push(format!("{profiling} is {strong}")),
            (_, Some((weak, _))) if weak != "WEAK" => problems.push(format!("{name} is {weak}")),
            (Some((_, one)), Some((_, other))) if one == other => {}
            (Some(_), Some(_)) => problems.push(format!("{name} is not at the address of {profiling}")),
            (None, _) => problems.push(format!("{profiling} is not exported")),
            (_, None) => problems.push(format!("{name} is not exported")),
        }
        expected.insert(profiling);
        expected.insert(name.clone());
    }
    problems.extend(symbols.keys().filter(|name| !expected.contains(*name)).map(|name| format!("{name} is exported")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strong_public_name_missing_alias_and_stray_symbol_are_problems() {
        let symbols = |rows: [(&str, &str, &str); 2]| {
            let lines = rows.map(|(value, binding, name)| format!("1: {value} 5 FUNC {binding} DEFAULT 7 {name}"));
            parse(&lines.join("\n"))
        };
        let declared = ["MPI_Send".to_owned()];
        let count = |rows| problems(&declared, &symbols(rows)).len();
        assert_eq!(count([("10", "GLOBAL", "PMPI_Send"), ("10", "WEAK", "MPI_Send")]), 0);
        assert_eq!(count([("10", "GLOBAL", "PMPI_Send"), ("10", "GLOBAL", "MPI_Send")]), 1);
        assert_eq!(count([("10", "GLOBAL", "PMPI_Send"), ("14", "WEAK", "MPI_Send")]), 1);
        assert_eq!(count([("10", "WEAK", "PMPI_Send"), ("10", "WEAK", "MPI_Send")]), 1);
        let listing = "Offset Info Type Value Name + Addend\n\
                       0010 0020 R_X86_64_PLT32 0000 MPI_Recv - 4\n0018 0021 R_X86_64_PLT32 0000 helper - 4\n";
        assert_eq!(relocations(listing).collect::<Vec<_>>(), ["MPI_Recv"]);
        // The alias is missing, and another symbol is visible.
        assert_eq!(count([("10", "GLOBAL", "PMPI_Send"), ("20", "GLOBAL", "helper")]), 2);
    }
}
