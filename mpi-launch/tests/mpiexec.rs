//! `mpiexec` from a user's view: exit codes, streams, signals, and no leftovers.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::io::{Read, Write};
use std::process::Stdio;

use common::{Job, mpiexec, rank_program, run};

#[test]
fn all_ranks_run_with_their_place_and_the_result_is_success() {
    let done = run(&["-n", "4", "sh", "-c", "echo rank $FERRUM_RANK of $FERRUM_SIZE"]);
    let mut lines: Vec<_> = done.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["rank 0 of 4", "rank 1 of 4", "rank 2 of 4", "rank 3 of 4"]);
    assert_eq!((done.code, &*done.stderr), (Some(0), ""));
}

#[test]
fn the_first_failing_ranks_code_is_the_jobs() {
    let done = run(&["-n", "3", "sh", "-c", "test $FERRUM_RANK != 1 || exit 7; exec sleep 1000"]);
    assert_eq!(done.code, Some(7));
    assert!(done.stderr.starts_with("mpiexec: rank 1 of 3 (sh) on host "), "{}", done.stderr);
    assert!(done.stderr.ends_with("exited with code 7; the other ranks were ended\n"), "{}", done.stderr);
}

#[test]
fn a_signal_that_ends_a_rank_is_named_and_coded() {
    let done = run(&["-n", "2", "sh", "-c", "test $FERRUM_RANK != 1 || kill -SEGV $$; exec sleep 1000"]);
    assert_eq!(done.code, Some(128 + 11));
    assert!(done.stderr.contains("was killed by signal 11 (SIGSEGV)"), "{}", done.stderr);
}

#[test]
fn ranks_that_ignore_sigterm_are_killed_soon() {
    let start = std::time::Instant::now();
    let script = "trap '' TERM; test $FERRUM_RANK != 0 || exit 3; while :; do sleep 0.05; done";
    let done = run(&["-n", "2", "sh", "-c", script]);
    assert_eq!(done.code, Some(3));
    assert!(start.elapsed().as_secs_f64() < 60.0);
}

