//! Jobs that wait for ever, each by a classic mistake: the first line of the report names it.
//!
//! Invariant: no case depends on how fast the machine is. A report that came too early is followed by another one once the
//! job has made progress, so a case waits until the expected line comes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{Context, Report};
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(60);

/// The mistake, and what stands in the first line of the report on it.
const HANGS: [(&str, &str); 31] = [
    (
        "ssend",
        "ranks 0-1 wait for each other: rank 0 in MPI_Ssend to rank 1 with tag 3, rank 1 in MPI_Ssend to rank 0 with tag 3",
    ),
    (
        "large",
        "ranks 0-1 wait for each other: rank 0 in MPI_Send to rank 1 with tag 4, rank 1 in MPI_Send to rank 0 with tag 4",
    ),
    ("tag", "rank 0 waits in MPI_Recv from rank 1 with tag 7; rank 1 has sent one with tag 8 (4 bytes)"),
    ("source", "rank 0 waits in MPI_Recv from rank 2 with tag 7; a message with tag 7 (4 bytes) has come from rank 1"),
    (
        "communicator",
        "rank 0 waits in MPI_Recv from rank 1 with tag 7; rank 1 has sent a message with tag 7 (4 bytes) on spare, not on \
         MPI_COMM_WORLD",
    ),
    (
        "missing",
        "collective calls on MPI_COMM_WORLD differ: ranks 0, 2-3 call MPI_Scan #2, rank 1 calls MPI_Barrier #2",
    ),
    (
        "root",
        "collective calls on MPI_COMM_WORLD differ: ranks 0, 2-3 call MPI_Reduce #2 with root 0, rank 1 calls MPI_Reduce #2 \
         with root 1",
    ),
    (
        "collective",
        "collective calls on MPI_COMM_WORLD differ: ranks 0, 2-3 call MPI_Scan #2, rank 1 calls MPI_Alltoallv #2",
    ),
    ("split", "collective calls on MPI_COMM_WORLD differ: ranks 1-3 call MPI_Comm_split, rank 0 calls MPI_Comm_dup"),
    (
        "finalize",
        "nobody sends the message that rank 0 waits for in MPI_Recv from rank 1 with tag 7: rank 1 is in MPI_Finalize",
    ),
    ("loop", "after MPI_Barrier, the process is running; ranks 0-2 wait for it in MPI_Barrier #2 on MPI_COMM_WORLD"),
    ("sleep", "the process is sleeping in the system call clock_nanosleep; ranks 0-2 wait for it in MPI_Barrier #2"),
    (
        "started",
        "collective calls on spare differ: ranks 0, 2-3 call MPI_Ireduce #1 with root 0, rank 1 calls MPI_Ibcast #1 with root 0",
    ),
    ("request", "ranks 0-2 wait for it in MPI_Bcast_init on MPI_COMM_WORLD"),
    (
        "stopped",
        "rank 3 is stopped by a signal or a debugger; ranks 0-2 wait for it in MPI_Barrier #2 on MPI_COMM_WORLD",
    ),
    (
        "circle",
        "ranks 0-2 wait for each other in a circle: rank 0 in MPI_Recv from rank 1 with tag 5, rank 1 in MPI_Recv from rank 2 \
         with tag 5, rank 2 in MPI_Recv from rank 0 with tag 5",
    ),
    (
        "receives",
        "nobody receives the message that rank 0 sends in MPI_Ssend to rank 1 with tag 6: rank 1 is in MPI_Barrier #2 on \
         MPI_COMM_WORLD",
    ),
    (
        "communicators",
        "collective calls wait for each other: ranks 0-1 in MPI_Barrier #1 on spare, ranks 2-3 in MPI_Barrier #2 on \
         MPI_COMM_WORLD",
    ),
    (
        "unready",
        "nobody sends the message that rank 1 waits for in MPI_Wait for a receive from rank 0 with tag 14: rank 0 is in MPI_Barrier \
         #2 on MPI_COMM_WORLD; it has started a partitioned send of it and not called MPI_Pready",
    ),
    ("partitions", "it has started a partitioned send of it, and may not have called MPI_Pready for all partitions"),
    ("unstarted", "it has made a request for it by MPI_Send_init and not started it"),
    (
        "probe",
        "nobody sends the message that rank 0 waits for in MPI_Probe from rank 1 with tag 11: rank 1 is in MPI_Barrier #2",
    ),
    ("lock", "rank 2 in MPI_Win_lock for the window of rank 0, which rank 1 has locked"),
    (
        "waitall",
        "rank 1 waits in MPI_Waitall for a receive from rank 0 with tag 1; rank 0 has sent one with tag 2 (4 bytes)",
    ),
    (
        "partly",
        "nobody sends the message that rank 0 waits for in MPI_Waitall for a receive from rank 2 with tag 1: rank 2 is in \
         MPI_Barrier #2",
    ),
    (
        "polls",
        "nobody sends the message that rank 0 waits for in MPI_Test for a receive from rank 1 with tag 1: rank 1 is in \
         MPI_Barrier #2",
    ),
    ("threads", "nobody sends the message that rank 0 waits for in MPI_Recv from rank 1 with tag 2"),
    ("group", "rank 0 waits in MPI_Recv from rank 1 with tag 7 on low; rank 1 has sent one with tag 8 (4 bytes)"),
    ("early", "rank 1 has not returned from MPI_Init"),
    (
        "any",
        "nobody sends the message that rank 0 waits for in MPI_Recv from any rank with tag 7: ranks 1-3 are in MPI_Barrier #2 on \
         MPI_COMM_WORLD",
    ),
    (
        "pairs",
        "nobody sends the messages that 8 threads of ranks 0-3 wait for: ranks 0-3 in MPI_Recv with tag 21: rank 0 from 1, rank 1 from \
         2, rank 2 from 3, rank 3 from 0; ranks 0-3 in MPI_Recv with tag 22: ",
    ),
];

