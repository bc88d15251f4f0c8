//! The symbols of a distribution, as `nm` sees them.
//!
//! Invariant checked: every function that `mpi.h` declares is exported as a strong `PMPI_X` with a weak `MPI_X` at the
//! same address, by the shared and by the static library, and neither exports anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::{Failure, Result, process};

/// Exported besides the functions of the standard; each needs a reason here.
const OTHERS: [&str; 0] = [];

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
    for (file, options) in
        [("libmpi_abi.so.1", ["--dynamic", "--defined-only"]), ("libmpi.a", ["--extern-only", "--defined-only"])]
    {
        let path = prefix.join("lib").join(file);
        let listing = process::must(Command::new("nm").args(options).arg(&path), Duration::from_secs(60))?.stdout;
        let problems = problems(&declared, &parse(&listing));
        if !problems.is_empty() {
            let more = problems.len().saturating_sub(20);
            let shown = problems[..problems.len() - more].join("\n  ");
            return Err(Failure::from(format!("{} symbols:\n  {shown}\n  ({more} more)", problems.len())).during(file));
        }
    }
    Ok(())
}

/// Name to (kind, address).
type Symbols = BTreeMap<String, (char, String)>;

fn parse(listing: &str) -> Symbols {
    let mut symbols = Symbols::new();
    for line in listing.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [address, kind, name] = words[..] {
            symbols.insert(name.to_owned(), (kind.chars().next().unwrap_or('?'), address.to_owned()));
        }
    }
    symbols
}

fn problems(declared: &[String], symbols: &Symbols) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expected: BTreeSet<String> = OTHERS.iter().map(|&name| name.to_owned()).collect();
    for name in declared {
        let profiling = format!("P{name}");
        match (symbols.get(&profiling), symbols.get(name)) {
            (Some(('T', strong)), Some(('W', weak))) if strong == weak => {}
            (Some(('T', _)), Some(('W', _))) => problems.push(format!("{name} is not at the address of {profiling}")),
            (Some((kind, _)), Some(('W', _))) => problems.push(format!("{profiling} is of kind {kind}, not T")),
            (Some(_), Some((kind, _))) => problems.push(format!("{name} is of kind {kind}, not W")),
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
        let good = parse("10 T PMPI_Send\n10 W MPI_Send\n");
        let declared = ["MPI_Send".to_owned()];
        assert!(problems(&declared, &good).is_empty());
        assert_eq!(problems(&declared, &parse("10 T PMPI_Send\n10 T MPI_Send\n")).len(), 1);
        assert_eq!(problems(&declared, &parse("10 T PMPI_Send\n14 W MPI_Send\n")).len(), 1);
        assert_eq!(problems(&declared, &parse("10 T PMPI_Send\n")).len(), 1);
        assert_eq!(problems(&declared, &parse("10 T PMPI_Send\n10 W MPI_Send\n20 T helper\n")).len(), 1);
    }
}
