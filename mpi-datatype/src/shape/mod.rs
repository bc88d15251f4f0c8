//! Shapes: where the data bytes of one element lie relative to its first one, as a program of loops.
//!
//! A shape is in a normal form: adjacent blocks are merged and loops collapsed, so most layouts that programs describe
//! in several ways have one shape. (Irregular blocks of nearly one length are split again into blocks of exactly one.)
//! Its memory is that of the description: a loop of any number of blocks is one node.
//! Invariants: the order of blocks is that of the type map, in which data is packed; the first block is at offset 0; no
//! part is empty, except that a whole shape may be; loops have at least two rounds and lists at least two entries; the
//! caller has checked that all offsets and sizes fit into an `i64`.
//! Not here: the address of the first byte, extents (`layout`), positions in a shape (`cursor`), lists (`list`).

mod list;

use std::sync::Arc;

pub(crate) use list::ListBuilder;

use crate::array::Array;
use crate::offsets::Offsets;

/// The data bytes of an element, relative to the first of them. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    size: u64,
    /// Number of blocks; at most `u64::MAX` is counted.
    blocks: u64,
    /// Offset behind the last byte, when blocks lie at ascending offsets and do not overlap.
    end: Option<i64>,
    /// Whether some bytes are certainly there twice.
    overlaps: bool,
    kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Empty,
    /// `size` bytes.
    Block,
    /// `count` times the body, each `stride` bytes behind the one before.
    Loop {
        count: u64,
        stride: i64,
        body: Arc<Shape>,
    },
    /// Blocks of one length at irregular offsets.
    Blocks {
        length: u64,
        offsets: Offsets,
    },
    /// Blocks of several lengths: that of number `i` holds the packed bytes `starts[i] .. starts[i + 1]`.
    Varied {
        offsets: Array<i64>,
        starts: Array<u64>,
    },
    List(Arc<List>),
}

/// Shapes of any kind, one after the other.
#[derive(Debug)]
pub(crate) struct List {
    pub entries: Vec<Entry>,
    /// Packed offset of each entry.
    pub starts: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub offset: i64,
    pub shape: Shape,
}

impl Shape {
    pub const EMPTY: Shape = Shape { size: 0, blocks: 0, end: Some(0), overlaps: false, kind: Kind::Empty };

    /// A block of bytes.
    pub const fn block(size: u64) -> Shape {
        let kind = if size == 0 { Kind::Empty } else { Kind::Block };
        Shape { size, blocks: (size > 0) as u64, end: Some(size as i64), overlaps: false, kind }
    }

    /// Two blocks of static memory, the second at `offset`, which is behind the first.
    pub const fn two_blocks(offsets: &'static [i64; 2], starts: &'static [u64; 3]) -> Shape {
        let end = offsets[1] + (starts[2] - starts[1]) as i64;
        let kind = Kind::Varied { offsets: Array::Static(offsets), starts: Array::Static(starts) };
        Shape { size: starts[2], blocks: 2, end: Some(end), overlaps: false, kind }
    }

    /// Number of data bytes.
    #[inline]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Number of blocks; some may be adjacent where one element, or one round of a loop, follows another.
    #[inline]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    #[inline]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Offset behind the last byte, when blocks lie at ascending offsets and do not overlap.
    pub fn ascending_end(&self) -> Option<i64> {
        self.end
    }

    /// Whether some byte is certainly there twice. Not every overlap is found.
    pub fn surely_overlaps(&self) -> bool {
        self.overlaps
    }

