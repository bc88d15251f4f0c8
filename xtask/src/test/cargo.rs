//! The suites that cargo runs: the tests of the crates, the loom models, the examples.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::process::Outcome;
use crate::{Result, paths, process};

/// Time limit of a command of cargo, which may wait for another suite that compiles.
const LIMIT: Duration = Duration::from_secs(2400);

/// `cargo test` of the workspace, documentation examples too; in release mode the tests that match millions of messages.
pub fn unit(_: &Context, report: &mut Report) -> Result<()> {
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    let whole = report.filter().is_empty();
    if !whole {
        command.arg("--").arg(report.filter());
    }
    count("cargo test", &process::run(&mut command, LIMIT)?, report);
    if whole {
        let mut command = cargo(&["test", "--release", "--package", "mpi-coll", "--lib", "plan::scale::"]);
        let outcome = process::run(&mut command, LIMIT)?;
        let (passed, _) = counts(&outcome.stdout);
        report.check("scale in release mode", passed > 0, || format!("no test was selected\n{}", outcome.report()));
        count("cargo test --release", &outcome, report);
    }
    Ok(())
}

/// The models that loom runs through all interleavings: of the ring and the doorbell inside their crate, compiled
/// for loom; of facts about objects, the handles of variables, the claims of chunks and the arrival of partitions as
/// tests of their own.
pub fn loom(_: &Context, report: &mut Report) -> Result<()> {
    for (package, arguments, flags) in [
        ("mpi-fabric", ["--lib", "model::"].as_slice(), "--cfg loom"),
        ("mpi-core", ["--test", "loom"].as_slice(), ""),
        ("mpi-t", ["--test", "loom", "--test", "loom_events"].as_slice(), ""),
        ("mpi-p2p", ["--test", "loom", "--test", "loom_arrivals", "--test", "loom_waiters"].as_slice(), ""),
    ] {
        if !report.selects(package) {
            continue;
        }
        let mut command = cargo(&["test", "--release", "--package", package]);
        command.args(arguments);
        if !flags.is_empty() {
            // A separate folder: other flags would rebuild everything else too.
            command.env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", paths::target().join("loom"));
        }
        let outcome = process::run(&mut command, LIMIT)?;
        let (passed, _) = counts(&outcome.stdout);
        report.check(package, passed > 0, || format!("no model was selected\n{}", outcome.report()));
        count(package, &outcome, report);
    }
    Ok(())
}

/// The documentation of all crates, without a warning.
pub fn doc(_: &Context, report: &mut Report) -> Result<()> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    // A separate folder: other flags would rebuild everything else too.
    command.env("RUSTDOCFLAGS", "-D warnings").env("CARGO_TARGET_DIR", paths::target().join("doc-check"));
    report.step("no warnings", || process::must(&mut command, LIMIT))
}

/// The examples: the Rust ones with the launcher, the C ones are part of `tools` and `demo`. In the profile of `unit`, which has
/// built them.
pub fn examples(context: &Context, report: &mut Report) -> Result<()> {
    let mpiexec = context.dist()?.join("bin/mpiexec");
    let build = process::run(&mut cargo(&["build", "--workspace", "--examples"]), LIMIT)?;
    report.check("build", build.success(), || build.report());
    let folder = paths::target().join("debug/examples");
    for (name, ranks, text) in [
        ("ring", 4, ""),
        ("file", 3, "[0, 1, 4]"),
        ("grid", 6, "a grid of 3 times 2"),
        ("variables", 2, ""),
        ("queue", 1, ""),
        ("events", 1, "bytes evicted: 300"),
    ] {
        if !report.selects(name) {
            continue;
        }
        run_example(&mpiexec, &folder.join(name), ranks, text, report)?;
    }
    Ok(())
}

fn run_example(mpiexec: &Path, program: &Path, ranks: u32, text: &str, report: &mut Report) -> Result<()> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !program.exists() {
        report.fail(&name, "the example is not there");
        return Ok(());
    }
    let mut command = Command::new(mpiexec);
    let outcome = process::run(command.args(["-n", &ranks.to_string()]).arg(program), Duration::from_secs(60))?;
    report.check(&name, outcome.success() && outcome.stdout.contains(text), || outcome.report());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(paths::root());
    command
}

/// Adds the tests of a `cargo test`, whose names cargo has filtered; one that could not be run counts as one failure.
pub fn count(name: &str, outcome: &Outcome, report: &mut Report) {
    let (passed, failed) = counts(&outcome.stdout);
    report.add_passed(passed);
    let failing: Vec<&str> = outcome.stdout.lines().filter(|line| line.ends_with("FAILED")).collect();
    for line in &failing {
        report.failed_among(name, line);
    }
    if !outcome.success() && (failed == 0 || failing.is_empty()) {
        report.failed_among(name, &outcome.report());
    } else if !outcome.success() {
        crate::ui::note(outcome.report());
    }
}

/// Passed and failed tests of all `test result:` lines.
pub fn counts(output: &str) -> (usize, usize) {
    let number = |line: &str, what: &str| -> usize {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| word.trim_end_matches(';') == what);
        place.and_then(|place| words[place.checked_sub(1)?].parse().ok()).unwrap_or(0)
    };
    let results = output.lines().filter(|line| line.starts_with("test result:"));
    results.fold((0, 0), |(passed, failed), line| (passed + number(line, "passed"), failed + number(line, "failed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_crates_add_up() {
        let text =
            "test result: ok. 5 passed; 0 failed; 1 ignored\nx\ntest result: FAILED. 2 passed; 3 failed; 0 ignored\n";
        assert_eq!(counts(text), (7, 3));
    }
}
