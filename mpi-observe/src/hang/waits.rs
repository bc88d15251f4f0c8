//! What each rank waits for, from its recorded calls and its queues.
//!
//! Invariant: a wait names only ranks that the call needs; where one of several suffices, it says so.

use mpi_core::functions;
use mpi_fabric::Life;
use mpi_fabric::recorder::{Call, RECEIVE, REFUSED, SEND};

use super::calls::{base_name, counted_as, is_counted};
use super::view::{HangView, RankView, WORLD};
use crate::queues::{PendingSend, PostedReceive};

/// What a rank does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doing {
    /// It runs on another host.
    Elsewhere,
    /// Its process has ended; whether it had called MPI_Finalize, or never MPI_Init.
    Ended { orderly: bool },
    /// It has not returned from MPI_Init.
    NotInitialised,
    /// It has returned from MPI_Finalize.
    Finalised,
    /// Its calls are not recorded.
    Unrecorded,
    /// It makes calls, and stays in none of them.
    Moving(Option<Call>),
    /// It is outside of the library, after this call.
    Outside(Option<Call>),
    /// It waits, each thread in a call.
    Waiting(Vec<Wait>),
}

/// A call that waits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wait {
    pub call: Call,
    pub need: Need,
    /// World ranks that it waits for.
    pub targets: Vec<u32>,
    /// Whether it needs all of them, or one.
    pub all: bool,
    /// It does not wait inside the call, but calls it again and again.
    pub polls: bool,
}

/// What ends a wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Need {
    /// A message.
    Message { context: u32, source: i32, tag: i32 },
    /// A receive of a message that it sends.
    Receive { context: u32, dest: i32, tag: i32 },
    /// The same call of all processes of a communicator; the root if there is one.
    Collective { context: u32, root: Option<i32> },
    /// The lock of a window, which others hold.
    Lock { context: u32 },
    /// Something else.
    Other,
}

impl Wait {
    /// The name of the function.
    pub fn function(&self) -> String {
        base_name(&self.call)
    }
}

/// How many calls of one function in a row are a loop.
const LOOP: usize = 8;

/// What a rank does.
pub(super) fn doing(view: &HangView, rank: u32) -> Doing {
    let it = &view.ranks[rank as usize];
    if view.is_elsewhere(rank) {
        return Doing::Elsewhere;
    }
    if !it.is_alive {
        return Doing::Ended { orderly: it.life != Life::Initialised };
    }
    let waits: Vec<Wait> = it.open_calls().map(|call| wait(view, rank, call, false)).collect();
    if !waits.is_empty() && it.life != Life::Absent {
        return Doing::Waiting(waits);
    }
    match it.life {
        Life::Initialised if it.moves => Doing::Moving(it.calls.last().copied()),
        Life::Absent | Life::Attached => Doing::NotInitialised,
        Life::Finalised => Doing::Finalised,
        Life::Initialised if !it.records_calls => Doing::Unrecorded,
        Life::Initialised => match polled(&it.calls) {
            Some(call) => Doing::Waiting(vec![wait(view, rank, call, true)]),
            None => Doing::Outside(it.calls.last().copied()),
        },
    }
}

/// The call that a rank makes again and again because nothing has come.
fn polled(calls: &[Call]) -> Option<&Call> {
    let last = calls.last()?;
    let same = |call: &&Call| {
        (call.function, call.comm, call.peer, call.tag) == (last.function, last.comm, last.peer, last.tag)
    };
    let looks = ["MPI_Test", "MPI_Iprobe", "MPI_Improbe"].iter().any(|name| base_name(last).starts_with(name));
    (looks && calls.iter().rev().take_while(same).count() >= LOOP).then_some(last)
}

fn wait(view: &HangView, rank: u32, call: &Call, polls: bool) -> Wait {
    let needs = needs(view, rank, call);
    let several = needs.len() > 1 && one_suffices(call);
    let mut wait = Wait { call: *call, need: Need::Other, targets: Vec::new(), all: !several, polls };
    for need in needs {
        let (targets, all) = targets(view, rank, call, &need);
        wait.all &= all || targets.len() < 2;
        wait.targets.extend(targets);
        if wait.need == Need::Other {
            wait.need = need;
        }
    }
    wait.targets.sort_unstable();
    wait.targets.dedup();
    wait
}

