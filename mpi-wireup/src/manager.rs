//! A process's connection to the launcher that started it, when that is not ours, from start to end.
//!
//! Invariant: only the process that the launcher started uses the connection, never one forked from it, and it sends
//! `finalize` at most once. Not here: when a process ends (`mpi-env`), the protocols (`pmi`, `pmix`).

use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use crate::launcher::{Launcher, LauncherError};
use crate::spawn_request::{SpawnRequest, SpawnResult};

/// How long the end of a process waits for a request of another thread. One of an address takes less; others may take for ever.
const SHORT_REQUEST: Duration = Duration::from_millis(100);

/// The launcher of this process. Thread-safe.
pub struct Manager {
    /// `None` after `finalize` and `leave`.
    link: Mutex<Option<Box<dyn Launcher>>>,
    /// The process that it started.
    pid: u32,
}

impl Manager {
    pub(crate) fn new(link: Box<dyn Launcher>) -> Manager {
        Manager { link: Mutex::new(Some(link)), pid: std::process::id() }
    }

    /// Reports to the launcher that this process ends normally. Only the first call has an effect.
    /// # Errors
    /// The launcher does not answer.
    pub fn finalize(&self) -> Result<(), LauncherError> {
        if std::process::id() != self.pid {
            return Ok(());
        }
        let link = self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        link.map_or(Ok(()), |mut link| link.finalize())
    }

    /// Passes the launcher to `call`.
    /// # Errors
    /// Those of `call`; this process has no connection to its launcher any more.
    pub(crate) fn with<R>(
        &self,
        call: impl FnOnce(&mut dyn Launcher) -> Result<R, LauncherError>,
    ) -> Result<R, LauncherError> {
        let mut link = self.link.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &mut *link {
            Some(link) if std::process::id() == self.pid => call(&mut **link),
            _ => Err(LauncherError("this process has no connection to its launcher any more".into())),
        }
    }

    /// Starts further processes.
    /// # Errors
    /// The launcher does not answer, or cannot start processes for those that run.
    pub fn spawn(&self, request: &SpawnRequest) -> Result<SpawnResult, LauncherError> {
        // Other threads have requests, such as that of an address, while this one waits.
        let wait = self.with(|link| link.spawn(request))?;
        wait()
    }

    /// Closes the connection of a process that ends although it has not finalised; the launcher sees that, and ends the
    /// other processes. The kernel would close it with the process, but Hydra overlooks the end of a connection if it
    /// has seen the end of the process first: the others would wait for ever.
    pub fn leave(&self) {
        if std::process::id() != self.pid {
            return;
        }
        // A thread that holds the lock for longer is in the middle of a request, and the process ends under it.
        if let Some(mut link) = self.lock_soon()
            && let Some(mut link) = link.take()
        {
            link.leave();
        }
    }

    /// Requests the launcher to end the job with an exit code, 1 to 255, and waits a moment for it to do so. Does nothing after `finalize`
    /// or `leave`, or while another thread has a request under way that takes long.
    pub fn abort(&self, status: i32) {
        if std::process::id() != self.pid {
            return;
        }
        if let Some(mut link) = self.lock_soon()
            && let Some(link) = &mut *link
        {
            link.abort(status);
        }
    }

    fn lock_soon(&self) -> Option<MutexGuard<'_, Option<Box<dyn Launcher>>>> {
        let end = Instant::now() + SHORT_REQUEST;
        loop {
            match self.link.try_lock() {
                Ok(link) => return Some(link),
                Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(1)),
                Err(_) => return None,
            }
        }
    }
}
