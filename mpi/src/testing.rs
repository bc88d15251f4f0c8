//! Tests on several processes under `cargo test`: what `#[mpi::test]` expands to.
//!
//! The test harness calls the test once. There it starts `mpiexec` with the test program itself, told to run only this
//! test; in those processes the same call runs the test's function.
//! Invariant: a run that ends well printed nothing; one that does not fails the test with all that its processes printed.
//! Not here: the attribute (`mpi-macros`).

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::threads::ThreadUse;
use crate::world::run_in;
use crate::{Result, World};

/// Name of the test that the processes of a job run.
const VARIABLE: &str = "MPI_RUST_TEST";

/// What a test returns: nothing, or a result.
pub trait Outcome {
    /// The error, if the test failed.
    fn into_result(self) -> Result<()>;
}

impl Outcome for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl<E: Display + 'static> Outcome for std::result::Result<(), E> {
    fn into_result(self) -> Result<()> {
        mpi_errors::of_any_result(self)
    }
}

/// Runs a test on each number of processes, `seconds` seconds at most; `name` is its path with the crate's name.
///
/// # Panics
/// When the test fails on any process, takes longer, or no launcher is found.
pub fn run<M: ThreadUse, O: Outcome>(name: &str, ranks: &[u32], seconds: u32, body: fn(&World<M>) -> O) {
    // The harness names tests without the crate.
    let test = name.split_once("::").map_or(name, |(_, test)| test);
    if env::var_os(VARIABLE).is_some_and(|of_job| of_job == *test) {
        return run_in(|world| body(world).into_result());
    }
    let launcher = Launcher::find();
    for &count in ranks {
        launcher.run(test, count, seconds);
    }
}

struct Launcher {
    program: PathBuf,
    options: Vec<OsString>,
}

impl Launcher {
    fn find() -> Launcher {
        if let Some(words) = env::var("MPIEXEC").ok().filter(|words| !words.trim().is_empty()) {
            let mut words = words.split_whitespace();
            let program = words.next().map(PathBuf::from).unwrap_or_default();
            return Launcher { program, options: words.map(OsString::from).collect() };
        }
        static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
        let found = FOUND.get_or_init(|| built().or_else(beside).or_else(in_path));
        let program = found.clone().unwrap_or_else(|| {
            panic!(
                "no mpiexec for a test on several processes: put its folder into PATH, or set MPIEXEC to it; \
                 `cargo build -p mpi-launch` in the folder of Ferrum MPI makes target/debug/mpiexec there"
            )
        });
        Launcher { program, options: Vec::new() }
    }

    fn run(&self, test: &str, count: u32, seconds: u32) {
        let program = env::current_exe().expect("a test is a program");
        let mut command = Command::new(&self.program);
        command.args(&self.options).args(["-n", &count.to_string()]);
        // The limit of other launchers is set in their environment or not at all.
        if self.is_ferrum() {
            command.args(["--tag-output", "--timeout", &seconds.to_string()]);
        }
        command.env("MPIEXEC_TIMEOUT", seconds.to_string()).env(VARIABLE, test).stdin(Stdio::null());
        command.arg(program).args([test, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"]);
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("cannot start the launcher {}: {error}", self.program.display()));
        if !output.status.success() {
            panic!(
                "the test failed on {} ({})\n{}{}",
                mpi_errors::processes(count),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        // A name that matches no test runs none, and succeeds.
        let passed = String::from_utf8_lossy(&output.stdout).matches("1 passed").count();
        assert_eq!(passed, count as usize, "the number of processes that ran the test {test}");
    }

    fn is_ferrum(&self) -> bool {
        let version = Command::new(&self.program).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("Ferrum"))
    }
}

/// The folder of the programs of this profile; tests lie in its folder `deps`.
fn programs() -> Option<PathBuf> {
    let test = env::current_exe().ok()?;
    test.ancestors().nth(2).map(Path::to_path_buf)
}

/// The launcher of this workspace, up to date, where the workspace has one and cargo runs the test.
fn built() -> Option<PathBuf> {
    let (cargo, programs) = (env::var_os("CARGO")?, programs()?);
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "-p", "mpi-launch", "--bin", "mpiexec", "--target-dir"]).arg(programs.parent()?);
    if programs.ends_with("release") {
        build.arg("--release");
    }
    let outcome = build.stdin(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    outcome.success().then_some(())?;
    beside()
}

fn beside() -> Option<PathBuf> {
    Some(programs()?.join("mpiexec")).filter(|program| program.is_file())
}

fn in_path() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join("mpiexec")).find(|program| Path::is_file(program))
}
