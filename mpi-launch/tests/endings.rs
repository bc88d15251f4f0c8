//! Every way for a job to end: the right code and sentence, no process, no file, nothing in shared memory.
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Job, mpiexec, rank_program};

/// The external event once all ranks have reported that they run.
enum Act {
    Nothing,
    /// `mpiexec` gets these signals.
    Signals(&'static [i32]),
    /// Its whole process group gets one.
    Group(i32),
    /// The reader of its output closes the pipe.
    ReaderLeaves,
    /// Its output cannot be written.
    FullDevice,
    /// It has no standard streams but those to write.
    NoInput,
}

struct Ending {
    name: &'static str,
    /// `RANK` stands for the program that uses the library.
    command: &'static [&'static str],
    ranks: usize,
    act: Act,
    /// Exit code of `mpiexec`; `None` if a signal ends it.
    code: Option<i32>,
    text: &'static str,
}

const UP: &str = "echo up; exec sleep 1000";
const DEAF: &str = "trap '' TERM; echo up; while :; do sleep 0.05; done";
const KEEPS: &str = "sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000; true' &); echo up; wait";

const ENDINGS: [Ending; 24] = [
    ending("all ranks return 0", &["-n", "3", "RANK", "ring"], 0, Act::Nothing, Some(0), ""),
    ending(
        "a rank returns another code",
        &["-n", "3", "sh", "-c", "test $FERRUM_RANK != 1 || exit 7; sleep 1000"],
        0,
        Act::Nothing,
        Some(7),
        "rank 1 of 3 (sh)",
    ),
    ending("a rank crashes inside MPI", &["-n", "2", "RANK", "crash"], 0, Act::Nothing, Some(134), "inside MPI_Recv"),
    ending(
        "a rank is killed",
        &["-n", "2", "sh", "-c", "test $FERRUM_RANK = 1 && kill -KILL $$; sleep 1000"],
        0,
        Act::Nothing,
        Some(137),
        "signal 9 (SIGKILL)",
    ),
    ending(
        "a rank calls MPI_Abort",
        &["-n", "3", "RANK", "abort"],
        0,
        Act::Nothing,
        Some(42),
        "MPI_Abort with code 42",
    ),
    ending("an error is fatal", &["-n", "3", "RANK", "error"], 0, Act::Nothing, Some(15), "fatal error, with code 15"),
    ending("one leaves without MPI_Finalize", &["-n", "2", "RANK", "leave"], 0, Act::Nothing, Some(1), "MPI_Finalize"),
    ending("all leave without it", &["-n", "3", "RANK", "unfinished"], 0, Act::Nothing, Some(1), "and so did 2 more"),
    ending(
        "the time is over",
        &["-n", "2", "--timeout", "0.3", "RANK", "wait"],
        0,
        Act::Nothing,
        Some(124),
        "ranks 0-1: in MPI_Recv with tag 7: rank 0 from 1, rank 1 from 0; ",
    ),
    ending(
        "the time is over for ranks that ignore SIGTERM or are stopped",
        &[
            "-n",
            "2",
            "--timeout",
            "0.3",
            "sh",
            "-c",
            "trap '' TERM; test $FERRUM_RANK = 0 && kill -STOP $$; sleep 1000",
        ],
        0,
        Act::Nothing,
        Some(124),
        "rank 0",
    ),
    ending(
        "ranks ignore SIGTERM when another fails",
        &["-n", "3", "sh", "-c", "trap '' TERM; test $FERRUM_RANK != 0 || exit 3; while :; do sleep 0.05; done"],
        0,
        Act::Nothing,
        Some(3),
        "exited with code 3",
    ),
    ending(
        "something is left in the background",
        &["-n", "2", "sh", "-c", "sleep 1000 & setsid sleep 1000 & exit 0"],
        0,
        Act::Nothing,
        Some(0),
        "",
    ),
    ending("SIGINT", &["-n", "2", "sh", "-c", UP], 2, Act::Signals(&[libc::SIGINT]), Some(130), "ended by SIGINT"),
    ending("SIGTERM", &["-n", "2", "RANK", "wait"], 2, Act::Signals(&[libc::SIGTERM]), Some(143), "ended by SIGTERM"),
    ending("SIGHUP", &["-n", "2", "sh", "-c", UP], 2, Act::Signals(&[libc::SIGHUP]), Some(129), "ended by SIGHUP"),
    ending("SIGQUIT", &["-n", "2", "sh", "-c", UP], 2, Act::Signals(&[libc::SIGQUIT]), Some(131), "ended by SIGQUIT"),
    ending(
        "a second SIGTERM to ranks that ignore it",
        &["-n", "2", "sh", "-c", DEAF],
        2,
        Act::Signals(&[libc::SIGTERM, libc::SIGINT]),
        Some(130),
        "ended by",
    ),
    ending("mpiexec is killed", &["-n", "3", "sh", "-c", KEEPS], 3, Act::Signals(&[libc::SIGKILL]), None, ""),
    ending("mpiexec crashes", &["-n", "2", "RANK", "wait"], 2, Act::Signals(&[libc::SIGSEGV]), None, ""),
    ending("its process group is killed", &["-n", "2", "sh", "-c", KEEPS], 2, Act::Group(libc::SIGKILL), None, ""),
    ending("the reader of the output ends", &["-n", "2", "yes"], 1, Act::ReaderLeaves, Some(141), "SIGPIPE"),
    ending("the output has no room", &["-n", "2", "echo", "x"], 0, Act::FullDevice, Some(1), "output is lost"),
    ending(
        "a later program cannot be executed",
        &["-n", "2", "sh", "-c", UP, ":", "./broken"],
        0,
        Act::Nothing,
        Some(127),
        "./broken",
    ),
    ending("there is no standard input", &["-n", "2", "cat"], 0, Act::NoInput, Some(0), ""),
];

