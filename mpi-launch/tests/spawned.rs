//! Jobs that ranks spawn: what they are started with, what the spawning rank learns, and how jobs of jobs end.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{Done, Job, example, mpiexec, rank_program};

/// Runs `mpiexec` with options and the words of the example program `spawn`.
fn spawn(options: &[&str], words: &[&str]) -> Done {
    Job::start(mpiexec().args(options).arg(example("spawn")).args(words)).finish()
}

/// The lines of an output, in an order that does not depend on the processes.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn spawned_processes_are_a_job_with_labels_of_its_own() {
    let shown = "echo $FERRUM_RANK of $FERRUM_SIZE, program $FERRUM_APPNUM, $PMI_SPAWNED, $FERRUM_PARENT, \"$1\"";
    let words = ["then=wait", "2", "sh", "-c", shown, "sh", "a\nb", "+", "wdir=/", "1", "sh", "-c", "pwd"];
    let done = spawn(&["-l"], &words);
    let due = [
        "[0] ended",
        "[0] started [1, 1, 1] ",
        "[1:0] 0 of 3, program 0, 1, a port, a",
        "[1:0] b",
        "[1:1] 1 of 3, program 0, 1, a port, a",
        "[1:1] b",
        "[1:2] /",
    ];
    assert_eq!((sorted(&done.stdout), &*done.stderr, done.code), (due.to_vec(), "", Some(0)));
}

#[test]
fn a_job_that_cannot_be_started_is_reported_to_the_rank_alone() {
    for (words, reason) in [
        (&["2", "/nonexistent"][..], "program \"/nonexistent\" is not found"),
        (&["1", "true", "+", "1", "no-such-program"], "program \"no-such-program\" is not found in PATH"),
        (&["wdir=/nonexistent", "2", "true"], "-wdir \"/nonexistent\" cannot be entered"),
        (&["host=elsewhere", "2", "true"], "-host \"elsewhere\" is not this machine"),
        (&["soft=5:9", "2", "true"], "-soft allows no number of processes from 1 to 2"),
        (&["soft=x", "2", "true"], "-soft is \"x\""),
        (&["2000", "true"], "one host takes 1024 at most"),
    ] {
        let done = spawn(&[], &[&["then=0"], words].concat());

        assert!(done.stdout.contains(reason), "{words:?}: {}", done.stdout);
        assert_eq!((&*done.stderr, done.code), ("", Some(0)), "{words:?}");
    }
    // An empty name is no request.
    assert!(spawn(&[], &["then=0", "1"]).stdout.contains("execname is missing or has a bad value"));
}

#[test]
fn a_soft_number_reports_which_processes_were_started() {
    let done = spawn(&[], &["then=wait", "soft=1:3:2", "4", "true", "+", "1", "true"]);
    assert_eq!(done.stdout, "started [1, 1, 1, 0, 1] \nended\n");
}

#[test]
fn arguments_of_any_length_arrive() {
    let long = "x".repeat(100_000);
    let done = spawn(&[], &["then=wait", "1", "sh", "-c", "echo ${#1}", "sh", &long]);
    assert!(done.stdout.contains("100000\n"), "{}", done.stdout);
}

#[test]
fn the_failure_of_a_spawned_job_ends_the_other_job() {
    // Rank 1 fails when both have begun to use MPI.
    let both = "if test $FERRUM_RANK = 1; then sleep 0.5; exec \"$0\" abort; fi; exec \"$0\" wait";
    let done = spawn(&[], &["2", "sh", "-c", both, &rank_program()]);
    let sentences = [
        "mpiexec: spawned job 1: rank 1 of 2 (sh)",
        "called MPI_Abort with code 42; the other ranks were ended",
        "mpiexec: a job that rank 0 spawned failed with exit code 42; the ranks of this one were ended",
    ];
    assert!(sentences.iter().all(|sentence| done.stderr.contains(sentence)), "{}", done.stderr);
    assert_eq!(done.code, Some(42));
}

