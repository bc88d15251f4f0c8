//! How a job ended: which rank failed first, the exit code, and the sentence about it.

use std::ffi::OsStr;

use mpi_core::functions;
use mpi_fabric::{Job, host};

use super::os::Ended;

/// Why a job did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A rank called MPI_Abort.
    Aborted { rank: u32, code: i32 },
    /// A rank returned a code other than 0, or a signal ended it.
    Ended { rank: u32, how: Ended },
    /// A rank ended without MPI_Finalize while others went on.
    Left { rank: u32 },
    /// Somebody sent the launcher a signal, it was passed on, and it ended a rank.
    Told { signal: i32 },
}

impl Failure {
    /// The exit code of `mpiexec`.
    pub(super) fn exit_code(&self) -> i32 {
        match *self {
            // Only 8 bits reach the caller; a code must not turn into success on the way.
            Failure::Aborted { code, .. } => {
                if code & 0xff == 0 && code != 0 {
                    1
                } else {
                    code & 0xff
                }
            }
            Failure::Ended { how: Ended::Exited(code), .. } => code,
            Failure::Ended { how: Ended::Killed(signal), .. } | Failure::Told { signal } => 128 + signal,
            Failure::Left { .. } => 1,
        }
    }

    /// What to tell the user: one line.
    pub(super) fn sentence(&self, program: &OsStr, job: &Job, others_ended: bool) -> String {
        let (rank, what) = match *self {
            Failure::Aborted { rank, code } => (rank, format!("called MPI_Abort with code {code}")),
            Failure::Ended { rank, how: Ended::Exited(code) } => (rank, format!("exited with code {code}")),
            Failure::Ended { rank, how: Ended::Killed(signal) } => {
                (rank, format!("was killed by signal {signal} ({})", signal_name(signal)))
            }
            Failure::Left { rank } => (rank, "exited without calling MPI_Finalize while other ranks went on".into()),
            Failure::Told { signal } => return format!("the job was ended by {}", signal_name(signal)),
        };
        let call = if matches!(self, Failure::Aborted { .. }) { String::new() } else { last_call(job, rank) };
        let others = if others_ended { "; the other ranks were ended" } else { "" };
        let size = job.ranks();
        let program = program.to_string_lossy();
        format!("rank {rank} of {size} ({program}) on host {} {what}{call}{others}", host::name())
    }
}

/// What a rank's flight recorder says, as the end of a sentence about it.
fn last_call(job: &Job, rank: u32) -> String {
    let Some(call) = job.recorder(rank).current() else { return String::new() };
    let name = functions::name(call.function).map_or_else(|| format!("function {}", call.function), str::to_owned);
    if call.ended { format!(", after its last MPI call, {name}") } else { format!(", inside {name}") }
}

/// A signal's name; its number where it has none.
pub(super) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::JobOptions;

    fn job() -> Job {
        Job::create(&JobOptions { ranks: 3, ring_bytes: None, cores: 1 }).unwrap()
    }

    #[test]
    fn exit_codes_follow_the_shell_and_never_turn_a_failure_into_success() {
        assert_eq!(Failure::Aborted { rank: 0, code: 42 }.exit_code(), 42);
        assert_eq!(Failure::Aborted { rank: 0, code: 256 }.exit_code(), 1);
        assert_eq!(Failure::Aborted { rank: 0, code: -1 }.exit_code(), 255);
        assert_eq!(Failure::Ended { rank: 0, how: Ended::Killed(11) }.exit_code(), 139);
        assert_eq!(Failure::Told { signal: 2 }.exit_code(), 130);
        assert_eq!(Failure::Left { rank: 0 }.exit_code(), 1);
    }

    #[test]
    fn the_sentence_names_rank_program_host_and_last_call() {
        let job = job();
        let failure = Failure::Ended { rank: 1, how: Ended::Killed(11) };
        let plain = failure.sentence(OsStr::new("./prog"), &job, false);
        assert_eq!(plain, format!("rank 1 of 3 (./prog) on host {} was killed by signal 11 (SIGSEGV)", host::name()));
        job.recorder(1).enter(functions::MPI_RECV, 0, 0, 0, 0);
        let inside = failure.sentence(OsStr::new("./prog"), &job, true);
        assert!(inside.ends_with("(SIGSEGV), inside MPI_Recv; the other ranks were ended"), "{inside}");
        let mark = job.recorder(1).enter(functions::MPI_SEND, 0, 0, 0, 0);
        job.recorder(1).leave(mark);
        assert!(failure.sentence(OsStr::new("p"), &job, true).contains("inside MPI_Recv"));
    }
}
