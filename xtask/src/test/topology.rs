//! Random process topologies: a C program writes what the library answers, and a model in Python, which shares no code
//! with the library, computes the same answers (`tests/topology`).
//!
//! Invariant: the cases follow from the seeds below, so that a failure can be repeated.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report, network};
use crate::peers::Library;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);
/// Number of ranks, and of cases; and whether a network is between the halves of the ranks.
const RUNS: [(usize, usize, bool); 5] =
    [(1, 1000, false), (2, 1000, false), (5, 1000, false), (12, 1500, false), (5, 1000, true)];

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
    for (ranks, cases, hosts) in RUNS {
        let name = format!("{ranks} ranks{}", if hosts { " on the network" } else { "" });
        if hosts && network::skips_without_libfabric(&name, report) {
            continue;
        }
        report.step(&name, || compare(&library, &folder, &program, &model, (ranks, cases, hosts)))?;
    }
    Ok(())
}

fn compare(
    library: &Library,
    folder: &Path,
    program: &Path,
    model: &Path,
    (ranks, cases, hosts): (usize, usize, bool),
) -> Result<()> {
    let name = format!("{ranks}{}", if hosts { "-hosts" } else { "" });
    let (list, answers) = (folder.join(format!("{name}.cases")), folder.join(format!("{name}.answers")));
    let numbers = [ranks, cases, 1000 + ranks].map(|number| number.to_string());
    process::must(Command::new("python3").arg(model).arg("make").arg(&list).args(&numbers), LIMIT)?;
    let mut run = library.launch(ranks, program);
    if hosts {
        run.env("FERRUM_NET_FORCE", "hosts");
    }
    process::must(run.arg(&list).arg(&answers), LIMIT)?;
    let check =
        process::run(Command::new("python3").arg(model).arg("check").args([&list, &answers]).arg(&numbers[0]), LIMIT)?;
    if check.success() { Ok(()) } else { Err(check.report().into()) }
}
