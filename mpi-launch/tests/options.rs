//! The options of `mpiexec`, from the command line to the environment of the ranks.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use common::{Job, mpiexec, rank_program, run};

/// A directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("mpiexec-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory.canonicalize().unwrap()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

const PLACE: &str = "echo $FERRUM_RANK/$FERRUM_SIZE app $FERRUM_APPNUM $0 $1";

#[test]
fn several_programs_are_one_job_and_have_their_numbers() {
    let done =
        run(&["-n", "2", "sh", "-c", PLACE, "one", ":", "sh", "-c", PLACE, "two", ":", "-n", "1", "sh", "-c", PLACE]);
    let due = ["0/4 app 0 one", "1/4 app 0 one", "2/4 app 1 two", "3/4 app 2 sh"];
    assert_eq!((sorted(&done.stdout), done.code), (due.to_vec(), Some(0)), "{}", done.stderr);
}

#[test]
fn a_configfile_starts_its_programs() {
    let file = directory("configfile").join("job");
    fs::write(&file, format!("# a job\n-n 2 \\\n  sh -c '{PLACE}' ':' \"a b\"\n\n-env A 1 sh -c 'echo A is $A'\n"))
        .unwrap();
    let done = run(&["-configfile", file.to_str().unwrap()]);
    assert_eq!(sorted(&done.stdout), ["0/3 app 0 : a b", "1/3 app 0 : a b", "A is 1"], "{}", done.stderr);
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
}

