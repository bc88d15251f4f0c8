//! Jobs of which some ranks run in containers of the same host: namespaces of their own, or as another user.
//!
//! Under Hydra ranks that are refused the memory of another one use the network. Under our `mpiexec` all inherit the memory, and those that
//! may not copy from each other's processes use the buffers in it.
//! Not here: jobs on several hosts (`hosts`).

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Expect, LIMIT, Programs, run, words};
use crate::peers::Library;
use crate::process::{self, Outcome};
use crate::test::{Report, network};
use crate::{Result, paths};

/// Starts the program, and the ranks that the pattern `CONTAINED` names by the command in `CONTAINER`.
const BY_RANK: &str =
    "case ${FERRUM_RANK:-${PMI_RANK:-$PMIX_RANK}} in $CONTAINED) exec $CONTAINER \"$@\";; esac; exec \"$@\"";
/// Patterns of two ranks of 4.
const FIRST: &str = "[01]";
const LAST: &str = "[23]";
const ALONE: &str = "unshare --user --map-root-user";
const APART: &str = "unshare --user --map-root-user --pid --fork --mount-proc";
const OTHER_USER: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups";

/// A user namespace that several ranks enter, as long as this value exists.
struct Namespace(Child);

impl Namespace {
    /// `None`: this user may make none.
    fn new() -> Result<Option<Namespace>> {
        let mut sleeps = Command::new("unshare");
        sleeps.args(["--user", "--map-root-user", "sleep", "600"]).stdin(Stdio::null());
        let Ok(child) = sleeps.stderr(Stdio::null()).spawn() else { return Ok(None) };
        let mut made = Namespace(child);
        let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/user"));
        let (own, end) = (of("self")?, Instant::now() + Duration::from_secs(5));
        while Instant::now() < end && made.0.try_wait()?.is_none() {
            let found = of(&made.0.id().to_string());
            // The group map is the last thing that `unshare` writes.
            let maps = fs::read_to_string(format!("/proc/{}/gid_map", made.0.id())).unwrap_or_default();
            if found.is_ok_and(|found| found != own) && !maps.is_empty() {
                return Ok(starts(&made.command(), "/bin/sh").then_some(made));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(None)
    }

    /// The command that enters it.
    fn command(&self) -> String {
        format!("nsenter --user --preserve-credentials --target {}", self.0.id())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a program can be started by a command.
fn starts(command: &str, program: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    process::run(Command::new(words[0]).args(&words[1..]).args(["test", "-x", program]), LIMIT)
        .is_ok_and(|done| done.success())
}

/// Four ranks, of which those of a pattern are started by a command.
fn job(library: &Library, contained: &str, container: &str, program: &Path) -> Command {
    let mut command = Command::new(library.launcher());
    command.args(["-n", "4", "sh", "-c", BY_RANK, "sh"]).arg(program);
    command.env("CONTAINED", contained).env("CONTAINER", container);
    command
}

fn works(outcome: &Outcome) -> bool {
    outcome.success() && outcome.stdout.contains("4 ranks, sum 6")
}

/// Under our `mpiexec`.
pub(super) fn under_ours(ferrum: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    let program = ours.get("containers");
    for (what, container) in
        [("user namespaces of their own", ALONE), ("namespaces of their own", APART), ("another user", OTHER_USER)]
    {
        let name = format!("mpiexec: two ranks with {what}");
        if !starts(container, &program.to_string_lossy()) {
            report.skip(&name, &format!("this user may not start {container}"));
            continue;
        }
        run(report, &name, job(ferrum, LAST, container, &program).args(["0,1,2,3", "memory", "limited"]), works)?;
    }
    connected(ferrum, ours, report)
}

/// Two jobs of which one runs in a user namespace of its own.
fn connected(ferrum: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    const LINE: &str = "$S -n 1 $P accept $F & s=$!; $C $S -n 1 $P connect $F; c=$?; wait $s && exit $c";
    let (name, program) = ("mpiexec: jobs of two user namespaces connect", ours.get("jobs"));
    ferrum.compile(&paths::root().join("tests/hosts/jobs.c"), &program, &[])?;
    if !network::has_libfabric() || !starts(ALONE, &program.to_string_lossy()) {
        report.skip(name, "this user may make no user namespace, or libfabric.so.1 is not found (Debian: libfabric1)");
        return Ok(());
    }
    let file = ours.folder.join("port");
    // It is there if an earlier run was interrupted.
    let _ = fs::remove_file(&file);
    let mut both = Command::new("sh");
    both.args(["-c", LINE]).env("S", ferrum.launcher()).env("P", program).env("F", &file).env("C", ALONE);
    run(report, name, &mut both, |outcome| {
        outcome.success()
            && ["accept: connected and parted", "connect: connected and parted"]
                .iter()
                .all(|text| outcome.stdout.contains(text))
    })?;
    // Not there if the test was not selected.
    let _ = fs::remove_file(&file);
    Ok(())
}

/// Under PRRTE.
pub(super) fn under_prrte(openmpi: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    let (name, program) = ("prterun: two ranks with user namespaces of their own", ours.get("containers"));
    if !network::has_libfabric() || !starts(ALONE, &program.to_string_lossy()) {
        report.skip(name, "this user may make no user namespace, or libfabric.so.1 is not found (Debian: libfabric1)");
        return Ok(());
    }
    let mut prterun = Command::new(openmpi.launcher().with_file_name("prterun"));
    prterun.args(["--allow-run-as-root", "--map-by", ":oversubscribe", "-n", "4", "sh", "-c", BY_RANK, "sh"]);
    // In a user namespace the library cannot read the launcher's mappings, which have the file.
    let library = openmpi.launcher().with_file_name("../lib/openmpi/libpmix.so.2");
    prterun.env("CONTAINED", LAST).env("CONTAINER", ALONE).env("FERRUM_PMIX_LIBRARY", library);
    run(report, name, prterun.arg(&program).args(["0,1", "2", "3", "memory"]), works)
}

/// Under Hydra.
pub(super) fn under_hydra(mpich: &Library, ours: &Programs, report: &mut Report) -> Result<()> {
    let program = ours.get("containers");
    let path = program.to_string_lossy();
    let shared = Namespace::new()?;
    let shared = shared.as_ref().map(Namespace::command).unwrap_or_default();
    let cases: [(&str, &str, &str, &[&str]); 5] = [
        ("a user namespace", LAST, &shared, &["0,1", "2,3", "memory"]),
        ("another user", LAST, OTHER_USER, &["0,1", "2,3", "memory"]),
        ("user namespaces of their own", LAST, ALONE, &["0,1", "2", "3", "memory"]),
        ("namespaces of their own", LAST, APART, &["0,1", "2", "3", "memory"]),
        // The others may open the memory of rank 0, which may not open theirs.
        ("a user namespace, the first ones", FIRST, &shared, &["0,1,2,3", "memory"]),
    ];
    for (what, contained, container, groups) in cases {
        let name = format!("hydra: two ranks with {what}");
        if container.is_empty() || !starts(container, &path) {
            report.skip(&name, "this user may not make such a process, or the program cannot be read there");
        } else if groups.len() > 2 && !network::has_libfabric() {
            report.skip(&name, "libfabric.so.1 is not found (Debian: libfabric1)");
        } else {
            run(report, &name, job(mpich, contained, container, &program).args(groups), works)?;
        }
    }
    let name = "hydra: a user namespace without libfabric";
    if shared.is_empty() || !starts(&shared, &path) {
        report.skip(name, "this user may make no user namespace");
        return Ok(());
    }
    let mut without = job(mpich, LAST, &shared, &program);
    run(report, name, without.env("FERRUM_NET_LIBRARY", "/nowhere/libfabric.so.1"), |outcome| {
        let message = words(&outcome.stderr);
        let causes = ["/nowhere/libfabric.so.1", "cannot open the job's memory in rank 0", "Permission denied"];
        Expect::Failure.holds(outcome) && causes.iter().all(|cause| message.contains(cause))
    })
}
