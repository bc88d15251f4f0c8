//! Reports on a job that makes no progress, or exceeds its time limit.
//!
//! Not here: the reports' texts (`hang`, `activity`).

use std::time::Instant;

use super::super::{activity, hang, last_calls};
use super::{Supervisor, TimeReport};

impl Supervisor<'_> {
    /// Reports that the job makes no progress, if that is wanted and so.
    pub(super) fn report_hang(&mut self) {
        if self.ending.failure().is_some() {
            return;
        }
        let ranks = &self.ranks;
        let processes = || ranks.iter().map(|rank| rank.living.then_some(rank.pid)).collect();
        if let Some(report) = self.hang_watch.due(Instant::now(), self.job, processes) {
            let seconds = self.options.hang_report.map_or(0.0, |limit| limit.as_secs_f64());
            self.reporter.note("hang_report", &format!("no progress for {seconds} s: "), &report);
            if let Some(path) = &self.options.timeline {
                last_calls::write(path, self.job, self.plan, self.reporter, ("no progress", &[]));
            }
        }
    }

    /// What the ranks were doing when the time limit was over, and why.
    pub(super) fn time_report(&self, processes: &[Option<i32>]) -> TimeReport {
        let why = hang::report(self.job, processes);
        TimeReport { text: hang::sentence(&why), cause: why.cause, list: activity::list(self.job, processes) }
    }
}
