//! The report on how the job ended.
//!
//! Not here: its sentences (`outcome`).

use super::super::TROUBLE;
use super::super::hang;
use super::super::plan::Plan;
use super::Supervisor;

impl Supervisor<'_> {
    /// Reports how the job ended; returns the exit code.
    pub(super) fn report(self, plan: &Plan<'_>) -> i32 {
        let lost = self.streams.loss().map(|error| {
            let sentence = format!("output is lost: {error}");
            self.reporter.fail(TROUBLE, &sentence, |object| object.text("kind", "output_lost"))
        });
        let failure = self.ending.failure().filter(|failure| lost.is_none() || !failure.is_broken_pipe());
        let part_code = self.ending.part_code();
        let Some(failure) = failure else { return lost.or(part_code).unwrap_or(0) };
        // The first of several counts.
        let code = part_code.unwrap_or(failure.exit_code());
        if !failure.is_reported() {
            return code;
        }
        let mut sentence = failure.sentence(plan, self.job, self.ending.others_ended);
        let (text, list, cause) =
            self.time_report.map_or_else(Default::default, |report| (report.text, report.list, report.cause));
        if !text.is_empty() && !self.reporter.is_json() {
            sentence += &format!("; {text}");
        }
        if !self.reporter.is_json() {
            self.waiting.iter().for_each(|line| sentence += &format!("\n  {line}"));
        }
        self.reporter.fail(code, &sentence, |object| {
            let object = failure.facts(plan, self.job, object);
            let object = match self.waiting.is_empty() {
                true => object,
                false => object.objects("waiting", hang::objects(&self.waiting)),
            };
            if list.is_empty() { object } else { object.text("cause", &cause).objects("doing", list) }
        })
    }
}
