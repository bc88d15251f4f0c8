//! The wait for all processes of a job to start MPI, which has no time limit: the others may still be started, or wait for
//! their hosts. The user is warned once.
//!
//! Not here: the time limit of a launcher's other answers (`time_limit`).

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use mpi_fabric::signal_mask::with_all_signals_blocked;

/// Warns that a process has been waiting for so long. Two ranks warn: rank 0 may be the one that is missing. `origin`: by
/// which the user finds the launcher.
pub(crate) fn warn(rank: u32, size: u32, waited: Duration, origin: &str) {
    if rank < 2 {
        // Nobody may read it any more.
        let _ = writeln!(
            io::stderr(),
            "Ferrum MPI: rank {rank} of {size} has been waiting for {} seconds for all processes of the job to start MPI \
             ({origin})",
            waited.as_secs_f32()
        );
    }
}

/// Waits in a call that has no time limit of its own, and warns once if it takes longer than a limit.
pub(crate) fn warned_after<T>(limit: Duration, warn: impl FnOnce() + Send, wait: impl FnOnce() -> T) -> T {
    let (over, is_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Without a thread there is no warning.
        let warns = move || {
            if is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                warn();
            }
        };
        // Signals of the program go to its own threads.
        let _ =
            with_all_signals_blocked(|| thread::Builder::new().name("fence-warning".into()).spawn_scoped(scope, warns));
        let result = wait();
        drop(over);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_takes_longer_than_the_limit_warns_once() {
        let (warned, warnings) = mpsc::channel();
        let warn = || warned.send(()).expect("it is received below");
        assert_eq!(warned_after(Duration::from_secs(600), warn, || 7), 7);
        assert!(warnings.try_recv().is_err());
        warned_after(Duration::from_millis(5), warn, || warnings.recv().expect("a warning"));
        assert!(warnings.try_recv().is_err());
    }
}
