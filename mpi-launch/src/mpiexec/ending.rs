//! When a job ends: the first failure, and the deadlines that follow from it.
//!
//! Invariant: only the first failure counts; after it all remaining processes get SIGTERM at once and SIGKILL
//! [`GRACE`] later, repeated until they have ended.

use std::time::{Duration, Instant};

use super::outcome::Failure;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(1000);
/// Time limit of the other ranks after a rank left without MPI_Finalize, before that counts as a failure.
const LEFT_GRACE: Duration = Duration::from_millis(1000);
/// Time limit for background processes of the ranks to end by themselves.
const BACKGROUND_GRACE: Duration = Duration::from_millis(250);
/// After this time SIGKILL has had its effect, or will never have it: on a process that the kernel cannot end, or that
/// cannot be found.
const GIVE_UP: Duration = Duration::from_secs(5);
/// Time between two SIGKILLs, for processes that were started during the first.
const AGAIN: Duration = Duration::from_millis(10);

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Report the activity of the ranks: the time limit is over, and the job fails.
    TimeOver,
    /// Send SIGTERM to the remaining processes.
    Terminate,
    /// Send SIGKILL to the remaining processes.
    Kill,
    /// Send SIGKILL to the remaining processes of the part of the job that was aborted.
    KillPart,
}

/// The progress of the job's end.
#[derive(Default)]
pub(super) struct Ending {
    failure: Option<Failure>,
    /// The exit code of the first failure that did not end this job (of a part of it, or of another job), if that came
    /// before the one that did.
    part_code: Option<i32>,
    /// When the remaining processes of such parts get SIGKILL.
    kill_part_at: Option<Instant>,
    /// Whether running ranks were ended.
    pub(super) others_ended: bool,
    /// The first rank that left without MPI_Finalize, when it left, and how many have.
    left: Option<(u32, Instant, u32)>,
    /// The time limit.
    over_at: Option<Instant>,
    /// When the remaining processes get SIGTERM, and when SIGKILL.
    term_at: Option<Instant>,
    kill_at: Option<Instant>,
    /// When SIGKILL was sent first.
    killed_at: Option<Instant>,
}

impl Ending {
    /// A job with this time limit.
    pub(super) fn new(limit: Option<Duration>, now: Instant) -> Ending {
        Ending { over_at: limit.and_then(|limit| now.checked_add(limit)), ..Ending::default() }
    }

