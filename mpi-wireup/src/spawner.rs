//! Starting further processes for a process that runs: over the connection that our `mpiexec` has given it, by the
//! launcher of another library, or, without a launcher, by an `mpiexec` of its own.
//!
//! Invariant: the process that was started is the one that uses a connection, never one forked from it.
//! Not here: the request and its answer (`pmi::spawn`), connecting the processes (`mpi-dynamic`), the launcher's side
//! (`mpi-launch`).
#![allow(unsafe_code)] // one query: the file of this library

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::launcher::LauncherError;
use crate::manager::Manager;
use crate::pmi::connection::{Connection, ConnectionError, our_link};
use crate::pmi::spawn::{FINALIZED, answer, ended_job};
use crate::spawn_request::{SpawnProgram, SpawnRequest, SpawnResult};
use crate::time_limit;

/// Option of `mpiexec` with which a process without a launcher starts it: the descriptor of a connection.
pub const SERVE_SPAWN: &str = "--serve-spawn";
/// Environment variable with the file of the `mpiexec` that a process without a launcher uses.
pub const MPIEXEC: &str = "FERRUM_MPIEXEC";

/// Starts further processes for this one. Thread-safe.
pub struct Spawner {
    /// The launcher's process id, if it is our `mpiexec`.
    launcher: Option<i32>,
    links: Mutex<Links>,
    pid: u32,
}

#[derive(Default)]
struct Links {
    /// To our `mpiexec`, from the first request on.
    launcher: Option<Connection>,
    /// To each `mpiexec` that this process started; `None` when that has ended.
    own: Vec<Option<Connection>>,
    /// A request was not answered, so what comes next may be its answer.
    unanswered: bool,
}

/// A job that was spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnedJob {
    /// Which of the requested processes were started, in their order, and why none, if none was.
    pub result: SpawnResult,
    /// By which its end is detected, if it can be.
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Its name at our `mpiexec`.
    Launcher(String),
    /// The index of its `mpiexec`.
    Own(usize),
    /// Another launcher has it, which does not report its end. Its processes are awaited until then, for so long.
    Elsewhere(Instant, Duration),
    /// None of its processes was started.
    Nowhere,
}

impl SpawnedJob {
    /// Why its processes, which have not connected so far, are not awaited any longer; `None` while they are.
    pub fn is_overdue(&self) -> Option<String> {
        match self.place {
            Place::Elsewhere(until, limit) if Instant::now() >= until => Some(format!(
                "the launcher reports that the processes were started, but they have not connected in MPI_Init within {} \
                 seconds ({} times {})",
                limit.as_secs(),
                time_limit::OF_SPAWN,
                time_limit::LAUNCHER_TIMEOUT
            )),
            _ => None,
        }
    }
}

impl Spawner {
    /// For this process. `launcher`: the process id of our `mpiexec`, if that started it.
    pub fn new(launcher: Option<i32>) -> Spawner {
        Spawner { launcher, links: Mutex::default(), pid: std::process::id() }
    }

