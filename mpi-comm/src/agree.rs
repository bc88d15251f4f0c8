//! Agreeing on new communicators while telling each other what they are to be made of.
//!
//! One exchange over rank 0: everybody tells it some numbers, it adds a context id and tells everybody all of them.
//! Processes that end up in different communicators may share the id: no process is in two of them, so their
//! messages cannot meet.
//! Invariant: a process that fails has played its part before, so that the others do not hang.
//! Not here: plain duplicates (`create`), what follows from the numbers (`split`).

use mpi_core::Guarded;
use mpi_core::abi::MPI_ERR_OTHER;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, Mode};

use crate::comm::Comm;
use crate::context::ContextIds;
use crate::group::Group;

/// Tag of the exchange among all processes of a communicator.
const TAG: i32 = 0x7003;
/// Tags of exchanges among some processes that lie beyond [`group_tag`]'s plain rule.
const LAST_TAGS: i32 = 0x7100_0000;
/// Not an id: ids are even.
const NONE_LEFT: i32 = -1;

/// What each process of a communicator told, and the context id for what is made of it.
#[derive(Debug)]
pub struct Agreement {
    /// The id, even.
    pub context: u32,
    /// The words of each process, by rank.
    pub words: Vec<[i32; 2]>,
}

/// Tells everybody two numbers and agrees on a context id. Collective over `parent`; waits.
///
/// Errors: `MPI_ERR_OTHER` in every process when rank 0 has no id left.
pub fn agree(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>, own: [i32; 2]) -> Result<Agreement> {
    let (context, size) = (parent.collective_context(), parent.size() as usize);
    // The words of all, and behind them the id.
    let mut all = vec![0i32; size * 2 + 1];
    if parent.rank != 0 {
        engine.send(engine.lock(), context, 0, TAG, SendBuf::from_slice(&own), Mode::Standard)?;
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut all))?;
    } else {
        all[..2].copy_from_slice(&own);
        for rank in 1..size {
            let words = &mut all[rank * 2..rank * 2 + 2];
            engine.recv(engine.lock(), context, rank as i32, TAG, RecvBuf::from_slice(words))?;
        }
        all[size * 2] = take(engine, ids);
        for rank in 1..size {
            engine.send(engine.lock(), context, rank as i32, TAG, SendBuf::from_slice(&all), Mode::Standard)?;
        }
    }
    let context = id_of(all[size * 2])?;
    Ok(Agreement { context, words: all[..size * 2].chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect() })
}

/// Agrees on a context id among the processes of `group`, all of them in `parent`. Collective over the group; waits.
/// Calls of several threads at once are told apart by the tag, as the program promises (MPI-5.0, 7.4.2).
///
/// Errors: `MPI_ERR_OTHER` in every process of the group when its first one has no id left.
pub fn agree_in_group(
    engine: &Engine,
    parent: &Comm,
    ids: &Guarded<ContextIds>,
    group: &Group,
    tag: i32,
) -> Result<u32> {
    let (context, tag) = (parent.collective_context(), group_tag(tag));
    let in_parent = |world_rank: u32| {
        let rank = parent.group().rank_of(world_rank);
        rank.map(|rank| rank as i32).ok_or_else(|| Error::new(MPI_ERR_OTHER, "the group left its communicator"))
    };
    let mut members = group.world_ranks().iter().copied();
    let Some(first) = members.next() else {
        return Err(Error::new(MPI_ERR_OTHER, "an empty group has nobody to agree"));
    };
    if first != engine.rank() {
        let mut told = [0i32];
        engine.recv(engine.lock(), context, in_parent(first)?, tag, RecvBuf::from_slice(&mut told))?;
        return id_of(told[0]);
    }
    let told = [take(engine, ids)];
    for member in members {
        engine.send(engine.lock(), context, in_parent(member)?, tag, SendBuf::from_slice(&told), Mode::Standard)?;
    }
    id_of(told[0])
}

/// The internal tag of a program's tag: apart from those of collectives, which are small, and from the wildcard.
fn group_tag(tag: i32) -> i32 {
    const BESIDE_WILDCARDS: i32 = i32::MAX - 15;
    if tag >= BESIDE_WILDCARDS { LAST_TAGS + (tag - BESIDE_WILDCARDS) } else { i32::MIN + tag }
}

fn take(engine: &Engine, ids: &Guarded<ContextIds>) -> i32 {
    // Ids are below 2^31: `context` keeps a bit free.
    ids.get_mut(&mut engine.lock()).take().map_or(NONE_LEFT, |id| id as i32)
}

fn id_of(told: i32) -> Result<u32> {
    u32::try_from(told).map_err(|_| Error::new(MPI_ERR_OTHER, "there are no numbers for further communicators"))
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
