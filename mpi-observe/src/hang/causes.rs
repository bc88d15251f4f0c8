//! Causes of a hang, in the order of their certainty.
//!
//! A rank that waits for nobody and is needed comes first, as it could go on. Then calls that contradict each other, then
//! circles, then ranks that have left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mpi_core::abi::MPI_ANY_TAG;
use mpi_core::functions;
use mpi_fabric::recorder::Call;

use super::calls::{base_name, completes_requests, counted_as, is_counted};
use super::groups::{described, of_waits, process_of};
use super::stuck::{from_any, is_stuck, stuck};
use super::view::HangView;
use super::waits::{Doing, Need, Wait, begun, is_rooted, unready, unstarted, waits};
use crate::process::ProcessState;
use crate::queues::CommQueues;
use crate::words::ranks;

/// A cause, and its place in the order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cause {
    pub order: u32,
    pub text: String,
}

const STOPPED: u32 = 0;
const DIED: u32 = 1;
const NEEDED: u32 = 2;
const MISMATCH: u32 = 3;
const UNFIT: u32 = 4;
const CIRCLE: u32 = 5;
const LEFT: u32 = 6;
const SEEN: u32 = 7;

pub(super) fn find(view: &HangView, doings: &[Doing]) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(text) = stopped(view) {
        return vec![Cause { order: STOPPED, text }];
    }
    needed(view, doings, &mut causes);
    mismatches(view, doings, &mut causes);
    unfit(view, doings, &mut causes);
    // A circle follows from calls that contradict each other.
    if !causes.iter().any(|cause| [MISMATCH, UNFIT].contains(&cause.order)) {
        let stuck = stuck(doings);
        circles(view, doings, &stuck, &mut causes);
        let from_any = from_any(view, doings, &stuck).into_iter();
        causes.extend(from_any.map(|text| Cause { order: CIRCLE, text }));
    }
    let moves = |doing: &Doing| matches!(doing, Doing::Moving(_));
    if causes.is_empty() && !doings.iter().any(moves) {
        // Nothing contradicts: the first wait at least.
        let first = waits(doings).find_map(|(rank, wait)| Some((rank, wait, host_of_target(view, wait)?)));
        let first = first.or_else(|| waits(doings).next().map(|(rank, wait)| (rank, wait, String::new())));
        let text =
            first.map(|(rank, wait, host)| format!("rank {rank} waits in {}{host}", described(view, rank, wait)));
        causes.extend(text.map(|text| Cause { order: SEEN, text }));
    }
    causes
}

/// Where the rank runs that alone can end a wait, if that is another host.
fn host_of_target(view: &HangView, wait: &Wait) -> Option<String> {
    let [target] = wait.targets[..] else { return None };
    let name = view.hosts.iter().find(|host| host.ranks.contains(&target)).map(|host| &*host.name);
    view.is_elsewhere(target).then(|| format!(", which is on {}", name.unwrap_or("another host")))
}

/// If a signal or debugger has stopped all ranks.
fn stopped(view: &HangView) -> Option<String> {
    let here = || (0..).zip(&view.ranks).filter(|(rank, _)| !view.is_elsewhere(*rank)).map(|(_, there)| there);
    let alive = || here().filter(|there| there.is_alive);
    let all = alive().count() > 0 && alive().all(|there| there.state == Some(ProcessState::Stopped));
    let on_host = if view.hosts.is_empty() { "" } else { " on this host" };
    let which = match view.ranks.len() {
        1 => "the rank is".to_owned(),
        _ if alive().count() == here().count() => format!("all ranks{on_host} are"),
        _ => format!("all ranks{on_host} that have not ended are"),
    };
    all.then(|| {
        format!("{which} stopped by a signal or a debugger; the signal SIGCONT continues what a signal has stopped")
    })
}

/// Who waits for a rank in which calls: "ranks 0, 2 wait for it in MPI_Barrier on MPI_COMM_WORLD".
fn waiters(view: &HangView, doings: &[Doing], of: u32) -> String {
    let direct = waits(doings).filter(|(_, wait)| wait.targets.contains(&of) && (wait.all || wait.targets.len() == 1));
    let mut groups = HangView::grouped(direct.map(|(rank, wait)| (described(view, rank, wait), rank)));
    if groups.is_empty() {
        let any = waits(doings).filter(|(_, wait)| wait.targets.contains(&of));
        groups = HangView::grouped(any.map(|(rank, wait)| (described(view, rank, wait), rank)));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let more = groups.len().saturating_sub(2);
    let one = |(what, members): &(String, Vec<u32>)| {
        let (mut members, wait) = (members.clone(), if members.len() == 1 { "waits" } else { "wait" });
        members.dedup();
        format!("{} {wait} for it in {what}", ranks(&members))
    };
    let mut text = groups.iter().take(2).map(one).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(", and others in {more} other ways");
    }
    text
}

