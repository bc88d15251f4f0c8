//! PMIx, the interface of PRRTE (and so Open MPI's `mpiexec`) and Slurm's `pmix` to the processes they start: a
//! library, which is loaded only when a launcher has set its variables.
//!
//! - `library`: the library's functions, with the layouts that the PMIx standard gives them. `find`: its search.
//!
//! Invariant: a PMIx library that starts a world of its own, because it found no server, is not treated as the
//! launcher's. Joining, spawning and reading values have a time limit; a fence ends when the slowest process comes.
//! Not here: the values that processes exchange (`rendezvous`).

mod find;
mod library;

pub use find::LIBRARY;

use std::ffi::{CString, NulError};
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc;
use std::time::Duration;

use mpi_fabric::signal_mask::with_all_signals_blocked;

use crate::launcher::{KeyValueExchange, Launcher, LauncherError, Spawning};
use crate::other_launchers::Server;
use crate::spawn_request::{PARENT, PARENT_PORT, SpawnProgram, SpawnRequest, SpawnResult};
use crate::{time_limit, waiting};
use library::{Library, Process, Program};

/// Rank that stands for a job as a whole.
const WHOLE_JOB: u32 = u32::MAX - 1;
/// How long a process that aborts waits for its end.
const ABORT_WAIT: Duration = Duration::from_secs(2);

/// A process that has joined its PMIx server.
pub struct Client {
    library: Library,
    own: Process,
    size: u32,
    /// How long a process waits for a value of another one, and for all processes before it warns.
    limit: Duration,
}

impl Client {
    /// Loads the library and joins the server.
    /// # Errors
    /// A sentence.
    pub fn connect(server: &Server, limit: Duration) -> Result<Client, LauncherError> {
        let library = find::library()?;
        let own = Client::join(library, limit).map_err(|LauncherError(why)| {
            LauncherError(format!(
                "{why}; a PMIx launcher started this program as rank {} of job {} (PMIX_RANK, \
                 PMIX_NAMESPACE): if it has ended, unset both to run alone",
                server.rank, server.namespace
            ))
        })?;
        if own.namespace() != server.namespace || own.rank != server.rank {
            return Err(LauncherError(format!(
                "a launcher started this program as rank {} of the PMIx job {} (PMIX_RANK, PMIX_NAMESPACE), but does not \
                 answer: {} joined job {} as rank {}",
                server.rank,
                server.namespace,
                library.name(),
                own.namespace(),
                own.rank
            )));
        }
        let whole = own.of_rank(WHOLE_JOB);
        let size = library.get_number(&whole, c"pmix.job.size");
        let size = size.map_err(|status| library.trouble("does not say how many processes there are", status))?;
        if own.rank >= size {
            return Err(LauncherError(format!(
                "the launcher reports that this is rank {} of {size} processes (PMIx)",
                own.rank
            )));
        }
        Ok(Client { library, own, size, limit })
    }

    /// Joins the server, within the limit.
    fn join(library: Library, limit: Duration) -> Result<Process, LauncherError> {
        match within(limit, "pmix-init", move || library.init())? {
            Some(Ok(own)) => Ok(own),
            Some(Err(status)) => Err(library.trouble("does not permit this process to join", status)),
            None => Err(LauncherError(format!(
                "the launcher that started this program does not answer {} within {} seconds",
                library.name(),
                limit.as_secs()
            ))),
        }
    }
}

/// The result of a call of the library, which waits for the server in a thread of its own; `None` if it takes longer than
/// the limit. Then the thread stays.
fn within<T: Send + 'static>(
    limit: Duration,
    name: &str,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, LauncherError> {
    let (result, received) = mpsc::channel();
    let waits = move || {
        // The receiver may have reached its time limit.
        let _ = result.send(call());
    };
    // Signals of the program go to its own threads.
    let started = with_all_signals_blocked(|| std::thread::Builder::new().name(name.to_owned()).spawn(waits));
    started.map_err(|error| LauncherError(format!("cannot start a thread to wait for the launcher: {error}")))?;
    Ok(received.recv_timeout(limit).ok())
}