/// Whether the call ends with any of its requests.
fn one_suffices(call: &Call) -> bool {
    let name = base_name(call);
    name.ends_with("any") || name.ends_with("some") || name == "MPI_Test"
}

/// What the call needs; the first one is the one that is named.
fn needs(view: &HangView, rank: u32, call: &Call) -> Vec<Need> {
    let name = base_name(call);
    let (context, peer, tag) = (call.comm, call.peer, call.tag);
    if peer == REFUSED {
        return Vec::new();
    }
    match name.as_str() {
        "MPI_Recv" | "MPI_Probe" | "MPI_Mprobe" | "MPI_Iprobe" | "MPI_Improbe" => {
            vec![Need::Message { context, source: peer, tag }]
        }
        "MPI_Send" | "MPI_Ssend" | "MPI_Rsend" | "MPI_Bsend" => vec![Need::Receive { context, dest: peer, tag }],
        "MPI_Wait" => awaited(call).into_iter().collect(),
        "MPI_Waitall" => {
            let (first, open) = (awaited(call), pending(view, rank));
            match first {
                // What was recorded when the wait began is complete by now.
                Some(need @ Need::Message { .. }) if !open.is_empty() && !open.contains(&need) => open,
                _ => first.into_iter().collect(),
            }
        }
        "MPI_Waitany" | "MPI_Waitsome" => match call.count & (SEND - 1) {
            0 | 1 => awaited(call).into_iter().collect(),
            _ => awaited(call).into_iter().chain(pending(view, rank)).collect(),
        },
        "MPI_Sendrecv" | "MPI_Sendrecv_replace" => {
            let needs = pending(view, rank);
            if needs.is_empty() { vec![Need::Receive { context, dest: peer, tag }] } else { needs }
        }
        name if name.starts_with("MPI_Test") => pending(view, rank),
        "MPI_Finalize" => vec![Need::Collective { context: WORLD, root: None }],
        "MPI_Win_lock" | "MPI_Win_lock_all" => vec![Need::Lock { context }],
        name if is_collective(name) => {
            vec![Need::Collective { context, root: is_rooted(name).then_some(peer) }]
        }
        _ => Vec::new(),
    }
}

/// The request that a call waits for, if the wait has been recorded.
fn awaited(call: &Call) -> Option<Need> {
    let (context, peer, tag) = (call.comm, call.peer, call.tag);
    match call.count & !(SEND - 1) {
        SEND => Some(Need::Receive { context, dest: peer, tag }),
        RECEIVE => Some(Need::Message { context, source: peer, tag }),
        _ if call.count & (SEND - 1) != 0 => Some(Need::Collective { context, root: None }),
        _ => None,
    }
}

/// All operations of a rank that are under way.
fn pending(view: &HangView, rank: u32) -> Vec<Need> {
    let Some(queues) = &view.ranks[rank as usize].queues else { return Vec::new() };
    let receives = queues.comms.iter().flat_map(|comm| {
        let need =
            |receive: &PostedReceive| Need::Message { context: comm.context, source: receive.source, tag: receive.tag };
        comm.posted.iter().map(need)
    });
    let send = |send: &PendingSend| {
        let comm = queues.comms.iter().find(|comm| comm.context == send.context)?;
        let dest = comm.world_ranks.iter().position(|world| *world == send.to)? as i32;
        Some(Need::Receive { context: send.context, dest, tag: send.tag })
    };
    queues.sends.iter().filter(|send| send.context & 1 == 0).filter_map(send).chain(receives).collect()
}