/// The mistake, and texts of the report on a rank that ended, or on a call that does not match.
const ENDINGS: [(&str, &[&str]); 4] = [
    ("dies", &["rank 0 waited for rank 1 in MPI_Recv from rank 1 with tag 12", "waited for rank 1 in MPI_Barrier"]),
    // Whichever of the processes finds it first.
    ("extra", &["of the communicator calls MPI_", "this process MPI_", "MPI_Finalize", "MPI_Barrier"]),
    // Rank 1 waits for rank 2, which has not failed.
    (
        "chain",
        &[
            "exited with code 3, after its last MPI call, MPI_Barrier; the other ranks were ended\n  rank 0 waited for rank 3 in \
             MPI_Allreduce #2 on MPI_COMM_WORLD\n  rank 2 waited for rank 3 in MPI_Recv from rank 3 with tag 15\n",
        ],
    ),
    ("lost", &["ranks 0-1, 3 waited for rank 2 in MPI_Barrier #2 on MPI_COMM_WORLD"]),
];

/// The suite `hangs`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let (dist, folder) = (context.dist()?, paths::scratch("hangs"));
    fs::create_dir_all(&folder)?;
    let program = folder.join("hang");
    let mut command = Command::new(dist.join("bin/mpicc"));
    command.args(["-Wall", "-Wextra", "-Werror", "-pthread"]).arg(paths::root().join("tests/hangs/hang.c"));
    process::must(command.arg("-o").arg(&program), LIMIT)?;
    for (mistake, expected) in HANGS {
        report.step(mistake, || hangs(dist, &program, mistake, expected))?;
    }
    for (mistake, expected) in ENDINGS {
        let mut command = Command::new(dist.join("bin/mpiexec"));
        let outcome = process::run(command.args(["-n", "4"]).arg(&program).arg(mistake), LIMIT)?;
        let holds = expected.iter().all(|line| outcome.stderr.contains(line));
        report.check(mistake, holds, || outcome.report());
    }
    report.step("nobody waits for a rank that has left", || {
        let mut command = Command::new(dist.join("bin/mpiexec"));
        let outcome = process::run(command.args(["-n", "4"]).arg(&program).arg("fails"), LIMIT)?;
        let text = outcome.report();
        let named = text.contains("rank 1 of 4") && text.contains("exited with code 3");
        if named && !text.contains("waited for rank") { Ok(()) } else { Err(text.into()) }
    })?;
    report.step("a signal of the user blames no rank", || {
        let mut command = Command::new(dist.join("bin/mpiexec"));
        command.args(["-n", "4"]).arg(&program).arg("circle").stderr(Stdio::piped());
        let child = command.spawn()?;
        let (job, until) = (child.id().to_string(), Instant::now() + LIMIT);
        let in_circle = || -> Result<bool> {
            let seen = process::run(Command::new(dist.join("bin/mpitop")).args(["--why", &job]), LIMIT)?;
            Ok(seen.stdout.contains(" wait for each other in a circle: "))
        };
        while !in_circle()? && Instant::now() < until {}
        process::must(Command::new("kill").args(["-TERM", &job]), LIMIT)?;
        let text = String::from_utf8_lossy(&child.wait_with_output()?.stderr).into_owned();
        if text == "mpiexec: the job was ended by SIGTERM\n" { Ok(()) } else { Err(text.into()) }
    })?;
    report.step("the list of a time limit is that of a hang report", || {
        let line = "  rank 0: calls MPI_Test for a receive from rank 1 with tag 1 again and again; ";
        wait_for(dist, &["-n", "4"], &program, "polls", line)?;
        let mut command = Command::new(dist.join("bin/mpiexec"));
        let outcome = process::run(command.args(["-n", "4", "--timeout", "5"]).arg(&program).arg("polls"), LIMIT)?;
        let text = outcome.report();
        if text.contains(line) { Ok(()) } else { Err(text.into()) }
    })?;
    report.step("json", || hangs_as_json(dist, &program))?;
    report.step("time limit", || {
        let mut command = Command::new(dist.join("bin/mpiexec"));
        let outcome = process::run(command.args(["-n", "4", "--timeout", "5"]).arg(&program).arg("circle"), LIMIT)?;
        let text = outcome.report();
        let first = "was ended; ranks 0-2 wait for each other in a circle";
        if text.contains(first) { Ok(()) } else { Err(text.into()) }
    })?;
    report.step("200 ranks in one screen", || {
        let line = "in MPI_Recv from 200 different ranks with tag 13";
        let lines = wait_for(dist, &["-n", "200"], &program, "ring", line)?;
        if lines.len() < 24 { Ok(()) } else { Err(lines.join("\n").into()) }
    })
}