impl KeyValueExchange for Client {
    fn rank(&self) -> u32 {
        self.own.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn program(&mut self) -> Result<u32, LauncherError> {
        // A launcher that does not count programs has one.
        Ok(self.library.get_number(&self.own, c"pmix.appnum").unwrap_or(0))
    }

    fn longest_value(&self) -> usize {
        4096
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), LauncherError> {
        self.library.put(key, value).map_err(|status| self.library.trouble("does not accept a value", status))
    }

    fn waits_for_values(&self) -> bool {
        true
    }

    fn get(&mut self, from: u32, key: &str) -> Result<Option<String>, LauncherError> {
        let value = self.library.get_text(&self.own.of_rank(from), key, self.limit);
        value.map_err(|status| self.library.trouble(&format!("returns no value {key} of rank {from}"), status))
    }

    fn fence(&mut self) -> Result<(), LauncherError> {
        let Client { library, own, size, limit } = self;
        let origin = || format!("PMIX_NAMESPACE is {}", own.namespace());
        let fenced = match own.rank {
            0 | 1 => {
                waiting::warned_after(*limit, || waiting::warn(own.rank, *size, *limit, &origin()), || library.fence())
            }
            _ => library.fence(),
        };
        fenced.map_err(|status| self.library.trouble("does not complete the fence", status))
    }
}

impl Launcher for Client {
    fn finalize(&mut self) -> Result<(), LauncherError> {
        self.library.finalize().map_err(|status| self.library.trouble("does not permit this process to leave", status))
    }

    fn spawn(&mut self, request: &SpawnRequest) -> Result<Spawning, LauncherError> {
        let port = request.value(PARENT_PORT).unwrap_or_default();
        let programs = request.programs.iter().map(|program| to_start(program, port));
        let programs = programs.collect::<Result<Vec<_>, NulError>>();
        let programs = programs.map_err(|_| LauncherError("a text for the launcher has a NUL".into()))?;
        let (processes, library, limit) = (request.processes(), self.library, self.limit * time_limit::OF_SPAWN);
        Ok(Box::new(move || {
            let Some(answer) = within(limit, "pmix-spawn", move || library.spawn(&programs))? else {
                return Err(LauncherError(format!(
                    "the launcher that started this program has not started the processes within {} seconds ({} times {})",
                    limit.as_secs(),
                    time_limit::OF_SPAWN,
                    time_limit::LAUNCHER_TIMEOUT
                )));
            };
            match answer {
                None => Err(LauncherError(format!("{} cannot start processes: it has no PMIx_Spawn", library.name()))),
                Some(Ok(())) => Ok(SpawnResult { started: vec![true; processes], reason: String::new() }),
                Some(Err(status)) => {
                    let LauncherError(reason) = library.trouble("does not start the processes", status);
                    Ok(SpawnResult { started: vec![false; processes], reason })
                }
            }
        }))
    }

    fn is_spawned(&self) -> bool {
        self.library.is_spawned(&self.own)
    }

    fn abort(&mut self, code: i32) {
        if self.library.abort(code).is_ok() {
            std::thread::sleep(ABORT_WAIT);
        }
    }
}

/// A program as the library starts it. The port of the process that starts it goes as a variable.
fn to_start(program: &SpawnProgram, port: &str) -> Result<Program, NulError> {
    let words = std::iter::once(&program.program).chain(&program.arguments);
    let arguments = words.map(|word| CString::new(word.as_bytes())).collect::<Result<_, _>>()?;
    let value = |key: &str| {
        let value = program.info.iter().find(|(own, _)| own == key);
        value.map(|(_, value)| CString::new(value.as_bytes())).transpose()
    };
    let info = value("host")?.map(|host| ("pmix.host", host)).into_iter().collect();
    Ok(Program {
        arguments,
        environment: vec![CString::new(format!("{PARENT}={port}"))?],
        directory: value("wdir")?,
        processes: i32::try_from(program.processes).unwrap_or(i32::MAX),
        info,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_takes_longer_than_the_limit_is_not_awaited() {
        assert_eq!(within(Duration::from_secs(600), "answers", || 7), Ok(Some(7)));
        let (stays, waits) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(5), "waits", move || waits.recv().is_err()), Ok(None));
        drop(stays);
    }
}
