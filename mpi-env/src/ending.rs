//! Ending the job: MPI_Abort, and errors that nobody handles (MPI-4.1, 9.3 and 11.4).
//!
//! Invariant: whoever asks first decides the job's exit code; what the program has printed is not lost.
#![allow(unsafe_code)] // flushing C's streams and leaving the process are C's business

use std::io::Write;

use mpi_errors::Error;
use mpi_errors::{FatalReport, fatal_report};

use crate::inquiry;
use crate::process::Process;

impl Process {
    /// Ends the job with an exit code (`MPI_Abort`). Never returns.
    pub fn abort(&self, code: i32, comm_name: &str) -> ! {
        let (rank, size) = (self.engine.rank(), self.engine.size());
        if self.job.request_abort(rank, code) {
            say(&format!(
                "MPI_Abort was called with error code {code} on {comm_name} by rank {rank} of {size} on {}; the job \
                 ends.\n",
                inquiry::processor_name()
            ));
        }
        leave(code)
    }

    /// Ends the job after an error whose handler is MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT. Only the job's first
    /// such error is told. Never returns.
    pub fn fatal(&self, error: &Error, object: Option<&str>) -> ! {
        let code = error.class();
        if self.job.request_abort(self.engine.rank(), code) {
            let report = FatalReport {
                rank: Some((self.engine.rank(), self.engine.size())),
                host: inquiry::processor_name(),
                pid: std::process::id(),
                object,
                error,
                consequence: "The job ends.",
            };
            say(&fatal_report(&report));
        }
        leave(code)
    }
}

/// Ends this process after an error that came before there was a process record. Never returns.
pub fn die(error: &Error) -> ! {
    let report = FatalReport {
        rank: None,
        host: inquiry::processor_name(),
        pid: std::process::id(),
        object: None,
        error,
        consequence: "The process ends.",
    };
    say(&fatal_report(&report));
    leave(error.class())
}

/// Writes to the standard error output in one piece. A closed stream is no reason to fail now.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Leaves the process without running its exit handlers, whose state nobody knows here.
fn leave(code: i32) -> ! {
    let status = if code & 0xff == 0 { 1 } else { code & 0xff };
    // SAFETY: flushing all streams and leaving at once are allowed at any time, in any thread.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::_exit(status)
    }
}