#[test]
fn the_failure_of_a_disconnected_job_does_not_end_the_one_that_spawned_it() {
    let task = "sleep 0.3; exec \"$0\" disconnected-abort";
    // Both ranks have left the other job; rank 0 waits.
    let done = spawn(&[], &["then=wait", "2", "sh", "-c", task, &rank_program()]);
    assert_eq!(done.stdout, "started [1, 1] \nended\n");
    assert!(done.stderr.contains("mpiexec: spawned job 1: rank 1 of 2 (sh)"), "{}", done.stderr);
    assert!(done.stderr.lines().count() == 1, "{}", done.stderr);
    // The first failure is that of the exit code.
    assert_eq!(done.code, Some(42));
    // One that is connected with another job still is not enough.
    let one = "if test $FERRUM_RANK = 0; then exec \"$0\" wait; fi; sleep 0.3; exec \"$0\" disconnected-abort";
    let done = spawn(&[], &["2", "sh", "-c", one, &rank_program()]);
    assert!(done.stderr.contains("mpiexec: a job that rank 0 spawned failed with exit code 42"), "{}", done.stderr);
    assert_eq!(done.code, Some(42));
}

#[test]
fn the_failure_of_a_job_does_not_end_those_that_have_disconnected_from_it() {
    // The child has recorded that it is connected with no job before the other one fails, and runs longer than any
    // time limit of an end.
    let task = "(sleep 6; echo late > \"$1\"; kill $$) & exec \"$0\" disconnected-wait";
    let file = std::env::temp_dir().join(format!("ferrum-apart-{}", std::process::id()));
    let text = file.to_str().unwrap();
    let done = spawn(&[], &["then=late5", "1", "sh", "-c", task, &rank_program(), text]);
    assert!(done.stderr.contains("exited with code 5"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "late\n");
    assert_eq!(done.code, Some(5));
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_job_that_fails_before_its_ranks_connect_is_an_error_of_the_spawn_only() {
    let done = spawn(&[], &["then=wait", "2", "sh", "-c", "test $FERRUM_RANK = 0 && exit 7; sleep 1000"]);
    assert_eq!(done.stdout, "started [1, 1] \nended\n");
    assert!(done.stderr.contains("mpiexec: spawned job 1: rank 0 of 2 (sh)"), "{}", done.stderr);
    assert_eq!(done.code, Some(0));
}

#[test]
fn the_failure_of_a_job_ends_those_that_it_spawned() {
    let started = Instant::now();
    let done = spawn(&[], &["then=5", "2", "sleep", "1000"]);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(done.stderr.contains("exited with code 5") && done.stderr.lines().count() == 1, "{}", done.stderr);
    assert_eq!(done.code, Some(5));
    // Also those that do not react to SIGTERM.
    let done = spawn(&[], &["then=5", "2", "sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]);
    assert_eq!(done.code, Some(5));
}

#[test]
fn a_job_outlives_the_one_that_spawned_it() {
    let done = spawn(&["-l"], &["then=0", "2", "sh", "-c", "sleep 0.6; echo late"]);
    assert_eq!((sorted(&done.stdout).len(), &*done.stderr, done.code), (3, "", Some(0)));
    assert!(done.stdout.ends_with("] late\n"), "{}", done.stdout);
}

#[test]
fn spawned_jobs_spawn_jobs() {
    let program = example("spawn");
    let words = ["then=wait", "1", &program, "then=wait", "1", &program, "then=wait", "2", "sh", "-c", "echo deep"];
    let done = spawn(&["-l"], &words);
    let deepest = done.stdout.lines().filter(|line| line.starts_with("[1.1.1:") && line.ends_with("] deep")).count();
    assert_eq!((deepest, &*done.stderr, done.code), (2, "", Some(0)), "{}", done.stdout);
}

#[test]
fn a_failure_deep_in_the_tree_ends_all() {
    let (program, rank) = (example("spawn"), rank_program());
    let abort = "if test $FERRUM_RANK = 1; then sleep 0.5; exec \"$0\" abort; fi; exec \"$0\" wait";
    let done = spawn(&[], &["1", &program, "1", &program, "2", "sh", "-c", abort, &rank]);
    assert!(done.stderr.contains("mpiexec: spawned job 1.1.1: rank 1 of 2 (sh)"), "{}", done.stderr);
}

#[test]
fn signals_reach_spawned_jobs_once() {
    let handler = "trap 'echo got; exit 0' USR1; echo up; while :; do sleep 0.05; done";
    // The spawning process ignores the signal.
    let ignores = ["sh", "-c", "trap '' USR1; exec \"$@\"", "sh", &example("spawn")];
    let mut job = Job::start(mpiexec().args(ignores).args(["then=wait", "2", "sh", "-c", handler]));
    assert_eq!(job.lines(3).iter().filter(|line| *line == "up").count(), 2);
    job.signal(libc::SIGUSR1);
    let done = job.finish();
    assert_eq!((done.stdout.matches("got").count(), done.code), (2, Some(0)), "{}{}", done.stdout, done.stderr);
}

#[test]
fn the_time_limit_is_for_all_jobs_and_the_report_too() {
    let done = spawn(&["--timeout", "0.7"], &["2", "sleep", "1000"]);
    let place = |of: &str| done.stderr.find(of).unwrap_or_else(|| panic!("{of}: {}", done.stderr));
    let child = place("mpiexec: spawned job 1: ");
    assert!(place("mpiexec: the time limit of 0.7 s is over; the jobs it has spawned report first\n") < child);
    assert!(
        child < place("; what the ranks were doing:\n") && child < place("mpiexec: the job did not end within 0.7 s")
    );
    assert_eq!(done.code, Some(124));
}

#[test]
fn nothing_remains_when_the_launcher_is_killed() {
    let stubborn = "trap '' TERM; echo up; sleep 1000 & setsid sleep 1000 & wait";
    let mut job = Job::start(mpiexec().arg(example("spawn")).args(["2", "sh", "-c", stubborn]));
    job.lines(3);
    job.signal(libc::SIGKILL);
    job.wait_for_members_to_vanish();
}

#[test]
fn files_of_spawned_jobs_have_their_names() {
    let directory = std::env::temp_dir().join(format!("ferrum-spawned-{}", std::process::id()));
    let text = directory.to_str().unwrap();
    let statistics = format!("stats_file={text}/table");
    let options = ["--output", text, "--cvar", "stats_at_end=summary", "--cvar", &statistics];
    let done = spawn(&options, &["then=wait", "2", "echo", "hello"]);
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).unwrap();
    assert_eq!(read("job1/rank.1.out"), "hello\n");
    assert!(read("rank.0.out").contains("started [1, 1]"));
    assert!(read("table").starts_with("Ferrum MPI statistics: "));
    assert!(read("table.job1").starts_with("Ferrum MPI statistics of spawned job 1: "));
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(done.code, Some(0));
}

#[test]
fn reports_in_json_name_the_spawned_job() {
    let done = spawn(&["--error-format", "json"], &["2", &rank_program(), "crash"]);
    assert!(done.stderr.lines().any(|line| line.ends_with(",\"job\":\"1\"}")), "{}", done.stderr);
}

/// Runs the example program without a launcher.
fn alone(words: &[&str]) -> Done {
    let mut command = Command::new(example("spawn"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Job::start(command.env("FERRUM_MPIEXEC", env!("CARGO_BIN_EXE_mpiexec")).arg("by=itself").args(words)).finish()
}

#[test]
fn a_process_without_a_launcher_spawns_by_an_mpiexec_of_its_own() {
    let done = alone(&["then=wait", "2", "sh", "-c", "echo $FERRUM_RANK of $FERRUM_SIZE"]);
    assert_eq!(sorted(&done.stdout), ["0 of 2", "1 of 2", "ended", "started [1, 1] "]);
    assert_eq!(done.code, Some(0));
    assert!(alone(&["then=wait", "1", "/nonexistent"]).stdout.contains("is not found"));
    // The end of the process is a failure for the job that it spawned.
    let done = alone(&["then=6", "2", "sleep", "1000"]);
    assert!(done.stderr.contains("the process that spawned the job has ended without MPI_Finalize"), "{}", done.stderr);
    assert_eq!(done.code, Some(6));
}

#[test]
fn a_missing_mpiexec_is_named() {
    let mut command = Command::new(example("spawn"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command.env("FERRUM_MPIEXEC", "/nonexistent/mpiexec").args(["by=itself", "1", "true"]);
    let done = Job::start(&mut command).finish();
    assert!(done.stdout.contains("/nonexistent/mpiexec cannot be started"), "{}", done.stdout);
    assert_eq!(done.code, Some(9));
}
