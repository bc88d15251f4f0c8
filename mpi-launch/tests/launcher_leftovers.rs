//! What a launcher that reaches several hosts leaves behind when it has ended. It is a script here, which starts the hosts' parts on
//! this machine.
//!
//! Not here: real launchers and hosts (suite `hosts`).
#![allow(unsafe_code)] // kill, which the standard library does not have
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Job, mpiexec};

/// In place of Hydra: a daemon, a child that waits for ever in a session of its own, as Hydra starts ssh, and the two parts.
const LAUNCHER: &str = r#"#!/bin/sh
folder=$(dirname "$0")
(env -u MPIEXEC_TEST_MARK setsid sleep 4711 < /dev/null > /dev/null 2>&1 & echo $! > "$folder/daemon")
setsid sleep 4712 < /dev/null > /dev/null 2>&1 &
echo $! > "$folder/remote"
while [ "$1" != -genvlist ]; do shift; done
shift 2
# A pipeline, because the wait command needs SIGCHLD, which is blocked here, as SIGTERM is.
PMI_RANK=0 "$@" | PMI_RANK=1 "$@"
[ "$ENDS" != well ] || kill -KILL "$(cat "$folder/remote")"
exit 0
"#;

/// A folder with the launcher.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launcher-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let script = folder.join("mpiexec.hydra");
    std::fs::write(&script, LAUNCHER).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs a job on two hosts by the launcher; its exit code.
fn run(folder: &Path, ends: &str, rank: &str) -> Option<i32> {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = mpiexec();
    command.args(["--manager", "hydra", "-n", "2", "-host", "h1,h2", "sh", "-c", rank]);
    command.env("PATH", path).env("ENDS", ends);
    let done = Job::start(&mut command).finish();
    eprintln!("{}", done.stderr);
    done.code
}

/// The process whose number is in a file.
fn noted(folder: &Path, file: &str) -> i32 {
    std::fs::read_to_string(folder.join(file)).unwrap().trim().parse().unwrap()
}

fn is_sleeping(pid: i32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.starts_with(b"sleep\0"))
}

/// Whether a process that the script has started is there, and sleeps as soon as it has become `sleep`.
fn stays(pid: i32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_sleeping(pid) {
        let is_there = std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| !words.is_empty());
        if !is_there || Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Ends the daemon.
fn clean(folder: &Path) {
    let pid = noted(folder, "daemon");
    // SAFETY: no memory is passed.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_sleeping(pid) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_daemon_outlives_a_good_job() {
    let folder = folder("good");
    assert_eq!(run(&folder, "well", "exit 0"), Some(0));
    assert!(stays(noted(&folder, "daemon")));
    clean(&folder);
}

#[test]
fn a_failed_job_ends_what_the_launcher_leaves_but_no_daemon() {
    let folder = folder("failed");
    assert_eq!(run(&folder, "badly", "exit 3"), Some(3));
    assert!(stays(noted(&folder, "daemon")));
    assert!(!is_sleeping(noted(&folder, "remote")));
    clean(&folder);
}
