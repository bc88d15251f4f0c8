//! `--gdb`: backtraces of the chosen ranks when the job fails, or gdb in panes of tmux where `mpiexec` runs in one.
//!
//! A chosen rank that a signal would end is stopped before: the launcher traces its first thread, and gdb takes it over.
//! Invariant: gdb sees a job once, and before the launcher ends a rank. Not here: tracing (`os::tracing`), when the job
//! fails (`ending`).

use std::fs;
use std::io::{IsTerminal, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::os::tracing;
use crate::args::RankList;

/// Time limit of all backtraces together.
const LIMIT: Duration = Duration::from_secs(30);
/// Most lines of the backtraces of one rank.
const MOST_LINES: usize = 200;

/// Signals with which programs crash.
pub(super) const CRASHES: [i32; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGSYS, libc::SIGTRAP];

/// The state of `--gdb`.
pub(super) struct Debugging<'a> {
    ranks: Option<&'a RankList>,
    /// Whether gdb has seen the job.
    done: bool,
    /// Processes that wait for the end of gdb in a pane each.
    panes: Vec<Child>,
}

impl<'a> Debugging<'a> {
    /// Without ranks nothing is done.
    pub(super) fn new(ranks: Option<&'a RankList>) -> Debugging<'a> {
        Debugging { ranks, done: false, panes: Vec::new() }
    }

    /// Whether a rank is chosen.
    pub(super) fn is_chosen(&self, rank: u32) -> bool {
        self.ranks.is_some_and(|ranks| ranks.contains(rank))
    }

    /// Traces a rank that has just been started, if it is chosen, so that it can be stopped when it crashes. Returns a
    /// sentence if it cannot be.
    pub(super) fn started(&self, rank: u32, pid: i32) -> Option<String> {
        let error = if self.is_chosen(rank) { tracing::seize(pid).err()? } else { return None };
        Some(format!("--gdb: rank {rank} cannot be traced, so it is not stopped when it crashes: {error}"))
    }

    /// A sentence if the option cannot have its effect.
    pub(super) fn warning(&self) -> Option<String> {
        self.ranks?;
        let version = Command::new("gdb").arg("--version").stdin(Stdio::null()).output();
        version.err().map(|error| format!("--gdb: gdb cannot be run, so there will be no backtraces: {error}"))
    }

    /// Whether gdb is yet to see the job; from now on it has.
    pub(super) fn begin(&mut self) -> bool {
        self.ranks.is_some() && !std::mem::replace(&mut self.done, true)
    }

    /// Whether gdb has seen the job.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Shows these ranks in panes if `mpiexec` runs in tmux; else returns a report on each.
    pub(super) fn show(&mut self, ranks: &[(u32, i32)]) -> Vec<String> {
        if std::env::var_os("TMUX").is_some() && std::io::stderr().is_terminal() {
            match self.open_panes(ranks) {
                Ok(()) => return Vec::new(),
                Err(sentence) => {
                    let mut reports = vec![sentence];
                    reports.extend(backtraces(ranks));
                    return reports;
                }
            }
        }
        backtraces(ranks)
    }

    fn open_panes(&mut self, ranks: &[(u32, i32)]) -> Result<(), String> {
        for (i, (rank, pid)) in ranks.iter().enumerate() {
            let channel = format!("ferrum-mpi-{pid}");
            let line = format!("gdb -q -p {pid}; tmux wait-for -S {channel}");
            let mut command = Command::new("tmux");
            match i {
                0 => command.args(["new-window", "-n", &format!("rank {rank}"), &line]),
                _ => command.args(["split-window", &line]),
            };
            let outcome = command.stdin(Stdio::null()).output();
            let failed = |why: String| format!("--gdb: tmux cannot open a pane for rank {rank}: {why}");
            match outcome {
                Err(error) => return Err(failed(error.to_string())),
                Ok(done) if !done.status.success() => {
                    return Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned()));
                }
                Ok(_) => {}
            }
            let _ = Command::new("tmux").args(["select-layout", "tiled"]).stdin(Stdio::null()).output();
            let mut wait = Command::new("tmux");
            let wait = wait.args(["wait-for", &channel]).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            self.panes.push(wait.map_err(|error| failed(error.to_string()))?);
        }
        Ok(())
    }

    /// Whether a child of the launcher belongs to a pane, which is closed now.
    pub(super) fn pane_closed(&mut self, pid: i32) -> bool {
        let before = self.panes.len();
        self.panes.retain(|child| child.id() as i32 != pid);
        self.panes.len() < before
    }

    /// Whether panes are open: until they are closed no rank is ended.
    pub(super) fn holds(&self) -> bool {
        !self.panes.is_empty()
    }
}