const fn ending(
    name: &'static str,
    command: &'static [&'static str],
    ranks: usize,
    act: Act,
    code: Option<i32>,
    text: &'static str,
) -> Ending {
    Ending { name, command, ranks, act, code, text }
}

#[test]
fn nothing_is_left_in_any_of_them() {
    let directory = std::env::temp_dir().join(format!("mpiexec-endings-{}", std::process::id()));
    let temporary = directory.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    // It is executable, but its interpreter does not exist.
    let broken = directory.join("broken");
    fs::write(&broken, "#!/nonexistent/interpreter\n").unwrap();
    fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for ending in &ENDINGS {
        let start = Instant::now();
        println!("{}", ending.name);
        check(ending, &directory);
        // Ended within two seconds; the rest is for a machine under load.
        assert!(start.elapsed() < Duration::from_secs(60), "{}: {:?}", ending.name, start.elapsed());
        assert_eq!(names(&temporary), [""; 0], "{}: files for a time", ending.name);
        assert_eq!(names(&directory), ["broken", "tmp"], "{}: files", ending.name);
    }
    fs::remove_dir_all(&directory).unwrap();
}

fn check(ending: &Ending, directory: &Path) {
    let name = ending.name;
    let mut command = mpiexec();
    let program = rank_program();
    let words = ending.command.iter().map(|word| if *word == "RANK" { &*program } else { *word });
    command.args(words).current_dir(directory).env("TMPDIR", directory.join("tmp"));
    match ending.act {
        Act::Group(_) => drop(std::os::unix::process::CommandExt::process_group(&mut command, 0)),
        Act::FullDevice => drop(command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap())),
        Act::NoInput => common::close_input(&mut command),
        _ => drop(command.stdin(Stdio::null())),
    }
    let mut job = Job::start(&mut command);
    let up = if ending.ranks > 0 { job.lines(ending.ranks) } else { Vec::new() };
    assert!(matches!(ending.act, Act::ReaderLeaves) || up.iter().all(|line| line == "up"), "{name}: {up:?}");
    match ending.act {
        Act::Signals(signals) => signals.iter().for_each(|signal| {
            // One after the other, as a user sends them when the job does not end.
            std::thread::sleep(Duration::from_millis(50));
            job.signal(*signal);
        }),
        Act::Group(signal) => job.signal_group(signal),
        Act::ReaderLeaves => drop(job.stdout()),
        Act::Nothing | Act::FullDevice | Act::NoInput => {}
    }
    match ending.code {
        None => job.wait_for_members_to_vanish(),
        Some(code) => {
            // It asserts that no process of the job is left; the job's memory ends with the last process.
            let done = job.finish();
            assert_eq!(done.code, Some(code), "{name}: {}", done.stderr);
            assert!(done.stderr.contains(ending.text), "{name}: {}", done.stderr);
            let silent = ending.text.is_empty();
            assert!(!silent || done.stderr.is_empty(), "{name}: {}", done.stderr);
        }
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}
