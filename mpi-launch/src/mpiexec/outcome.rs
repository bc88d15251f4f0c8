//! How a job ended: which rank failed first, the exit code, and the sentence about it.

use std::io;

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_core::functions;
use mpi_fabric::recorder::{Call, REFUSED};
use mpi_fabric::{AbortCause, Job, host};

use super::activity;
use super::os::Ended;
use super::plan::Plan;
use mpi_core::json::Object;

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A rank aborted the job.
    Aborted { rank: u32, code: i32, cause: AbortCause },
    /// A rank aborted a part of the job, together so many ranks.
    PartAborted { rank: u32, code: i32, cause: AbortCause, ranks: u32 },
    /// A rank returned a code other than 0, or a signal ended it.
    Ended { rank: u32, how: Ended, memory: bool },
    /// A rank ended without MPI_Finalize while others continued.
    Left { rank: u32 },
    /// This number of ranks, this one first, ended without MPI_Finalize, and the others normally.
    Unfinished { rank: u32, count: u32 },
    /// The launcher forwarded a signal, which ended a rank.
    Signalled { signal: i32 },
    /// The user's time limit of the job is over.
    TimedOut { milliseconds: u64 },
    /// The system does not report how processes end.
    WaitFailed { errno: i32 },
    /// A job that this rank spawned failed with this exit code.
    Spawned { rank: u32, code: i32 },
    /// The job that spawned this one has ended with a failure, which is reported there.
    ParentEnded,
    /// The process that spawned this job ended unexpectedly.
    ParentLost,
    /// A host, by its number, does not take part any more.
    HostLost { host: u32, how: HostLoss },
    /// The launcher that reaches the other hosts has ended before the job.
    ManagerLost { how: Ended },
}

/// Why a host does not take part any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostLoss {
    /// The connection to its proxy was closed.
    Closed,
    /// Nothing came from its proxy for so many seconds.
    Silent { seconds: u64 },
    /// Its proxy has got this signal, or, if 0, has lost the launcher that started it.
    Leaving { signal: i32 },
}

/// Exit code of a job that ends with another one.
const ENDED_WITH_PARENT: i32 = 1;

/// Exit code when a host is lost.
const HOST_LOST: i32 = 1;

/// Exit code when the time limit is over, as that of `timeout`.
const TIMED_OUT: i32 = 124;

impl Failure {
    /// The exit code of `mpiexec`.
    pub(super) fn exit_code(&self) -> i32 {
        match *self {
            // Only 8 bits reach the caller; a nonzero code must not become 0.
            Failure::Aborted { code, .. } | Failure::PartAborted { code, .. } => {
                if code & 0xff == 0 && code != 0 {
                    1
                } else {
                    code & 0xff
                }
            }
            Failure::Ended { how: Ended::Exited(code), .. } => code,
            Failure::Ended { how: Ended::Killed(signal), .. } | Failure::Signalled { signal } => 128 + signal,
            Failure::Left { .. } | Failure::Unfinished { .. } | Failure::WaitFailed { .. } => 1,
            Failure::TimedOut { .. } => TIMED_OUT,
            Failure::Spawned { code, .. } => code,
            Failure::ParentEnded | Failure::ParentLost => ENDED_WITH_PARENT,
            Failure::HostLost { .. } | Failure::ManagerLost { .. } => HOST_LOST,
        }
    }

    /// Whether it is the consequence of another failure: a fatal error of a rank that waited for a process of a spawned job, or for
    /// one of a host that is lost.
    pub(super) fn follows(&self, cause: &Failure) -> bool {
        let lost = matches!(self, Failure::Aborted { code: MPI_ERR_PROC_ABORTED, cause: AbortCause::Error, .. });
        match cause {
            Failure::Spawned { code, .. } => lost && *code != ENDED_WITH_PARENT,
            Failure::HostLost { how: HostLoss::Silent { .. } | HostLoss::Closed, .. } => lost,
            _ => false,
        }
    }