    /// Starts processes, by `manager` if another library's launcher started this process. Waits for the answer, within
    /// the time limit of launchers.
    /// # Errors
    /// A sentence: the launcher cannot be reached, does not answer, or starts no processes for others. That processes
    /// cannot be started is no error here, but a result.
    pub fn spawn(&self, request: &SpawnRequest, manager: Option<&Manager>) -> Result<SpawnedJob, LauncherError> {
        if std::process::id() != self.pid {
            return Err(LauncherError("a process that was forked from one of MPI cannot start processes".into()));
        }
        let limit = time_limit::of_launcher(std::env::var_os(time_limit::LAUNCHER_TIMEOUT)).map_err(LauncherError)?;
        if let Some(manager) = manager {
            // Other launchers end the job for a program that is not there.
            if let Some(program) = request.programs.iter().find(|program| is_missing(program)) {
                let reason = format!("program {:?} is not found", program.program);
                let result = SpawnResult { started: vec![false; request.processes()], reason };
                return Ok(SpawnedJob { result, place: Place::Nowhere });
            }
            let result = manager.spawn(request)?;
            let limit = limit * time_limit::OF_SPAWN;
            return Ok(SpawnedJob { result, place: Place::Elsewhere(Instant::now() + limit, limit) });
        }
        let lines = request.to_lines(true).map_err(|bad| LauncherError(bad.to_string()))?;
        let mut links = self.links.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Links { launcher: link, own, unanswered } = &mut *links;
        let Some(launcher) = self.launcher else {
            own.iter_mut().for_each(close_ended);
            let mut connection = start_mpiexec()?;
            let (result, _) = exchange(&mut connection, &lines, request.processes(), limit, &mut Vec::new())?;
            own.push(Some(connection));
            return Ok(SpawnedJob { result, place: Place::Own(own.len() - 1) });
        };
        if *unanswered {
            return Err(LauncherError("mpiexec has not answered an earlier request to start processes".into()));
        }
        if link.is_none() {
            *link = Some(to_launcher(launcher)?);
        }
        let connection = link.as_mut().expect("it was just made");
        *unanswered = true;
        let shared = &mut *our_link();
        connection.swap_rest(shared);
        let answered = exchange(connection, &lines, request.processes(), limit, &mut shared.ended);
        connection.swap_rest(shared);
        let (result, name) = answered?;
        *unanswered = false;
        Ok(SpawnedJob { result, place: Place::Launcher(name) })
    }

    /// Whether all processes of a job have ended, as far as that is known. Does not wait.
    pub fn has_ended(&self, job: &SpawnedJob) -> bool {
        let mut links = self.links.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Links { launcher, own, .. } = &mut *links;
        match &job.place {
            Place::Elsewhere(..) | Place::Nowhere => false,
            Place::Own(index) => {
                close_ended(&mut own[*index]);
                own[*index].is_none()
            }
            Place::Launcher(name) => {
                let Some(link) = launcher else { return false };
                let shared = &mut *our_link();
                link.swap_rest(shared);
                while let Ok(line) = link.line(Some(Duration::ZERO)) {
                    shared.ended.extend(ended_job(&line));
                }
                link.swap_rest(shared);
                let found = shared.ended.contains(name);
                // Each end is asked for until it is found once.
                shared.ended.retain(|own| own != name);
                found
            }
        }
    }

    /// Reports to each `mpiexec` that this process started that it ends without a failure.
    pub fn finalize(&self) {
        if std::process::id() != self.pid {
            return;
        }
        let mut links = self.links.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for link in links.own.iter_mut().flatten() {
            // One that has ended needs no report.
            let _ = link.send(format!("{FINALIZED}\n").as_bytes(), Duration::from_secs(1));
        }
    }
}

/// Closes the connection to an `mpiexec` that has ended.
fn close_ended(link: &mut Option<Connection>) {
    let line = link.as_mut().map(|link| link.line(Some(Duration::ZERO)));
    if matches!(line, Some(Err(ConnectionError::Closed | ConnectionError::System(_)))) {
        *link = None;
    }
}

