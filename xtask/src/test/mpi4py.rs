//! mpi4py, built from its source package with our `mpicc`.
//!
//! mpi4py covers the whole standard. Its build can detect which functions a library has and leave out the
//! others; what it did without is the second half of the result.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, peers, process, tools, ui};

const SOURCE: &str = "mpi4py==4.1.2";

/// Ranks that its tests run with.
const RUNS: [usize; 2] = [1, 2];
/// Modules left out, which start further programs: the library has no dynamic processes yet.
const MODULES_LEFT_OUT: [&str; 3] = ["test_spawn", "test_dynproc", "test_util_pool"];
/// Tests left out.
const TESTS_LEFT_OUT: [&str; 4] = [
    // An unknown process set gives MPI_GROUP_NULL (MPI-5.0, 11.3.2); the test expects an error.
    "testCreateGroup",
    // The type is made of others where MPI_VERSION is below 4, but MPI_Type_contiguous_c is there.
    "testContiguousBigMPI",
    // They look at the result of MPI_Alltoallw, which is absent, in a replacement of their own that does nothing.
    "TestMessageVectorW.testMessageBottom",
    "TestMessageVectorW.testMessageBytearray",
];

/// Builds it, runs its own tests, and lists the functions that it lacks.
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
    let mut install = Command::new(venv.join("bin/pip"));
    install
        .args(["install", "--verbose", "--force-reinstall", "--no-deps", "--no-cache-dir"])
        .arg(&archive)
        .env("MPI4PY_BUILD_CONFIGURE", "1")
        .env("CFLAGS", "-O0")
        .env("MPICC", dist.join("bin/mpicc"));
    let outcome = process::run(&mut install, Duration::from_secs(600))?;
    let log = folder.join("build.log");
    fs::write(&log, format!("{}{}", outcome.stdout, outcome.stderr))?;
    if !outcome.success() {
        let reason = if outcome.timed_out { "the build took too long" } else { "the build failed" };
        report.skip("build", &format!("{reason}; see {}", log.display()));
        return Ok(());
    }
    report.pass("build");
    let missing = missing(&format!("{}{}", outcome.stdout, outcome.stderr));
    fs::write(folder.join("missing.txt"), missing.join("\n") + "\n")?;
    let list = folder.join("missing.txt");
    ui::note(format!("mpi4py does without {} functions, listed in {}", missing.len(), list.display()));
    for ranks in RUNS {
        run(dist, &venv, &folder, ranks, report)?;
    }
    Ok(())
}

/// Runs mpi4py's tests: the count in the last line of each rank is the result.
fn run(dist: &Path, venv: &Path, folder: &Path, ranks: usize, report: &mut Report) -> Result<()> {
    let test = format!("its tests with {ranks} ranks");
    if !report.selects(&test) {
        return Ok(());
    }
    let tests = folder.join(SOURCE.replace("==", "-")).join("test/main.py");
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", &ranks.to_string(), "--timeout", "280"]).arg(venv.join("bin/python"));
    command.arg(paths::root().join("tests/mpi4py/run.py")).arg(tests).arg("--quiet");
    command.args(MODULES_LEFT_OUT.iter().flat_map(|module| ["-e", module]));
    command.args(TESTS_LEFT_OUT.iter().flat_map(|test| ["-x", test]));
    let outcome = process::run(&mut command, Duration::from_secs(300))?;
    let counts: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("tests: ")).collect();
    if let Some(count) = counts.first() {
        ui::note(format!("mpi4py with {ranks} ranks: {count}"));
    }
    report.check(&test, outcome.success() && counts.len() == ranks, || outcome.report());
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