    /// Whether it is reported; another `mpiexec` reports what ended this job otherwise.
    pub(super) fn is_reported(&self) -> bool {
        !matches!(self, Failure::ParentEnded)
    }

    /// The report as text: one line.
    pub(super) fn sentence(&self, plan: &Plan<'_>, job: &Job, others_ended: bool) -> String {
        let Some(rank) = self.rank() else {
            return match *self {
                Failure::TimedOut { milliseconds } => {
                    format!("the job did not end within {} s and was ended", milliseconds as f64 / 1000.0)
                }
                Failure::Signalled { signal } => format!("the job was ended by {}", signal_name(signal)),
                Failure::WaitFailed { errno } => {
                    let error = io::Error::from_raw_os_error(errno);
                    format!(
                        "cannot wait for the processes of the job ({error}), so how they ended is unknown; they were \
                         killed"
                    )
                }
                Failure::ParentLost => "the process that spawned the job has ended without MPI_Finalize".into(),
                Failure::HostLost { host, how } => host_lost(plan, host, how, others_ended),
                Failure::ManagerLost { how } => {
                    let how = match how {
                        Ended::Exited(code) => format!("has ended with code {code}"),
                        Ended::Killed(signal) => format!("was ended by {}", signal_name(signal)),
                    };
                    let hosts = plan.placement.as_ref().map_or_else(String::new, |all| all.hosts.join(", "));
                    format!("the launcher that reaches the hosts {hosts} {how} before the job; all ranks were ended")
                }
                _ => "the job failed".into(),
            };
        };
        if let Failure::Spawned { code, .. } = *self {
            let others = if others_ended { "; the ranks of this one were ended" } else { "" };
            return format!("a job that rank {rank} spawned failed with exit code {code}{others}");
        }
        let what = match *self {
            Failure::Aborted { code, cause: AbortCause::Call, .. }
            | Failure::PartAborted { code, cause: AbortCause::Call, .. } => {
                let why = refused_before_abort(job, rank);
                let why = why.map_or_else(String::new, |name| format!(", after {name} was refused"));
                format!("called MPI_Abort with code {code}{why}")
            }
            Failure::Aborted { code, cause: AbortCause::Error, .. } => {
                format!("ended the job after a fatal error, with code {code}")
            }
            Failure::PartAborted { code, cause: AbortCause::Error, .. } => {
                format!("ended after a fatal error, with code {code}")
            }
            Failure::Ended { how: Ended::Exited(code), .. } => format!("exited with code {code}"),
            Failure::Ended { how: Ended::Killed(signal), memory, .. } => {
                let memory = if memory { " because there was no memory left" } else { "" };
                format!("was killed by signal {signal} ({}){memory}", signal_name(signal))
            }
            Failure::Left { .. } => format!("{} while other ranks went on", unfinished(job, rank)),
            Failure::Unfinished { count, .. } if count > 1 => {
                format!("{}, and so did {} more", unfinished(job, rank), count - 1)
            }
            _ => unfinished(job, rank).into(),
        };
        let call = match self {
            Failure::Aborted { .. } | Failure::PartAborted { .. } => String::new(),
            _ => last_call(job, rank),
        };
        let others = match *self {
            Failure::PartAborted { ranks: 1, .. } => "; the other ranks continue".into(),
            Failure::PartAborted { ranks, .. } => {
                format!("; {ranks} ranks were ended, and the others continue")
            }
            _ if others_ended => "; the other ranks were ended".into(),
            _ => String::new(),
        };
        let program = plan.program_of(rank).to_string_lossy().escape_debug().to_string();
        let host = plan.host_of(rank);
        format!("rank {rank} of {} ({program}) on host {host} {what}{call}{others}", plan.ranks)
    }

