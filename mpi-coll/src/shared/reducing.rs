//! Reductions.
//!
//! Short ones: all publish their contributions, and every process that gets the result combines all of them in rank
//! order. Long ones with operands that may be swapped: each process combines one part of every chunk, its own
//! contribution first and then those of the ranks behind it in turn, and publishes the result with its contributions
//! to the next chunk; so processes wait once for each chunk.

use mpi_errors::Result;

use super::moving::publish;
use super::parts;
use crate::plan::longest_whole;
use crate::reducing::copy_unless_same;
use crate::shape::{Combining, Shape};
use crate::steps::{OTHER, Place, Span, Steps, VALUE};

/// The result in all processes.
pub(super) fn allreduce<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let what = shape.combining();
    let (own, value) = shape.operands(steps)?;
    if what.commutative && what.bytes() > longest_whole(shape.team.size) {
        split(shape, steps, own, value, true)?;
    } else {
        whole(shape, steps, own, value)?;
    }
    shape.deliver(steps, value)
}

/// Whether the combining of a reduction to the root is divided among the processes.
pub(super) fn is_split_reduce(shape: &Shape<'_>) -> bool {
    let (what, size) = (shape.combining(), shape.team.size);
    what.commutative && what.bytes() > longest_whole(size) && size > 2
}

/// The result at the root.
pub(super) fn reduce<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let at_root = shape.team.rank == shape.root_rank();
    let (own, value) = match at_root {
        true => shape.operands(steps)?,
        false => (shape.send.whole(Place::Send), Span::EMPTY),
    };
    if is_split_reduce(shape) {
        let part = if at_root { value } else { steps.elements(VALUE, longest_part(shape))? };
        split(shape, steps, own, part, false)?;
    } else {
        to_root(shape, steps, own, value)?;
    }
    shape.deliver(steps, value)
}

/// Elements of a chunk of which a process publishes so many bytes at most.
fn elements(shape: &Shape<'_>, what: &Combining) -> u64 {
    (shape.chunk() / what.size.max(1)).max(1)
}

/// Working memory for contributions that cannot be combined where they were published.
fn stage<S: Steps>(steps: &mut S, what: &Combining, count: u64) -> Result<()> {
    match what.direct {
        true => Ok(()),
        false => steps.elements(OTHER, count).map(drop),
    }
}

/// Every process combines all contributions, in rank order from the last one down: each is the left operand.
fn whole<S: Steps>(shape: &Shape<'_>, steps: &mut S, own: Span, value: Span) -> Result<()> {
    let (what, team) = (shape.combining(), shape.team);
    let chunk = elements(shape, &what);
    stage(steps, &what, chunk.min(what.count))?;
    for (first, count) in parts(what.count, chunk) {
        if first > 0 {
            steps.end_turn()?;
        }
        let span = |whole: Span| whole.part(first * what.size, count * what.size);
        publish(steps, span(own))?;
        if team.rank + 1 == team.size {
            copy_unless_same(steps, span(own), span(value))?;
        } else {
            steps.fetch(team.size - 1, 0, span(value))?;
        }
        (0..team.size - 1).rev().try_for_each(|source| steps.fold(source, 0, span(value)))?;
    }
    Ok(())
}

/// The root combines all contributions, in rank order.
fn to_root<S: Steps>(shape: &Shape<'_>, steps: &mut S, own: Span, value: Span) -> Result<()> {
    let (what, team, root) = (shape.combining(), shape.team, shape.root_rank());
    let chunk = elements(shape, &what);
    if team.rank == root {
        stage(steps, &what, chunk.min(what.count))?;
    }
    // A contribution in the place of the result, which others are combined into before it is.
    let is_last = root + 1 == team.size;
    let kept = match team.rank == root && own == value && !what.commutative && !is_last {
        true => Some(steps.elements(VALUE, chunk.min(what.count))?),
        false => None,
    };
    for (first, count) in parts(what.count, chunk) {
        if first > 0 {
            steps.end_turn()?;
        }
        let span = |whole: Span| whole.part(first * what.size, count * what.size);
        if team.rank != root {
            publish(steps, span(own))?;
            continue;
        }
        let (own, value) = (span(own), span(value));
        if what.commutative || is_last {
            copy_unless_same(steps, own, value)?;
            let others = (0..team.size).rev().filter(|source| *source != root);
            others.into_iter().try_for_each(|source| steps.fold(source, 0, value))?;
            continue;
        }
        let own = match kept {
            Some(kept) => {
                let kept = kept.part(0, own.bytes);
                steps.copy(own, kept)?;
                kept
            }
            None => own,
        };
        steps.fetch(team.size - 1, 0, value)?;
        for source in (0..team.size - 1).rev() {
            match source == root {
                true => steps.combine(own, value)?,
                false => steps.fold(source, 0, value)?,
            }
        }
    }
    Ok(())
}

