//! What the ranks of a host do: on request, and for how long they have made no progress.
//!
//! Not here: what follows from it (`front`).

use std::time::{Duration, Instant};

use mpi_observe::JobView;
use mpi_observe::hang::{BETWEEN_LOOKS, Progress, RankProcess, RankView};

use super::super::super::activity;
use super::super::super::hang::look_interval;
use super::super::frame::{Frame, WaitFacts};
use super::Proxy;

/// Looks for progress, if the front wants to know of a job without it.
pub(super) struct Looks {
    interval: Option<Duration>,
    progress: Progress,
    next: Instant,
}

impl Looks {
    pub(super) fn new(hang_ms: Option<u64>, now: Instant) -> Looks {
        let interval = hang_ms.map(|limit| look_interval(Duration::from_millis(limit)));
        Looks { interval, progress: Progress::default(), next: now }
    }

    /// The time between two looks.
    pub(super) fn interval(&self) -> Option<Duration> {
        self.interval
    }
}

impl Proxy<'_> {
    /// Reports how long no rank of this host has made progress, if it is time.
    pub(super) fn look_for_progress(&mut self, now: Instant) {
        let Some(interval) = self.looks.interval.filter(|_| self.started && now >= self.looks.next) else { return };
        self.looks.next = now + interval;
        self.looks.progress.look(JobView::of(self.job), now);
        let of_ranks = self.world.iter().filter_map(|rank| self.looks.progress.idle_of(*rank, now));
        let idle_ms = of_ranks.min().unwrap_or_default().as_millis() as u64;
        self.link.send(&Frame::Still { idle_ms });
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

    /// Sends the front what the ranks do; `twice`: with two looks, which show who makes calls meanwhile.
    pub(super) fn report(&mut self, twice: bool) {
        let earlier = twice.then(|| {
            let views = self.views();
            std::thread::sleep(BETWEEN_LOOKS);
            views
        });
        let now = Instant::now();
        for (place, rank, mut view) in self.views() {
            let before = earlier.iter().flatten().find(|(_, of, _)| *of == rank);
            if let Some((.., before)) = before {
                view = view.since(before);
            }
            view.idle = self.looks.progress.idle_of(rank, now);
            self.send_block(rank, true);
            self.link.send(&Frame::Waits { rank, facts: WaitFacts::of(&view) });
            if let Some((state, seconds)) = activity::process(self.ranks[place].pid) {
                let ticks = (seconds * 100.0).round() as u64;
                self.link.send(&Frame::Activity { rank, state: state.into(), ticks });
            }
        }
        self.link.send(&Frame::ReportEnd {});
    }
}
