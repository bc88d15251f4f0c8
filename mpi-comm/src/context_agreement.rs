//! Agreement on the context id of a new communicator: one process takes an id from its share and publishes it.
//!
//! The processes of a communicator take turns, so that a job runs out of ids only when all shares are used up.
//! Processes that end up in different communicators may share the id: no process is in two of them, so their messages
//! cannot be confused.
//! Invariant: when there is no id left, all processes of the call get the error.
//! Not here: duplicates that do not wait (`mpi-p2p`), which process gets into which communicator (`split`).

use mpi_core::Guarded;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, SHARED_IDS};

use crate::both_groups::{BothGroups, Words};
use crate::comm::Comm;
use crate::context::ContextIds;
use crate::exchange::Exchange;
use crate::group::Group;
use crate::remote::Remote;
use crate::tags::{AGREEMENT, PUBLISH, group_tag};

/// No id.
const NONE_LEFT: u64 = u64::MAX;

/// The words of each process of a communicator, and the context id of the new communicator.
#[derive(Debug)]
pub struct Agreement {
    /// The id, even.
    pub context: u32,
    /// The words of each process, by rank; of an intercommunicator, those of the local group.
    pub words: Vec<[i32; 2]>,
    /// The words of each process of an intercommunicator's remote group, by rank.
    pub remote_words: Vec<[i32; 2]>,
}

/// A context id that all processes of `parent` agree on. Collective over `parent`; waits. If `parent` is an
/// intercommunicator, the id and the following one.
///
/// Errors: `MPI_ERR_OTHER` in every process when none of them has an id left.
pub fn agree_on_context(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>) -> Result<u32> {
    if parent.remote().is_none() && group_spans_jobs(engine, parent.group()) {
        let exchange = Exchange::among_all(engine, parent, PUBLISH);
        return agree_on_block(engine, ids, |first, own| Ok(exchange.all_after(first, [own])?.concat()));
    }
    if let Some(remote) = parent.remote() {
        return Ok(agree_in_both(engine, parent, remote, ids, [0; 2])?.context);
    }
    for _ in 0..parent.size() {
        let exchange = Exchange::among_all(engine, parent, PUBLISH).starting_at(parent.next_provider());
        let [id] = exchange.from_first(|| [take(engine, ids)])?;
        if id != NONE_LEFT {
            return id_of(id);
        }
    }
    id_of(NONE_LEFT)
}

/// Exchanges two numbers of each process and agrees on a context id. Collective over `parent`; waits. If `parent` is an
/// intercommunicator, the id and the following one.
///
/// Errors: `MPI_ERR_OTHER` in every process when none of them has an id left.
pub fn agree(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>, own: [i32; 2]) -> Result<Agreement> {
    if let Some(remote) = parent.remote() {
        return agree_in_both(engine, parent, remote, ids, own);
    }
    if group_spans_jobs(engine, parent.group()) {
        let exchange = Exchange::among_all(engine, parent, AGREEMENT);
        let words = numbers(&exchange.all([own[0] as u64, own[1] as u64, 0])?);
        let context = agree_on_block(engine, ids, |first, own| Ok(exchange.all_after(first, [own])?.concat()))?;
        return Ok(Agreement { context, words, remote_words: Vec::new() });
    }
    for _ in 0..parent.size() {
        let provider = parent.next_provider();
        let exchange = Exchange::among_all(engine, parent, AGREEMENT).starting_at(provider);
        let own = [own[0] as u64, own[1] as u64, 0];
        let mut all = exchange.all_with(own, |all| all[0][2] = take(engine, ids))?;
        let id = all[0][2];
        if id != NONE_LEFT {
            all.rotate_right(provider);
            return Ok(Agreement { context: id_of(id)?, words: numbers(&all), remote_words: Vec::new() });
        }
    }
    Err(none_left())
}

/// [`agree`] among all processes of an intercommunicator.
fn agree_in_both(
    engine: &Engine,
    parent: &Comm,
    remote: &Remote,
    ids: &Guarded<ContextIds>,
    own: [i32; 2],
) -> Result<Agreement> {
    let both = BothGroups::of(engine, parent, remote);
    let groups = [parent.group(), remote.group()];
    if groups.iter().any(|group| group_spans_jobs(engine, group)) {
        let [words, remote_words] = both.all([own[0] as u64, own[1] as u64, 0])?.map(|words| numbers(&words));
        let context = agree_on_block(engine, ids, in_both(&both))?;
        return Ok(Agreement { context, words, remote_words });
    }
    for _ in 0..remote.members().len() {
        let provider = remote.members()[parent.next_provider()];
        let id = if provider == engine.rank() { take_pair(engine, ids) } else { 0 };
        let all = both.all([own[0] as u64, own[1] as u64, id])?;
        let [_, _, id] = words_of(provider, groups, &all);
        if id != NONE_LEFT {
            let [words, remote_words] = all.map(|words| numbers(&words));
            return Ok(Agreement { context: id_of(id)?, words, remote_words });
        }
    }
    Err(none_left())
}

/// Two adjacent context ids, the first of which is returned, that two groups agree on. Collective over both; waits. The
/// process with the most ids left gives them.
///
/// Errors: as [`agree_in_group`].
pub(crate) fn agree_between(
    engine: &Engine,
    both: &BothGroups<'_>,
    groups: [&Group; 2],
    ids: &Guarded<ContextIds>,
) -> Result<u32> {
    if groups.iter().any(|group| group_spans_jobs(engine, group)) {
        return agree_on_block(engine, ids, in_both(both));
    }
    loop {
        let left = ids.get(&engine.lock()).left();
        let all = both.all([left])?;
        let pairs = groups.iter().zip(&all).flat_map(|(group, words)| group.world_ranks().iter().zip(words));
        // Equal numbers: the lowest world rank, so that both groups find the same process.
        let most = pairs.max_by_key(|(world_rank, [left])| (*left, std::cmp::Reverse(**world_rank)));
        let (provider, [most]) = most.expect("groups of some");
        if *most < 2 {
            return Err(none_left());
        }
        let own = if *provider == engine.rank() { take_pair(engine, ids) } else { 0 };
        let id_in = |all: &Words<1>| words_of(*provider, groups, all)[0];
        let id = id_in(&both.all_then([own], |all| id_in(all) == NONE_LEFT)?);
        // Another thread of the provider may have taken its last ones.
        if id != NONE_LEFT {
            return id_of(id);
        }
    }
}