/// Whether a signal ends this process: neither a handler of the program nor the kernel takes it.
pub(super) fn ends(pid: i32, signal: i32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    is_default(&status, signal)
}

fn is_default(status: &str, signal: i32) -> bool {
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    let has = |name| mask(name).is_some_and(|mask| mask >> (signal - 1) & 1 == 1);
    !has("SigCgt:") && !has("SigIgn:")
}

/// The backtraces of all threads of each rank.
fn backtraces(ranks: &[(u32, i32)]) -> Vec<String> {
    let deadline = Instant::now() + LIMIT;
    ranks
        .iter()
        .map(|(rank, pid)| format!("rank {rank}, process {pid}, in gdb:\n{}", backtrace(*pid, deadline)))
        .collect()
}

fn backtrace(pid: i32, deadline: Instant) -> String {
    let mut command = Command::new("gdb");
    command.args(["-nx", "-q", "-batch", "-ex", "set pagination off", "-ex", "set width 0"]);
    // gdb executes these after it has attached.
    command.args(["-ex", "thread apply all backtrace", "-ex", "detach", "-p", &pid.to_string()]);
    // It would fetch symbols from the network.
    command.env_remove("DEBUGINFOD_URLS").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut gdb = match command.spawn() {
        Ok(gdb) => gdb,
        Err(error) => return format!("  gdb cannot be run: {error}"),
    };
    let Some(mut output) = gdb.stdout.take() else { return String::new() };
    let (all_read, end) = mpsc::channel::<()>();
    let reader = thread::spawn(move || {
        // Dropped with the last line read.
        let _all_read = all_read;
        let mut text = Vec::new();
        // What was read before an error is shown.
        let _ = output.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let waited = end.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    let late = waited == Err(RecvTimeoutError::Timeout);
    if late {
        // It may have ended at this moment.
        let _ = gdb.kill();
    }
    let _ = gdb.wait();
    let text = reader.join().unwrap_or_default();
    let mut lines = frames(&text);
    if late {
        lines.push("  gdb took too long and was ended".to_owned());
    } else if lines.is_empty() {
        lines.push("  gdb has shown no thread: the process has ended, or may not be traced".to_owned());
    }
    lines.join("\n")
}

/// The lines about threads and frames.
fn frames(text: &str) -> Vec<String> {
    let is_frame = |line: &&str| line.starts_with('#') || line.starts_with("Thread ");
    text.lines().filter(is_frame).take(MOST_LINES).map(|line| format!("  {}", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_and_frames_are_shown() {
        let text = "[New LWP 7]\nThread 1 (Thread 0x1 (LWP 5) \"a\"):\n#0  f () at a.c:3\n\n[Inferior 1 detached]\n";
        assert_eq!(frames(text), ["  Thread 1 (Thread 0x1 (LWP 5) \"a\"):", "  #0  f () at a.c:3"]);
        assert_eq!(frames(&"#0 x\n".repeat(1000)).len(), MOST_LINES);
    }

    #[test]
    fn a_signal_with_a_handler_does_not_end_a_process() {
        let status = "Name:\tx\nSigIgn:\t0000000000000080\nSigCgt:\t0000000000000400\n";
        assert!(!is_default(status, libc::SIGSEGV) && !is_default(status, libc::SIGFPE));
        assert!(is_default(status, libc::SIGABRT));
    }

    #[test]
    fn a_job_is_shown_once_and_only_if_ranks_were_chosen() {
        assert!(!Debugging::new(None).begin());
        let list =
            crate::args::parse(["--gdb", "1", "a"].map(Into::into), &|_| Err(std::io::ErrorKind::NotFound.into()));
        let Ok(crate::args::Command::Run(run)) = list else { panic!("{list:?}") };
        let mut debugging = Debugging::new(run.options.gdb.as_ref());
        assert!(debugging.is_chosen(1) && !debugging.is_chosen(0) && debugging.begin() && !debugging.begin());
    }
}
