//! Algorithms that move data.

use mpi_errors::Result;

use super::{NOTHING, parts};
use crate::shape::Shape;
use crate::steps::{Place, Span, Steps};

/// Up to this many processes a process reads the words of all others in a barrier; more go in log2(n) turns.
const ALL_WORDS: u32 = 16;

/// All publish, and read all others; or, in turn k, the process 2^k before.
pub(super) fn barrier<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let team = shape.team;
    if team.size <= ALL_WORDS {
        steps.reserve(0)?;
        steps.publish()?;
        return shape.others().try_for_each(|source| steps.fetch(source, 0, NOTHING));
    }
    let mut distance = 1;
    while distance < team.size {
        if distance > 1 {
            steps.end_turn()?;
        }
        steps.reserve(0)?;
        steps.publish()?;
        steps.fetch((team.rank + team.size - distance) % team.size, 0, NOTHING)?;
        distance *= 2;
    }
    Ok(())
}

/// Whether a barrier of so many processes reads the words of all.
pub(super) fn is_mutual_barrier(size: u32) -> bool {
    size <= ALL_WORDS
}

/// The root publishes chunk after chunk.
pub(super) fn bcast<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let data = shape.recv.whole(Place::Recv);
    one_to_all(shape, steps, data.bytes, shape.chunk(), |steps, at, len| publish(steps, data.part(at, len)), {
        |steps, root, at, len| steps.fetch(root, 0, data.part(at, len))
    })
}

/// The root publishes the blocks of all others, a part of each in a turn.
pub(super) fn scatter<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (team, root) = (shape.team, shape.root_rank());
    let own = shape.recv.whole(Place::Recv);
    if team.rank == root && !shape.recv.in_place() {
        steps.copy(shape.send_block(root), own)?;
    }
    let part = (shape.chunk() / u64::from(team.size - 1)).max(1);
    let place = u64::from(place_among_others(team.rank, root));
    one_to_all(shape, steps, shape.bytes, part, |steps, at, len| publish_blocks(shape, steps, at, len), {
        |steps, root, at, len| steps.fetch(root, place * len, own.part(at, len))
    })
}

/// One process publishes in each turn, all others read it.
fn one_to_all<S: Steps>(
    shape: &Shape<'_>,
    steps: &mut S,
    bytes: u64,
    part: u64,
    publish: impl Fn(&mut S, u64, u64) -> Result<()>,
    read: impl Fn(&mut S, u32, u64, u64) -> Result<()>,
) -> Result<()> {
    let root = shape.root_rank();
    for (at, len) in parts(bytes, part) {
        if at > 0 {
            steps.end_turn()?;
        }
        match shape.team.rank == root {
            true => publish(steps, at, len)?,
            false => read(steps, root, at, len)?,
        }
    }
    Ok(())
}

/// The others publish their blocks; the root reads them.
pub(super) fn gather<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (team, root) = (shape.team, shape.root_rank());
    let own = shape.send.whole(Place::Send);
    if team.rank == root && !shape.send.in_place() {
        steps.copy(own, shape.recv_block(root))?;
    }
    for (at, len) in parts(shape.bytes, shape.chunk()) {
        if at > 0 {
            steps.end_turn()?;
        }
        if team.rank != root {
            publish(steps, own.part(at, len))?;
            continue;
        }
        for source in shape.others() {
            steps.fetch(source, 0, shape.recv_block(source).part(at, len))?;
        }
    }
    Ok(())
}

/// All publish their blocks, and read those of the others.
pub(super) fn allgather<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let own = shape.recv_block(shape.team.rank);
    let out = if shape.send.in_place() { own } else { shape.send.whole(Place::Send) };
    if out.bytes > own.bytes {
        // The copy finds that the data do not fit.
        steps.copy(out, own)?;
    }
    for (at, len) in parts(own.bytes, shape.chunk()) {
        if at > 0 {
            steps.end_turn()?;
        }
        publish(steps, out.part(at, len))?;
        if out != own {
            steps.copy(out.part(at, len), own.part(at, len))?;
        }
        for source in shape.others() {
            steps.fetch(source, 0, shape.recv_block(source).part(at, len))?;
        }
    }
    Ok(())
}

/// All publish a part of each block for another process. In place, the blocks of a turn are published before they are
/// overwritten.
pub(super) fn alltoall<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let team = shape.team;
    let block = shape.recv_block(0).bytes;
    let (from, into) = (shape.send_block(team.rank), shape.recv_block(team.rank));
    let copies = !shape.send.in_place();
    if copies && from.bytes != into.bytes {
        // The copy finds that the data do not fit.
        steps.copy(from, into)?;
    }
    let part = (shape.chunk() / u64::from(team.size - 1)).max(1);
    for (at, len) in parts(block, part) {
        if at > 0 {
            steps.end_turn()?;
        }
        publish_blocks(shape, steps, at, len)?;
        if copies && from.bytes == into.bytes {
            steps.copy(from.part(at, len), into.part(at, len))?;
        }
        for source in shape.others() {
            let place = u64::from(place_among_others(team.rank, source));
            steps.fetch(source, place * len, shape.recv_block(source).part(at, len))?;
        }
    }
    Ok(())
}

/// Publishes a part of each block for another process, in the order of their ranks.
fn publish_blocks<S: Steps>(shape: &Shape<'_>, steps: &mut S, at: u64, len: u64) -> Result<()> {
    let team = shape.team;
    steps.reserve(u64::from(team.size - 1) * len)?;
    for dest in (0..team.size).filter(|dest| *dest != team.rank) {
        let block = if shape.send.in_place() { shape.recv_block(dest) } else { shape.send_block(dest) };
        steps.put(u64::from(place_among_others(dest, team.rank)) * len, block.part(at, len))?;
    }
    steps.publish()
}

/// The place of a rank among all but one.
pub(crate) fn place_among_others(rank: u32, without: u32) -> u32 {
    if rank > without { rank - 1 } else { rank }
}

/// Publishes a span.
pub(super) fn publish<S: Steps>(steps: &mut S, data: Span) -> Result<()> {
    steps.reserve(data.bytes)?;
    steps.put(0, data)?;
    steps.publish()
}
