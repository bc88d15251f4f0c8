//! Ending the job: `MPI_Abort`, and errors that are fatal (MPI-5.0, 9.3 and 11.4).
//!
//! The launcher is told first, so the job ends even if this process then hangs while it writes its last words.
#![allow(unsafe_code)] // flushes C's output and ends the process

use std::process;

use mpi_core::abi::MPI_ERR_UNKNOWN;
use mpi_errors::{Error, FatalReport, fatal_report};

use crate::process::Process;

/// Seconds that a dying process has to write what C has buffered.
const LAST_WORDS: u32 = 5;

impl Process {
    /// `MPI_Abort`: says so in one line and ends the job with this code. Never returns; takes no lock.
    #[cold]
    pub fn abort(&self, code: i32) -> ! {
        eprintln!(
            "Ferrum MPI: rank {} of {} on {} called MPI_Abort with code {code}; the job ends",
            self.rank(),
            self.size(),
            self.host.host
        );
        self.end_job(code)
    }

    /// An error that `MPI_ERRORS_ARE_FATAL` or `MPI_ERRORS_ABORT` takes: prints the report and ends the job with the
    /// error's class. `object` names the object whose handler it was. Never returns.
    #[cold]
    pub fn fatal(&self, error: &Error, object: Option<&str>) -> ! {
        let report = fatal_report(&FatalReport {
            rank: Some((self.rank(), self.size())),
            host: &self.host.host,
            pid: process::id(),
            object,
            error,
            consequence: "The job ends.",
        });
        // One write, so that the reports of several ranks do not mix.
        eprint!("{report}");
        self.end_job(if error.class() == 0 { MPI_ERR_UNKNOWN } else { error.class() })
    }

    #[cold]
    fn end_job(&self, code: i32) -> ! {
        self.job.request_abort(self.rank(), code);
        flush_output();
        // What the shell sees is one byte; a failure never becomes a success.
        let status = if code != 0 && code & 0xff == 0 { 1 } else { code & 0xff };
        // SAFETY: ends the process; no destructor or exit handler may run in the middle of the library.
        unsafe { libc::_exit(status) }
    }
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