/// Ranks that others need and that wait for nobody.
fn needed(view: &HangView, doings: &[Doing], causes: &mut Vec<Cause>) {
    let targets: BTreeSet<u32> = waits(doings).flat_map(|(_, wait)| wait.targets.iter().copied()).collect();
    // Ranks with the same facts and the same waiters share a sentence.
    let mut groups: BTreeMap<(u32, String, String), Vec<u32>> = BTreeMap::new();
    for rank in targets {
        let Some(there) = view.ranks.get(rank as usize) else { continue };
        let stopped = there.state == Some(ProcessState::Stopped);
        let idle = there.idle.map_or(String::new(), |idle| format!(" for {} s", idle.as_secs()));
        let state = |there| process_of(there).map_or(String::new(), |state| format!(", {state}"));
        let after = |call: &Option<Call>| call.map_or("".to_owned(), |call| format!(" after {}", base_name(&call)));
        let (order, what) = match &doings[rank as usize] {
            _ if stopped => (STOPPED, "stopped by a signal or a debugger".to_owned()),
            Doing::Ended { orderly: false } => (DIED, "ended without MPI_Finalize".to_owned()),
            Doing::Ended { orderly: true } => (LEFT, "ended".to_owned()),
            Doing::Finalised => (LEFT, "called MPI_Finalize".to_owned()),
            Doing::NotInitialised => (NEEDED, format!("not returned from MPI_Init{idle}{}", state(there))),
            Doing::Outside(call) => (NEEDED, format!("not called MPI{idle}{}{}", after(call), state(there))),
            Doing::Elsewhere | Doing::Unrecorded | Doing::Moving(_) | Doing::Waiting(_) => continue,
        };
        groups.entry((order, what, waiters(view, doings, rank))).or_default().push(rank);
    }
    for ((order, what, waiting), members) in groups {
        let several = members.len() > 1;
        let (is, has, they) = if several { ("are", "have", "them") } else { ("is", "has", "it") };
        let what = what.replace("the process is", if several { "the processes are" } else { "the process is" });
        let verb = if order == STOPPED { is } else { has };
        let waiting = waiting.replace("for it in", &format!("for {they} in"));
        causes.push(Cause { order, text: format!("{} {verb} {what}; {waiting}", ranks(&members)) });
    }
}

/// A call of a collective operation, as far as all processes have to agree on it.
type Signature = (String, Option<i32>);

fn signature(call: &Call) -> Option<Signature> {
    let name = base_name(call);
    let root = is_rooted(&counted_as(call).unwrap_or_else(|| name.clone())).then_some(call.peer);
    Some((name, root))
}

/// The call with this number among the collective operations of a communicator, if a rank's recorded calls go back to it.
fn numbered(view: &HangView, rank: u32, context: u32, number: u64) -> Option<Signature> {
    let there = &view.ranks[rank as usize];
    let last = begun(view, rank, context)?;
    let back = usize::try_from(last.checked_sub(number)?).ok()?;
    let counts = |call: &&Call| call.comm == context && counted_as(call).is_some();
    // Starts of persistent requests are counted too, and do not show their operation.
    let is_start = |call: &&Call| [functions::MPI_START, functions::MPI_STARTALL].contains(&call.function);
    let last_counted = there.calls.iter().rposition(|call| counts(&call));
    let last_start = there.calls.iter().rposition(|call| is_start(&call));
    if last_start.is_some() && (back > 0 || last_start > last_counted) {
        return None;
    }
    signature(there.calls.iter().rev().filter(counts).nth(back)?)
}