    /// The same as fields.
    pub(super) fn facts(&self, plan: &Plan<'_>, job: &Job, object: Object) -> Object {
        let kind = match self {
            Failure::Aborted { cause: AbortCause::Call, .. } => "abort",
            Failure::PartAborted { cause: AbortCause::Call, .. } => "part_abort",
            Failure::PartAborted { .. } => "part_fatal_error",
            Failure::Aborted { .. } => "fatal_error",
            Failure::Ended { memory: true, .. } => "out_of_memory",
            Failure::Ended { how: Ended::Exited(_), .. } => "exit",
            Failure::Ended { .. } => "signal",
            Failure::Left { .. } | Failure::Unfinished { .. } => "no_finalize",
            Failure::Signalled { .. } => "signalled",
            Failure::TimedOut { .. } => "timeout",
            Failure::WaitFailed { .. } => "wait_failed",
            Failure::Spawned { .. } => "spawned",
            Failure::ParentEnded | Failure::ParentLost => "parent_lost",
            Failure::HostLost { .. } => "host_lost",
            Failure::ManagerLost { .. } => "manager_lost",
        };
        let host = match *self {
            Failure::HostLost { host, .. } => plan.placement.as_ref().map(|all| all.hosts[host as usize].clone()),
            _ => self.rank().map(|rank| plan.host_of(rank)),
        };
        let host = host.unwrap_or_else(host::name);
        let mut object = object.text("kind", kind).number("ranks", plan.ranks).text("host", &host);
        if let Some(rank) = self.rank() {
            let program = plan.program_of(rank).to_string_lossy();
            object = object.number("rank", rank).text("program", &program);
            // Of a fatal error the library's own report names the call.
            if !kind.ends_with("fatal_error") {
                object = activity::facts(job, rank, object);
            }
        }
        match *self {
            Failure::Ended { how: Ended::Killed(signal), .. } | Failure::Signalled { signal } => {
                object.text("signal", &signal_name(signal))
            }
            Failure::Aborted { rank, code, cause } | Failure::PartAborted { rank, code, cause, .. } => {
                let why = if cause == AbortCause::Call { refused_before_abort(job, rank) } else { None };
                let object = object.number("code", code);
                match why {
                    Some(name) => object.text("refused", &name),
                    None => object,
                }
            }
            _ => object,
        }
    }

    /// Whether a rank ended because its output had no reader; a report of lost output covers this failure.
    pub(super) fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Ended { how: Ended::Killed(libc::SIGPIPE), .. })
    }

    /// The rank whose end made the job fail, which others may have waited for.
    pub(super) fn failed_rank(&self) -> Option<u32> {
        match *self {
            Failure::Aborted { rank, .. } | Failure::Ended { rank, .. } | Failure::Left { rank } => Some(rank),
            _ => None,
        }
    }

    /// The rank that it is about.
    fn rank(&self) -> Option<u32> {
        match *self {
            Failure::Aborted { rank, .. }
            | Failure::PartAborted { rank, .. }
            | Failure::Ended { rank, .. }
            | Failure::Left { rank }
            | Failure::Spawned { rank, .. }
            | Failure::Unfinished { rank, .. } => Some(rank),
            Failure::Signalled { .. }
            | Failure::TimedOut { .. }
            | Failure::WaitFailed { .. }
            | Failure::ParentEnded
            | Failure::ParentLost
            | Failure::HostLost { .. }
            | Failure::ManagerLost { .. } => None,
        }
    }
}

