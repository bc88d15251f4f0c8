//! Random process topologies: a C program writes what the library answers, and a model in Python, which shares no code
//! with the library, computes the same answers (`tests/topology`).
//!
//! Invariant: the cases follow from the seeds below, so that a failure can be repeated.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::peers::Library;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);
/// Number of ranks, and of cases.
const RUNS: [(usize, usize); 4] = [(1, 1000), (2, 1000), (5, 1000), (12, 1500)];

/// Each number of ranks with its own cases; skipped without Python.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    if process::run(Command::new("python3").arg("--version"), LIMIT).is_err() {
        report.skip("all", "there is no python3");
        return Ok(());
    }
    let library = Library::ferrum(context.dist()?);
    let (sources, folder) = (paths::root().join("tests/topology"), paths::scratch("topology"));
    fs::create_dir_all(&folder)?;
    let program = folder.join("cases");
    library.compile(&sources.join("cases.c"), &program, &["-O1", "-Wall", "-Wextra", "-Werror"])?;
    let model = sources.join("model.py");
    for (ranks, cases) in RUNS {
        let name = format!("{ranks} ranks");
        report.step(&name, || compare(&library, &folder, &program, &model, (ranks, cases)))?;
    }
    Ok(())
}

fn compare(
    library: &Library,
    folder: &Path,
    program: &Path,
    model: &Path,
    (ranks, cases): (usize, usize),
) -> Result<()> {
    let (list, answers) = (folder.join(format!("{ranks}.cases")), folder.join(format!("{ranks}.answers")));
    let numbers = [ranks, cases, 1000 + ranks].map(|number| number.to_string());
    process::must(Command::new("python3").arg(model).arg("make").arg(&list).args(&numbers), LIMIT)?;
    process::must(library.launch(ranks, program).arg(&list).arg(&answers), LIMIT)?;
    let check =
        process::run(Command::new("python3").arg(model).arg("check").args([&list, &answers]).arg(&numbers[0]), LIMIT)?;
    if check.success() { Ok(()) } else { Err(check.report().into()) }
}