/// Collective calls on one communicator that differ.
fn mismatches(view: &HangView, doings: &[Doing], causes: &mut Vec<Cause>) {
    let collective = |(rank, wait): (u32, &'_ Wait)| match wait.need {
        Need::Collective { context, .. } => Some(((context, view.members(rank, context)), (rank, wait.call))),
        _ => None,
    };
    /// Context id and members of a communicator.
    type Members = (u32, Vec<u32>);
    let mut calls: BTreeMap<Members, Vec<(u32, Call)>> = BTreeMap::new();
    for (key, call) in waits(doings).filter_map(collective) {
        calls.entry(key).or_default().push(call);
    }
    for ((context, _), inside) in calls {
        let count = |rank: u32| begun(view, rank, context);
        let name = view.comm_name(inside[0].0, context);
        // The operation of a wait is taken to be the last one that its rank has started.
        let first = inside
            .iter()
            .filter(|(_, call)| is_counted(&base_name(call)) || completes_requests(&base_name(call)))
            .map(|(rank, _)| count(*rank))
            .min()
            .flatten();
        // Of each rank the call that stands where the earliest of them is now.
        let mut found: BTreeMap<Signature, Vec<u32>> = BTreeMap::new();
        for (rank, call) in &inside {
            let own = signature(call);
            let there = match (first, count(*rank)) {
                (Some(number), Some(count)) if count > number => numbered(view, *rank, context, number),
                (Some(number), Some(count)) if count == number && !is_counted(&base_name(call)) => {
                    numbered(view, *rank, context, number)
                }
                _ if completes_requests(&base_name(call)) => None,
                _ => own,
            };
            if let Some(there) = there {
                found.entry(there).or_default().push(*rank);
            }
        }
        // What others do next is open while they make calls.
        let moving = |rank: u32| matches!(doings.get(rank as usize), Some(Doing::Moving(_)));
        if first.is_some() {
            let members = view.members(inside[0].0, context);
            for other in
                members.into_iter().filter(|other| !moving(*other) && inside.iter().all(|(rank, _)| rank != other))
            {
                let passed =
                    view.ranks.get(other as usize).and(first).and_then(|number| numbered(view, other, context, number));
                if let Some(passed) = passed {
                    found.entry(passed).or_default().push(other);
                }
            }
        }
        if found.len() < 2 {
            continue;
        }
        let number = first.map_or(String::new(), |number| format!(" #{number}"));
        let mut parts: Vec<_> = found.into_iter().collect();
        parts.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        let part = |((function, root), members): &(Signature, Vec<u32>)| {
            let number = if is_counted(function) || function.starts_with("MPI_I") { &*number } else { "" };
            let root = root.map_or(String::new(), |root| format!(" with root {root}"));
            let mut members = members.clone();
            members.sort_unstable();
            members.dedup();
            let verb = if members.len() == 1 { "calls" } else { "call" };
            format!("{} {verb} {function}{number}{root}", ranks(&members))
        };
        let parts: Vec<_> = parts.iter().map(part).collect();
        let text = format!("collective calls on {name} differ: {}", parts.join(", "));
        causes.push(Cause { order: MISMATCH, text });
    }
}

/// Messages that would fit a receive but for one argument.
fn unfit(view: &HangView, doings: &[Doing], causes: &mut Vec<Cause>) {
    let moving = |rank: u32| matches!(doings.get(rank as usize), Some(Doing::Moving(_)));
    // What a rank that makes calls sends or receives next is open.
    for (rank, wait) in waits(doings).filter(|(_, wait)| !wait.targets.iter().any(|target| moving(*target))) {
        match wait.need {
            Need::Message { context, source, tag } => {
                let text = unfit_message(view, rank, (context, source, tag));
                let text = text.map(|why| format!("rank {rank} waits in {}; {why}", described(view, rank, wait)));
                causes.extend(text.map(|text| Cause { order: UNFIT, text }));
            }
            Need::Receive { context, dest, tag } => {
                let Some(to) = view.world_rank(rank, context, dest).filter(|to| (*to as usize) < doings.len()) else {
                    continue;
                };
                // A receiver that waits for a message is reported with its receive.
                let waits_too = matches!(&doings[to as usize], Doing::Waiting(waits)
                    if waits.iter().any(|wait| matches!(wait.need, Need::Message { .. })));
                if waits_too {
                    continue;
                }
                let why = unfit_receive(view, rank, to, (context, tag));
                let text = why.map(|why| format!("rank {rank} waits in {}; {why}", described(view, rank, wait)));
                causes.extend(text.map(|text| Cause { order: UNFIT, text }));
            }
            _ => {}
        }
    }
}