fn hangs(dist: &Path, program: &Path, mistake: &str, expected: &str) -> Result<()> {
    let lines = wait_for(dist, &["-n", "4"], program, mistake, expected)?;
    let first = lines.last().is_some_and(|line| line.starts_with("mpiexec: no progress for "));
    if first { Ok(()) } else { Err(lines.join("\n").into()) }
}

fn hangs_as_json(dist: &Path, program: &Path) -> Result<()> {
    let options = ["-n", "4", "--error-format", "json"];
    let lines =
        wait_for(dist, &options, program, "tag", "\"kind\":\"hang_report\",\"cause\":\"rank 0 waits in MPI_Recv from")?;
    if lines.last().is_some_and(|line| line.ends_with('}')) { Ok(()) } else { Err(lines.join("\n").into()) }
}

/// Runs a job until it writes a line that contains a text; the lines up to it.
fn wait_for(dist: &Path, options: &[&str], program: &Path, mistake: &str, expected: &str) -> Result<Vec<String>> {
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(options).arg("--hang-report=0.5").arg(program).arg(mistake).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stderr = child.stderr.take().ok_or("no standard error")?;
    let (sender, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        BufReader::new(stderr).lines().map_while(std::result::Result::ok).for_each(|line| drop(sender.send(line)));
    });
    let (until, mut seen, mut found) = (Instant::now() + LIMIT, Vec::new(), false);
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        seen.push(line);
        found = seen.last().is_some_and(|line| line.contains(expected));
        if found {
            break;
        }
    }
    // The guard of the job ends its ranks.
    child.kill()?;
    child.wait()?;
    drop(lines);
    reader.join().map_err(|_| "the reader of standard error failed")?;
    if found { Ok(seen) } else { Err(format!("not written: {expected}\n{}", seen.join("\n")).into()) }
}
