//! Building the shape of a sequence of parts, in their order.
//!
//! Adjacent blocks are merged, short lists inside a list dissolved, and a regular sequence of equal parts becomes
//! loops.

use std::sync::Arc;

use super::{Entry, Kind, List, Shape};

/// A list dissolves in a list around it when it has at most this many parts.
const FEW: usize = 8;
/// It also dissolves while the list around it stays below this. The limit keeps a list of shared lists from growing
/// beyond its description.
const DISSOLVE: usize = 1024;
/// Up to this many blocks are sorted to find whether they overlap.
const SORTED: usize = 4096;

/// Collects parts in the order of the type map.
#[derive(Default)]
pub(crate) struct ListBuilder {
    /// While all parts are blocks: their offsets and lengths.
    offsets: Vec<i64>,
    lengths: Vec<u64>,
    /// All parts, from the first on that is no block.
    entries: Vec<Entry>,
}

impl ListBuilder {
    /// Room for this many parts.
    pub fn with_capacity(parts: usize) -> ListBuilder {
        let (offsets, lengths) = (Vec::with_capacity(parts), Vec::with_capacity(parts));
        ListBuilder { offsets, lengths, entries: Vec::new() }
    }

    /// Adds a block.
    pub fn push_block(&mut self, offset: i64, length: u64) {
        if length == 0 {
            return;
        }
        if !self.entries.is_empty() {
            return self.push_entry(offset, Shape::block(length));
        }
        if let (Some(last), Some(size)) = (self.offsets.last(), self.lengths.last_mut())
            && last.checked_add_unsigned(*size) == Some(offset)
        {
            *size += length;
            return;
        }
        self.offsets.push(offset);
        self.lengths.push(length);
    }

    fn dissolves(&self, parts: usize) -> bool {
        parts <= FEW || self.offsets.len() + self.entries.len() + parts <= DISSOLVE
    }

    /// Adds a part whose first byte is at `offset`.
    pub fn push(&mut self, offset: i64, shape: &Shape) {
        match &shape.kind {
            Kind::Empty => {}
            Kind::Block => self.push_block(offset, shape.size),
            Kind::Blocks { length, offsets } if self.dissolves(offsets.list().len()) => {
                for place in offsets.list().iter() {
                    self.push_block(offset + place, *length);
                }
            }
            Kind::Varied { offsets, starts } if self.dissolves(offsets.len()) => {
                for (place, ends) in offsets.iter().zip(starts.windows(2)) {
                    self.push_block(offset + place, ends[1] - ends[0]);
                }
            }
            Kind::List(list) if self.dissolves(list.entries.len()) => {
                for entry in &list.entries {
                    match entry.shape.kind {
                        Kind::Block => self.push_block(offset + entry.offset, entry.shape.size),
                        _ => self.push_entry(offset + entry.offset, entry.shape.clone()),
                    }
                }
            }
            _ => self.push_entry(offset, shape.clone()),
        }
    }

    fn push_entry(&mut self, offset: i64, shape: Shape) {
        if self.entries.is_empty() {
            let blocks = self.offsets.drain(..).zip(self.lengths.drain(..));
            self.entries.extend(blocks.map(|(offset, length)| Entry { offset, shape: Shape::block(length) }));
        }
        if shape.is_block()
            && let Some(last) = self.entries.last_mut()
            && last.shape.is_block()
            && last.offset.checked_add_unsigned(last.shape.size) == Some(offset)
        {
            last.shape = Shape::block(last.shape.size + shape.size);
            return;
        }
        self.entries.push(Entry { offset, shape });
    }

    /// The offset of the first byte and the shape of all parts together.
    pub fn finish(self) -> (i64, Shape) {
        let ListBuilder { offsets, lengths, mut entries } = self;
        match (offsets.len(), entries.len()) {
            (0, 0) => (0, Shape::EMPTY),
            (0, 1) => {
                let only = entries.swap_remove(0);
                (only.offset, only.shape)
            }
            (0, _) => (entries[0].offset, of_entries(entries)),
            _ => (offsets[0], of_blocks(offsets, &lengths)),
        }
    }
}

