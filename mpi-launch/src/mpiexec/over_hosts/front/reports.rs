//! How the job ended, as the front reports it.

use super::super::super::outcome::Failure;
use super::super::super::{TROUBLE, hang};
use super::Front;

impl Front<'_> {
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
        if !failure.is_reported() {
            return code;
        }
        let mut sentence = failure.sentence(self.plan, self.job, self.ending.others_ended);
        let (text, list, cause) =
            self.time_report.take().map_or_else(Default::default, |report| (report.text, report.list, report.cause));
        let heard = match failure {
            Failure::HostLost { host, .. } => self.hosts[host as usize].doing.clone(),
            _ => String::new(),
        };
        let with = self.losses.with(failure).iter().map(|loss| loss.sentence(self.plan, self.job, false));
        let with: Vec<String> = with.collect();
        if !self.reporter.is_json() {
            if !heard.is_empty() {
                sentence += &format!("\n  the last that was heard from the host: {heard}");
            }
            with.iter().for_each(|loss| sentence += &format!("\n  at the same time, and perhaps the cause: {loss}"));
            if !text.is_empty() {
                sentence += &format!("; {text}");
            }
            self.hangs.waiting.iter().for_each(|line| sentence += &format!("\n  {line}"));
        }
        self.reporter.fail(code, &sentence, |object| {
            let object = failure.facts(self.plan, self.job, object);
            let object = if heard.is_empty() { object } else { object.text("heard_last", &heard) };
            let object = if with.is_empty() { object } else { object.objects("further", hang::objects(&with)) };
            let object = match self.hangs.waiting.is_empty() {
                true => object,
                false => object.objects("waiting", hang::objects(&self.hangs.waiting)),
            };
            if list.is_empty() { object } else { object.text("cause", &cause).objects("doing", list) }
        })
    }
}