/// What has come instead of the message that a rank waits for.
fn unfit_message(view: &HangView, rank: u32, (context, source, tag): (u32, i32, i32)) -> Option<String> {
    let queues = view.ranks[rank as usize].queues.as_ref()?;
    let fits_tag = |other: i32| tag == MPI_ANY_TAG || other == tag;
    let from = view.world_rank(rank, context, source);
    let comm = queues.comms.iter().find(|comm| comm.context == context);
    // The right sender and tag in another communicator.
    for other in queues.comms.iter().filter(|other| other.context != context) {
        let fits = |from_there: u32, tag: i32| from.is_none_or(|from| from == from_there) && fits_tag(tag);
        if let Some(message) = other.unexpected.iter().find(|message| fits(message.from, message.tag)) {
            let (name, own) = (view.comm_name(rank, other.context), view.comm_name(rank, context));
            let sender = view.process_name(message.from, message.source);
            return Some(format!(
                "{sender} has sent a message with tag {} ({} bytes) on {name}, not on {own}",
                message.tag, message.bytes
            ));
        }
    }
    let comm = comm?;
    // The right sender and another tag.
    if let Some(message) = comm.unexpected.iter().find(|message| source < 0 || message.source == source) {
        let sender = view.process_name(message.from, message.source);
        return Some(format!("{sender} has sent one with tag {} ({} bytes)", message.tag, message.bytes));
    }
    let message = comm.unexpected.iter().find(|message| fits_tag(message.tag))?;
    let sender = view.process_name(message.from, message.source);
    Some(format!("a message with tag {} ({} bytes) has come from {sender}", message.tag, message.bytes))
}

/// Which receives the receiver of a message has posted instead.
fn unfit_receive(view: &HangView, rank: u32, to: u32, (context, tag): (u32, i32)) -> Option<String> {
    let queues = view.ranks[to as usize].queues.as_ref()?;
    let from_rank = |comm: &CommQueues, source: i32| {
        source < 0 || comm.world_ranks.get(source as usize).is_some_and(|world| *world == rank)
    };
    let fits_tag = |other: i32| other == MPI_ANY_TAG || other == tag;
    for other in queues.comms.iter().filter(|other| other.context != context) {
        if other.posted.iter().any(|receive| from_rank(other, receive.source) && fits_tag(receive.tag)) {
            let (name, own) = (view.comm_name(to, other.context), view.comm_name(rank, context));
            return Some(format!("rank {to} receives it on {name}, not on {own}"));
        }
    }
    let comm = queues.comms.iter().find(|comm| comm.context == context)?;
    if let Some(receive) = comm.posted.iter().find(|receive| from_rank(comm, receive.source)) {
        return Some(format!("rank {to} has posted a receive from it with tag {}", receive.tag));
    }
    let receive = comm.posted.iter().find(|receive| fits_tag(receive.tag))?;
    let source = view.process_name(*comm.world_ranks.get(receive.source as usize)?, receive.source);
    Some(format!("rank {to} has posted a receive with tag {} from {source}", receive.tag))
}

/// A shortest circle of ranks of which each waits for the next, among those of which no thread can go on.
fn circles(view: &HangView, doings: &[Doing], stuck: &[bool], causes: &mut Vec<Cause>) {
    let waiting = |rank: u32| match doings.get(rank as usize) {
        Some(Doing::Waiting(waits)) if stuck[rank as usize] => &waits[..],
        _ => &[],
    };
    let mut best: Option<Vec<(u32, &Wait)>> = None;
    for start in 0..doings.len() as u32 {
        // A breadth-first search back to the start.
        let mut from: BTreeMap<u32, (u32, &Wait)> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(rank) = queue.pop_front() {
            for wait in waiting(rank).iter().filter(|wait| wait.all || wait.targets.len() == 1) {
                for target in &wait.targets {
                    if from.contains_key(target) || waiting(*target).is_empty() {
                        continue;
                    }
                    from.insert(*target, (rank, wait));
                    queue.push_back(*target);
                }
            }
            if from.contains_key(&start) {
                break;
            }
        }
        let Some(last) = from.get(&start) else { continue };
        let mut circle = vec![*last];
        while circle[circle.len() - 1].0 != start && circle.len() <= doings.len() {
            match from.get(&circle[circle.len() - 1].0) {
                Some(step) => circle.push(*step),
                None => break,
            }
        }
        circle.reverse();
        if best.as_ref().is_none_or(|other| circle.len() < other.len()) {
            best = Some(circle);
        }
        if best.as_ref().is_some_and(|circle| circle.len() <= 2) {
            break;
        }
    }
    let Some(circle) = best else { return };
    let is_message = |wait: &Wait| matches!(wait.need, Need::Message { .. } | Need::Receive { .. });
    let several = |rank: u32| waiting(rank).iter().filter(|wait| is_message(wait)).count() > 1;
    if circle.iter().all(|(rank, wait)| is_message(wait) && !several(*rank)) || circle.len() == 1 {
        return causes.push(Cause { order: CIRCLE, text: circle_text(view, doings, &circle) });
    }
    if circle.iter().all(|(_, wait)| is_message(wait)) {
        // Each thread waits for something that nobody does; one circle of them is no more the cause than another.
        let all: Vec<_> = waits(doings)
            .filter(|(rank, wait)| stuck[*rank as usize] && is_message(wait) && is_stuck(doings, stuck, wait))
            .collect();
        let mut of: Vec<u32> = all.iter().map(|(rank, _)| *rank).collect();
        of.dedup();
        let what = match all.iter().all(|(_, wait)| matches!(wait.need, Need::Message { .. })) {
            true => "nobody sends the messages that",
            false => "nobody sends or receives what",
        };
        let (threads, lines) = (all.len(), of_waits(view, &all).join("; "));
        let text = format!("{what} {threads} threads of {} wait for: {lines}", ranks(&of));
        return causes.push(Cause { order: CIRCLE, text });
    }
    causes.push(Cause { order: CIRCLE, text: circle_text(view, doings, &circle) });
    // The other threads of these ranks wait for nothing better.
    for (rank, wait) in circle.iter().filter(|(rank, wait)| is_message(wait) && several(*rank)) {
        for other in waiting(*rank).iter().filter(|other| *other != *wait && is_message(other)) {
            let [target] = other.targets[..] else { continue };
            let there = waiting(target).iter().find(|there| matches!(there.need, Need::Collective { .. }));
            let step = there.map(|there| [(*rank, other), (target, there)]);
            causes.extend(step.map(|step| Cause { order: CIRCLE, text: circle_text(view, doings, &step) }));
        }
    }
}

