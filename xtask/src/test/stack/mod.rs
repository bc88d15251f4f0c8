//! The tool stack: order, copies, threads, recursion, typed tools, refusals, outputs (`cases`), the objects of tools
//! (`libraries`), what `--trace` and `--profile` record (`recorded`).
//!
//! Invariant: a case is one line of shell in a folder of its own run, with what it must print and what it must not.

mod cases;
mod libraries;
mod recorded;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::bench::stack::Bench;
use crate::process::Outcome;
use crate::{Result, paths, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// What a line of shell must do: end with this status, print each of the texts, and print none of the others.
pub struct Case {
    name: &'static str,
    line: &'static str,
    status: i32,
    prints: &'static [&'static str],
    never: &'static [&'static str],
}

/// The suite `stack`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("stack");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    rust_tool(&folder)?;
    for lines in [cases::BUILD, libraries::BUILD, recorded::BUILD] {
        let built = shell(dist, &folder, lines)?;
        if !built.success() {
            report.fail("tools and programs are built", &built.report());
            return Ok(());
        }
    }
    for case in [cases::CASES, libraries::CASES, recorded::CASES].into_iter().flatten() {
        if !report.selects(case.name) {
            continue;
        }
        let outcome = shell(dist, &folder, case.line)?;
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        let good = !outcome.timed_out
            && outcome.status.code() == Some(case.status)
            && case.prints.iter().all(|text| output.contains(text))
            && !case.never.iter().any(|text| output.contains(text));
        report.check(case.name, good, || format!("`{}`\n{}", case.line, outcome.report()));
    }
    small_disk(dist, &folder, report)?;
    cost(context, report)?;
    left_over(&folder, report)
}

/// A rank goes on without its timeline when the disk is full, where a file system of its own can be made.
fn small_disk(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let title = "a full disk";
    if !report.selects(title) {
        return Ok(());
    }
    let made = "mkdir -p small && mount -t tmpfs -o size=3m none small";
    if !shell(dist, folder, &format!("unshare -rm sh -c '{made}'"))?.success() {
        report.skip(title, "no file system can be mounted here");
        return Ok(());
    }
    let line = format!("unshare -rm sh -c '{made} && mpiexec -n 1 --trace small/a.json ./closer own.file'");
    let outcome = shell(dist, folder, &line)?;
    let output = format!("{}{}", outcome.stdout, outcome.stderr);
    let parts = [
        "closer: files untouched\n",
        "calls are lost from here on: No space left on device",
        "mpiexec: --trace: 67234 calls of rank 0 are not in it: no room\n",
        "mpiexec: --trace \"small/a.json\" could not be written: No space left on device",
    ];
    let good = outcome.status.code() == Some(1) && parts.iter().all(|part| output.contains(part));
    report.check(title, good, || format!("`{line}`\n{}", outcome.report()));
    Ok(())
}

/// Each tool adds the same number of instructions, and the stack itself a jump.
fn cost(context: &Context, report: &mut Report) -> Result<()> {
    let title = "the cost is linear in the number of tools";
    if !report.selects(title) {
        return Ok(());
    }
    if let Err(missing) = tools::need("valgrind", "valgrind", context.install) {
        report.skip(title, &missing.to_string());
        return Ok(());
    }
    let bench = Bench::new(context.dist()?)?;
    let counts: Vec<f64> = bench.rows.iter().map(|row| bench.instructions(row)).collect::<Result<_>>()?;
    let [none, loaded, one, two, four, typed, typed_two, typed_four] = counts[..] else {
        return Err(format!("{} rows", counts.len()).into());
    };
    // A call of the library itself has the same instructions each time.
    let same = |a: f64, b: f64| (a - b).abs() < 0.5;
    let linear = |one: f64, two: f64, four: f64| same(four - two, 2.0 * (two - one)) && two > one;
    let good = loaded - none < 2.0 && loaded >= none && one > loaded;
    report
        .check(title, good && linear(one, two, four) && linear(typed, typed_two, typed_four), || format!("{counts:?}"));
    Ok(())
}

/// Builds the example of a tool in Rust.
fn rust_tool(folder: &Path) -> Result<()> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--package", "mpi-pmpi", "--example", "slow_calls"]);
    process::must_shown(build.current_dir(paths::root()))?;
    fs::copy(paths::target().join("debug/examples/libslow_calls.so"), folder.join("libslow_calls.so"))?;
    Ok(())
}

/// Runs a line of shell; `$T` is the folder of the sources, `$E` that of the examples, `$D` the distribution.
fn shell(dist: &Path, folder: &Path, line: &str) -> Result<Outcome> {
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path);
    command.env("T", paths::root().join("tests/stack")).env("E", paths::root().join("examples")).env("D", dist);
    process::run(&mut command, LIMIT)
}

/// The files of ranks have no names, so that none is left beside a trace.
fn left_over(folder: &Path, report: &mut Report) -> Result<()> {
    let title = "no file is left";
    if !report.selects(title) {
        return Ok(());
    }
    let traces = folder.join("traces");
    let names: Vec<String> =
        fs::read_dir(traces)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    report.check(title, names.iter().all(|name| name.ends_with(".json")), || names.join(" "));
    Ok(())
}
