//! What the ranks of a host do: on request, and for how long they have made no progress.
//!
//! Not here: what follows from it (`front`).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mpi_observe::hang::{BETWEEN_LOOKS, Progress, RankProcess, RankView};
use mpi_observe::{JobView, words};

use super::super::super::activity;
use super::super::super::hang::look_interval;
use super::super::frame::{Frame, WaitFacts};
use super::{LOOK, Proxy};

/// The most groups of ranks that do the same in one report.
const MOST_GROUPS: usize = 8;

/// Looks at the ranks: for progress, at intervals, if the front reports a job without it; and for reports that need two looks.
pub(super) struct Looks {
    interval: Option<Duration>,
    progress: Progress,
    next: Instant,
    second: Option<SecondLook>,
    /// What the front has as what the ranks are doing, and when it is looked at again.
    doing: String,
    next_doing: Instant,
}

/// The second look for a report.
struct SecondLook {
    /// The number of the report.
    number: u32,
    /// When it is due.
    at: Instant,
    /// What the first look has shown: place, rank, view.
    earlier: Vec<(usize, u32, RankView)>,
}

impl Looks {
    pub(super) fn new(hang_ms: Option<u64>, now: Instant) -> Looks {
        let interval = hang_ms.map(|limit| look_interval(Duration::from_millis(limit)));
        Looks {
            interval,
            progress: Progress::default(),
            next: now,
            second: None,
            doing: String::new(),
            next_doing: now,
        }
    }

    /// The longest time to wait for events before looking again, if there are looks to come.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let second = self.second.as_ref().map(|second| second.at.saturating_duration_since(now));
        self.interval.into_iter().chain(second).min()
    }
}

impl Proxy<'_> {
    /// Reports what the ranks are doing if that has changed: the front has it when this host is lost.
    pub(super) fn report_doing(&mut self, now: Instant) {
        if !self.started || now < self.looks.next_doing {
            return;
        }
        self.looks.next_doing = now + LOOK;
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (rank, process) in self.world.iter().zip(&self.ranks) {
            groups.entry(JobView::of(self.job).activity(*rank, process.living)).or_default().push(*rank);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(_, ranks)| ranks[0]);
        let more = groups.len().saturating_sub(MOST_GROUPS);
        let group = |(what, ranks): &(String, Vec<u32>)| format!("{}: {what}", words::ranks(ranks));
        let mut text = groups.iter().take(MOST_GROUPS).map(group).collect::<Vec<_>>().join("; ");
        if more > 0 {
            text += &format!("; and {}", mpi_errors::counted(more, "further kind"));
        }
        if text != self.looks.doing {
            self.link.send(&Frame::Doing { text: text.clone() });
            self.looks.doing = text;
        }
    }

    /// Reports how long no rank of this host has made progress, if it is time.
    pub(super) fn look_for_progress(&mut self, now: Instant) {
        let Some(interval) = self.looks.interval.filter(|_| self.started && now >= self.looks.next) else { return };
        self.looks.next = now + interval;
        self.looks.progress.look(JobView::of(self.job), now);
        let of_ranks = self.world.iter().filter_map(|rank| self.looks.progress.idle_of(*rank, now));
        let idle_ms = of_ranks.min().unwrap_or_default().as_millis() as u64;
        self.link.send(&Frame::WithoutProgress { idle_ms });
    }

    /// The waits of the ranks that have not ended: place, rank, view.
    fn views(&self) -> Vec<(usize, u32, RankView)> {
        let living = self.ranks.iter().enumerate().filter(|(_, rank)| rank.living);
        let view = |(place, process): (usize, &super::Rank)| {
            let rank = self.world[place];
            (place, rank, RankView::capture(JobView::of(self.job), rank, RankProcess::Runs(process.pid as u32)))
        };
        living.map(view).collect()
    }

    /// Sends the front what the ranks do; `twice`: after a second look, which shows who makes calls meanwhile.
    pub(super) fn report(&mut self, number: u32, twice: bool) {
        // What belongs to an earlier report comes before that of this one, or not at all.
        self.looks.second = None;
        if twice {
            let at = Instant::now() + BETWEEN_LOOKS;
            self.looks.second = Some(SecondLook { number, at, earlier: self.views() });
        } else {
            self.send_views(number, &[]);
        }
    }

    /// Makes the second look for a report, if it is time.
    pub(super) fn look_again(&mut self, now: Instant) {
        if let Some(second) = self.looks.second.take_if(|second| second.at <= now) {
            self.send_views(second.number, &second.earlier);
        }
    }

    fn send_views(&mut self, number: u32, earlier: &[(usize, u32, RankView)]) {
        let now = Instant::now();
        for (place, rank, mut view) in self.views() {
            if let Some((.., before)) = earlier.iter().find(|(_, of, _)| *of == rank) {
                view = view.since(before);
            }
            view.idle = self.looks.progress.idle_of(rank, now);
            self.send_block(rank, true);
            self.link.send(&Frame::Waits { number, rank, facts: WaitFacts::of(&view) });
            if let Some((state, seconds)) = activity::process(self.ranks[place].pid) {
                let ticks = (seconds * 100.0).round() as u64;
                self.link.send(&Frame::Activity { rank, state: state.into(), ticks });
            }
        }
        self.link.send(&Frame::ReportEnd { number });
    }
}