/// A sentence on a host that is lost, and on its ranks.
fn host_lost(plan: &Plan<'_>, host: u32, how: HostLoss, others_ended: bool) -> String {
    let Some(placement) = &plan.placement else { return "a host is lost".into() };
    let ranks = placement.ranks_of(host);
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    let how = match how {
        HostLoss::Closed => {
            "the connection to it was closed: the host, or the process of mpiexec on it, has ended".to_owned()
        }
        HostLoss::Silent { seconds } => format!("nothing came from it for {seconds} s"),
        HostLoss::Leaving { signal: 0 } => "the launcher's process on it has ended".to_owned(),
        HostLoss::Leaving { signal } => format!("the process of mpiexec on it got {}", signal_name(signal)),
    };
    let name = &placement.hosts[host as usize];
    let others = if others_ended { "; the other ranks were ended" } else { "" };
    format!("host {name} with {word} {} is lost: {how}{others}", mpi_observe::words::ranges(&ranks))
}

/// What a rank that used MPI to its end did not call. A rank that has returned from MPI_Finalize uses MPI by a session.
fn unfinished(job: &Job, rank: u32) -> &'static str {
    let finalized = |call: &Call| call.function == functions::MPI_FINALIZE && call.ended && call.peer != REFUSED;
    match job.recorder(rank).calls().iter().any(finalized) {
        true => "exited with an open session, without calling MPI_Session_finalize",
        false => "exited without calling MPI_Finalize",
    }
}

/// The last call in a rank's flight recorder, as the end of a sentence about the rank.
fn last_call(job: &Job, rank: u32) -> String {
    let Some(call) = job.recorder(rank).current() else { return String::new() };
    let name = call.function_name();
    if call.peer == REFUSED {
        format!(", after its last MPI call, {name}, was refused")
    } else if call.ended {
        format!(", after its last MPI call, {name}")
    } else {
        format!(", inside {name}")
    }
}

