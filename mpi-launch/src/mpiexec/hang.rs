//! Reports on jobs that make no progress: `--hang-report`, `--timeout`, and what others did to a rank that ended.
//!
//! Not here: the analysis (`mpi_observe::hang`).

use std::time::{Duration, Instant};

use mpi_core::json::Object;
use mpi_fabric::Job;
use mpi_observe::JobView;
use mpi_observe::hang::{self, HangReport, HangView, Progress, RankProcess};

/// The longest time between two looks at the job.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The shortest.
const LOOK_AT_MOST_EVERY: Duration = Duration::from_millis(20);

/// The time between two looks for progress, where this time without any is of interest.
pub(super) fn look_interval(limit: Duration) -> Duration {
    (limit / 8).clamp(LOOK_AT_MOST_EVERY, LOOK_EVERY)
}

/// Watches a job for `--hang-report`. A hang is reported once; after progress the next one is.
pub(super) struct HangWatch {
    limit: Option<Duration>,
    progress: Progress,
    look_at: Instant,
    reported: bool,
}

impl HangWatch {
    /// Reports after this time without progress; `None`: never.
    pub(super) fn new(limit: Option<Duration>, now: Instant) -> HangWatch {
        HangWatch { limit, progress: Progress::default(), look_at: now, reported: false }
    }

    /// When it looks next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.limit.map(|_| self.look_at)
    }

    /// The report, if it is due.
    pub(super) fn due(
        &mut self,
        now: Instant,
        job: &Job,
        processes: impl FnOnce() -> Vec<Option<i32>>,
    ) -> Option<HangReport> {
        let limit = self.limit.filter(|_| now >= self.look_at)?;
        self.look_at = now + look_interval(limit);
        self.progress.look(JobView::of(job), now);
        if self.progress.idle(now) < limit {
            self.reported = false;
            return None;
        }
        if std::mem::replace(&mut self.reported, true) {
            return None;
        }
        let mut view = view(job, &processes());
        for (rank, there) in view.ranks.iter_mut().enumerate() {
            there.idle = self.progress.idle_of(rank as u32, now);
        }
        Some(hang::analyse(&view))
    }
}

/// The job now.
fn view(job: &Job, processes: &[Option<i32>]) -> HangView {
    let process = |rank: u32| match processes.get(rank as usize) {
        Some(Some(pid)) => RankProcess::Runs(*pid as u32),
        Some(None) => RankProcess::Ended,
        None => RankProcess::Recorded,
    };
    HangView::capture(JobView::of(job), &process)
}

/// The analysis of the job now, from two looks, because it may make progress. Takes [`hang::BETWEEN_LOOKS`].
pub(super) fn report(job: &Job, processes: &[Option<i32>]) -> HangReport {
    hang::analyse(&second_look(job, processes, &view(job, processes)))
}

/// The job [`hang::BETWEEN_LOOKS`] later, and what has changed since the first look.
fn second_look(job: &Job, processes: &[Option<i32>], first: &HangView) -> HangView {
    std::thread::sleep(hang::BETWEEN_LOOKS);
    view(job, processes).since(first)
}

/// A report in a sentence on something else, with the list of ranks below it.
pub(super) fn sentence(report: &HangReport) -> String {
    let (cause, lines) = (&report.cause, report.lines());
    format!("{cause}; what the ranks were doing:\n{}", lines[1..].join("\n"))
}

/// What the others do to a rank that has ended, a sentence for each kind of wait.
pub(super) fn about(job: &Job, processes: &[Option<i32>], rank: u32) -> Vec<String> {
    let now = view(job, processes);
    match hang::needs_second_look(&now, rank) {
        true => hang::about(&second_look(job, processes, &now), &[rank]),
        false => hang::about(&now, &[rank]),
    }
}

/// A list of sentences as objects.
pub(super) fn objects(lines: &[String]) -> Vec<Object> {
    lines.iter().map(|line| Object::new().text("text", line)).collect()
}
