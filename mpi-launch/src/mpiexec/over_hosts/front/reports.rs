//! What the front reports: the ranks' activities when the time is over, and how the job ended.

use std::time::Instant;

use super::super::super::outcome::Failure;
use super::super::super::{TROUBLE, activity};
use super::Front;

impl Front<'_> {
    /// When the hosts have reported what their ranks do, ends the job: its time is over.
    pub(super) fn complete_report(&mut self, now: Instant) {
        let Some(by) = self.report_by else { return };
        if self.hosts.iter().any(|host| host.reporting && host.link.is_some()) && now < by {
            return;
        }
        self.report_by = None;
        let living: Vec<bool> = self.ranks.iter().map(|rank| rank.living).collect();
        let states: Vec<_> = self.ranks.iter().map(|rank| rank.state).collect();
        let text = activity::report_remote(self.job, &living, &states);
        self.time_report = Some((text, activity::list_remote(self.job, &living, &states)));
        let milliseconds = self.options.timeout.flatten().map_or(0, |limit| limit.as_millis() as u64);
        self.ending.fail(Failure::TimedOut { milliseconds }, self.living, now);
    }

    /// Reports how the job ended; returns the exit code.
    pub(super) fn report(&mut self) -> i32 {
        let lost = self.streams.loss().map(|error| {
            let sentence = format!("output is lost: {error}");
            self.reporter.fail(TROUBLE, &sentence, |object| object.text("kind", "output_lost"))
        });
        let failure = self.ending.failure().filter(|failure| lost.is_none() || !failure.is_broken_pipe());
        let part_code = self.ending.part_code();
        let Some(failure) = failure else { return lost.or(part_code).unwrap_or(0) };
        // The first of several counts.
        let code = part_code.unwrap_or(failure.exit_code());
        let mut sentence = failure.sentence(self.plan, self.job, self.ending.others_ended);
        let (text, list) = self.time_report.take().unwrap_or_default();
        if !text.is_empty() && !self.reporter.is_json() {
            sentence += &format!("; {text}");
        }
        self.reporter.fail(code, &sentence, |object| {
            let object = failure.facts(self.plan, self.job, object);
            if list.is_empty() { object } else { object.objects("doing", list) }
        })
    }
}