/// The call before MPI_Abort, if it was refused: the probable reason for the abort.
fn refused_before_abort(job: &Job, rank: u32) -> Option<String> {
    let calls = job.recorder(rank).calls();
    let before = calls.iter().rev().find(|call| call.function != functions::MPI_ABORT)?;
    (before.peer == REFUSED).then(|| before.function_name())
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
    use crate::args::Group;
    use crate::mpiexec::plan::Program;
    use crate::mpiexec::tools::Tools;
    use mpi_fabric::JobOptions;

    fn job() -> Job {
        Job::create(&JobOptions { ranks: 3, ring_bytes: None, cores: 1 }).unwrap()
    }

    fn with_plan<T>(work: impl FnOnce(&Plan<'_>) -> T) -> T {
        let group = Group { program: "./prog".into(), ..Group::default() };
        let programs = vec![Program { group: &group, file: "./prog".into(), ranks: 3 }];
        work(&Plan {
            programs,
            ranks: 3,
            cores: None,
            settings: String::new(),
            tools: Tools::default(),
            warnings: vec![],
            placement: None,
        })
    }

    fn object(failure: Failure, job: &Job) -> String {
        with_plan(|plan| failure.facts(plan, job, Object::new()).end())
    }

    fn text(failure: Failure, job: &Job, others: bool) -> String {
        let facts = object(failure, job);
        assert!(facts.starts_with("{\"kind\":\"") && !facts.contains('\n'), "{facts}");
        with_plan(|plan| failure.sentence(plan, job, others))
    }

    #[test]
    fn exit_codes_follow_the_shell_and_never_turn_a_failure_into_success() {
        let abort = |code| Failure::Aborted { rank: 0, code, cause: AbortCause::Call }.exit_code();
        assert_eq!([42, 256, -1].map(abort), [42, 1, 255]);
        assert_eq!(Failure::Ended { rank: 0, how: Ended::Killed(11), memory: false }.exit_code(), 139);
        assert_eq!(Failure::Signalled { signal: 2 }.exit_code(), 130);
        assert_eq!(Failure::Left { rank: 0 }.exit_code(), 1);
        assert_eq!(Failure::Unfinished { rank: 0, count: 1 }.exit_code(), 1);
        assert_eq!(Failure::TimedOut { milliseconds: 1 }.exit_code(), 124);
    }

    #[test]
    fn the_sentence_names_rank_program_host_and_last_call() {
        let job = job();
        let failure = Failure::Ended { rank: 1, how: Ended::Killed(11), memory: false };
        let plain = text(failure, &job, false);
        assert_eq!(plain, format!("rank 1 of 3 (./prog) on host {} was killed by signal 11 (SIGSEGV)", host::name()));
        let memory = text(Failure::Ended { rank: 1, how: Ended::Killed(9), memory: true }, &job, false);
        assert!(memory.ends_with("signal 9 (SIGKILL) because there was no memory left"), "{memory}");
        let kind = |memory| {
            let facts = object(Failure::Ended { rank: 1, how: Ended::Killed(9), memory }, &job);
            facts.split_once(',').map(|(kind, rest)| (kind.to_owned(), rest.to_owned())).unwrap()
        };
        assert_eq!((kind(true).0, kind(true).1), ("{\"kind\":\"out_of_memory\"".to_owned(), kind(false).1));
        job.recorder(1).enter(functions::MPI_RECV, 0, 0, 0, 0);
        let inside = text(failure, &job, true);
        assert!(inside.ends_with("(SIGSEGV), inside MPI_Recv; the other ranks were ended"), "{inside}");
        let recorder = job.recorder(1);
        let mark = recorder.enter(functions::MPI_SEND, 0, 0, 0, 0);
        mark.leave();
        assert!(text(failure, &job, true).contains("inside MPI_Recv"));
    }

    #[test]
    fn a_fatal_error_is_not_called_an_abort() {
        let job = job();
        let abort = |cause| text(Failure::Aborted { rank: 2, code: 15, cause }, &job, false);
        assert!(abort(AbortCause::Call).ends_with("called MPI_Abort with code 15"));
        let error = abort(AbortCause::Error);
        assert!(error.contains("fatal error, with code 15") && !error.contains("MPI_Abort"), "{error}");
        job.recorder(2).refused(functions::MPI_SEND);
        job.recorder(2).enter(functions::MPI_ABORT, 0, -1, 0, 0);
        assert!(abort(AbortCause::Call).ends_with("called MPI_Abort with code 15, after MPI_Send was refused"));
        assert_eq!(abort(AbortCause::Error), error);
        let recorder = job.recorder(2);
        recorder.enter(functions::MPI_BARRIER, 0, -1, 0, 0).leave();
        job.recorder(2).enter(functions::MPI_ABORT, 0, -1, 0, 0);
        assert!(abort(AbortCause::Call).ends_with("called MPI_Abort with code 15"));
    }

    #[test]
    fn ranks_that_end_without_finalize_are_counted() {
        let job = job();
        assert!(text(Failure::Unfinished { rank: 0, count: 1 }, &job, false).ends_with("without calling MPI_Finalize"));
        assert!(text(Failure::Unfinished { rank: 0, count: 3 }, &job, false).contains("and so did 2 more"));
    }

    #[test]
    fn a_rank_that_has_finalized_the_world_has_left_a_session_open() {
        let (job, left) = (job(), Failure::Left { rank: 1 });
        job.recorder(1).refused(functions::MPI_FINALIZE);
        assert!(text(left, &job, false).contains("exited without calling MPI_Finalize while other ranks went on"));
        job.recorder(1).enter(functions::MPI_FINALIZE, 0, -1, 0, 0).leave();
        let open = text(Failure::Unfinished { rank: 1, count: 1 }, &job, false);
        let expected =
            "with an open session, without calling MPI_Session_finalize, after its last MPI call, MPI_Finalize";
        assert!(open.ends_with(expected), "{open}");
    }

    #[test]
    fn a_time_limit_is_reported_as_it_was_given() {
        let job = job();
        assert!(text(Failure::TimedOut { milliseconds: 2500 }, &job, true).contains("within 2.5 s"));
        assert_eq!(text(Failure::Signalled { signal: libc::SIGINT }, &job, true), "the job was ended by SIGINT");
    }
}
