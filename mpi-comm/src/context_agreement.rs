//! Agreement on the context id of a new communicator: one process takes an id from its share and publishes it.
//!
//! The processes of a communicator take turns, so that a job runs out of ids only when all shares are used up.
//! Processes that end up in different communicators may share the id: no process is in two of them, so their messages
//! cannot meet.
//! Invariant: when there is no id left, all processes of the call get the error.
//! Not here: duplicates that do not wait (`mpi-p2p`), which process gets into which communicator (`split`).

use mpi_core::Guarded;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_errors::{Error, Result};
use mpi_p2p::Engine;

use crate::comm::Comm;
use crate::context::ContextIds;
use crate::exchange::Exchange;
use crate::group::Group;

/// Tags of the exchanges among all processes of a communicator; collectives use small positive ones.
const PUBLISH: i32 = 0x7001;
const EXCHANGE: i32 = 0x7003;
/// Tags of exchanges among some processes that lie beyond [`group_tag`]'s plain rule.
const LAST_TAGS: i32 = 0x7100_0000;
/// Not an id.
const NONE_LEFT: u64 = u64::MAX;

/// The words of each process of a communicator, and the context id for what is made of it.
#[derive(Debug)]
pub struct Agreement {
    /// The id, even.
    pub context: u32,
    /// The words of each process, by rank.
    pub words: Vec<[i32; 2]>,
}

/// A context id that all processes of `parent` agree on. Collective over `parent`; waits.
///
/// Errors: `MPI_ERR_OTHER` in every process when none of them has an id left.
pub fn agree_on_context(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>) -> Result<u32> {
    for _ in 0..parent.size() {
        let exchange = Exchange::among_all(engine, parent, PUBLISH).starting_at(parent.next_provider());
        let [id] = exchange.from_first(|| [take(engine, ids)])?;
        if id != NONE_LEFT {
            return id_of(id);
        }
    }
    id_of(NONE_LEFT)
}

/// Exchanges two numbers of each process and agrees on a context id. Collective over `parent`; waits.
///
/// Errors: `MPI_ERR_OTHER` in every process when none of them has an id left.
pub fn agree(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>, own: [i32; 2]) -> Result<Agreement> {
    for _ in 0..parent.size() {
        let provider = parent.next_provider();
        let exchange = Exchange::among_all(engine, parent, EXCHANGE).starting_at(provider);
        let own = [own[0] as u64, own[1] as u64, 0];
        let mut all = exchange.all_with(own, |all| all[0][2] = take(engine, ids))?;
        let id = all[0][2];
        if id != NONE_LEFT {
            all.rotate_right(provider);
            let words = all.iter().map(|words| [words[0] as i32, words[1] as i32]).collect();
            return Ok(Agreement { context: id_of(id)?, words });
        }
    }
    Err(none_left())
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
    loop {
        let left = ids.get(&engine.lock()).left();
        let all = Exchange::among_group(engine, parent, group, tag)?.all([left])?;
        let (provider, [most]) = all.iter().enumerate().rev().max_by_key(|(_, left)| **left).expect("a group of some");
        if *most == 0 {
            return Err(none_left());
        }
        let exchange = Exchange::among_group(engine, parent, group, tag)?.starting_at(provider);
        let [id] = exchange.from_first(|| [take(engine, ids)])?;
        // Another thread of the provider may have taken its last one.
        if id != NONE_LEFT {
            return id_of(id);
        }
    }
}

/// The internal tag of a program's tag: apart from those of collectives, which are small, and from the wildcard.
fn group_tag(tag: i32) -> i32 {
    const BESIDE_WILDCARDS: i32 = i32::MAX - 15;
    if tag >= BESIDE_WILDCARDS { LAST_TAGS + (tag - BESIDE_WILDCARDS) } else { i32::MIN + tag }
}

fn take(engine: &Engine, ids: &Guarded<ContextIds>) -> u64 {
    ids.get_mut(&mut engine.lock()).take().map_or(NONE_LEFT, u64::from)
}

fn id_of(word: u64) -> Result<u32> {
    u32::try_from(word).map_err(|_| none_left())
}

#[cold]
fn none_left() -> Error {
    Error::new(MPI_ERR_OTHER, "there are no numbers for further communicators of these processes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};

    #[test]
    fn internal_tags_differ_and_are_no_wildcards() {
        let tags = [0, 1, 0x7003, i32::MAX - 17, i32::MAX - 16, i32::MAX - 15, i32::MAX - 2, i32::MAX - 1, i32::MAX];
        let inner: Vec<i32> = tags.iter().map(|tag| group_tag(*tag)).collect();
        for (place, tag) in inner.iter().enumerate() {
            assert!(![MPI_ANY_TAG, MPI_ANY_SOURCE, MPI_PROC_NULL].contains(tag));
            assert!(!inner[..place].contains(tag) && !(0..0x1_0000).contains(tag), "{tag}");
        }
    }
}