/// Whether a communicator has an id of those for processes of several jobs: it has such processes, or was made of one that
/// has.
pub fn spans_jobs(comm: &Comm) -> bool {
    comm.context() >= SHARED_IDS
}

/// Whether a group has processes of another job than this process's.
fn group_spans_jobs(engine: &Engine, group: &Group) -> bool {
    group.world_ranks().iter().any(|number| *number >= engine.size())
}

/// An exchange of a word of each process of two groups for [`agree_on_block`].
fn in_both<'a>(both: &'a BothGroups<'_>) -> impl FnMut(Option<Error>, u64) -> Result<Vec<u64>> + 'a {
    let mut is_answer = false;
    move |first, own| match first {
        Some(error) => Err(error),
        None => {
            // Each second word is whether the block was taken: if all have, there is no other exchange.
            let answers = is_answer;
            is_answer = !is_answer;
            let more = |all: &Words<1>| !(answers && all.iter().flatten().all(|[taken]| *taken == 1));
            Ok(both.all_then([own], more)?.concat().concat())
        }
    }
}

/// The first id of a block that is free in all processes, which `all` exchanges a word of each with, after an exchange
/// that may have ended with an error. Ids of a job's own are of no use here: each job gives out the same.
///
/// The highest of the first free blocks is free everywhere, unless another thread of a process takes part in another
/// agreement meanwhile: then that process refuses, and all try again.
fn agree_on_block(
    engine: &Engine,
    ids: &Guarded<ContextIds>,
    mut all: impl FnMut(Option<Error>, u64) -> Result<Vec<u64>>,
) -> Result<u32> {
    loop {
        let own = ids.get(&engine.lock()).free_block();
        let (block, failed) = match all(None, u64::from(own)) {
            Ok(free) => (free.into_iter().max().expect("a process at least"), None),
            Err(error) => (u64::MAX, Some(error)),
        };
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        let taken = failed.is_none() && ids.get_mut(&mut engine.lock()).take_block(block);
        if all(failed, u64::from(taken))?.into_iter().all(|taken| taken == 1) {
            return Ok(ContextIds::first_of_block(block));
        }
        if block >= ContextIds::BLOCKS {
            return Err(none_left());
        }
    }
}

/// The words of the process with this world rank, which is in one of the groups.
fn words_of<const N: usize>(world_rank: u32, groups: [&Group; 2], all: &Words<N>) -> [u64; N] {
    let found = groups.iter().zip(all).find_map(|(group, words)| Some(words[group.rank_of(world_rank)? as usize]));
    found.expect("the process is in one of the groups")
}

fn numbers(all: &[[u64; 3]]) -> Vec<[i32; 2]> {
    all.iter().map(|words| [words[0] as i32, words[1] as i32]).collect()
}

/// Agrees on a context id among the processes of `group`, all of them in `parent`. Collective over the group; waits.
/// The tag separates the calls of several threads, as the program promises (MPI-5.0, 7.4.2). The process with the most
/// ids left gives one: the group's calls are not counted anywhere, so the processes cannot take turns.
///
/// Errors: `MPI_ERR_OTHER` in every process of the group when none of them has an id left.
pub fn agree_in_group(
    engine: &Engine,
    parent: &Comm,
    ids: &Guarded<ContextIds>,
    group: &Group,
    tag: i32,
) -> Result<u32> {
    let tag = group_tag(tag);
    let exchange = Exchange::among_group(engine, parent, group, tag)?;
    if group_spans_jobs(engine, group) {
        return agree_on_block(engine, ids, |first, own| Ok(exchange.all_after(first, [own])?.concat()));
    }
    loop {
        let left = ids.get(&engine.lock()).left();
        let (provider, most, failed) = match exchange.all([left]) {
            Ok(all) => {
                let most = all.iter().enumerate().rev().max_by_key(|(_, left)| **left);
                let (provider, [most]) = most.expect("a group of some");
                (provider, *most, None)
            }
            Err(error) => (0, 0, Some(error)),
        };
        // All take part in the second exchange, whatever the first has been for them, in the same places.
        let gives = provider == exchange.place() && most > 0;
        let own = if gives { take(engine, ids).wrapping_add(1) } else { 0 };
        match exchange.sum_after(failed, vec![own])?[0].checked_sub(1) {
            Some(id) => return id_of(id),
            None if most == 0 => return Err(none_left()),
            // Another thread of the provider has taken its last one.
            None => {}
        }
    }
}

fn take(engine: &Engine, ids: &Guarded<ContextIds>) -> u64 {
    ids.get_mut(&mut engine.lock()).take().map_or(NONE_LEFT, u64::from)
}

fn take_pair(engine: &Engine, ids: &Guarded<ContextIds>) -> u64 {
    ids.get_mut(&mut engine.lock()).take_pair().map_or(NONE_LEFT, u64::from)
}

fn id_of(word: u64) -> Result<u32> {
    u32::try_from(word).map_err(|_| none_left())
}

#[cold]
fn none_left() -> Error {
    Error::new(MPI_ERR_OTHER, "these processes have used all of their context ids")
}
