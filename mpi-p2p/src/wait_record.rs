//! The record of a wait for requests: what its call waits for, in the flight recorder, from when the wait gets long.
//!
//! The entry gets the context, the peer and the tag of the first request that is under way. Its count is the number of
//! such requests, with [`SEND`] or [`RECEIVE`] added for the kind of the first.
//! Not here: the entries of calls (`mpi_fabric::recorder`), which makes sentences of them too.

use mpi_core::abi::MPI_ANY_TAG;
use mpi_core::{Guard, Handle};
use mpi_fabric::Mark;
use mpi_fabric::recorder::{RECEIVE, SEND};

use crate::awaited::Awaited;
use crate::core::Core;
use crate::engine::Engine;
use crate::request::{Outgoing, Work};
use crate::start::StartedRequest;

impl Engine {
    /// Records what a call waits for in its entry.
    #[cold]
    pub(crate) fn record_wait(&self, guard: &Guard<'_>, awaited: Awaited<'_>, entry: Mark<'_>) {
        let core = &self.state.get(guard).core;
        let one;
        let requests = match awaited {
            Awaited::One(request) => {
                one = [request];
                &one[..]
            }
            Awaited::Any(requests) | Awaited::All(requests) => requests,
            Awaited::Word(_) | Awaited::Change => &[],
        };
        let mut under_way = requests.iter().filter(|request| core.is_under_way(**request)).peekable();
        if let Some(first) = under_way.peek().map(|first| **first) {
            let (facts, kind) = core.facts_of_wait(first);
            let count = kind | under_way.count() as u64;
            self.recorder.amend(entry, facts.context, facts.peer, facts.tag, count);
        }
    }
}

impl Core {
    fn is_under_way(&self, request: Handle) -> bool {
        self.requests.get(self.under_way(request)).is_some_and(|it| !it.is_done())
    }

    /// Context, peer and tag of a request that is under way, as far as it has them (-1 without), and its kind.
    fn facts_of_wait(&self, request: Handle) -> (StartedRequest, u64) {
        let handle = self.under_way(request);
        let Some(operation) = self.requests.get(handle) else { return (StartedRequest::NONE, 0) };
        let context = operation.context;
        let facts = |peer, tag| StartedRequest { context, peer, tag };
        let to = |world: u32, tag| {
            let found = self.contexts.get(context);
            let rank = found.and_then(|found| found.spec.world_ranks.iter().position(|rank| *rank == world));
            (facts(rank.map_or(-1, |rank| rank as i32), tag), SEND)
        };
        let of_recipe = || self.recipes.get(request).and_then(|found| found.recipe.peer_and_tag());
        match &operation.work {
            Work::Posted { key, .. } => (facts(key.source, key.tag), RECEIVE),
            Work::Receiving { .. } => (facts(operation.status.source, operation.status.tag), RECEIVE),
            Work::Matched { .. } | Work::Copying | Work::PartitionsIn => match of_recipe() {
                Some((peer, tag)) => (facts(peer, tag), RECEIVE),
                None => (facts(-1, MPI_ANY_TAG), RECEIVE),
            },
            Work::Queued(outgoing) => {
                let Outgoing { dest, head, .. } = &**outgoing;
                to(*dest, head.tag)
            }
            Work::AwaitMatch { dest, tag } | Work::Offered { dest, tag, .. } | Work::Streaming { dest, tag, .. } => {
                match of_recipe() {
                    Some((peer, tag)) => (facts(peer, tag), SEND),
                    None => to(*dest, *tag),
                }
            }
            Work::PartitionsOut => {
                let (peer, tag) = of_recipe().unwrap_or((-1, MPI_ANY_TAG));
                (facts(peer, tag), SEND)
            }
            _ => (facts(-1, MPI_ANY_TAG), 0),
        }
    }
}
