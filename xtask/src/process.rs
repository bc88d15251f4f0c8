//! Running programs: each in its own process group, under a time limit, with its output stored.
//!
//! Invariant: when `run` returns, the program's whole group has ended; only processes started here are ever
//! signalled, by the id of their group. Not here: the meaning of an exit status.

use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::{Result, paths};

/// How a program ended, and its output.
pub struct Outcome {
    /// Exit status; that of the kill if the time limit ended it.
    pub status: ExitStatus,
    /// Standard output, as text.
    pub stdout: String,
    /// Standard error, as text.
    pub stderr: String,
    /// Whether the time limit ended it.
    pub timed_out: bool,
    /// From just before the start to the end.
    pub wall: Duration,
}

impl Outcome {
    /// Ended by itself with status 0.
    pub fn success(&self) -> bool {
        self.status.success() && !self.timed_out
    }

    /// One line: how it ended.
    pub fn ending(&self) -> String {
        match (self.timed_out, self.status.code(), self.status.signal()) {
            (true, ..) => format!("did not end within {} s", self.wall.as_secs()),
            (_, Some(code), _) => format!("exit status {code}"),
            (_, _, Some(signal)) => format!("ended by signal {signal}"),
            _ => "ended in an unknown way".to_owned(),
        }
    }

    /// How it ended and the last lines of its output, for a failure report.
    pub fn report(&self) -> String {
        let mut text = self.ending();
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            let lines: Vec<&str> = output.lines().collect();
            let skipped = lines.len().saturating_sub(25);
            if !lines.is_empty() {
                text.push_str(&format!("\n  {name}:"));
            }
            if skipped > 0 {
                text.push_str(&format!("\n    ({skipped} lines before)"));
            }
            for line in &lines[skipped..] {
                text.push_str(&format!("\n    {line}"));
            }
        }
        text
    }
}

/// Runs a command to its end, or to the time limit. An error means that it could not be started.
pub fn run(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let stdout = Capture::new()?;
    let stderr = Capture::new()?;
    command.stdin(Stdio::null()).stdout(stdout.file()?).stderr(stderr.file()?).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
    let (status, timed_out) = wait(&mut child, start, limit)?;
    let wall = start.elapsed();
    // Ends all processes that the program has left in its group.
    signal_group("KILL", child.id());
    Ok(Outcome { status, stdout: stdout.text()?, stderr: stderr.text()?, timed_out, wall })
}

/// Runs a command that has to succeed.
pub fn must(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let outcome = run(command, limit)?;
    if outcome.success() {
        return Ok(outcome);
    }
    Err(format!("{:?} {:?}: {}", command.get_program(), command.get_args().collect::<Vec<_>>(), outcome.report())
        .into())
}

/// Runs a command that has to succeed, with its output passed through.
pub fn must_shown(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{:?} failed: {status}", command.get_program()).into()),
    }
}

/// Waits with short sleeps, so that the end of a short program is detected soon. After the time limit, ends the group:
/// first with SIGTERM, so that a launcher can clean up, two seconds later with SIGKILL.
fn wait(child: &mut Child, start: Instant, limit: Duration) -> Result<(ExitStatus, bool)> {
    let mut nap = Duration::from_micros(200);
    let mut terminated = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, terminated));
        }
        let age = start.elapsed();
        if age > limit && !terminated {
            signal_group("TERM", child.id());
            terminated = true;
        }
        if age > limit + Duration::from_secs(2) {
            signal_group("KILL", child.id());
            return Ok((child.wait()?, true));
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(4));
    }
}

fn signal_group(signal: &str, group: u32) {
    // The shell's `kill` exists on every machine; a group that has ended already is no failure.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -{signal} -{group}")])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status();
}

/// Output kept in a file: a pipe would stay open as long as any stray process holds it.
struct Capture(PathBuf);

impl Capture {
    fn new() -> Result<Capture> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = paths::scratch("output");
        fs::create_dir_all(&folder)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Capture(folder.join(format!("{}-{number}", std::process::id()))))
    }

    fn file(&self) -> Result<File> {
        Ok(File::create(&self.0)?)
    }

    fn text(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(&self.0)?).into_owned())
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // Scratch space: a file that cannot be removed is overwritten by a later run.
        let _ = fs::remove_file(&self.0);
    }
}
