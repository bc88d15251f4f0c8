//! Ending the job: `MPI_Abort`, and errors that are fatal (MPI-5.0, 9.3 and 11.4).
//!
//! The launcher is told first, so the job ends even if this process then hangs while it writes its last words; who
//! comes first decides the job's exit code, and only the first is told to the user.
#![allow(unsafe_code)] // flushes C's output and ends the process

use std::io::Write;
use std::process;

use mpi_core::abi::{MPI_ERR_UNKNOWN, MPI_SUCCESS};
use mpi_errors::{Error, FatalReport, fatal_report};
use mpi_fabric::AbortCause;

use crate::process::Process;

/// Seconds that a dying process has to write what C has buffered.
const LAST_WORDS: u32 = 5;

impl Process {
    /// `MPI_Abort`: says so in one line and ends the job with this code. Never returns; takes no lock.
    #[cold]
    pub fn abort(&self, code: i32) -> ! {
        // This library's launcher says so itself.
        let told = self.is_launched() && self.manager.is_none();
        if self.job.request_abort(self.rank(), code, AbortCause::Call) && !told {
            let (rank, size, host) = (self.rank(), self.size(), &self.host.host);
            say(&format!(
                "Ferrum MPI: rank {rank} of {size} on {host} called MPI_Abort with code {code}; the job ends\n"
            ));
        }
        self.leave(code)
    }

    /// An error that `MPI_ERRORS_ARE_FATAL` or `MPI_ERRORS_ABORT` takes: prints the report and ends the job with the
    /// error's class. `object` names the object whose handler it was. Never returns.
    #[cold]
    pub fn fatal(&self, error: &Error, object: Option<&str>) -> ! {
        let code = if error.class() == MPI_SUCCESS { MPI_ERR_UNKNOWN } else { error.class() };
        if self.job.request_abort(self.rank(), code, AbortCause::Error) {
            say(&fatal_report(&FatalReport {
                rank: Some((self.rank(), self.size())),
                host: &self.host.host,
                pid: process::id(),
                object,
                error,
                consequence: "The job ends.",
            }));
        }
        self.leave(code)
    }

    fn leave(&self, code: i32) -> ! {
        flush_output();
        // What the shell sees is one byte; a failure never becomes a success.
        let status = if code != 0 && code & 0xff == 0 { 1 } else { code & 0xff };
        if let Some(manager) = &self.manager {
            manager.abort(status);
        }
        // SAFETY: ends the process; no destructor or exit handler may run in the middle of the library.
        unsafe { libc::_exit(status) }
    }
}

/// Writes to the standard error output in one piece. A closed stream is no reason to fail now.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes what the program has printed but C has not written yet, as `exit` would.
fn flush_output() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: plain calls of C; the alarm's default action ends the process should another thread hold the stream.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(LAST_WORDS);
        libc::fflush(stdout);
    }
}