#[test]
fn unusable_programs_are_one_line_and_the_shells_codes() {
    for (arguments, code) in [
        (&["-n", "2", "no-such-program-anywhere"][..], 127),
        (&["/no/such/program"], 127),
        (&["/etc/passwd"], 126),
        (&["/"], 126),
        (&["-n", "0", "true"], 2),
        (&["--no-such-option", "true"], 2),
        (&[], 2),
    ] {
        let done = run(arguments);
        assert_eq!(done.code, Some(code), "{arguments:?}");
        assert!(done.stdout.is_empty() && done.stderr.lines().count() == 1, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("mpiexec: "), "{}", done.stderr);
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = run(&["--help"]);
    assert!(help.code == Some(0) && help.stdout.starts_with("Usage: mpiexec"));
    let version = run(&["--version"]);
    assert!(version.code == Some(0) && version.stdout.contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_malformed_ring_length_is_refused() {
    let done = run(&["--cvar", "fabric_ring_bytes=32M", "true"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("fabric_ring_bytes is \"32M\""), "{}", done.stderr);
}

#[test]
fn standard_input_goes_to_rank_0_and_the_others_have_none() {
    let mut job =
        Job::start(mpiexec().args(["-n", "3", "sh", "-c", "sed \"s/^/$FERRUM_RANK:/\""]).stdin(Stdio::piped()));
    job.stdin().write_all(b"one\ntwo\n").unwrap();
    let done = job.finish();
    assert_eq!((&*done.stdout, done.code), ("0:one\n0:two\n", Some(0)));
}

#[test]
fn lines_of_different_ranks_are_never_mixed() {
    // Each line is written in two pieces, with the other ranks writing in between.
    let script = "i=0; while [ $i -lt 300 ]; do printf \"<$FERRUM_RANK \"; printf \"$i>\\n\"; i=$((i+1)); done";
    let done = run(&["-n", "4", "sh", "-c", script]);
    let mut next = [0; 4];
    for line in done.stdout.lines() {
        let (rank, number) = line.trim_matches(['<', '>']).split_once(' ').expect(line);
        let rank: usize = rank.parse().expect(line);
        assert_eq!(number, next[rank].to_string(), "{line}");
        next[rank] += 1;
    }
    assert_eq!(next, [300; 4]);
}

#[test]
fn an_unfinished_last_line_and_a_very_long_one_arrive() {
    let done = run(&["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\nend'; printf error >&2"]);
    assert_eq!(done.stdout.len(), 3_000_004);
    assert!(done.stdout.ends_with("x\nend"));
    assert_eq!(done.stderr, "error");
}

#[test]
fn much_output_to_a_slow_reader_is_complete() {
    let mut job = Job::start(mpiexec().args(["-n", "2", "sh", "-c", "yes 0123456789 | head -n 1000000"]));
    let mut output = job.stdout();
    let (mut bytes, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        match output.read(&mut buffer).unwrap() {
            0 => break,
            n => bytes += n,
        }
    }
    assert_eq!(bytes, 2 * 1_000_000 * 11);
    assert_eq!(job.finish().code, Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_the_job_like_any_pipeline() {
    let mut job = Job::start(mpiexec().args(["-n", "2", "yes"]));
    job.stdout().read_exact(&mut [0; 100]).unwrap();
    // The reading end was dropped with the temporary.
    assert_eq!(job.finish().code, Some(128 + libc::SIGPIPE));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let done = Job::start(mpiexec().args(["echo", "x"]).stdout(full)).finish();
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("output is lost: No space left"), "{}", done.stderr);
}

#[test]
fn ignored_signals_stay_ignored_and_an_ignored_sigchld_does_no_harm() {
    let script = "trap '' HUP CHLD; exec \"$0\" sh -c 'trap; echo up; read go; exit 5'";
    let mut job = Job::start(
        std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_mpiexec")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    );
    while job.lines(1) != ["up"] {}
    job.signal(libc::SIGHUP);
    job.signal(libc::SIGHUP);
    job.stdin().write_all(b"go\n").unwrap();
    assert_eq!(job.finish().code, Some(5));
}

#[test]
fn signals_are_passed_on_and_a_second_request_is_final() {
    let mut job = Job::start(mpiexec().args(["-n", "2", "sh", "-c", "echo up; exec sleep 1000"]));
    job.lines(2);
    job.signal(libc::SIGINT);
    let done = job.finish();
    assert_eq!(done.code, Some(128 + libc::SIGINT));
    assert!(done.stderr.contains("ended by SIGINT"), "{}", done.stderr);

    let script = "trap 'echo got' USR1; trap '' TERM; echo up; while :; do sleep 0.02; done";
    let mut job = Job::start(mpiexec().args(["-n", "2", "sh", "-c", script]));
    job.lines(2);
    job.signal(libc::SIGUSR1);
    assert_eq!(job.lines(2), ["got", "got"]);
    job.signal(libc::SIGTERM);
    job.signal(libc::SIGUSR1);
    assert_eq!(job.lines(2), ["got", "got"], "a job that ignores SIGTERM continues");
    job.signal(libc::SIGTERM);
    assert_eq!(job.finish().code, Some(128 + libc::SIGTERM));
}

#[test]
fn stop_and_continue_reach_the_ranks() {
    let mut job =
        Job::start(mpiexec().args(["sh", "-c", "trap 'echo on' CONT; echo up; while :; do sleep 0.02; done"]));
    job.lines(1);
    job.signal(libc::SIGTSTP);
    job.wait_until_stopped();
    job.signal(libc::SIGCONT);
    assert_eq!(job.lines(1), ["on"]);
    job.signal(libc::SIGTERM);
    assert_eq!(job.finish().code, Some(128 + libc::SIGTERM));
}

#[test]
fn what_a_rank_leaves_in_the_background_is_ended() {
    let done = run(&["-n", "2", "sh", "-c", "sleep 1000 & setsid sleep 1000 & echo $!; exit 0"]);
    assert_eq!((done.code, done.stdout.lines().count()), (Some(0), 2));
}

#[test]
fn nothing_survives_when_mpiexec_is_killed() {
    let script = "sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000; true' &) ; echo up; wait";
    let mut job = Job::start(mpiexec().args(["-n", "3", "sh", "-c", script]));
    job.lines(3);
    job.signal(libc::SIGKILL);
    job.wait_for_members_to_vanish();
}

#[test]
fn nothing_survives_when_mpiexec_is_killed_with_its_process_group() {
    use std::os::unix::process::CommandExt;
    let mut job = Job::start(mpiexec().args(["-n", "2", "sh", "-c", "sleep 1000 & echo up; wait"]).process_group(0));
    job.lines(2);
    job.signal_group(libc::SIGKILL);
    job.wait_for_members_to_vanish();
}

#[test]
fn ranks_exchange_messages_over_the_job_memory() {
    for ranks in ["1", "2", "5", "64"] {
        let done = run(&["-n", ranks, &rank_program(), "ring"]);
        let token = 3 * ranks.parse::<u32>().unwrap();
        assert_eq!((&*done.stdout, done.code), (&*format!("token {token}\n"), Some(0)), "{}", done.stderr);
    }
}

#[test]
fn ranks_read_each_others_memory_where_the_kernel_allows_it() {
    let done = run(&["-n", "2", &rank_program(), "copy"]);
    assert!(["1122334455667788\n", "no single copy\n"].contains(&&*done.stdout), "{}", done.stdout);
    let off = run(&["-n", "2", "--cvar", "fabric_single_copy=off", &rank_program(), "copy"]);
    assert_eq!(off.stdout, "no single copy\n");
}

#[test]
fn an_abort_gives_its_code_and_is_reported_once() {
    let done = run(&["-n", "3", &rank_program(), "abort"]);
    assert_eq!(done.code, Some(42));
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains("rank 1 of 3") && done.stderr.contains("MPI_Abort with code 42"), "{}", done.stderr);
}

#[test]
fn a_rank_that_leaves_without_finalize_is_a_failure() {
    let done = run(&["-n", "2", &rank_program(), "leave"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("rank 1") && done.stderr.contains("without calling MPI_Finalize"), "{}", done.stderr);
}

#[test]
fn the_last_call_of_a_crashed_rank_is_reported() {
    let done = run(&["-n", "2", &rank_program(), "crash"]);
    assert_eq!(done.code, Some(128 + libc::SIGABRT));
    assert!(done.stderr.contains("(SIGABRT), inside MPI_Recv;"), "{}", done.stderr);
}

#[test]
fn a_rank_can_be_one_process_only() {
    let done = run(&[&rank_program(), "twice"]);
    assert!(done.stdout.contains("is not open") || done.stdout.contains("already process"), "{}", done.stdout);
}

#[test]
fn a_program_without_a_launcher_is_a_world_of_one() {
    let alone = std::process::Command::new(rank_program()).arg("alone").output().unwrap();
    assert_eq!(alone.stdout, b"0 of 1\n");
}

#[test]
fn other_launchers_and_damaged_variables_are_refused_with_a_sentence() {
    for (name, value) in [("PMI_SIZE", "4"), ("FERRUM_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")] {
        let refused = std::process::Command::new(rank_program()).env(name, value).output().unwrap();
        assert_eq!(refused.status.code(), Some(99));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("mpiexec"));
    }
}

#[test]
fn it_works_without_environment_and_in_a_bare_directory() {
    let done =
        Job::start(mpiexec().env_clear().current_dir("/").args(["-n", "2", "/bin/sh", "-c", "echo fine"])).finish();
    assert_eq!((&*done.stdout, done.code), ("fine\nfine\n", Some(0)));
}

#[test]
fn two_hundred_ranks_start() {
    let done = run(&["-n", "200", "sh", "-c", "echo $FERRUM_RANK"]);
    let mut ranks: Vec<u32> = done.stdout.lines().map(|line| line.parse().unwrap()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, (0..200).collect::<Vec<_>>());
}

#[test]
fn programs_keep_the_limits_and_dispositions_that_mpiexec_was_given() {
    let limits = std::process::Command::new("sh").args(["-c", "ulimit -n; trap"]).output().unwrap();
    let done = run(&["sh", "-c", "ulimit -n; trap"]);
    assert_eq!(done.stdout.as_bytes(), limits.stdout);
}

#[test]
fn a_limit_of_file_sizes_that_the_job_exceeds_is_named_with_both_sizes() {
    // One rank too: it is not mpiexec's process, so there is an object to share.
    for ranks in ["1", "2"] {
        let path = mpiexec().get_program().to_owned();
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -f 100; exec \"$0\" \"$@\""]).arg(path).args(["-n", ranks, "true"]);
        shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let done = Job::start(&mut shell).finish();
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stderr.contains("ulimit -f") && done.stderr.contains("shared memory"), "{}", done.stderr);
        assert!(done.stderr.contains("51200 bytes at most"), "{}", done.stderr);
    }
}

#[test]
fn a_script_without_interpreter_line_runs_in_the_shell() {
    use std::os::unix::fs::PermissionsExt;
    let file = std::env::temp_dir().join(format!("mpiexec-script-{}", std::process::id()));
    std::fs::write(&file, "echo script $1\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let done = run(&[file.to_str().unwrap(), "argument"]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(done.stdout, "script argument\n");
}