fn of_blocks(mut offsets: Vec<i64>, lengths: &[u64]) -> Shape {
    let length = lengths[0];
    let equal = lengths.iter().all(|other| *other == length);
    if equal && let Some(loops) = regular(&offsets) {
        return nested(&Shape::block(length), &loops);
    }
    let (end, overlaps) = arrangement(&offsets, lengths);
    let first = offsets[0];
    for offset in &mut offsets {
        *offset -= first;
    }
    let end = end.map(|end| end - first);
    let of_length = |length: u64, offsets: Vec<i64>| {
        let blocks = offsets.len() as u64;
        Shape { size: length * blocks, blocks, end, overlaps, kind: Kind::Blocks { length, offsets: offsets.into() } }
    };
    if equal {
        return of_length(length, offsets);
    }
    if let Some((length, offsets)) = split(&offsets, lengths) {
        return of_length(length, offsets);
    }
    let mut starts = Vec::with_capacity(offsets.len() + 1);
    starts.push(0);
    let mut size = 0;
    for length in lengths {
        size += length;
        starts.push(size);
    }
    let blocks = offsets.len() as u64;
    Shape { size, blocks, end, overlaps, kind: Kind::Varied { offsets: offsets.into(), starts: starts.into() } }
}

fn of_entries(mut entries: Vec<Entry>) -> Shape {
    let mut budget = 1000 + entries.len() as u32;
    if entries[1..].iter().all(|entry| entry.shape.same(&entries[0].shape, &mut budget)) {
        let offsets: Vec<i64> = entries.iter().map(|entry| entry.offset).collect();
        if let Some(loops) = regular(&offsets) {
            return nested(&entries[0].shape, &loops);
        }
    }
    let first = entries[0].offset;
    let (mut size, mut blocks, mut end, mut overlaps) = (0, 0u64, Some(0), false);
    let mut starts = Vec::with_capacity(entries.len());
    for entry in &mut entries {
        entry.offset -= first;
        starts.push(size);
        size += entry.shape.size;
        blocks = blocks.saturating_add(entry.shape.blocks);
        let behind = entry.shape.end.filter(|_| end.is_some_and(|end| entry.offset >= end));
        end = behind.map(|end| entry.offset + end);
        overlaps |= entry.shape.overlaps;
    }
    Shape { size, blocks, end, overlaps, kind: Kind::List(Arc::new(List { entries, starts })) }
}

/// Longest block into which blocks of several lengths are split.
const LONGEST_SPLIT: u64 = 64;

/// The same bytes in blocks of one length, when that makes at most twice as many: where only a few blocks happen to be
/// adjacent, moving blocks of a fixed length is faster than moving fewer of several lengths.
fn split(offsets: &[i64], lengths: &[u64]) -> Option<(u64, Vec<i64>)> {
    let size: u64 = lengths.iter().sum();
    let common = lengths.iter().fold(0, |common, length| divisor(common, *length));
    if common > LONGEST_SPLIT || size / common > 2 * offsets.len() as u64 {
        return None;
    }
    let blocks = offsets.iter().zip(lengths);
    let parts = blocks.flat_map(|(offset, length)| (0..length / common).map(move |i| offset + (i * common) as i64));
    Some((common, parts.collect()))
}

/// The greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while one != 0 {
        (one, other) = (other % one, one);
    }
    other
}

/// Count and stride of the loops, innermost first, that give these offsets in this order; `None` when no loops do.
fn regular(offsets: &[i64]) -> Option<Vec<(u64, i64)>> {
    let mut loops = Vec::new();
    let mut step = 1;
    // Every `step`-th offset starts a round of the loops found so far.
    while step < offsets.len() {
        let at = |index: usize| offsets[index * step];
        let rounds = offsets.len() / step;
        let stride = at(1).checked_sub(at(0))?;
        let mut count = 2;
        while count < rounds && at(count).checked_sub(at(count - 1)) == Some(stride) {
            count += 1;
        }
        if !rounds.is_multiple_of(count) {
            return None;
        }
        // Each further group of `count` rounds must go on in the same way.
        let regular = (count..rounds)
            .all(|index| index.is_multiple_of(count) || at(index).checked_sub(at(index - 1)) == Some(stride));
        if !regular {
            return None;
        }
        loops.push((count as u64, stride));
        step *= count;
    }
    Some(loops)
}

fn nested(body: &Shape, loops: &[(u64, i64)]) -> Shape {
    loops.iter().fold(body.clone(), |shape, (count, stride)| shape.repeat(*count, *stride))
}

/// The end of ascending blocks without overlap; and whether some certainly overlap.
fn arrangement(offsets: &[i64], lengths: &[u64]) -> (Option<i64>, bool) {
    let end = |index: usize| offsets[index].saturating_add_unsigned(lengths[index]);
    let last = offsets.len() - 1;
    if (0..last).all(|index| offsets[index + 1] >= end(index)) {
        return (Some(end(last)), false);
    }
    if offsets.len() > SORTED {
        return (None, false);
    }
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|index| offsets[*index]);
    (None, order.windows(2).any(|pair| offsets[pair[1]] < end(pair[0])))
}
