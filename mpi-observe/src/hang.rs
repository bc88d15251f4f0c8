//! Why a job makes no progress: who waits for whom, and what is wrong with that.
//!
//! The analysis is a function of a [`HangView`]: [`analyse`]. Its first sentence is the cause, as far as one is visible:
//! a rank that is stopped, has ended or computes while others need it; collective calls that differ; a message that does
//! not fit its receive; a circle of waits. The groups of ranks with what they do follow, and the messages that nobody
//! receives.
//! Invariant: it reads nothing but the view. Not here: when it is made (`mpi-launch`, `mpi-top`), queues (`queues`).

mod calls;
mod causes;
mod groups;
mod progress;
mod stuck;
#[cfg(test)]
mod tests;
mod view;
mod waits;

pub use progress::Progress;
pub use view::{HangView, RankProcess, RankView};

use mpi_core::json::Object;

use crate::words::{elsewhere, ranks};
use causes::Cause;
use stuck::connected;
use waits::{Doing, doing, has_left, may_have_left};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct HangReport {
    /// The cause, or that none is visible.
    pub cause: String,
    /// Further findings, the most important first.
    pub further: Vec<String>,
    /// The ranks by what they do, a line each.
    pub groups: Vec<String>,
    /// Messages that nobody receives, and receives that nobody sends to.
    pub unmatched: Vec<String>,
    /// What cannot be seen, and, of a job on several hosts, which ranks are where.
    pub limits: Vec<String>,
}

/// Between two looks at a job that may make progress: a rank that is in the same call at both waits there.
pub const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(50);

/// The most lines of further findings, and of messages.
const MOST_LINES: usize = 8;

impl HangReport {
    /// The report as lines; the first one is the cause.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.cause.clone()];
        lines.extend(self.further.iter().map(|line| format!("  also: {line}")));
        lines.extend(self.groups.iter().map(|line| format!("  {line}")));
        lines.extend(self.unmatched.iter().map(|line| format!("  {line}")));
        lines.extend(self.limits.iter().map(|line| format!("  ({line})")));
        lines
    }

    /// The same as fields.
    pub fn fields(&self, object: Object) -> Object {
        let list = |lines: &[String]| lines.iter().map(|line| Object::new().text("text", line)).collect::<Vec<_>>();
        let object = object.text("cause", &self.cause).objects("further", list(&self.further));
        let object = object.objects("groups", list(&self.groups)).objects("unmatched", list(&self.unmatched));
        object.objects("limits", list(&self.limits))
    }
}

/// Analyses a job.
pub fn analyse(view: &HangView) -> HangReport {
    let doings: Vec<Doing> = (0..view.ranks.len() as u32).map(|rank| doing(view, rank)).collect();
    let mut causes = causes::find(view, &doings);
    causes.sort_by_key(|cause| cause.order);
    let moving: Vec<u32> =
        (0..).zip(&doings).filter(|(_, doing)| matches!(doing, Doing::Moving(_))).map(|(rank, _)| rank).collect();
    let mut texts = causes.into_iter().map(|cause: Cause| cause.text);
    let none = || match &moving[..] {
        [] => connected(view, &doings).unwrap_or_else(|| "no rank waits for another one".to_owned()),
        [one] => format!("rank {one} makes progress, and no cause to wait is seen"),
        several => format!("{} make progress, and no cause to wait is seen", ranks(several)),
    };
    let cause = texts.next().unwrap_or_else(none);
    let mut further: Vec<String> = Vec::new();
    for text in texts {
        if text != cause && !further.contains(&text) && further.len() < MOST_LINES {
            further.push(text);
        }
    }
    let hidden = |(rank, it): (usize, &RankView)| {
        let unreadable = it.is_alive && it.queues.is_none() && it.life == mpi_fabric::Life::Initialised;
        unreadable.then_some(rank as u32)
    };
    let hidden: Vec<u32> = view.ranks.iter().enumerate().filter_map(hidden).collect();
    let mut limits = Vec::new();
    if !hidden.is_empty() {
        limits.push(format!("the queues of {} cannot be read: the system does not permit it", ranks(&hidden)));
    }
    if let Some(elsewhere) = elsewhere(&view.hosts, view.ranks.len() as u32) {
        limits.push(format!("{elsewhere}: what they do is not seen from here"));
    }
    HangReport {
        cause,
        further,
        groups: groups::lines(view, &doings),
        unmatched: groups::unmatched(view, MOST_LINES),
        limits,
    }
}

/// Whether a second look at a job, [`BETWEEN_LOOKS`] later, is needed for [`about`]: a rank may be about to return from a
/// collective call that the one that has ended had returned from.
pub fn needs_second_look(view: &HangView, ended: u32) -> bool {
    (0..view.ranks.len() as u32).filter(|rank| *rank != ended).any(|rank| match doing(view, rank) {
        Doing::Waiting(waits) => waits.iter().any(|wait| may_have_left(view, (rank, wait), ended)),
        _ => false,
    })
}

/// What the other ranks were doing to those that have ended: a sentence for each kind of wait; empty if none waits for them.
pub fn about(view: &HangView, ended: &[u32]) -> Vec<String> {
    let mut groups: std::collections::BTreeMap<(String, Vec<u32>), Vec<u32>> = std::collections::BTreeMap::new();
    for rank in (0..view.ranks.len() as u32).filter(|rank| !ended.contains(rank)) {
        let Doing::Waiting(waits) = doing(view, rank) else { continue };
        for wait in waits.iter().filter(|wait| wait.all) {
            let is_waited_for = |of: &&u32| wait.targets.contains(of) && !has_left(view, (rank, wait), **of);
            let targets: Vec<u32> = ended.iter().filter(is_waited_for).copied().collect();
            if !targets.is_empty() {
                groups.entry((groups::described(view, rank, wait), targets)).or_default().push(rank);
            }
        }
    }
    let line = |((what, targets), members): ((String, Vec<u32>), Vec<u32>)| {
        format!("{} waited for {} in {what}", ranks(&members), ranks(&targets))
    };
    groups.into_iter().map(line).take(MOST_LINES).collect()
}