/// The elements of a chunk, divided among the processes: first element and number of a rank's part.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub first: u64,
    pub count: u64,
    pub size: u64,
}

impl Chunk {
    /// Those of so many elements in chunks of so many, among so many processes.
    pub fn all(count: u64, length: u64, size: u32) -> impl Iterator<Item = Chunk> {
        parts(count, length).map(move |(first, count)| Chunk { first, count, size: size.into() })
    }

    pub fn part(&self, rank: u32) -> (u64, u64) {
        let start = |rank: u64| rank * (self.count / self.size) + rank.min(self.count % self.size);
        let rank = u64::from(rank);
        (start(rank), start(rank + 1) - start(rank))
    }
}

fn longest_part(shape: &Shape<'_>) -> u64 {
    let what = shape.combining();
    elements(shape, &what).min(what.count).div_ceil(u64::from(shape.team.size))
}

/// Each process combines one part of every chunk. With `to_all` every process gets the result in `value`, else the root;
/// in the others `value` has room for one part.
fn split<S: Steps>(shape: &Shape<'_>, steps: &mut S, own: Span, value: Span, to_all: bool) -> Result<()> {
    let (what, team, root) = (shape.combining(), shape.team, shape.root_rank());
    let length = elements(shape, &what);
    let gets = to_all || team.rank == root;
    let publishes_result = to_all || team.rank != root;
    stage(steps, &what, longest_part(shape))?;
    let bytes = |count: u64| count * what.size;
    // The place of a rank's part of a chunk: in a contribution, and where this process has its result.
    let of_own = |chunk: Chunk, rank: u32| {
        let (at, count) = chunk.part(rank);
        own.part(bytes(chunk.first + at), bytes(count))
    };
    let of_value = |chunk: Chunk, rank: u32| {
        let (at, count) = chunk.part(rank);
        if gets { value.part(bytes(chunk.first + at), bytes(count)) } else { value.part(0, bytes(count)) }
    };
    // Bytes of results in front of the contributions in the publication of a rank.
    let results = |chunk: Option<Chunk>, rank: u32| match chunk {
        Some(chunk) if to_all || rank != root => bytes(chunk.part(rank).1),
        _ => 0,
    };
    let mut chunks = Chunk::all(what.count, length, team.size);
    let (mut before, mut present) = (None::<Chunk>, chunks.next());
    while before.is_some() || present.is_some() {
        if before.is_some() {
            steps.end_turn()?;
        }
        let (published, mine) = (results(before, team.rank), team.rank);
        let contributed = present.map_or(0, |chunk| bytes(chunk.count - chunk.part(mine).1));
        if published + contributed > 0 {
            steps.reserve(published + contributed)?;
            if let Some(chunk) = before.filter(|_| publishes_result) {
                steps.put(0, of_value(chunk, mine))?;
            }
            if let Some(chunk) = present {
                let (at, count) = chunk.part(mine);
                let whole = own.part(bytes(chunk.first), bytes(chunk.count));
                let behind = bytes(at + count);
                steps.put(published, whole.part(0, bytes(at)))?;
                steps.put(published + bytes(at), whole.part(behind, whole.bytes - behind))?;
            }
            steps.publish()?;
        }
        if let Some(chunk) = present {
            let part = of_value(chunk, mine);
            if of_own(chunk, mine) != part {
                steps.copy(of_own(chunk, mine), part)?;
            }
        }
        for source in team.others() {
            if let Some(chunk) = before.filter(|chunk| gets && results(Some(*chunk), source) > 0) {
                steps.fetch(source, 0, of_value(chunk, source))?;
            }
            let Some(chunk) = present.filter(|chunk| chunk.part(mine).1 > 0) else { continue };
            let (at, _) = chunk.part(mine);
            let at = if mine < source { at } else { at - chunk.part(source).1 };
            steps.fold(source, results(before, source) + bytes(at), of_value(chunk, mine))?;
        }
        (before, present) = (present, chunks.next().filter(|_| present.is_some()));
    }
    Ok(())
}
