//! mpi4py, built from its source package with our `mpicc`: one build that finds out what the library has, and one for the
//! standard ABI.
//!
//! mpi4py covers the whole standard. Invariant: every test of it runs that runs on MPICH (`tests/mpi4py/skipped.tsv` lists the
//! others), and every function that it looks for is there, except those of [`NOT_OF_THE_STANDARD`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, peers, process, tools, ui};

const SOURCE: &str = "mpi4py==4.1.2";

/// One build of mpi4py.
struct Build {
    name: &'static str,
    /// The variable that selects it.
    variable: &'static str,
    /// Numbers of ranks that its tests always run with.
    runs: &'static [usize],
}

const BUILDS: [Build; 2] = [
    Build { name: "usual", variable: "MPI4PY_BUILD_CONFIGURE", runs: &[1, 3, 5] },
    Build { name: "ABI", variable: "MPI4PY_BUILD_MPIABI", runs: &[2, 4] },
];

/// Numbers of ranks of both builds with `--whole`.
const ALL_RUNS: &[usize] = &[1, 2, 3, 4, 5];

/// Modules, and a class of tests, that do not run with more ranks than there are cores, unless with `--whole`, because they
/// take most of the time: each rank starts further programs, or computes alone for half a minute.
const LONG_MODULES: [&str; 3] = ["test_spawn", "test_dynproc", "test_util_pool"];
const LONG_TESTS: [&str; 1] = ["TestDatatypePickle"];

/// Functions that mpi4py looks for and does without: those that MPI-3.0 removed, and a proposal for faulty processes that is
/// in no version of the standard.
const NOT_OF_THE_STANDARD: [&str; 15] = [
    "MPI_Address",
    "MPI_Comm_ack_failed",
    "MPI_Comm_agree",
    "MPI_Comm_get_failed",
    "MPI_Comm_iagree",
    "MPI_Comm_is_revoked",
    "MPI_Comm_ishrink",
    "MPI_Comm_revoke",
    "MPI_Comm_shrink",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
];

/// Time limit of a run in seconds, and of one with all tests, which takes half an hour where 5 ranks share 2 cores.
const LIMIT: u64 = 1200;
const WHOLE_LIMIT: u64 = 2700;

/// Both builds, and their tests.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let venv = match peers::environment("mpi4py", "setuptools", "bin/pip") {
        Ok(venv) => venv,
        Err(failure) => {
            report.skip("build", &failure.to_string());
            return Ok(());
        }
    };
    if let Err(failure) = tools::may_fetch("the source of mpi4py") {
        report.skip("build", &failure.to_string());
        return Ok(());
    }
    let folder = paths::scratch("mpi4py");
    // A half-finished build of an earlier run would be continued.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut download = Command::new(venv.join("bin/pip"));
    download.args(["download", "--quiet", "--no-binary", "mpi4py", "--no-deps", "--dest"]).arg(&folder).arg(SOURCE);
    process::must(&mut download, Duration::from_secs(300))?;
    let archive = folder.join(format!("{}.tar.gz", SOURCE.replace("==", "-")));
    process::must(Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(&folder), Duration::from_secs(60))?;
    for build in &BUILDS {
        let runs = if context.whole { ALL_RUNS } else { build.runs };
        let names = runs.iter().map(|ranks| (*ranks, format!("{} build, {ranks} ranks", build.name)));
        let runs: Vec<_> = names.filter(|(_, name)| report.selects(name)).collect();
        let made = format!("{} build", build.name);
        if runs.is_empty() && !report.selects(&made) {
            continue;
        }
        let Some(package) = make(build, dist, &venv, &folder, report)? else { continue };
        for (ranks, name) in runs {
            run(context, dist, &venv, &package, (ranks, &name), report)?;
        }
    }
    Ok(())
}

/// Builds mpi4py; returns the folder of the package.
fn make(build: &Build, dist: &Path, venv: &Path, folder: &Path, report: &mut Report) -> Result<Option<PathBuf>> {
    let name = format!("{} build", build.name);
    let package = folder.join(build.name);
    let mut install = Command::new(venv.join("bin/pip"));
    install
        .args(["install", "--verbose", "--force-reinstall", "--no-deps", "--no-cache-dir", "--target"])
        .arg(&package)
        .arg(folder.join(format!("{}.tar.gz", SOURCE.replace("==", "-"))))
        .env(build.variable, "1")
        .env("CFLAGS", "-O0")
        .env("MPICC", dist.join("bin/mpicc"));
    let outcome = process::run(&mut install, Duration::from_secs(600))?;
    let log = folder.join(format!("{}.log", build.name));
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    fs::write(&log, &text)?;
    if !outcome.success() {
        let reason = if outcome.timed_out { "the build took too long" } else { "the build failed" };
        report.check(&name, false, || format!("{reason}; see {}", log.display()));
        return Ok(None);
    }
    // The build for the standard ABI looks for nothing.
    let missing = missing(&text);
    let missed: Vec<&str> =
        missing.iter().map(String::as_str).filter(|name| !NOT_OF_THE_STANDARD.contains(name)).collect();
    report.check(&name, missed.is_empty(), || format!("mpi4py does without {}", missed.join(", ")));
    Ok(Some(package))
}

/// Runs mpi4py's tests: the count in the last line of each rank is the result.
fn run(
    context: &Context,
    dist: &Path,
    venv: &Path,
    package: &Path,
    (ranks, name): (usize, &str),
    report: &mut Report,
) -> Result<()> {
    let folder = package.parent().expect("a package is in the folder of the suite");
    let crowded = ranks > std::thread::available_parallelism().map_or(1, usize::from);
    let (modules, tests): (&[&str], &[&str]) =
        if crowded && !context.whole { (&LONG_MODULES, &LONG_TESTS) } else { (&[], &[]) };
    let limit = if context.whole { WHOLE_LIMIT } else { LIMIT };
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", &ranks.to_string(), "--timeout", &limit.to_string()]).arg(venv.join("bin/python"));
    command.arg(paths::root().join("tests/mpi4py/run.py"));
    command.arg(folder.join(SOURCE.replace("==", "-")).join("test/main.py")).arg("--quiet");
    command.args(modules.iter().flat_map(|module| ["-e", module]));
    command.args(tests.iter().flat_map(|test| ["-x", test]));
    // Programs that the tests spawn find it too.
    command.env("PYTHONPATH", package);
    let outcome = process::run(&mut command, Duration::from_secs(limit + 20))?;
    let counts: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("tests: ")).collect();
    if let Some(count) = counts.first() {
        ui::note(format!("mpi4py, {name}: {count}"));
    }
    report.check(name, outcome.success() && counts.len() == ranks, || outcome.report());
    Ok(())
}

/// The functions that mpi4py's configuration found missing.
fn missing(log: &str) -> Vec<String> {
    let failed = log.lines().filter_map(|line| line.split("failed check for '").nth(1)?.split('\'').next());
    // Constants are in capitals.
    let function = |name: &&str| name.starts_with("MPI_") && name.contains(|c: char| c.is_ascii_lowercase());
    let mut names: Vec<String> = failed.filter(function).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}
