//! The interface to a launcher of another library before its processes are connected: a key-value space and a fence.
//!
//! Not here: the launchers' protocols (`pmi::client`, `pmix`), the exchanged values (`host_info`).

use crate::spawn_request::{SpawnRequest, SpawnResult};

/// Why a launcher cannot be used. `Display` is a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LauncherError(pub String);

/// Waits for the result of a request to start processes. Errors are those of [`Launcher::spawn`].
pub type Spawning = Box<dyn FnOnce() -> Result<SpawnResult, LauncherError>>;

/// The processes of one job, by their launcher. Every function can fail with a sentence about the launcher.
pub trait KeyValueExchange {
    /// This process's rank, below [`Self::size`].
    fn rank(&self) -> u32;

    /// Number of processes.
    fn size(&self) -> u32;

    /// Number of this process's program among those of the job, from 0.
    /// # Errors
    /// The launcher does not answer.
    fn program(&mut self) -> Result<u32, LauncherError>;

    /// Longest value that can be put, in bytes.
    fn longest_value(&self) -> usize;

    /// Puts a value; others find it after the next fence. Keys are letters, digits, `_` and `-`; values have no blanks.
    /// # Errors
    /// The launcher does not accept it.
    fn put(&mut self, key: &str, value: &str) -> Result<(), LauncherError>;

    /// Whether a value is found only under the process that put it, and a `get` waits for one that was never put. Otherwise any
    /// process finds it under any other, or at once that it is missing.
    fn waits_for_values(&self) -> bool {
        false
    }

    /// The value that a process put before the last fence, if it put one.
    /// # Errors
    /// The launcher does not answer.
    fn get(&mut self, from: u32, key: &str) -> Result<Option<String>, LauncherError>;

    /// Waits until all processes have called it, without a time limit.
    /// # Errors
    /// The launcher ended it.
    fn fence(&mut self) -> Result<(), LauncherError>;
}

/// A launcher, to which a process reports how it ends.
pub trait Launcher: KeyValueExchange + Send {
    /// Reports that this process will end normally. Our `mpiexec` still answers requests for values; other launchers get no further request.
    /// # Errors
    /// The launcher does not answer.
    fn finalize(&mut self) -> Result<(), LauncherError>;

    /// Starts further processes. If the launcher may take long and answers other requests meanwhile, the wait is left to the result.
    /// # Errors
    /// The launcher does not answer, or cannot start processes for those that run.
    fn spawn(&mut self, _: &SpawnRequest) -> Result<Spawning, LauncherError> {
        let why = "the launcher that started this program starts no further processes for it; start the program with \
                   this library's mpiexec";
        Err(LauncherError(why.into()))
    }

    /// Whether a process of another job started this one, as far as the launcher itself reports that.
    fn is_spawned(&self) -> bool {
        false
    }

    /// Closes the connection of a process that ends without [`Launcher::finalize`], and waits a moment until the
    /// launcher has seen that.
    fn leave(&mut self) {}

    /// Requests the end of the job with an exit code, 1 to 255, and waits a moment for it.
    fn abort(&mut self, code: i32);
}