/// World ranks that can end a wait, and whether all of them are needed.
fn targets(view: &HangView, rank: u32, call: &Call, need: &Need) -> (Vec<u32>, bool) {
    let others = |context| view.members(rank, context).into_iter().filter(|other| *other != rank);
    match *need {
        Need::Message { context, source, .. } if source < 0 => (others(context).collect(), false),
        Need::Message { context, source, .. } => (view.world_rank(rank, context, source).into_iter().collect(), true),
        Need::Receive { context, dest, .. } => (view.world_rank(rank, context, dest).into_iter().collect(), true),
        Need::Collective { context, .. } => {
            let is_there = |other: &u32| {
                let there = view.ranks.get(*other as usize);
                there.is_some_and(|there| there.is_alive && is_past(view, (rank, call), *other, context))
            };
            // Of ranks on other hosts, and of processes of other jobs, it is not known.
            let is_seen = |other: u32| (other as usize) < view.ranks.len() && !view.is_elsewhere(other);
            let is_absent = |other: &u32| is_seen(*other) && !is_there(other);
            (others(context).filter(is_absent).collect(), true)
        }
        Need::Lock { context } => (holders(view, rank, call, context), true),
        Need::Other => (Vec::new(), true),
    }
}

/// Whether a rank has begun the collective call that another one is in.
fn is_past(view: &HangView, (rank, call): (u32, &Call), other: u32, context: u32) -> bool {
    let there = &view.ranks[other as usize];
    let same = there.open_calls().any(|open| {
        (open.function == call.function && open.comm == call.comm)
            || (base_name(call).starts_with("MPI_Wait") && open.comm == call.comm && base_name(open) == base_name(call))
    });
    match (is_counted(&base_name(call)), begun(view, rank, context), begun(view, other, context)) {
        (true, Some(own), Some(others)) => others >= own,
        _ => same,
    }
}

/// Whether a process that has ended had returned from the collective call that another one is still in: that one does not wait
/// for it.
pub(super) fn has_left(view: &HangView, (rank, wait): (u32, &Wait), ended: u32) -> bool {
    let Need::Collective { context, .. } = wait.need else { return false };
    let there = &view.ranks[ended as usize];
    let name = wait.function();
    if name == "MPI_Finalize" {
        return there.life == Life::Finalised;
    }
    is_counted(&name)
        && !there.open_calls().any(|open| open.comm == context && is_counted(&base_name(open)))
        && begun(view, rank, context).is_some_and(|own| {
            // The memory of a process that has ended cannot be read.
            begun(view, ended, context).unwrap_or_else(|| recorded(there, context)) >= own
        })
}

/// Whether a rank may have returned from the collective call that another one is in, though its recorded calls do not go back
/// far enough to show it.
pub(super) fn may_have_left(view: &HangView, (rank, wait): (u32, &Wait), ended: u32) -> bool {
    let Need::Collective { context, .. } = wait.need else { return false };
    let there = &view.ranks[ended as usize];
    let last = there.calls.iter().rfind(|call| call.comm == context && counted_as(call).is_some());
    let is_same = last.is_some_and(|last| last.ended && base_name(last) == wait.function());
    let is_complete = there.calls.first().is_none_or(|first| first.sequence == 1);
    is_same && !is_complete && !has_left(view, (rank, wait), ended)
}

/// How many collective operations on a communicator a rank has recorded; it has begun at least so many.
fn recorded(there: &RankView, context: u32) -> u64 {
    let calls = there.calls.iter().filter(|call| call.comm == context && call.peer != REFUSED);
    calls.filter(|call| counted_as(call).is_some()).count() as u64
}

/// The number of collective operations that a rank has begun on a communicator. A first call that still agrees with the other
/// processes where its data goes counts too.
pub(super) fn begun(view: &HangView, rank: u32, context: u32) -> Option<u64> {
    let there = &view.ranks[rank as usize];
    let count = there.comm(context)?.collectives?;
    let is_in_call = there.open_calls().any(|call| call.comm == context && is_counted(&base_name(call)));
    if !is_in_call {
        return Some(count);
    }
    // A call is recorded a moment before it is counted.
    let recorded = recorded(there, context);
    Some(if recorded == count + 1 { recorded } else { count.max(1) })
}