/// Whether a program cannot be found on this host, as far as this process can decide that.
fn is_missing(program: &SpawnProgram) -> bool {
    if program.info.iter().any(|(key, _)| matches!(&**key, "wdir" | "path" | "host")) {
        return false;
    }
    let name = Path::new(&program.program);
    if name.components().count() > 1 {
        return !name.is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Sends a request and receives its answer; lines about jobs that have ended may come before it.
fn exchange(
    link: &mut Connection,
    lines: &str,
    processes: usize,
    limit: Duration,
    ended: &mut Vec<String>,
) -> Result<(SpawnResult, String), LauncherError> {
    let failed = |failed: ConnectionError| LauncherError(format!("mpiexec does not start the processes: {failed}"));
    link.send(lines.as_bytes(), limit).map_err(failed)?;
    loop {
        let line = link.line(Some(limit)).map_err(failed)?;
        match ended_job(&line) {
            Some(name) => ended.push(name),
            None => {
                return answer(&line, processes).map_err(|why| {
                    let line = String::from_utf8_lossy(&line).trim_end().escape_debug().to_string();
                    LauncherError(format!("mpiexec answers the request to start processes with \"{line}\": {why}"))
                });
            }
        }
    }
}

/// The connection that our `mpiexec`, the process with this id, has given this process.
fn to_launcher(launcher: i32) -> Result<Connection, LauncherError> {
    let lost = |why: &str| {
        LauncherError(format!("the connection to mpiexec (PMI_FD) cannot be used to start processes: {why}"))
    };
    let fd = std::env::var("PMI_FD").ok().and_then(|text| text.parse().ok());
    let connection =
        Connection::duplicate(fd.ok_or_else(|| lost("the variable is not set"))?).map_err(|why| lost(&why))?;
    match connection.peer() {
        Some(peer) if peer == launcher => Ok(connection),
        _ => Err(lost("it leads to another process")),
    }
}

/// Starts an `mpiexec` for one request; the connection to it.
fn start_mpiexec() -> Result<Connection, LauncherError> {
    let failed = |what: String| {
        LauncherError(format!(
            "{what}; to start processes, this program needs this library's mpiexec: start it with that, or name its file \
             in {MPIEXEC}"
        ))
    };
    let (own, other) = UnixStream::pair().map_err(|error| failed(format!("no connection can be made: {error}")))?;
    let file = find_mpiexec().ok_or_else(|| failed("no mpiexec is found".into()))?;
    let number = other.as_raw_fd();
    let mut command = Command::new(&file);
    command.arg(SERVE_SPAWN).arg(number.to_string());
    // SAFETY: one call, which is safe between fork and exec, on a descriptor that stays open until then.
    unsafe {
        command.pre_exec(move || {
            libc::fcntl(number, libc::F_SETFD, 0);
            Ok(())
        });
    }
    // It starts a process that stays, and ends at once.
    let status = command.status().map_err(|error| failed(format!("{} cannot be started: {error}", file.display())));
    drop(other);
    match status? {
        status if status.success() => Ok(Connection::new(OwnedFd::from(own))),
        status => Err(failed(format!("{} does not start processes: {status}", file.display()))),
    }
}

/// The file of `mpiexec`: the one of the variable, the one beside this library, or the first one in `PATH`.
fn find_mpiexec() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os(MPIEXEC).filter(|file| !file.is_empty()) {
        return Some(file.into());
    }
    let beside = own_file().and_then(|file| {
        let directory = file.parent()?;
        [directory.join("../bin/mpiexec"), directory.join("mpiexec")].into_iter().find(|file| file.is_file())
    });
    beside.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|directory| directory.join("mpiexec")).find(|file| file.is_file())
    })
}

/// The file that has this code: the shared library, or the program.
fn own_file() -> Option<PathBuf> {
    let mut facts = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: an address in this code; the facts are written if the call succeeds, and the name lives as the file does.
    let name = unsafe {
        let found = libc::dladdr((own_file as fn() -> Option<PathBuf>) as *const libc::c_void, &mut facts) != 0;
        (found && !facts.dli_fname.is_null()).then(|| CStr::from_ptr(facts.dli_fname))
    }?;
    std::fs::canonicalize(Path::new(OsStr::from_bytes(name.to_bytes()))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_another_launcher_are_overdue_after_the_limit() {
        let job = |place| SpawnedJob { result: SpawnResult { started: vec![true], reason: String::new() }, place };
        let limit = Duration::from_secs(300);
        assert_eq!(job(Place::Elsewhere(Instant::now() + limit, limit)).is_overdue(), None);
        assert_eq!(job(Place::Own(0)).is_overdue(), None);
        let why = job(Place::Elsewhere(Instant::now(), limit)).is_overdue().expect("the limit is over");
        assert!(why.contains("within 300 seconds (10 times FERRUM_LAUNCHER_TIMEOUT)"), "{why}");
    }
}
