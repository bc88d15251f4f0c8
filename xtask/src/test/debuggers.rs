//! What debuggers use: the table of processes in `mpiexec`, by gdb, and the library of message queues, by a client that plays
//! the debugger against a process that runs, is stopped, or has left a core file.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(60);

/// The queues of rank 1 of `queues.c`, but for a hundred messages.
const QUEUES: &str = "communicator MPI_COMM_WORLD: rank 1 of 2, first 0
  receive rank 0 (0) tag 53 bytes 28
  unexpected rank 0 (0) tag 43 bytes 8
communicator MPI_COMM_SELF: rank 0 of 1, first 1
communicator pair: rank 1 of 2, first 0
  receive rank 0 (0) tag 51 bytes 20
  receive rank -1 (-1) tag 52 bytes 24
  unexpected rank 0 (0) tag 41 bytes 12
  unexpected rank 0 (0) tag 42 bytes 1200
";

/// Shell lines that print the queues of rank 1: `$B` the distribution's programs, `$L` the library of queues. The program
/// prints the process id when its queues are complete.
const PRINT: [(&str, &str); 4] = [
    (
        "queues of a process that runs",
        "$B/mpiexec -n 2 ./queues run > out & m=$!; until grep -q pid out; do sleep 0.05; done; \
         ./client $L $(sed -n 's/pid //p' out); kill -9 $m",
    ),
    (
        "queues of a process that is stopped",
        "$B/mpiexec -n 2 ./queues stop > out & m=$!; until grep -q pid out; do sleep 0.05; done; p=$(sed -n 's/pid //p' out); \
         until grep -q 'State:.T' /proc/$p/status; do sleep 0.05; done; ./client $L $p; kill -9 $m",
    ),
    (
        "queues in a core file",
        "ulimit -c unlimited; rm -f core*; $B/mpiexec -n 2 ./queues crash > out 2> err; ./client $L core* maps; rm -f core*",
    ),
    (
        "sends that wait",
        "$B/mpiexec -n 2 ./queues run > out & m=$!; until grep -q pid out; do sleep 0.05; done; \
         p=$(sed -n 's/pid //p' out); for c in $(cat /proc/$m/task/$m/children); do \
         grep -q queues /proc/$c/cmdline && test $c != $p && ./client $L $c; done; kill -9 $m",
    ),
];

/// A debugger starts `mpiexec`, finds the processes, and releases them.
const START: &str = "set confirm off
starti
set {int}&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
printf \"state %d size %d\\n\", {int}&MPIR_debug_state, {int}&MPIR_proctable_size
set $t = {long}&MPIR_proctable
printf \"rank 0 runs %s\\n\", *(char**)($t+8)
eval \"shell sh release %d\", *(int*)($t+16)
eval \"shell sh release %d\", *(int*)($t+24+16)
continue
";
/// Waits until the process is in `MPI_Init`, and releases it.
const RELEASE: &str = "until grep -q libmpi_abi /proc/$1/maps; do sleep 0.05; done
gdb -batch -p $1 -ex 'set {int}&MPIR_debug_gate = 1' > /dev/null 2>&1; echo released $1
";

/// The suite `debuggers`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let (dist, folder) = (context.dist()?, paths::scratch("debuggers"));
    fs::create_dir_all(&folder)?;
    let (sources, strict) = (paths::root().join("tests/debuggers"), ["-O1", "-Wall", "-Wextra", "-Werror"]);
    let mut command = Command::new(dist.join("bin/mpicc"));
    process::must(command.args(strict).arg(sources.join("queues.c")).arg("-o").arg(folder.join("queues")), LIMIT)?;
    let mut command = Command::new("gcc");
    command.args(strict).arg(sources.join("client.c")).arg("-o").arg(folder.join("client")).arg("-ldl");
    process::must(&mut command, LIMIT)?;
    let many: String = (0..100).map(|i| format!("  unexpected rank 0 (0) tag {} bytes 4\n", 1000 + i)).collect();
    let whole = format!("{QUEUES}{many}");
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    for (name, line) in PRINT {
        if name.contains("core") && (pattern.contains('/') || pattern.contains('|')) {
            report.skip(name, "the system does not write core files where programs run");
            continue;
        }
        let text = shell(dist, &folder, line)?;
        let expected =
            if name.starts_with("sends") { "  send rank 1 (1) tag 43 bytes 8: waits for a receive\n" } else { &whole };
        report.check(name, text.contains(expected), || text.clone());
    }
    if process::run(Command::new("gdb").arg("--version"), LIMIT).is_err() {
        report.skip("processes of a job", "there is no gdb");
        return Ok(());
    }
    fs::write(folder.join("start"), START)?;
    fs::write(folder.join("release"), RELEASE)?;
    let size = paths::root().join("tests/launch/size.c");
    process::must(Command::new(dist.join("bin/mpicc")).arg(size).arg("-o").arg(folder.join("size")), LIMIT)?;
    let text = shell(dist, &folder, "gdb -batch -x start --args $B/mpiexec -n 2 ./size 2>&1")?;
    let found = ["state 1 size 2\n", "rank 0 runs ./size\n", "size 2\n"].iter().all(|part| text.contains(part));
    report.check("processes of a job that a debugger starts", found, || text.clone());
    let attach = "$B/mpiexec -n 2 ./queues run > out & m=$!; until grep -q pid out; do sleep 0.05; done; gdb -batch -p $m \
                  -ex 'printf \"size %d\\n\", {int}&MPIR_proctable_size' -ex 'set $t = {long}&MPIR_proctable' \
                  -ex 'printf \"pid %d\\n\", *(int*)($t+24+16)' 2>&1 | grep -v '^0x'; cat out; kill -9 $m";
    let text = shell(dist, &folder, attach)?;
    let pids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pid ")).collect();
    let same = text.contains("size 2\n") && matches!(&*pids, [first, second] if first == second);
    report.check("processes of a job that a debugger attaches to", same, || text.clone());
    Ok(())
}

/// What a shell line prints.
fn shell(dist: &Path, folder: &Path, line: &str) -> Result<String> {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder)
        .env("B", dist.join("bin"))
        .env("L", dist.join("lib/libferrum_mqs.so"));
    let outcome = process::run(&mut command, LIMIT)?;
    Ok(outcome.stdout)
}