    /// Records a failure, if it is the first; `running` ranks are to be ended for it.
    pub(super) fn fail(&mut self, failure: Failure, running: u32, now: Instant) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.others_ended = running > 0;
            self.term_at = Some(now);
        }
    }

    /// Records that a part of the job was aborted, whose processes get SIGTERM now. The first such code is that of the job,
    /// unless a failure came before.
    pub(super) fn abort_part(&mut self, code: i32, now: Instant) {
        self.note_code(code);
        self.kill_part_at = Some(now + GRACE);
    }

    /// Records the exit code of a failure that does not end this job.
    pub(super) fn note_code(&mut self, code: i32) {
        if self.failure.is_none() && code != 0 {
            self.part_code.get_or_insert(code);
        }
    }

    /// All that this job has to end has ended.
    pub(super) fn rest(&mut self) {
        if self.failure.is_some() {
            (self.term_at, self.kill_at, self.killed_at) = (None, None, None);
        }
    }

    /// The exit code of the first failure that did not end this job, if none that did came before.
    pub(super) fn part_code(&self) -> Option<i32> {
        self.part_code
    }

    /// Records the failure of a spawned job, or the loss of a host. It replaces the first failure if that is its consequence.
    pub(super) fn fail_as_cause(&mut self, failure: Failure, running: u32, now: Instant) {
        if self.failure.is_some_and(|first| first.follows(&failure)) {
            self.failure = Some(failure);
        }
        self.fail(failure, running, now);
    }

    /// Records that a rank left without MPI_Finalize.
    pub(super) fn leave(&mut self, rank: u32, now: Instant) {
        self.left.get_or_insert((rank, now, 0)).2 += 1;
    }

    /// Records that all ranks have ended, but a process that one started still runs.
    pub(super) fn background(&mut self, now: Instant) {
        self.term_at.get_or_insert(now + BACKGROUND_GRACE);
    }

    /// Why the job failed, if it did; valid when all processes have ended.
    pub(super) fn failure(&self) -> Option<Failure> {
        let unfinished = |(rank, _, count)| Failure::Unfinished { rank, count };
        self.failure.or(self.left.map(unfinished))
    }

    /// Whether it is of no use to wait any longer for the remaining processes.
    pub(super) fn hopeless(&self, now: Instant) -> bool {
        self.killed_at.is_some_and(|since| now >= since + GIVE_UP)
    }

    /// Whether SIGKILL has been sent.
    pub(super) fn killed(&self) -> bool {
        self.killed_at.is_some()
    }

    /// The next action that is due, with this number of running ranks. To be called until there is none.
    pub(super) fn due(&mut self, running: u32, now: Instant) -> Option<Order> {
        if self.over_at.is_some_and(|at| now >= at) {
            self.over_at = None;
            if self.failure.is_none() {
                return Some(Order::TimeOver);
            }
        }
        if let Some((rank, since, _)) = self.left
            && running > 0
            && now >= since + LEFT_GRACE
        {
            self.fail(Failure::Left { rank }, running, now);
        }
        if self.term_at.is_some_and(|at| now >= at) && self.kill_at.is_none() {
            self.kill_at = Some(now + GRACE);
            return Some(Order::Terminate);
        }
        if self.kill_part_at.is_some_and(|at| now >= at) {
            self.kill_part_at = None;
            return Some(Order::KillPart);
        }
        if self.kill_at.is_some_and(|at| now >= at) {
            self.killed_at.get_or_insert(now);
            self.kill_at = Some(now + AGAIN);
            return Some(Order::Kill);
        }
        None
    }

    /// When the next action is due.
    pub(super) fn next(&self, running: u32) -> Option<Instant> {
        let left = self.left.filter(|_| running > 0 && self.failure.is_none()).map(|(_, since, _)| since + LEFT_GRACE);
        let term = self.term_at.filter(|_| self.kill_at.is_none());
        [left, self.over_at, term, self.kill_at, self.kill_part_at].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::os::Ended;
    use super::super::outcome::HostLoss;
    use super::*;
    use mpi_core::abi::MPI_ERR_PROC_ABORTED;
    use mpi_fabric::AbortCause;

    fn failed(rank: u32) -> Failure {
        Failure::Ended { rank, how: Ended::Exited(3), memory: false }
    }

    #[test]
    fn the_first_failure_counts_and_ends_the_others_within_two_seconds() {
        let start = Instant::now();
        let mut ending = Ending::new(None, start);
        assert_eq!((ending.due(3, start), ending.next(3)), (None, None));
        ending.fail(failed(1), 2, start);
        ending.fail(failed(2), 1, start);
        assert_eq!((ending.failure(), ending.others_ended), (Some(failed(1)), true));
        assert_eq!((ending.due(2, start), ending.due(2, start)), (Some(Order::Terminate), None));
        let kill = ending.next(2).unwrap();
        assert!(kill <= start + Duration::from_secs(2));
        assert_eq!((ending.due(2, kill), ending.due(2, kill)), (Some(Order::Kill), None));
        assert_eq!(ending.due(2, kill + AGAIN), Some(Order::Kill));
        assert!(!ending.hopeless(kill) && ending.hopeless(kill + GIVE_UP));
    }

    #[test]
    fn a_lost_host_is_the_cause_of_the_error_of_a_rank_that_has_found_the_loss() {
        let start = Instant::now();
        let found = |code, cause| Failure::Aborted { rank: 0, code, cause };
        let lost = |how| Failure::HostLost { host: 1, how };
        let (silent, leaving) = (lost(HostLoss::Silent { seconds: 3 }), lost(HostLoss::Leaving { signal: 15 }));
        let error = found(MPI_ERR_PROC_ABORTED, AbortCause::Error);
        for (first, later, counts) in [
            (error, silent, silent),
            (error, lost(HostLoss::Closed), lost(HostLoss::Closed)),
            // The launcher ends the job because of the error.
            (error, leaving, error),
            (found(2, AbortCause::Error), silent, found(2, AbortCause::Error)),
            (found(MPI_ERR_PROC_ABORTED, AbortCause::Call), silent, found(MPI_ERR_PROC_ABORTED, AbortCause::Call)),
            (failed(1), silent, failed(1)),
        ] {
            let mut ending = Ending::new(None, start);
            ending.fail(first, 2, start);
            ending.fail_as_cause(later, 1, start);
            assert_eq!(ending.failure(), Some(counts), "{first:?}, {later:?}");
        }
    }

    #[test]
    fn a_rank_that_leaves_without_finalize_fails_the_job() {
        let start = Instant::now();
        let mut ending = Ending::new(None, start);
        ending.leave(2, start);
        ending.leave(0, start);
        assert_eq!(ending.due(1, start), None);
        assert_eq!(ending.failure(), Some(Failure::Unfinished { rank: 2, count: 2 }));
        let later = ending.next(1).unwrap();
        assert_eq!(ending.due(1, later), Some(Order::Terminate));
        assert_eq!(ending.failure(), Some(Failure::Left { rank: 2 }));
    }

    #[test]
    fn the_time_is_over_once_and_not_for_a_job_that_failed() {
        let (start, limit) = (Instant::now(), Duration::from_secs(5));
        let mut ending = Ending::new(Some(limit), start);
        assert_eq!(ending.next(1), Some(start + limit));
        assert_eq!((ending.due(1, start + limit), ending.due(1, start + limit)), (Some(Order::TimeOver), None));
        let mut ending = Ending::new(Some(limit), start);
        ending.fail(failed(0), 1, start + limit);
        assert_eq!(ending.due(1, start + limit), Some(Order::Terminate));
    }

    #[test]
    fn a_part_is_killed_after_its_time_and_its_code_comes_before_a_later_failure() {
        let start = Instant::now();
        let mut ending = Ending::new(None, start);
        ending.abort_part(3, start);
        ending.abort_part(4, start);
        assert_eq!((ending.due(2, start), ending.next(2)), (None, Some(start + GRACE)));
        assert_eq!((ending.due(2, start + GRACE), ending.due(2, start + GRACE)), (Some(Order::KillPart), None));
        assert_eq!((ending.failure(), ending.part_code()), (None, Some(3)));
        ending.fail(failed(0), 1, start);
        assert_eq!((ending.failure(), ending.part_code()), (Some(failed(0)), Some(3)));
        let mut ending = Ending::new(None, start);
        ending.fail(failed(0), 1, start);
        ending.abort_part(3, start);
        assert_eq!(ending.part_code(), None);
    }

    #[test]
    fn what_runs_on_in_the_background_is_ended_after_a_moment() {
        let start = Instant::now();
        let mut ending = Ending::new(None, start);
        ending.background(start);
        ending.background(start + BACKGROUND_GRACE);
        assert_eq!(ending.due(0, start), None);
        assert_eq!(ending.due(0, start + BACKGROUND_GRACE), Some(Order::Terminate));
        assert_eq!(ending.failure(), None);
    }
}