fn circle_text(view: &HangView, doings: &[Doing], circle: &[(u32, &Wait)]) -> String {
    let collective = |wait: &Wait| matches!(wait.need, Need::Collective { .. });
    let point = circle.iter().position(|(_, wait)| matches!(wait.need, Need::Message { .. } | Need::Receive { .. }));
    // Of a message and a collective call the message is the mistake.
    if let Some(at) = point
        && circle.iter().any(|(_, wait)| collective(wait))
    {
        let (rank, wait) = circle[at];
        let (other, elsewhere) = circle[(at + 1) % circle.len()];
        let there = described(view, other, elsewhere);
        let what = described(view, rank, wait);
        return match wait.need {
            Need::Receive { .. } => {
                format!("nobody receives the message that rank {rank} sends in {what}: rank {other} is in {there}")
            }
            Need::Message { context, tag, .. } => {
                let made = [functions::MPI_SEND_INIT, functions::MPI_SSEND_INIT];
                let made = made.into_iter().find(|function| unstarted(view, other, *function, (context, tag, rank)));
                let made = made.map_or(String::new(), |function| {
                    let name = functions::name(function).unwrap_or_default();
                    format!("; it has made a request for it by {name} and not started it")
                });
                let made = unready(view, other, (context, tag, rank)).map_or(made, |what| format!("; {what}"));
                format!(
                    "nobody sends the message that rank {rank} waits for in {what}: rank {other} is in {there}{made}"
                )
            }
            _ => String::new(),
        };
    }
    if circle.len() == 2 && circle.iter().all(|(_, wait)| collective(wait)) {
        // All ranks in these two calls.
        let part = |at: usize| {
            let text = described(view, circle[at].0, circle[at].1);
            let same = waits(doings).filter(|(rank, wait)| described(view, *rank, wait) == text).map(|(rank, _)| rank);
            format!("{} in {text}", ranks(&same.collect::<Vec<_>>()))
        };
        return format!("collective calls wait for each other: {}, {}", part(0), part(1));
    }
    let members: Vec<u32> = circle.iter().map(|(rank, _)| *rank).collect();
    if circle.len() == 1 {
        return format!("rank {} waits for itself in {}", members[0], described(view, members[0], circle[0].1));
    }
    let parts: Vec<_> =
        circle.iter().take(8).map(|(rank, wait)| format!("rank {rank} in {}", described(view, *rank, wait))).collect();
    let mut sorted = members.clone();
    sorted.sort_unstable();
    let more = if circle.len() > 8 { ", and so on" } else { "" };
    let how = if circle.len() == 2 { "wait for each other" } else { "wait for each other in a circle" };
    format!("{} {how}: {}{more}", ranks(&sorted), parts.join(", "))
}
