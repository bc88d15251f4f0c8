//! Running `mpiexec` in tests, with a check after every run that no process of the job is left.
#![allow(unsafe_code)] // kill and waitpid, which the standard library does not have
#![allow(clippy::unwrap_used)] // a test that cannot continue panics
#![allow(dead_code)] // each test uses a part

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The command, with streams to be read and a mark in its environment by which its processes can be found.
pub fn mpiexec() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpiexec"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Signals that the parent of the tests ignores, as in the background of a script, would stay ignored in the job.
    // SAFETY: between fork and exec dispositions are set, which allocates nothing.
    unsafe {
        command.pre_exec(|| {
            for number in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
}

/// Starts a command without a standard input: not even descriptor 0 is open.
pub fn close_input(command: &mut Command) {
    // SAFETY: between fork and exec one descriptor is closed, which allocates nothing.
    unsafe {
        command.pre_exec(|| {
            libc::close(0);
            Ok(())
        });
    }
}

/// Starts a command whose stack may have so many bytes.
pub fn limit_stack(command: &mut Command, bytes: u64) {
    // SAFETY: between fork and exec one limit is set, which allocates nothing.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
            libc::setrlimit(libc::RLIMIT_STACK, &limit);
            Ok(())
        });
    }
}

/// Runs `mpiexec` with arguments to its end.
pub fn run(arguments: &[&str]) -> Done {
    Job::start(mpiexec().args(arguments)).finish()
}

/// The example program `rank`.
pub fn rank_program() -> String {
    example("rank")
}

/// An example program, which cargo builds with the tests.
pub fn example(name: &str) -> String {
    let test = std::env::current_exe().expect("a test has a path");
    let target = test.parent().and_then(|deps| deps.parent()).expect("tests lie in target/<profile>/deps");
    let program = target.join("examples").join(name);
    assert!(program.exists(), "build it first: cargo build -p mpi-launch --examples (a plain cargo test does)");
    program.to_str().expect("the target directory is text").into()
}

/// Time limit of a run: one that exceeds it hangs; it is killed, and its test fails.
const LIMIT: Duration = Duration::from_secs(100);

/// A run of `mpiexec`.
pub struct Job {
    child: Child,
    /// Dropped with the job; until then a thread waits for the drop, at most [`LIMIT`].
    _watched: Sender<()>,
    output: Option<BufReader<ChildStdout>>,
    error: Option<ChildStderr>,
    mark: String,
}

/// How it ended.
pub struct Done {
    /// Exit code; `None` if a signal ended `mpiexec` itself.
    pub code: Option<i32>,
    /// What was not yet read.
    pub stdout: String,
    /// All of it.
    pub stderr: String,
}

impl Job {
    /// Starts it.
    pub fn start(command: &mut Command) -> Job {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut child = command.env("MPIEXEC_TEST_MARK", &mark).spawn().expect("mpiexec starts");
        let output = child.stdout.take().map(BufReader::new);
        let error = child.stderr.take();
        let (_watched, end) = channel();
        let pid = child.id() as i32;
        std::thread::spawn(move || {
            if end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("mpiexec hangs and is killed");
                // SAFETY: the job was not dropped, so its child was not waited for and the number is still its own.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        });
        Job { child, _watched, output, error, mark }
    }

    /// The process id of `mpiexec`.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its standard input, to be closed by dropping.
    pub fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("standard input is a pipe")
    }

    /// Its standard output.
    pub fn stdout(&mut self) -> BufReader<ChildStdout> {
        self.output.take().expect("it is taken once")
    }

    /// The next lines of its standard output.
    pub fn lines(&mut self, count: usize) -> Vec<String> {
        let output = self.output.as_mut().expect("it was not taken");
        let mut lines = Vec::new();
        for _ in 0..count {
            let mut line = String::new();
            output.read_line(&mut line).expect("a pipe can be read");
            lines.push(line.trim_end().to_owned());
        }
        lines
    }

    /// Sends `mpiexec` a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: our own child, not yet waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Sends its process group a signal; it must lead one.
    pub fn signal_group(&self, signal: i32) {
        // SAFETY: as `signal`.
        assert_eq!(unsafe { libc::kill(-(self.child.id() as i32), signal) }, 0);
    }

    /// Waits until `mpiexec` is stopped by a job control signal.
    pub fn wait_until_stopped(&self) {
        let mut status = 0;
        // SAFETY: our own child; one status word is written.
        let pid = unsafe { libc::waitpid(self.child.id() as i32, &mut status, libc::WUNTRACED) };
        assert!(pid == self.child.id() as i32 && libc::WIFSTOPPED(status));
    }

    /// Waits for its end and checks that nothing is left.
    pub fn finish(mut self) -> Done {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let error = self.error.take();
        let reader = std::thread::spawn(move || {
            error.map(|mut error| error.read_to_string(&mut stderr).expect("a pipe can be read"));
            stderr
        });
        if let Some(mut output) = self.output.take() {
            output.read_to_string(&mut stdout).expect("a pipe can be read");
        }
        let code = self.child.wait().expect("mpiexec can be waited for").code();
        assert_eq!(self.members(), [0; 0], "processes of the job are left");
        Done { code, stdout, stderr: reader.join().expect("the reader does not panic") }
    }

    /// Waits until all processes of the job have ended, after `mpiexec` was killed.
    pub fn wait_for_members_to_vanish(mut self) {
        self.child.wait().expect("mpiexec can be waited for");
        // The pipe ends when the last process that holds it does.
        let mut rest = Vec::new();
        self.stdout().read_to_end(&mut rest).expect("a pipe can be read");
        // The guard holds no stream and ends last; only its absence shows its end.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.members().is_empty() {
            assert!(Instant::now() < deadline, "left: {:?}", self.members());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Processes whose environment has this job's mark.
    fn members(&self) -> Vec<i32> {
        let mark = format!("MPIEXEC_TEST_MARK={}\0", self.mark);
        let pids = std::fs::read_dir("/proc")
            .expect("/proc is there")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|text| text.windows(mark.len()).any(|part| part == mark.as_bytes()))
        })
        .collect()
    }
}
