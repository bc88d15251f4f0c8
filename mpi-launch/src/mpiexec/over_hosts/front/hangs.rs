//! What the ranks of all hosts do, on request of the front: when the time is over, when no host makes progress, when a rank
//! has failed.
//!
//! Invariant: the hosts' answers are waited for [`REPORT`] at most. Not here: what a host sends (`proxy::looks`), what follows
//! from it (`mpi_observe::hang`).

use std::time::{Duration, Instant};

use mpi_core::json::Object;
use mpi_observe::hang::{self, HangReport, HangView, RankProcess, RankView};
use mpi_observe::{JobView, words};

use super::super::super::hang::sentence;
use super::super::super::outcome::Failure;
use super::super::super::{activity, last_calls, os};
use super::super::frame::{Frame, WaitFacts};
use super::Front;

/// Time limit for the hosts to report what their ranks do.
const REPORT: Duration = Duration::from_secs(2);
/// The most hosts that a report lists with their ranks.
const MOST_HOSTS: usize = 16;

/// What a report is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The time limit is over.
    TimeOver,
    /// No rank has made progress.
    Hang,
    /// What others do to ranks that have failed.
    Failed { ranks: Vec<u32> },
}

/// The activity of the ranks when the time limit was over.
pub(super) struct TimeReport {
    pub(super) text: String,
    pub(super) cause: String,
    pub(super) list: Vec<Object>,
}

/// What hosts have reported, and what is waited for.
pub(super) struct Hangs {
    wanted: Option<Wanted>,
    /// The number of the last report that was requested: what hosts send for another one is not used.
    pub(super) number: u32,
    /// When reports that were requested have to be there.
    pub(super) report_by: Option<Instant>,
    /// By rank.
    facts: Vec<Option<WaitFacts>>,
    /// By host: for how long its ranks have made no progress.
    idle: Vec<Option<Duration>>,
    /// Whether this hang was reported.
    reported: bool,
    /// What others did to the ranks that have failed.
    pub(super) waiting: Vec<String>,
}

impl Hangs {
    pub(super) fn new(ranks: u32, hosts: usize) -> Hangs {
        Hangs {
            wanted: None,
            number: 0,
            report_by: None,
            facts: vec![None; ranks as usize],
            idle: vec![None; hosts],
            reported: false,
            waiting: Vec::new(),
        }
    }

    /// Takes what a host has sent of a rank for the report of a number.
    pub(super) fn take(&mut self, number: u32, rank: u32, facts: WaitFacts) {
        if number == self.number {
            self.facts[rank as usize] = Some(facts);
        }
    }

    /// Takes for how long a host's ranks have made no progress.
    pub(super) fn take_idle(&mut self, host: usize, idle_ms: u64) {
        self.idle[host] = Some(Duration::from_millis(idle_ms));
    }
}

