//! The ranks by what they do, and the messages that wait, in few lines.

use std::collections::BTreeMap;

use mpi_core::abi::MPI_ANY_TAG;

use super::calls::{base_name, completes_requests, counted_as};
use super::view::{HangView, RankView};
use super::waits::{Doing, Need, Wait, begun};
use crate::process::ProcessState;
use crate::words::ranks;

/// The state of a process outside of the library: "the process is running"; `None` if it is not known.
pub(super) fn process_of(rank: &RankView) -> Option<String> {
    let place = rank.place.as_ref().map_or(String::new(), |place| format!(" in {place}"));
    let known = rank.state.filter(|state| *state != ProcessState::Unknown)?;
    Some(format!("the process is {}{place}", known.name()))
}

/// What a rank waits in, with world ranks and names: "MPI_Ssend to rank 1 with tag 3".
pub(super) fn described(view: &HangView, rank: u32, wait: &Wait) -> String {
    let (what, peer, rest) = parts(view, rank, wait);
    format!("{what}{}{rest}", peer.map_or(String::new(), |(word, peer)| format!(" {word} {peer}")))
}

/// The parts of [`described`]: the function, the other rank with its preposition, the rest.
fn parts(view: &HangView, rank: u32, wait: &Wait) -> (String, Option<(&'static str, String)>, String) {
    let function = wait.function();
    let requests = completes_requests(&function);
    let on = |context: u32| match (context & !1, view.comm_name(rank, context)) {
        (super::view::WORLD, _) => String::new(),
        (_, name) => format!(" on {name}"),
    };
    let tagged = |tag: i32| match tag {
        MPI_ANY_TAG => " with any tag".to_owned(),
        tag => format!(" with tag {tag}"),
    };
    let peer = |context: u32, peer: i32| match (peer, view.world_rank(rank, context, peer)) {
        (_, Some(world)) => view.process_name(world, peer),
        (0.., _) => format!("rank {peer} of another job"),
        _ => "any rank".to_owned(),
    };
    match wait.need {
        Need::Message { context, source, tag } => {
            let what = if requests || function.starts_with("MPI_Sendrecv") {
                format!("{function} for a receive")
            } else {
                function
            };
            (what, Some(("from", peer(context, source))), tagged(tag) + &on(context))
        }
        Need::Receive { context, dest, tag } => {
            let what = if requests { format!("{function} for a send") } else { function };
            (what, Some(("to", peer(context, dest))), tagged(tag) + &on(context))
        }
        Need::Collective { context, root } => {
            let number = begun(view, rank, context);
            let number = number.filter(|_| counted_as(&wait.call).is_some());
            let number = number.map_or(String::new(), |number| format!(" #{number}"));
            let root = root.filter(|root| *root >= 0).map_or(String::new(), |root| format!(" with root {root}"));
            let what = if requests { format!("{function} for a collective operation") } else { function };
            let on =
                if what == "MPI_Finalize" { String::new() } else { format!(" on {}", view.comm_name(rank, context)) };
            (what, None, format!("{number}{root}{on}"))
        }
        Need::Lock { context } => {
            let target = peer(context, wait.call.peer);
            let held = match &wait.targets[..] {
                [] => String::new(),
                holders if holders.len() == 1 => format!(", which {} has locked", ranks(holders)),
                holders => format!(", which {} have locked", ranks(holders)),
            };
            (function, (wait.call.peer >= 0).then_some(("for the window of", target)), held)
        }
        Need::Other => (wait.call.describe(), None, String::new()),
    }
}

/// The most ranks of a line that are named with the other rank of each.
const MOST_NAMED: usize = 4;
/// The most kinds of waits in a sentence.
const MOST_KINDS: usize = 8;

/// What ranks of a line have in common: the function, the preposition before the other rank, the rest, the state.
type Activity<'a> = (String, &'a str, String, String);
/// A rank of a line, the rank that it waits for as text, and those that are not there.
type Member = (u32, String, Vec<u32>);

