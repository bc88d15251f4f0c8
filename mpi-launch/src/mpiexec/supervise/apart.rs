//! What continues after a failure: the rest of a job of which a part was aborted, and jobs that are not connected with the
//! one that has failed.
//!
//! Invariant: a process of an aborted part is reported to the others when it has ended, not before.
//! Not here: how the job itself ends (`ending`), what the processes of the others do (`mpi_fabric`).

use std::time::Instant;

use mpi_fabric::AbortCause;

use super::super::os;
use super::super::outcome::Failure;
use super::Supervisor;

impl Supervisor<'_> {
    /// Ends the part of the job that a rank has aborted, and reports that; the others continue.
    pub(super) fn abort_part(&mut self, rank: u32, code: i32, cause: AbortCause) {
        let is_ended = |member: &u32| self.ranks[*member as usize].living && self.job.abort_by(*member).is_none();
        let living = self.part().into_iter().filter(is_ended);
        let failure = Failure::PartAborted { rank, code, cause, ranks: 1 + living.count() as u32 };
        self.ending.abort_part(failure.exit_code(), Instant::now());
        // A rank that has requested an abort itself ends by itself, when it has written its output.
        let leaves = |member: &u32| self.ranks[*member as usize].living && self.job.abort_by(*member).is_some();
        let ended = self.part().into_iter().filter(|member| !leaves(member));
        for group in ended.filter_map(|member| self.guard.group_of(member)) {
            os::signal_group(group, libc::SIGTERM);
            os::signal_group(group, libc::SIGCONT);
        }
        let sentence = failure.sentence(self.plan, self.job, false);
        self.reporter.fail(failure.exit_code(), &sentence, |object| failure.facts(self.plan, self.job, object));
    }

    /// The ranks that are to end because a part of the job was aborted.
    pub(super) fn part(&self) -> Vec<u32> {
        (0..self.job.ranks()).filter(|rank| self.job.is_to_end(*rank)).collect()
    }

    /// Signals the processes of the ranks that are to end alone, and those that they have started.
    pub(super) fn signal_part(&self, signal: i32) {
        for group in self.part().into_iter().filter_map(|rank| self.guard.group_of(rank)) {
            os::signal_group(group, signal);
        }
    }

    /// After a failure, when only jobs are left that are not connected with this one, waits for them as long as they run.
    pub(super) fn rest_for_others(&mut self) {
        if self.living == 0 && self.spawned.living() > 0 && self.spawned.are_apart() {
            let is_other = |pid: &i32| *pid != self.guard.pid() && !self.spawned.has(*pid);
            if os::children().is_some_and(|children| !children.iter().any(is_other)) {
                self.ending.rest();
            }
        }
    }

    /// Reports to the parent a failure that does not concern its job.
    pub(super) fn report_apart(&mut self) {
        let Some(parent) = &mut self.parent else { return };
        if self.ending.failure().is_none() || self.job.has_left(parent.job()) {
            parent.report_apart();
        }
    }
}