/// The ranks that hold a lock of the window that the call waits for, as far as their recorded calls go back.
fn holders(view: &HangView, rank: u32, call: &Call, context: u32) -> Vec<u32> {
    let members = view.members(rank, context);
    let holds = |other: &u32| {
        let Some(there) = view.ranks.get(*other as usize) else { return false };
        let of_window = there.calls.iter().filter(|made| made.comm == context && made.ended);
        let mut held = false;
        for made in of_window {
            let same = made.peer == call.peer || call.peer < 0 || base_name(made).ends_with("_all");
            match base_name(made).as_str() {
                "MPI_Win_lock" | "MPI_Win_lock_all" if same => held = true,
                "MPI_Win_unlock" | "MPI_Win_unlock_all" if same => held = false,
                _ => {}
            }
        }
        held
    };
    members.into_iter().filter(|other| *other != rank).filter(holds).collect()
}

/// All waits, with their ranks.
pub(super) fn waits(doings: &[Doing]) -> impl Iterator<Item = (u32, &Wait)> {
    doings.iter().enumerate().flat_map(|(rank, doing)| {
        let waits = match doing {
            Doing::Waiting(waits) => &waits[..],
            _ => &[],
        };
        waits.iter().map(move |wait| (rank as u32, wait))
    })
}

/// Other calls that all processes of a communicator or window make together.
const COLLECTIVE: [&str; 21] = [
    "MPI_Finalize",
    "MPI_Comm_dup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_split",
    "MPI_Comm_split_type",
    "MPI_Comm_create",
    "MPI_Comm_disconnect",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
    "MPI_Win_create",
    "MPI_Win_allocate",
    "MPI_Win_allocate_shared",
    "MPI_Win_create_dynamic",
    "MPI_Win_free",
    "MPI_Win_fence",
    "MPI_File_open",
];

/// Whether all processes of the communicator make the call together.
pub(super) fn is_collective(name: &str) -> bool {
    let makes_request = |name: &str| is_counted(name) || name.starts_with("MPI_Neighbor_");
    is_counted(name) || COLLECTIVE.contains(&name) || name.strip_suffix("_init").is_some_and(makes_request)
}

/// Whether the recorded peer is the root.
pub(super) fn is_rooted(name: &str) -> bool {
    ["MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv"].contains(&name)
}

/// The recorded calls of a rank from the last one on by which it made a persistent request for messages of a context and tag with
/// another rank.
fn since_made(view: &HangView, rank: u32, function: u16, (context, tag, peer): (u32, i32, u32)) -> Option<&[Call]> {
    let calls = &view.ranks[rank as usize].calls;
    let made = |call: &Call| {
        let same = call.function == function && call.comm == context && call.tag == tag;
        same && view.world_rank(rank, context, call.peer) == Some(peer)
    };
    Some(&calls[calls.iter().rposition(made)?..])
}

fn is_start(call: &Call) -> bool {
    [functions::MPI_START, functions::MPI_STARTALL].contains(&call.function)
}

/// Whether the rank has made a persistent request for a message of this context and tag to this rank and not started it since.
pub(super) fn unstarted(view: &HangView, rank: u32, function: u16, message: (u32, i32, u32)) -> bool {
    since_made(view, rank, function, message).is_some_and(|since| !since.iter().any(is_start))
}

/// What a rank has left out of a partitioned send of this context and tag to a rank that receives it in partitions, as far as the
/// recorded calls of both show it.
pub(super) fn unready(view: &HangView, rank: u32, (context, tag, to): (u32, i32, u32)) -> Option<&'static str> {
    since_made(view, to, functions::MPI_PRECV_INIT, (context, tag, rank))?;
    let since = since_made(view, rank, functions::MPI_PSEND_INIT, (context, tag, to))?;
    // A start does not record of which request it is.
    let others = since[1..].iter().any(|call| base_name(call).ends_with("_init"));
    let Some(started) = since.iter().rposition(is_start) else {
        return Some("it has made a request for it by MPI_Psend_init and not started it");
    };
    let is_ready = |call: &Call| base_name(call).starts_with("MPI_Pready");
    Some(match since[started..].iter().any(is_ready) {
        false if others => {
            "it has made a request for it by MPI_Psend_init, and may not have started it or called MPI_Pready"
        }
        true => "it has started a partitioned send of it, and may not have called MPI_Pready for all partitions",
        false => "it has started a partitioned send of it and not called MPI_Pready",
    })
}
