//! Ranks that cannot go on by themselves, and waits of which that is known though they form no circle.
//!
//! Invariant: a rank counts as stuck only if each of its threads that is in a call waits for ranks that are stuck or have left.
//! Not here: circles (`causes`), what each call waits for (`waits`).

use std::collections::BTreeMap;

use super::groups::described;
use super::view::{HangView, RankView};
use super::waits::{Doing, Need, Wait, waits};
use crate::words::ranks;

/// The most kinds of calls of others that a sentence names.
const MOST_KINDS: usize = 3;

/// By rank, whether it is stuck.
pub(super) fn stuck(doings: &[Doing]) -> Vec<bool> {
    let mut stuck: Vec<bool> = doings.iter().map(|doing| matches!(doing, Doing::Waiting(_))).collect();
    // A rank that can go on may end the waits of others.
    loop {
        let goes_on = |(rank, doing): (usize, &Doing)| match doing {
            Doing::Waiting(waits) => stuck[rank] && !waits.iter().all(|wait| is_stuck(doings, &stuck, wait)),
            _ => false,
        };
        let free: Vec<usize> = doings.iter().enumerate().filter(|of| goes_on(*of)).map(|(rank, _)| rank).collect();
        if free.is_empty() {
            return stuck;
        }
        free.into_iter().for_each(|rank| stuck[rank] = false);
    }
}

/// Whether nobody can end a wait.
pub(super) fn is_stuck(doings: &[Doing], stuck: &[bool], wait: &Wait) -> bool {
    let cannot = |target: &u32| match doings.get(*target as usize) {
        Some(Doing::Ended { .. } | Doing::Finalised) => true,
        Some(Doing::Waiting(_)) => stuck[*target as usize],
        _ => false,
    };
    match wait.all {
        true => wait.targets.iter().any(cannot),
        false => !wait.targets.is_empty() && wait.targets.iter().all(cannot),
    }
}

/// For each kind of receive from any rank that nobody can send to: a sentence with what the others do instead.
pub(super) fn from_any(view: &HangView, doings: &[Doing], stuck: &[bool]) -> Vec<String> {
    let mut kinds: BTreeMap<String, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for (rank, wait) in waits(doings).filter(|(rank, _)| stuck[*rank as usize]) {
        let from_any = matches!(wait.need, Need::Message { source, .. } if source < 0);
        if from_any && !wait.all && wait.targets.len() > 1 && is_stuck(doings, stuck, wait) {
            let (members, targets) = kinds.entry(described(view, rank, wait)).or_default();
            members.push(rank);
            targets.extend(&wait.targets);
        }
    }
    let sentence = |(what, (mut members, mut targets)): (String, (Vec<u32>, Vec<u32>))| {
        members.dedup();
        targets.sort_unstable();
        targets.dedup();
        targets.retain(|target| !members.contains(target));
        let (message, verb) = if members.len() == 1 { ("message", "waits") } else { ("messages", "wait") };
        let begin = format!("nobody sends the {message} that {} {verb} for in {what}", ranks(&members));
        match activities_of(view, doings, &targets) {
            others if others.is_empty() => begin,
            others => format!("{begin}: {others}"),
        }
    };
    kinds.into_iter().map(sentence).collect()
}

/// What ranks do: "ranks 1-3 are in MPI_Barrier #2 on MPI_COMM_WORLD".
fn activities_of(view: &HangView, doings: &[Doing], of: &[u32]) -> String {
    let (are, have) = (("is", "are"), ("has", "have"));
    let kinds = HangView::grouped(of.iter().filter_map(|rank| {
        let what = match doings.get(*rank as usize)? {
            Doing::Waiting(waits) => (format!("in {}", described(view, *rank, waits.first()?)), are),
            Doing::Ended { .. } => ("ended".to_owned(), have),
            _ => ("after MPI_Finalize".to_owned(), are),
        };
        Some((what, *rank))
    }));
    let more = kinds.len().saturating_sub(MOST_KINDS);
    let kind = |((what, (of_one, of_several)), members): ((String, (&str, &str)), Vec<u32>)| {
        format!("{} {} {what}", ranks(&members), if members.len() == 1 { of_one } else { of_several })
    };
    let mut text = kinds.into_iter().take(MOST_KINDS).map(kind).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += ", and others in other calls";
    }
    text
}

/// That processes of another job may wait for ranks that are outside of the library; `None` if no rank is connected.
pub(super) fn connected(view: &HangView, doings: &[Doing]) -> Option<String> {
    let is_other = |member: &u32| *member as usize >= view.ranks.len();
    let connected = |rank: &RankView| {
        let mut comms = rank.queues.iter().flat_map(|queues| &queues.comms);
        comms.any(|comm| comm.members().iter().any(is_other))
    };
    let outside = |doing: &Doing| matches!(doing, Doing::Outside(_));
    let there = (0..).zip(view.ranks.iter().zip(doings));
    let there = there.filter(|(_, (rank, doing))| outside(doing) && connected(rank)).map(|(rank, _)| rank);
    let there: Vec<u32> = there.collect();
    let (has, them) = if there.len() == 1 { ("has", "it") } else { ("have", "them") };
    let which = crate::words::ranks(&there);
    (!there.is_empty()).then(|| {
        format!(
            "no rank of this job waits for another one of it; {which} {has} a communicator with another job, whose processes \
             may wait for {them}, and {has} not called MPI lately"
        )
    })
}
