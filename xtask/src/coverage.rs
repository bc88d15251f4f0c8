//! `cargo xtask coverage`: the functions of MPI-5.0 that are implemented, and the rules that have a test.
//!
//! Invariant: the numbers come from `spec/` alone, where a function without an implementation is absent from header
//! and library. The version that `MPI_Get_version` returns follows from them.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::rules::{self, Tests};
use crate::spec::{Function, GENERATED, Spec};
use crate::{Failure, Result, paths, ui};

/// The version that `MPI_Get_version` returns until a later one is complete.
const FIRST_VERSION: (i64, i64) = (3, 1);
/// Versions after it, in order.
const LATER: [(i64, i64); 3] = [(4, 0), (4, 1), (5, 0)];

/// Prints the counts of each chapter and writes the table in docs/; with `check`, fails if that is stale.
pub fn run(check: bool, tests: &Tests) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    for line in summary(&spec) {
        ui::answer(line);
    }
    let rules = rules::check(tests)?;
    ui::answer("");
    for line in &rules.lines {
        ui::answer(line);
    }
    if !rules.wrong.is_empty() {
        return Err(format!("docs/rules:\n  {}", rules.wrong.join("\n  ")).into());
    }
    let path = paths::root().join("docs/coverage.md");
    let text = document(&spec)?;
    if std::fs::read_to_string(&path).is_ok_and(|current| current == text) {
        return Ok(());
    }
    if check {
        return Err("docs/coverage.md is stale; run `cargo xtask coverage`".into());
    }
    std::fs::create_dir_all(paths::root().join("docs"))?;
    std::fs::write(&path, text).map_err(|error| Failure::from(error).during(path.display()))
}

/// The functions of each chapter.
fn chapters(spec: &Spec) -> BTreeMap<&str, Vec<&Function>> {
    let mut chapters: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for function in &spec.functions {
        chapters.entry(&function.chapter).or_default().push(function);
    }
    chapters
}

fn implemented(functions: &[&Function]) -> usize {
    functions.iter().filter(|function| function.implementation.is_some()).count()
}

fn summary(spec: &Spec) -> Vec<String> {
    let mut lines = vec![format!("{:<18}{:>12}{:>8}{:>7}", "chapter", "implemented", "absent", "all")];
    for (chapter, functions) in chapters(spec) {
        let (here, all) = (implemented(&functions), functions.len());
        lines.push(format!("{chapter:<18}{here:>12}{:>8}{all:>7}", all - here));
    }
    let (here, all) = (spec.implemented().count(), spec.functions.len());
    lines.push(format!("{:<18}{here:>12}{:>8}{all:>7}", "all", all - here));
    lines
}

/// The version of the standard that the implemented functions make up.
pub fn version(spec: &Spec) -> (i64, i64) {
    let complete = |version: (i64, i64)| {
        spec.functions.iter().filter(|each| parse(&each.since) <= version).all(|each| each.implementation.is_some())
    };
    LATER.into_iter().take_while(|version| complete(*version)).last().unwrap_or(FIRST_VERSION)
}

fn parse(since: &str) -> (i64, i64) {
    let (major, minor) = since.split_once('.').unwrap_or((since, "0"));
    (major.parse().unwrap_or(i64::MAX), minor.parse().unwrap_or(0))
}

/// The text of `docs/coverage.md`; fails when the spec's `MPI_VERSION` is not the version that is covered.
pub fn document(spec: &Spec) -> Result<String> {
    let declared = (spec.integer("MPI_VERSION")?, spec.integer("MPI_SUBVERSION")?);
    if declared != version(spec) {
        let (major, minor) = version(spec);
        return Err(format!("spec/constants.tsv: MPI_VERSION must be {major} and MPI_SUBVERSION {minor}").into());
    }
    let mut text = format!(
        "# Functions of MPI-5.0 in this library\n\n<!-- {} -->\n\nAn absent function is in neither `mpi.h` nor the \
         library, so that a program that needs it fails when it is linked.\n\n| chapter | implemented | absent |\n\
         | --- | ---: | ---: |\n",
        GENERATED
    );
    let (here, all) = (spec.implemented().count(), spec.functions.len());
    for (chapter, functions) in chapters(spec) {
        let here = implemented(&functions);
        let _ = writeln!(text, "| {chapter} | {here} | {} |", functions.len() - here);
    }
    let _ = writeln!(text, "| **all** | **{here}** | **{}** |", all - here);
    for (chapter, functions) in chapters(spec) {
        let _ = writeln!(
            text,
            "\n## {chapter}\n\n| function | since | here | mpif.h, mpi | mpi_f08 |\n| --- | --- | --- | --- | --- |"
        );
        for function in functions {
            let here = if function.implementation.is_some() { "yes" } else { "absent" };
            let bound = !function.large && function.languages.iter().any(|each| each == "f90");
            let fortran = if bound { here } else { "-" };
            let f08 = if function.languages.iter().any(|each| each == "f08") { here } else { "-" };
            let _ = writeln!(text, "| MPI_{} | {} | {here} | {fortran} | {f08} |", function.name, function.since);
        }
    }
    Ok(text)
}
