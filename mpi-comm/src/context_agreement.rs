//! Agreement on the context id of a new communicator: the first process takes one and publishes it.
//!
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
/// Errors: `MPI_ERR_OTHER` in every process when rank 0 has no id left.
pub fn agree_on_context(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>) -> Result<u32> {
    let [id] = Exchange::among_all(engine, parent, PUBLISH).from_first(|| [take(engine, ids)])?;
    id_of(id)
}

/// Exchanges two numbers of each process and agrees on a context id. Collective over `parent`; waits.
///
/// Errors: `MPI_ERR_OTHER` in every process when rank 0 has no id left.
pub fn agree(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>, own: [i32; 2]) -> Result<Agreement> {
    let own = [own[0] as u64, own[1] as u64, 0];
    let exchange = Exchange::among_all(engine, parent, EXCHANGE);
    let all = exchange.all_with(own, |all| all[0][2] = take(engine, ids))?;
    let context = id_of(all[0][2])?;
    Ok(Agreement { context, words: all.iter().map(|words| [words[0] as i32, words[1] as i32]).collect() })
}

/// Agrees on a context id among the processes of `group`, all of them in `parent`. Collective over the group; waits.
/// The tag separates the calls of several threads, as the program promises (MPI-5.0, 7.4.2).
///
/// Errors: `MPI_ERR_OTHER` in every process of the group when its first one has no id left.
pub fn agree_in_group(
    engine: &Engine,
    parent: &Comm,
    ids: &Guarded<ContextIds>,
    group: &Group,
    tag: i32,
) -> Result<u32> {
    let exchange = Exchange::among_group(engine, parent, group, group_tag(tag))?;
    let [id] = exchange.from_first(|| [take(engine, ids)])?;
    id_of(id)
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
    u32::try_from(word).map_err(|_| Error::new(MPI_ERR_OTHER, "there are no numbers for further communicators"))
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
