//! Launchers and libraries mixed: our programs under MPICH's Hydra, Open MPI's PRRTE and Slurm, MPICH's programs under
//! our `mpiexec`, and launchers that do not respond as announced.
//!
//! Not here: the protocols themselves and their unit tests (`mpi-launch`).

mod containers;
mod silent;
mod slurm;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::leftovers::{SHARED_MEMORY, files};
use super::{Context, Report, network};
use crate::peers::Library;
use crate::process::{self, Outcome};
use crate::{Result, paths};

const LIMIT: Duration = Duration::from_secs(60);

/// A program in C, with the library that it is built with.
struct Programs {
    folder: PathBuf,
    library: &'static str,
}

impl Programs {
    fn build(library: &Library, names: &[&str]) -> Result<Programs> {
        let folder = paths::scratch("pmi").join(library.name);
        fs::create_dir_all(&folder)?;
        for name in names {
            let source = paths::root().join("tests/pmi").join(format!("{name}.c"));
            library.compile(&source, &folder.join(name), &[])?;
        }
        Ok(Programs { folder, library: library.name })
    }

    fn get(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Exit statuses of a launcher for endings that no standard defines.
struct Endings {
    /// Exit status after `MPI_Abort` with code 42.
    abort: Expect,
    /// Exit status after `exit(3)` of one rank inside MPI.
    exit: Expect,
}

/// An exit status.
#[derive(Clone, Copy)]
enum Expect {
    This(i32),
    /// Any but 0.
    Failure,
}

impl Expect {
    fn holds(self, outcome: &Outcome) -> bool {
        let code = outcome.status.code().filter(|_| !outcome.timed_out);
        match self {
            Expect::This(due) => code == Some(due),
            Expect::Failure => code.is_some_and(|code| code != 0),
        }
    }
}

/// All combinations that this machine has.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let ferrum = Library::ferrum(dist);
    let ours = Programs::build(&ferrum, &["job", "tool_only", "session_only", "spawn", "containers"])?;
    containers::under_ours(&ferrum, &ours, report)?;
    silent::check(dist, &ours, report)?;
    let shared = shared_memory();
    match Library::mpich() {
        Ok(mpich) => {
            under_hydra(&mpich, &ours, report)?;
            let theirs = Programs::build(&mpich, &["job", "spawn"])?;
            under_ours(&ferrum, &theirs, report)?;
        }
        Err(failure) => report.skip("with MPICH", &failure.to_string()),
    }
    remove_leftovers(&shared)?;
    match Library::openmpi() {
        Ok(openmpi) => under_prrte(&openmpi, &ours, report)?,
        Err(failure) => report.skip("under Open MPI's mpiexec", &failure.to_string()),
    }
    slurm::check(context, &ours, report)
}

fn under_hydra(mpich: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    let start = |ranks, program: &str| mpich.launch(ranks, &ours.get(program));
    works(report, "hydra", ours, &start)?;
    ends(report, "hydra", ours, &start, &Endings { abort: Expect::This(42), exit: Expect::Failure })?;
    spawns(report, "hydra", &start, &[1, 3])?;
    let program = ours.get("job");
    let mut port = Command::new(mpich.launcher());
    run(report, "hydra: port", port.args(["-pmi-port", "-n", "3"]).arg(&program), |outcome| {
        outcome.success() && outcome.stdout.contains("size 3 token 3 sum 3")
    })?;
    let mut apart = Command::new(mpich.launcher());
    let container = ["unshare", "--pid", "--fork", "--mount-proc"];
    if process::run(Command::new(container[0]).args(&container[1..]).arg("true"), LIMIT)
        .is_ok_and(|done| done.success())
    {
        run(report, "hydra: two containers", apart.args(["-n", "2"]).args(container).arg(&program), |outcome| {
            // Processes that cannot see each other are connected by the network.
            match network::has_libfabric() {
                true => outcome.success() && outcome.stdout.contains("size 2 token 2 sum 1"),
                false => {
                    Expect::Failure.holds(outcome) && words(&outcome.stderr).contains("libfabric.so.1 is not found")
                }
            }
        })?;
    } else {
        report.skip("hydra: two containers", "this user may not make process id namespaces");
    }
    let mut late = Command::new(mpich.launcher());
    let script = "test $PMI_RANK = 1 && sleep 2; exec \"$0\"";
    late.args(["-n", "2", "sh", "-c", script]).arg(&program).env("FERRUM_LAUNCHER_TIMEOUT", "1");
    run(report, "hydra: a late rank is waited for", &mut late, |outcome| {
        outcome.success()
            && outcome.stdout.contains("size 2 token 2 sum 1")
            && outcome.stderr.contains("rank 0 of 2 has been waiting for 1 seconds")
    })?;
    let mut several = Command::new(mpich.launcher());
    several.args(["-n", "1"]).arg(&program).arg("program").args([":", "-n", "1"]).arg(&program).arg("program");
    run(report, "hydra: two programs", &mut several, |outcome| {
        outcome.success()
            && ["size 2", "rank 0 program 0", "rank 1 program 1"].iter().all(|text| outcome.stdout.contains(text))
    })?;
    containers::under_hydra(mpich, ours, report)
}

fn under_ours(ferrum: &Library, theirs: &Programs, report: &mut Report) -> Result<()> {
    let start = |ranks, program: &str| ferrum.launch(ranks, &theirs.get(program));
    works_only(report, "mpich under ours", theirs, &start)?;
    ends(report, "mpich under ours", theirs, &start, &Endings { abort: Expect::This(42), exit: Expect::This(3) })?;
    spawns(report, "mpich under ours", &start, &[1, 3])?;
    let mut leave = start(2, "job");
    run(report, "mpich under ours: leave", leave.arg("leave"), |outcome| {
        outcome.status.code() == Some(1) && outcome.stderr.contains("without calling MPI_Finalize")
    })
}

/// A job spawns another one.
fn spawns(report: &mut Report, launcher: &str, start: &Start<'_>, ranks: &[usize]) -> Result<()> {
    for &ranks in ranks {
        let (size, sum) = (ranks + 2, (ranks - 1) * ranks / 2 + 1);
        let due = format!("spawned sum 1, both size {size} sum {sum}");
        run(report, &format!("{launcher}: {ranks} spawn two"), &mut start(ranks, "spawn"), |outcome| {
            outcome.success() && outcome.stdout.contains(&due)
        })?;
    }
    Ok(())
}

fn under_prrte(openmpi: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    let start = |ranks, program: &str| openmpi.launch(ranks, &ours.get(program));
    works(report, "open mpi's mpiexec", ours, &start)?;
    ends(report, "open mpi's mpiexec", ours, &start, &Endings { abort: Expect::This(42), exit: Expect::This(3) })?;
    // With fewer ranks than cores it is not started with oversubscription, and has no places for more processes.
    spawns(report, "open mpi's mpiexec", &start, &[3])?;
    let mut prterun = Command::new(openmpi.launcher().with_file_name("prterun"));
    prterun.args(["--allow-run-as-root", "--map-by", ":oversubscribe", "-n", "3"]).arg(ours.get("job"));
    run(report, "prterun", &mut prterun, |outcome| {
        outcome.success() && outcome.stdout.contains("size 3 token 3 sum 3")
    })?;
    let mut late = Command::new(openmpi.launcher().with_file_name("prterun"));
    late.args(["--allow-run-as-root", "--map-by", ":oversubscribe", "-n", "2", "sh", "-c"]);
    late.args(["test $PMIX_RANK = 1 && sleep 3; exec \"$0\""]).arg(ours.get("job")).env("FERRUM_LAUNCHER_TIMEOUT", "1");
    run(report, "prterun: a late rank is waited for", &mut late, |outcome| {
        outcome.success()
            && outcome.stdout.contains("size 2 token 2 sum 1")
            && outcome.stderr.contains("rank 0 of 2 has been waiting for 1 seconds")
    })?;
    containers::under_prrte(openmpi, ours, report)?;
    // The variables are set, but the launcher has ended.
    let mut ended = Command::new(ours.get("job"));
    let library = openmpi.launcher().with_file_name("../lib/openmpi/libpmix.so.2");
    ended.envs([("PMIX_NAMESPACE", "gone@1"), ("PMIX_RANK", "0")]).env("FERRUM_PMIX_LIBRARY", library);
    run(report, "prterun: ended launcher", &mut ended, |outcome| {
        Expect::Failure.holds(outcome)
            && words(&outcome.stderr).contains("rank 0 of job gone@1 (PMIX_RANK, PMIX_NAMESPACE)")
    })
}

/// A text without its line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

type Start<'a> = dyn Fn(usize, &str) -> Command + 'a;

/// Jobs of our library, in all variants.
fn works(report: &mut Report, launcher: &str, programs: &Programs, start: &Start<'_>) -> Result<()> {
    works_only(report, launcher, programs, start)?;
    run(report, &format!("{launcher}: tool only"), &mut start(2, "tool_only"), Outcome::success)?;
    run(report, &format!("{launcher}: session only"), &mut start(2, "session_only"), |outcome| {
        outcome.success() && outcome.stdout.matches("session of 2").count() == 2
    })
}

/// Messages and a reduction, on several numbers of ranks; more than there are cores, too.
fn works_only(report: &mut Report, launcher: &str, programs: &Programs, start: &Start<'_>) -> Result<()> {
    for ranks in [1, 2, 4, 9] {
        let due = format!("size {ranks} token {ranks} sum {}", ranks * (ranks - 1) / 2);
        let name = format!("{launcher}: {} on {ranks}", programs.library);
        run(report, &name, &mut start(ranks, "job"), |outcome| {
            outcome.success() && outcome.stdout.lines().filter(|line| *line == due).count() == 1
        })?;
    }
    Ok(())
}

/// Endings other than a good one.
fn ends(report: &mut Report, launcher: &str, programs: &Programs, start: &Start<'_>, due: &Endings) -> Result<()> {
    let cases = [
        ("abort", due.abort),
        ("exit", due.exit),
        // A code after MPI_Finalize is that of the job, under every launcher.
        ("code", Expect::This(5)),
        ("crash", Expect::Failure),
    ];
    for (task, expect) in cases {
        let name = format!("{launcher}: {} {task}", programs.library);
        run(report, &name, start(2, "job").arg(task), |outcome| expect.holds(outcome))?;
    }
    Ok(())
}

fn run(report: &mut Report, name: &str, command: &mut Command, holds: impl Fn(&Outcome) -> bool) -> Result<()> {
    if !report.selects(name) {
        return Ok(());
    }
    let outcome = process::run(command, LIMIT)?;
    report.check(name, holds(&outcome), || outcome.report());
    Ok(())
}

/// MPICH's files in the host's shared memory.
fn shared_memory() -> BTreeSet<PathBuf> {
    files(SHARED_MEMORY).into_iter().filter(|path| path.to_string_lossy().contains("mpich_shm_")).collect()
}

/// MPICH leaves files behind when a job fails. New ones that are not in use are removed.
fn remove_leftovers(before: &BTreeSet<PathBuf>) -> Result<()> {
    let new: Vec<PathBuf> = shared_memory().difference(before).cloned().collect();
    let maps = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("maps")).ok();
    let used: String = fs::read_dir("/proc")?.flatten().filter_map(maps).collect();
    for path in new.iter().filter(|path| !used.contains(&*path.to_string_lossy())) {
        // Another process may have removed it already.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Whether a path is that of a program that can be started.
fn is_there(program: &str) -> bool {
    ["/usr/sbin", "/sbin", "/usr/local/sbin"].iter().any(|folder| Path::new(folder).join(program).is_file())
        || crate::tools::found(program)
}