/// Waits of ranks, those that differ in the other rank alone together.
pub(super) fn of_waits(view: &HangView, waits: &[(u32, &Wait)]) -> Vec<String> {
    let mut groups: BTreeMap<Activity<'_>, Vec<Member>> = BTreeMap::new();
    for (rank, wait) in waits {
        let (what, peer, rest) = parts(view, *rank, wait);
        let (word, peer) = peer.map_or(("", String::new()), |(word, peer)| (word, peer));
        groups.entry((format!("in {what}"), word, rest, String::new())).or_default().push((*rank, peer, Vec::new()));
    }
    let more = groups.len().saturating_sub(MOST_KINDS);
    let mut lines: Vec<String> =
        groups.into_iter().take(MOST_KINDS).map(|(key, members)| line(key, " ", &members)).collect();
    if more > 0 {
        lines.push(format!("and {}", mpi_errors::counted(more, "further kind")));
    }
    lines
}

/// A line for each group of ranks with the same activity.
pub(super) fn lines(view: &HangView, doings: &[Doing]) -> Vec<String> {
    // Ranks that differ in the other rank alone share a line.
    let mut groups: BTreeMap<Activity<'_>, Vec<Member>> = BTreeMap::new();
    for (rank, doing) in doings.iter().enumerate() {
        let (rank, there) = (rank as u32, &view.ranks[rank]);
        let state = there.state.map_or(String::new(), |state| state.name().to_owned());
        let plain = |text: String| (text, "", String::new(), state.clone());
        let idle = there.idle.map_or(String::new(), |idle| format!(" for {} s", idle.as_secs()));
        let place = there.place.as_ref().map_or(String::new(), |place| format!(", in {place}"));
        let mut add = |key, peer, targets| groups.entry(key).or_default().push((rank, peer, targets));
        match doing {
            Doing::Waiting(waits) => {
                for wait in waits {
                    let (what, peer, rest) = parts(view, rank, wait);
                    let (word, peer) = peer.map_or(("", String::new()), |(word, peer)| (word, peer));
                    let what = if wait.polls { format!("calls {what}") } else { format!("in {what}") };
                    let rest = if wait.polls { rest + " again and again" } else { rest };
                    let targets =
                        if matches!(wait.need, Need::Collective { .. }) { wait.targets.clone() } else { Vec::new() };
                    add((what, word, rest, state.clone()), peer, targets);
                }
            }
            // The hosts are named below.
            Doing::Elsewhere => {}
            Doing::Ended { orderly: true } => add(plain("ended".into()), String::new(), Vec::new()),
            Doing::Ended { orderly: false } => {
                add(plain("ended without MPI_Finalize".into()), String::new(), Vec::new())
            }
            Doing::NotInitialised => {
                add(plain(format!("before the end of MPI_Init{idle}{place}")), String::new(), Vec::new())
            }
            Doing::Finalised => add(plain(format!("after MPI_Finalize{place}")), String::new(), Vec::new()),
            Doing::Moving(call) => {
                let last = call.map_or(String::new(), |call| format!(", last {}", base_name(&call)));
                add(plain(format!("calling MPI{last}")), String::new(), Vec::new());
            }
            Doing::Unrecorded => add(plain("calls are not recorded".into()), String::new(), Vec::new()),
            Doing::Outside(call) => {
                let after = call.map_or(String::new(), |call| format!(", after {}", base_name(&call)));
                add(plain(format!("outside MPI{idle}{after}{place}")), String::new(), Vec::new());
            }
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| members[0].0);
    groups.into_iter().map(|(key, members)| line(key, ": ", &members)).collect()
}

/// `between`: what stands between the ranks and the rest.
fn line((what, word, rest, state): Activity<'_>, between: &str, members: &[Member]) -> String {
    let mut of: Vec<u32> = members.iter().map(|(rank, ..)| *rank).collect();
    of.dedup();
    let threads = if members.len() > of.len() { format!(" ({} threads)", members.len()) } else { String::new() };
    let mut peers: Vec<&str> = members.iter().map(|(_, peer, _)| &**peer).collect();
    peers.sort_unstable();
    peers.dedup();
    let peer = match &*peers {
        _ if word.is_empty() => String::new(),
        [one] => format!(" {word} {one}"),
        _ if members.len() <= MOST_NAMED => String::new(),
        several => format!(" {word} {} different ranks", several.len()),
    };
    // "rank 0 to 1, rank 1 to 0".
    let pair = |(rank, peer, _): &Member| format!("rank {rank} {word} {}", peer.strip_prefix("rank ").unwrap_or(peer));
    let pairs = match peers.len() {
        0 | 1 => String::new(),
        _ if word.is_empty() || members.len() > MOST_NAMED => String::new(),
        _ => format!(": {}", members.iter().map(pair).collect::<Vec<_>>().join(", ")),
    };
    let mut targets: Vec<u32> = members.iter().flat_map(|(.., targets)| targets.iter().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let missing = match targets.len() {
        0 => String::new(),
        _ => format!("; not there: {}", ranks(&targets)),
    };
    let state = if state.is_empty() { String::new() } else { format!("; {state}") };
    format!("{}{threads}{between}{what}{peer}{rest}{pairs}{missing}{state}", ranks(&of))
}

/// Messages that no posted receive matches, and receives for which none has come, grouped.
pub(super) fn unmatched(view: &HangView, most: usize) -> Vec<String> {
    /// Receiver, communicator, sender in its world and in the communicator, tag.
    type Kind = (u32, String, u32, i32, i32);
    let mut messages: BTreeMap<Kind, (usize, u64, u64)> = BTreeMap::new();
    let mut receives: BTreeMap<(u32, String, String, String), usize> = BTreeMap::new();
    for (rank, there) in view.ranks.iter().enumerate() {
        let rank = rank as u32;
        for comm in there.queues.iter().flat_map(|queues| &queues.comms) {
            let name = view.comm_name(rank, comm.context);
            for message in &comm.unexpected {
                let kind = (rank, name.clone(), message.from, message.source, message.tag);
                let entry = messages.entry(kind).or_insert((0, u64::MAX, 0));
                *entry = (entry.0 + 1, entry.1.min(message.bytes), entry.2.max(message.bytes));
            }
            for receive in &comm.posted {
                let source = comm.world_ranks.get(usize::try_from(receive.source).unwrap_or(usize::MAX));
                let source = source.map_or("any rank".to_owned(), |world| view.process_name(*world, receive.source));
                let tag =
                    if receive.tag == MPI_ANY_TAG { "any tag".to_owned() } else { format!("tag {}", receive.tag) };
                let room = receive.bytes.map_or(String::new(), |bytes| format!(", room for {bytes} bytes"));
                *receives.entry((rank, name.clone(), source, tag + &room)).or_default() += 1;
            }
        }
    }
    let mut lines = Vec::new();
    let total = (messages.len(), receives.len());
    for ((rank, name, from, source, tag), (count, least, most)) in messages.into_iter().take(most) {
        let from = view.process_name(from, source);
        let bytes = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let what = mpi_errors::counted(count, "message");
        lines.push(format!("rank {rank} has received {what} from {from} with tag {tag} ({bytes} bytes, {name}) for which no receive waits"));
    }
    for ((rank, name, source, rest), count) in receives.into_iter().take(most) {
        let what = mpi_errors::counted(count, "receive");
        lines.push(format!("rank {rank} has {what} from {source} with {rest} ({name}) for which no message has come"));
    }
    let more = total.0.saturating_sub(most) + total.1.saturating_sub(most);
    if more > 0 {
        lines.push(format!("and {more} further kinds of messages and receives"));
    }
    lines
}