impl Front<'_> {
    /// Requests a report of all hosts; whether it did. One on a failed rank or the time limit replaces one on missing progress.
    pub(super) fn request_report(&mut self, wanted: Wanted) -> bool {
        let under_way = self.hangs.report_by.and(self.hangs.wanted.as_ref());
        if under_way.is_some_and(|other| wanted == Wanted::Hang || *other == Wanted::TimeOver) {
            return false;
        }
        self.hangs.facts.fill(None);
        self.hangs.number = self.hangs.number.wrapping_add(1);
        let number = self.hangs.number;
        for host in self.hosts.iter_mut().filter(|host| host.link.is_some()) {
            host.reporting = true;
            host.send(&Frame::Report { number, twice: wanted == Wanted::TimeOver });
        }
        (self.hangs.wanted, self.hangs.report_by) = (Some(wanted), Some(Instant::now() + REPORT));
        true
    }

    /// Requests a report when no rank of any host has made progress for as long as the option says.
    pub(super) fn look_for_hang(&mut self) {
        let Some(limit) = self.options.hang_report.filter(|_| self.started && self.ending.failure().is_none()) else {
            return;
        };
        let is_idle = |(host, idle): (&super::Host, &Option<Duration>)| {
            let lives = host.ranks.iter().any(|rank| self.ranks[*rank as usize].living);
            !lives || idle.is_some_and(|idle| idle >= limit)
        };
        if self.living == 0 || !self.hosts.iter().zip(&self.hangs.idle).all(is_idle) {
            self.hangs.reported = false;
        } else if !self.hangs.reported {
            self.hangs.reported = self.request_report(Wanted::Hang);
        }
    }

    /// Makes the report when the hosts have sent what it needs.
    pub(super) fn complete_report(&mut self, now: Instant) {
        let Some(by) = self.hangs.report_by else { return };
        if self.hosts.iter().any(|host| host.reporting && host.link.is_some()) && now < by {
            return;
        }
        self.hangs.report_by = None;
        let Some(wanted) = self.hangs.wanted.take() else { return };
        let view = self.view();
        match wanted {
            Wanted::TimeOver => {
                self.time_report = Some(self.report_on_time(&view));
                let milliseconds = self.options.timeout.flatten().map_or(0, |limit| limit.as_millis() as u64);
                self.ending.fail(Failure::TimedOut { milliseconds }, self.living, now);
            }
            Wanted::Hang if self.ending.failure().is_none() => {
                let seconds = self.options.hang_report.map_or(0.0, |limit| limit.as_secs_f64());
                let report = self.analyse(&view);
                self.reporter.note("hang_report", &format!("no progress for {seconds} s: "), &report);
                if let Some(path) = &self.options.timeline {
                    let at = ("no progress", &*self.shifts());
                    last_calls::write(path, self.job, self.plan, self.reporter, at);
                }
            }
            Wanted::Hang => {}
            Wanted::Failed { ranks } => self.hangs.waiting = hang::about(&view, &ranks),
        }
    }

    fn report_on_time(&self, view: &HangView) -> TimeReport {
        let living: Vec<bool> = self.ranks.iter().map(|rank| rank.living).collect();
        let states: Vec<_> = self.ranks.iter().map(|rank| rank.state).collect();
        let why = self.analyse(view);
        TimeReport { text: sentence(&why), cause: why.cause, list: activity::list_remote(self.job, &living, &states) }
    }

    /// The job as its hosts have reported it.
    fn view(&mut self) -> HangView {
        let facts = std::mem::take(&mut self.hangs.facts);
        self.hangs.facts = vec![None; facts.len()];
        let view = |(rank, facts): (u32, Option<WaitFacts>)| {
            let lives = self.ranks[rank as usize].living;
            match facts {
                Some(facts) => facts.view(self.job, rank, lives),
                // Of a host that has not answered nothing is known but that the rank has not ended.
                None => {
                    RankView { is_alive: lives, ..RankView::capture(JobView::of(self.job), rank, RankProcess::Ended) }
                }
            }
        };
        HangView { ranks: (0..).zip(facts).map(view).collect(), hosts: Vec::new() }
    }

    fn analyse(&self, view: &HangView) -> HangReport {
        let mut report = hang::analyse(view);
        report.limits.push(self.hosts_of_ranks());
        report
    }

    /// Which ranks are where, in a sentence.
    pub(super) fn hosts_of_ranks(&self) -> String {
        let host = |host: &super::Host| words::ranks_on(&host.ranks, &host.name);
        let mut text = self.hosts.iter().take(MOST_HOSTS).map(host).collect::<Vec<_>>().join(", ");
        if let Some(more) = self.hosts.len().checked_sub(MOST_HOSTS).filter(|more| *more > 0) {
            text += &format!(", and others on {}", mpi_errors::counted(more, "further host"));
        }
        text
    }

    /// By rank, how many nanoseconds later the time is than its host's monotonic clock has it, compared with the one here.
    pub(super) fn shifts(&self) -> Vec<i64> {
        let own = os::time_of_day_ahead_ns();
        let of_host = |host: u32| self.hosts.get(host as usize).and_then(|host| host.ahead_ns).unwrap_or(own);
        let shift = |host: &u32| of_host(*host).wrapping_sub(own) as i64;
        self.placement.of_rank.iter().map(shift).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_for_another_report_is_not_used() {
        let mut hangs = Hangs::new(2, 1);
        hangs.number = 2;
        hangs.take(1, 0, WaitFacts::default());
        hangs.take(2, 1, WaitFacts::default());
        assert!(hangs.facts[0].is_none() && hangs.facts[1].is_some());
    }
}
