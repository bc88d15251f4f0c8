//! `mpiexec` when it cannot get its children's status, or one of them does not end.
#![allow(unsafe_code)] // signals and system call filters, which the standard library does not have
#![allow(clippy::unwrap_used)] // a test that cannot continue panics

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Job, mpiexec};

/// Makes the calls by which a process waits for its children fail with an error number.
fn deny_waiting(command: &mut Command, errno: i32) {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load_number = step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let is = |number: i64, skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skip, 0, number as u32);
    let answer = |value| step(libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let filter = [
        load_number,
        is(libc::SYS_wait4, 2),
        is(libc::SYS_waitid, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_ERRNO | errno as u32),
    ];
    // SAFETY: between fork and exec two system calls are made; the closure owns the program and its filter.
    unsafe {
        command.pre_exec(move || {
            let mut filter = filter;
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            let none: libc::c_ulong = 0;
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, none, none, none) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
            {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

#[test]
fn a_job_whose_processes_cannot_be_waited_for_fails_with_a_sentence() {
    for (errno, text) in [(libc::EPERM, "Operation not permitted"), (libc::ECHILD, "No child processes")] {
        let mut command = mpiexec();
        deny_waiting(command.args(["-n", "2", "sh", "-c", "exit 7"]), errno);
        let done = Job::start(&mut command).finish();
        assert_eq!(done.code, Some(1), "{}", done.stderr);
        assert!(done.stderr.contains("cannot wait for the processes of the job"), "{}", done.stderr);
        assert!(done.stderr.contains(text), "{}", done.stderr);
    }
}

#[test]
fn processes_that_cannot_be_waited_for_are_killed() {
    let mut command = mpiexec();
    let script = "trap '' TERM; echo up; while :; do sleep 0.05; done";
    deny_waiting(command.args(["--error-format", "json", "-n", "2", "sh", "-c", script]), libc::EPERM);
    // It asserts that no process is left.
    let done = Job::start(&mut command).finish();
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    let begin = "{\"source\":\"mpiexec\",\"kind\":\"wait_failed\",\"ranks\":2,\"host\":\"";
    assert!(done.stderr.starts_with(begin), "{}", done.stderr);
    assert!(done.stderr.contains("\",\"exit_code\":1,\"message\":\"cannot wait for "), "{}", done.stderr);
}

#[test]
fn ignored_sigchld_does_not_change_the_exit_code() {
    let mut command = mpiexec();
    command.args(["-n", "2", "sh", "-c", "exit 7"]);
    // SAFETY: between fork and exec a disposition is set, which allocates nothing.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            Ok(())
        });
    }
    let done = Job::start(&mut command).finish();
    assert_eq!(done.code, Some(7), "{}", done.stderr);
}

#[test]
fn a_guard_that_does_not_end_is_killed_and_reported() {
    let mut job = Job::start(mpiexec().args(["sh", "-c", "echo up; read line; exit 0"]).stdin(Stdio::piped()));
    let input = job.stdin();
    assert_eq!(job.lines(1), ["up"]);
    let guard = loop {
        if let Some(pid) = guard_of(job.pid()) {
            break pid;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    // SAFETY: no memory is passed; the process is there as long as its launcher.
    assert_eq!(unsafe { libc::kill(guard, libc::SIGSTOP) }, 0);
    drop(input);
    let done = job.finish();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains(&format!("guard process {guard} did not end")), "{}", done.stderr);
}

#[test]
fn another_guard_takes_the_place_of_one_that_was_killed() {
    // A process that a rank has started, in a session of its own: only the guard ends it when mpiexec is killed.
    let script = "setsid sleep 1000 & echo $!; read line";
    let mut job = Job::start(mpiexec().args(["sh", "-c", script]).stdin(Stdio::piped()));
    let (input, started) = (job.stdin(), job.lines(1)[0].parse::<i32>().unwrap());
    let mut lost = Vec::new();
    for _ in 0..2 {
        let guard = other_guard(job.pid(), &lost);
        // SAFETY: no memory is passed; the process is there as long as its launcher.
        assert_eq!(unsafe { libc::kill(guard, libc::SIGKILL) }, 0);
        lost.push(guard);
    }
    other_guard(job.pid(), &lost);
    job.signal(libc::SIGKILL);
    job.wait_for_members_to_vanish();
    drop(input);
    assert!(!fs::exists(format!("/proc/{started}/cwd")).unwrap_or(false), "{started} is left");
}

#[test]
fn a_guard_that_is_killed_again_and_again_is_not_started_for_ever() {
    let mut job = Job::start(mpiexec().args(["sh", "-c", "echo up; read line; exit 0"]).stdin(Stdio::piped()));
    let input = job.stdin();
    assert_eq!(job.lines(1), ["up"]);
    let mut lost = Vec::new();
    for _ in 0..9 {
        let guard = other_guard(job.pid(), &lost);
        // SAFETY: no memory is passed; the process is there as long as its launcher.
        assert_eq!(unsafe { libc::kill(guard, libc::SIGKILL) }, 0);
        lost.push(guard);
    }
    // The job must not end before mpiexec has found the loss of the last one, which it then reaps.
    let (last, until) = (lost[8], Instant::now() + Duration::from_secs(50));
    while fs::exists(format!("/proc/{last}")).unwrap() {
        assert!(Instant::now() < until, "the end of the last guard was not noticed");
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(input);
    let done = job.finish();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    for guard in &lost[..8] {
        let sentence =
            format!("the guard process {guard}, which ends the job if mpiexec is killed, has ended; another one");
        assert!(done.stderr.contains(&sentence), "{}", done.stderr);
    }
    assert!(done.stderr.contains("as 8 before it; no other one is started"), "{}", done.stderr);
}

/// The guard of an `mpiexec` that is none of these, when it is there.
fn other_guard(launcher: u32, others: &[i32]) -> i32 {
    let until = Instant::now() + Duration::from_secs(50);
    loop {
        if let Some(pid) = guard_of(launcher).filter(|pid| !others.contains(pid)) {
            return pid;
        }
        assert!(Instant::now() < until, "no other guard was started");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The guard process of an `mpiexec`.
fn guard_of(launcher: u32) -> Option<i32> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))).find_map(|(pid, stat)| {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        let parent = rest.split(' ').nth(1)?.parse::<u32>().ok()?;
        (name == "mpiexec-guard" && parent == launcher).then_some(pid)
    })
}