#[test]
fn programs_are_found_by_path_and_start_in_wdir() {
    let directory = directory("path");
    fs::write(directory.join("here"), "pwd\n").unwrap();
    fs::set_permissions(directory.join("here"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let text = directory.to_str().unwrap();
    for arguments in [&["-wdir", text, "-path", text, "here"][..], &["-wdir", text, "./here"]] {
        let done = run(arguments);
        assert_eq!((&*done.stdout, done.code), (&*format!("{text}\n"), Some(0)), "{arguments:?}: {}", done.stderr);
    }
    let options = directory.join("options");
    fs::write(&options, format!("-wdir {text}\n")).unwrap();
    assert_eq!(run(&["-file", options.to_str().unwrap(), "pwd"]).stdout, format!("{text}\n"));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn variables_reach_the_programs_they_are_for() {
    let show = "echo $A,$B,$FERRUM_P2P_EAGER_LIMIT,$FERRUM_INITIAL_ERRHANDLER,$FERRUM_ERROR_FORMAT";
    let done = Job::start(mpiexec().env("A", "outer").env("PMIX_RANK", "77").env("FERRUM_APPNUM", "9").args([
        "-genv",
        "B",
        "all",
        "--cvar",
        "p2p_eager_limit=1k",
        "--initial-errhandler",
        "mpi_errors_return",
        "-env",
        "A",
        "one",
        "sh",
        "-c",
        show,
        ":",
        "-x",
        "B=two",
        "-x",
        "A",
        "--error-format",
        "text",
        "sh",
        "-c",
        &format!("{show},$PMIX_RANK"),
    ]))
    .finish();
    let handler = "mpi_errors_return,text";
    let due = [format!("one,all,1k,{handler}"), format!("outer,two,1k,{handler},")];
    assert_eq!(sorted(&done.stdout), due.each_ref().map(String::as_str), "{}", done.stderr);
}

#[test]
fn other_hosts_without_a_launcher_are_refused_with_what_to_install() {
    let done = Job::start(mpiexec().env("PATH", "/nonexistent").args(["-host", "ferrari", "true"])).finish();
    assert_eq!((done.code, done.stderr.lines().count()), (Some(1), 1), "{}", done.stderr);
    assert!(done.stderr.contains("install"), "{}", done.stderr);
}

#[test]
fn other_machines_are_refused_with_what_to_use_instead() {
    for (arguments, text) in [
        (&["-arch", "rs6000", "true"][..], "which is"),
        (&["-wdir", "/nonexistent", "true"], "\"/nonexistent\""),
        (&["-soft", "9", "-n", "4", "true"], "from 1 to 4"),
        (&["--stdin", "5", "-n", "2", "true"], "ranks 0 to 1"),
        (
            &["-n", "1000", "true", ":", "-n", "25", "true"],
            "has 1025 ranks of the job, but one host takes 1024 at most",
        ),
        (
            &["-n", "8192", "-host", "a.invalid,b.invalid,c.invalid,d.invalid,e.invalid,f.invalid,g.invalid", "true"],
            "has 1171 ranks of the job, but one host takes 1024 at most",
        ),
        (&["-n", "8193", "true"], "a number of processes from 1 to 8192"),
        (
            &["-n", "1", "-host", "b.invalid", "true", ":", "-n", "8192", "-host", "a.invalid", "true"],
            "all programs together are 8193 processes, but one job has at most 8192",
        ),
        (&["true", ":", "-n", "2"], "part 2"),
        (&["--tag-ouput", "true"], "did you mean --tag-output?"),
    ] {
        let done = run(arguments);
        assert_eq!((done.code, done.stderr.lines().count()), (Some(2), 1), "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(text), "{arguments:?}: {}", done.stderr);
    }
    assert_eq!(run(&["-host", "localhost,127.0.0.1", "-arch", std::env::consts::ARCH, "true"]).code, Some(0));
}

#[test]
fn soft_takes_the_largest_number_that_will_do() {
    assert_eq!(run(&["-n", "7", "-soft", "2:100:2", "echo", "x"]).stdout.lines().count(), 6);
    assert_eq!(run(&["-n", "3", "-soft", "0:3", "echo", "x"]).stdout.lines().count(), 3);
}

#[test]
fn lines_are_tagged_and_timed() {
    let script = "echo one; echo two >&2; printf three";
    let done = run(&["-n", "2", "--tag-output", "sh", "-c", script]);
    let lines = sorted(&done.stdout);
    assert_eq!(lines, ["[0] one", "[0] three", "[1] one", "[1] three"]);
    assert_eq!(sorted(&done.stderr), ["[0 err] two", "[1 err] two"]);
    let done = run(&["--timestamp", "echo", "x"]);
    let (time, rest) = done.stdout.split_at("2026-01-01 00:00:00.000000".len());
    assert_eq!((rest, time.matches(':').count()), (" x\n", 2), "{}", done.stdout);
}

#[test]
fn each_rank_and_stream_can_have_a_file() {
    let directory = directory("output").join("new");
    let text = directory.to_str().unwrap();
    for options in [&["-n", "2", "--output", text][..], &["-n", "2", "-l", "--output", text]] {
        let mut words = options.to_vec();
        words.extend(["sh", "-c", "echo out $FERRUM_RANK; printf err >&2"]);
        let done = run(&words);
        assert_eq!((&*done.stdout, &*done.stderr, done.code), ("", "", Some(0)));
        let tag = |text: &'static str| if options.contains(&"-l") { text } else { "" };
        let read = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
        assert_eq!(read("rank.1.out"), format!("{}out 1\n", tag("[1] ")));
        assert_eq!(read("rank.0.err"), format!("{}err", tag("[0 err] ")));
    }
    let done = run(&["--output", "/dev/null/x", "true"]);
    assert!(done.code == Some(1) && done.stderr.contains("--output \"/dev/null/x\""), "{}", done.stderr);
    fs::remove_dir_all(directory.parent().unwrap()).unwrap();
}

#[test]
fn the_standard_input_goes_where_it_is_sent() {
    let script = "sed \"s/^/$FERRUM_RANK:/\"";
    for (who, due) in [
        ("0", &["0:one", "0:two"][..]),
        ("2", &["2:one", "2:two"]),
        ("none", &[]),
        ("all", &["0:one", "0:two", "1:one", "1:two", "2:one", "2:two"]),
    ] {
        let mut command = mpiexec();
        let mut job = Job::start(command.args(["-n", "3", "--stdin", who, "sh", "-c", script]).stdin(Stdio::piped()));
        // A rank that gets no input may end before the input is written.
        let _ = job.stdin().write_all(b"one\ntwo\n");
        let done = job.finish();
        assert_eq!((sorted(&done.stdout), done.code), (due.to_vec(), Some(0)), "--stdin {who}: {}", done.stderr);
    }
}

#[test]
fn much_input_reaches_all_ranks_whole() {
    let mut job = Job::start(mpiexec().args(["-n", "3", "--stdin", "all", "sh", "-c", "wc -c"]).stdin(Stdio::piped()));
    let mut input = job.stdin();
    let line = [b'x'; 100_000];
    (0..100).for_each(|_| input.write_all(&line).unwrap());
    drop(input);
    assert_eq!(job.finish().stdout, "10000000\n".repeat(3));
}

#[test]
fn failures_are_reported_in_the_requested_form() {
    let fails = ["-n", "2", "sh", "-c", "exit $((3*FERRUM_RANK))"];
    let quiet = run(&[&["--quiet"][..], &fails].concat());
    assert_eq!((quiet.code, &*quiet.stderr), (Some(3), ""));
    let json = run(&[&["--error-format=json"][..], &fails].concat()).stderr;
    for part in [
        "{\"source\":\"mpiexec\",\"kind\":\"exit\",\"ranks\":2,",
        "\"rank\":1,",
        "\"exit_code\":3,",
        "\"message\":\"rank 1",
    ] {
        assert!(json.contains(part) && json.lines().count() == 1, "{part}: {json}");
    }
    let refused = run(&["--error-format=json", "/nonexistent"]).stderr;
    assert!(refused.starts_with("{\"source\":\"mpiexec\",\"kind\":\"refused\",\"exit_code\":127,"), "{refused}");
    let verbose = run(&[&["--verbose"][..], &fails].concat()).stderr;
    assert!(verbose.contains("rank 1 is process") && verbose.contains("rank 1 has ended with code 3"), "{verbose}");
}

#[test]
fn a_job_over_its_time_limit_reports_what_its_ranks_were_doing() {
    let done = run(&["-n", "3", "--timeout", "0.4", &rank_program(), "wait"]);
    assert_eq!(done.code, Some(124));
    let lines: Vec<_> = done.stderr.lines().collect();
    assert!(lines[0].contains("did not end within 0.4 s"), "{}", done.stderr);
    assert!(lines[1].starts_with("  ranks 0-2: in MPI_Recv with tag 7: rank 0 from 1, "));
    let json = run(&["--timeout", "0.4", "--error-format", "json", &rank_program(), "wait"]).stderr;
    assert!(
        json.contains("\"kind\":\"timeout\"") && json.contains("\"doing\":[{\"rank\":0,\"call\":\"MPI_Recv\""),
        "{json}"
    );
    assert_eq!(run(&["--timeout", "60", "true"]).code, Some(0));
}

#[test]
fn bind_cores_gives_each_rank_a_core_of_its_own() {
    let cores = "grep Cpus_allowed_list /proc/self/status";
    let free = run(&["--bind", "none", "sh", "-c", cores]).stdout;
    let bound = run(&["--bind", "cores", "sh", "-c", cores]).stdout;
    let list = |text: &str| text.split_whitespace().nth(1).map(str::to_owned);
    assert!(list(&bound).is_some_and(|core| core.parse::<u32>().is_ok()), "{bound}");
    let plain = std::process::Command::new("sh").args(["-c", cores]).output().unwrap();
    assert_eq!(free.as_bytes(), plain.stdout);
    let refused = run(&["-n", "1000", "--bind", "cores", "true"]);
    // A machine with that many cores, or too little memory for that many ranks, has another answer.
    assert!(refused.stderr.contains("--bind cores") || refused.code != Some(2), "{}", refused.stderr);
}

#[test]
fn the_environment_limits_the_time_where_no_option_does() {
    let job = |limit: &str, arguments: &[&str]| {
        Job::start(mpiexec().env("MPIEXEC_TIMEOUT", limit).args(arguments).args(["sh", "-c", "sleep 3"])).finish()
    };
    let done = job("1", &[]);
    assert_eq!(done.code, Some(124), "{}", done.stderr);
    assert!(done.stderr.contains("did not end within 1 s"), "{}", done.stderr);
    for (limit, arguments) in
        [("0", &[][..]), ("-1", &[]), ("", &[]), ("1", &["--timeout", "100"]), ("1", &["--timeout", "0"])]
    {
        let done = job(limit, arguments);
        assert_eq!((done.code, &*done.stderr), (Some(0), ""), "{limit:?} {arguments:?}");
    }
    let done = job("soon", &[]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("MPIEXEC_TIMEOUT is \"soon\", but has to be a time in seconds"), "{}", done.stderr);
}

#[test]
fn a_small_stack_is_enough() {
    for kilobytes in [256_u64, 128, 64] {
        let mut command = mpiexec();
        common::limit_stack(&mut command, kilobytes << 10);
        let done = Job::start(command.args(["-n", "2", "echo", "up"])).finish();
        assert_eq!((done.code, &*done.stdout), (Some(0), "up\nup\n"), "{kilobytes} KB: {}", done.stderr);
    }
}