    /// Whether all data bytes follow each other.
    #[inline]
    pub fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Block)
    }

    /// `count` times this shape, each `stride` bytes behind the one before.
    pub fn repeat(&self, count: u64, stride: i64) -> Shape {
        if count == 0 || self.size == 0 {
            return Shape::EMPTY;
        }
        if count == 1 {
            return self.clone();
        }
        match &self.kind {
            Kind::Block if i128::from(stride) == i128::from(self.size) => Shape::block(self.size * count),
            Kind::Loop { count: inner, stride: step, body }
                if i128::from(*step) * i128::from(*inner) == i128::from(stride) =>
            {
                Shape::looped(inner * count, *step, body.clone())
            }
            _ => Shape::looped(count, stride, Arc::new(self.clone())),
        }
    }

    fn looped(count: u64, stride: i64, body: Arc<Shape>) -> Shape {
        let end = body.end.filter(|end| stride >= *end);
        Shape {
            size: body.size * count,
            blocks: body.blocks.saturating_mul(count),
            end: end.map(|end| (count - 1) as i64 * stride + end),
            overlaps: body.overlaps || stride == 0 || body.is_block() && stride.unsigned_abs() < body.size,
            kind: Kind::Loop { count, stride, body },
        }
    }

    /// Whether elements of this shape, `extent` bytes apart, certainly overlap.
    pub fn overlaps_at(&self, extent: i64) -> bool {
        extent == 0 && self.size > 0 || self.is_block() && extent.unsigned_abs() < self.size
    }

    /// Number of data bytes at offsets below `place`, for an ascending shape.
    pub fn bytes_below(&self, place: i64) -> u64 {
        let (mut shape, mut place, mut counted) = (self, place, 0);
        loop {
            if place <= 0 {
                return counted;
            }
            match &shape.kind {
                Kind::Empty => return counted,
                Kind::Block => return counted + (place as u64).min(shape.size),
                Kind::Loop { count, stride, body } => {
                    let round = ((place / *stride) as u64).min(count - 1);
                    counted += round * body.size;
                    place -= round as i64 * stride;
                    shape = body;
                }
                Kind::Blocks { length, offsets } => {
                    let last = offsets.list().below(place) - 1;
                    return counted + last as u64 * length + ((place - offsets.list().get(last)) as u64).min(*length);
                }
                Kind::Varied { offsets, starts } => {
                    let last = offsets.partition_point(|offset| *offset < place) - 1;
                    let length = starts[last + 1] - starts[last];
                    return counted + starts[last] + ((place - offsets[last]) as u64).min(length);
                }
                Kind::List(list) => {
                    let last = list.entries.partition_point(|entry| entry.offset < place) - 1;
                    counted += list.starts[last];
                    place -= list.entries[last].offset;
                    shape = &list.entries[last].shape;
                }
            }
        }
    }

    /// Whether two shapes are certainly the same. `budget` bounds the work, and so the depth: the answer is `false`
    /// when it is used up.
    pub fn same(&self, other: &Shape, budget: &mut u32) -> bool {
        if *budget == 0 || self.size != other.size {
            return false;
        }
        *budget -= 1;
        match (&self.kind, &other.kind) {
            (Kind::Empty, Kind::Empty) | (Kind::Block, Kind::Block) => true,
            (Kind::Loop { count, stride, body }, Kind::Loop { count: times, stride: step, body: inner }) => {
                count == times && stride == step && (Arc::ptr_eq(body, inner) || body.same(inner, budget))
            }
            (Kind::Blocks { length, offsets }, Kind::Blocks { length: long, offsets: places }) => {
                length == long && offsets.list() == places.list()
            }
            (Kind::Varied { offsets, starts }, Kind::Varied { offsets: places, starts: begins }) => {
                same_array(offsets, places) && same_array(starts, begins)
            }
            (Kind::List(list), Kind::List(others)) => {
                Arc::ptr_eq(list, others)
                    || list.entries.len() == others.entries.len()
                        && list.entries.iter().zip(&others.entries).all(|(entry, other)| {
                            entry.offset == other.offset && entry.shape.same(&other.shape, budget)
                        })
            }
            _ => false,
        }
    }
}

fn same_array<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl Drop for Shape {
    /// Drops parts with no other owner one by one: a chain of any depth needs no stack.
    fn drop(&mut self) {
        if !matches!(self.kind, Kind::Loop { .. } | Kind::List(_)) {
            return;
        }
        let mut pending = Vec::new();
        let mut next = Some(std::mem::replace(&mut self.kind, Kind::Empty));
        while let Some(kind) = next {
            match kind {
                Kind::Loop { body, .. } => {
                    if let Some(mut body) = Arc::into_inner(body) {
                        pending.push(std::mem::replace(&mut body.kind, Kind::Empty));
                    }
                }
                Kind::List(list) => {
                    for mut entry in Arc::into_inner(list).map_or(Vec::new(), |list| list.entries) {
                        pending.push(std::mem::replace(&mut entry.shape.kind, Kind::Empty));
                    }
                }
                _ => {}
            }
            next = pending.pop();
        }
    }
}
