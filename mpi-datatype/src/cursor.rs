//! A position in the packed bytes of elements of a shape: seeks to any byte, and gives the memory from there on as
//! regular pieces.
//!
//! Invariant: the shape has data; the position is always at a byte, for elements follow each other without end. The
//! reader of a buffer bounds the bytes.
//! Not here: moving the bytes of a piece (`kernels`).

use smallvec::SmallVec;

use crate::offsets::OffsetList;
use crate::shape::{Kind, Shape};

/// Memory of packed bytes that follow each other, as a regular piece of a shape. Offsets count from the buffer's
/// address.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'s> {
    /// Rows of `count` blocks of `length` bytes.
    Grid { offset: i64, length: u64, count: u64, stride: i64, rows: u64, row_stride: i64 },
    /// Rows of blocks of `length` bytes, at these offsets in a row.
    Blocks { offset: i64, length: u64, offsets: OffsetList<'s>, rows: u64, row_stride: i64 },
    /// Rows of blocks at these offsets; block `i` has `starts[i + 1] - starts[i]` bytes.
    Varied { offset: i64, offsets: &'s [i64], starts: &'s [u64], rows: u64, row_stride: i64 },
}

impl<'s> Piece<'s> {
    fn block(offset: i64, length: u64) -> Piece<'s> {
        Piece::Grid { offset, length, count: 1, stride: 0, rows: 1, row_stride: 0 }
    }

    /// Number of packed bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match *self {
            Piece::Grid { length, count, rows, .. } => length * count * rows,
            Piece::Blocks { length, offsets, rows, .. } => length * offsets.len() as u64 * rows,
            Piece::Varied { starts, rows, .. } => (starts[starts.len() - 1] - starts[0]) * rows,
        }
    }
}

/// A loop or list that the position is inside of.
#[derive(Debug)]
struct Frame<'s> {
    shape: &'s Shape,
    base: i64,
    index: u64,
}

/// The part of the shape that pieces are cut from: rows of a block, a loop of blocks or a list of blocks.
#[derive(Debug)]
struct Leaf<'s> {
    inner: &'s Shape,
    base: i64,
    rows: u64,
    row_stride: i64,
    row: u64,
    /// Packed bytes of the row before the position.
    at: u64,
}

/// A position in the packed bytes of elements of a shape.
#[derive(Debug)]
pub(crate) struct Cursor<'s> {
    shape: &'s Shape,
    offset: i64,
    extent: i64,
    element: u64,
    frames: SmallVec<[Frame<'s>; 6]>,
    leaf: Leaf<'s>,
}

/// Whether a shape can be the row of a leaf.
#[inline]
fn is_row(shape: &Shape) -> bool {
    match shape.kind() {
        Kind::Block | Kind::Blocks { .. } | Kind::Varied { .. } => true,
        Kind::Loop { body, .. } => body.is_block(),
        Kind::Empty | Kind::List(_) => false,
    }
}

/// The piece of whole rows; the shape can be the row of a leaf.
#[inline]
fn whole_rows(row: &Shape, offset: i64, rows: u64, row_stride: i64) -> Piece<'_> {
    match row.kind() {
        // Rows of one block are one row of blocks.
        Kind::Block => {
            Piece::Grid { offset, length: row.size(), count: rows, stride: row_stride, rows: 1, row_stride: 0 }
        }
        Kind::Loop { count, stride, body } => {
            Piece::Grid { offset, length: body.size(), count: *count, stride: *stride, rows, row_stride }
        }
        Kind::Blocks { length, offsets } => {
            Piece::Blocks { offset, length: *length, offsets: offsets.list(), rows, row_stride }
        }
        Kind::Varied { offsets, starts } => Piece::Varied { offset, offsets, starts, rows, row_stride },
        Kind::Empty | Kind::List(_) => unreachable!("it is no row"),
    }
}

/// The packed bytes of one element whose first data byte is at `offset`, when they are one piece.
#[inline]
pub(crate) fn one_element(shape: &Shape, offset: i64) -> Option<Piece<'_>> {
    is_row(shape).then(|| whole_rows(shape, offset, 1, 0))
}

impl<'s> Cursor<'s> {
    /// The position of packed byte `at` of elements whose first data bytes are `offset + i * extent`.
    #[inline]
    pub fn new(shape: &'s Shape, offset: i64, extent: i64, at: u64) -> Cursor<'s> {
        debug_assert!(shape.size() > 0);
        let (element, rest) = if at < shape.size() { (0, at) } else { (at / shape.size(), at % shape.size()) };
        let leaf = Leaf { inner: shape, base: offset, rows: u64::MAX, row_stride: extent, row: element, at: rest };
        let mut cursor = Cursor { shape, offset, extent, element, frames: SmallVec::new(), leaf };
        // Elements that are rows are the rows of one endless leaf.
        if !is_row(shape) {
            cursor.enter_element(rest);
        }
        cursor
    }

    fn enter_element(&mut self, rest: u64) {
        let base = self.offset.wrapping_add((self.element as i64).wrapping_mul(self.extent));
        self.descend(self.shape, base, rest);
    }

    /// Goes to packed byte `rest` of a shape at `base`.
    fn descend(&mut self, mut shape: &'s Shape, mut base: i64, mut rest: u64) {
        loop {
            match shape.kind() {
                Kind::Loop { count, stride, body } if !body.is_block() => {
                    let size = body.size();
                    let (index, within) = if rest < size { (0, rest) } else { (rest / size, rest % size) };
                    if is_row(body) {
                        self.leaf =
                            Leaf { inner: body, base, rows: *count, row_stride: *stride, row: index, at: within };
                        return;
                    }
                    self.frames.push(Frame { shape, base, index });
                    base = base.wrapping_add((index as i64).wrapping_mul(*stride));
                    (shape, rest) = (body, within);
                }
                Kind::List(list) => {
                    let index = if rest == 0 { 0 } else { list.starts.partition_point(|start| *start <= rest) - 1 };
                    self.frames.push(Frame { shape, base, index: index as u64 });
                    let entry = &list.entries[index];
                    base = base.wrapping_add(entry.offset);
                    (shape, rest) = (&entry.shape, rest - list.starts[index]);
                }
                _ => {
                    self.leaf = Leaf { inner: shape, base, rows: 1, row_stride: 0, row: 0, at: rest };
                    return;
                }
            }
        }
    }

    /// Goes from the end of a leaf to the next one.
    fn advance(&mut self) {
        while let Some(frame) = self.frames.last_mut() {
            frame.index += 1;
            let next = match frame.shape.kind() {
                Kind::Loop { count, stride, body } if frame.index < *count => {
                    Some((&**body, (frame.index as i64).wrapping_mul(*stride)))
                }
                Kind::List(list) => list.entries.get(frame.index as usize).map(|entry| (&entry.shape, entry.offset)),
                _ => None,
            };
            if let Some((shape, offset)) = next {
                let base = frame.base.wrapping_add(offset);
                return self.descend(shape, base, 0);
            }
            self.frames.pop();
        }
        self.element += 1;
        self.enter_element(0);
    }

    /// The next piece, of at least one and at most `limit` bytes, which is not 0; the position moves behind it.
    #[inline]
    pub fn next(&mut self, limit: u64) -> Piece<'s> {
        if self.leaf.row == self.leaf.rows {
            self.advance();
        }
        self.leaf.cut(limit)
    }

    /// Offset and length of the next bytes that follow each other in one block, at most `limit` bytes; the position
    /// moves behind them.
    pub fn next_block(&mut self, limit: u64) -> (i64, u64) {
        let (offset, length) = self.run();
        let length = length.min(limit);
        self.leaf.at += length;
        if self.leaf.at == self.leaf.inner.size() {
            (self.leaf.row, self.leaf.at) = (self.leaf.row + 1, 0);
        }
        (offset, length)
    }

    /// The memory offset of the position, and the packed bytes from there to the end of the block.
    pub fn run(&mut self) -> (i64, u64) {
        if self.leaf.row == self.leaf.rows {
            self.advance();
        }
        self.leaf.block()
    }
}

impl<'s> Leaf<'s> {
    /// The offset of the current row.
    #[inline]
    fn place(&self) -> i64 {
        self.base.wrapping_add((self.row as i64).wrapping_mul(self.row_stride))
    }

    #[inline]
    fn cut(&mut self, limit: u64) -> Piece<'s> {
        let size = self.inner.size();
        if self.at > 0 || limit < size {
            return self.cut_row(limit);
        }
        let left = self.rows - self.row;
        let rows = if left == 1 { 1 } else { (limit / size).min(left) };
        let (offset, row_stride) = (self.place(), self.row_stride);
        self.row += rows;
        whole_rows(self.inner, offset, rows, row_stride)
    }

    /// A piece inside one row.
    fn cut_row(&mut self, limit: u64) -> Piece<'s> {
        let (place, size) = (self.place(), self.inner.size());
        let limit = limit.min(size - self.at);
        let piece = match self.inner.kind() {
            Kind::Loop { count, stride, body } => {
                let (length, index) = (body.size(), self.at / body.size());
                if self.at.is_multiple_of(length) && limit >= length {
                    let count = (limit / length).min(count - index);
                    let offset = place.wrapping_add((index as i64).wrapping_mul(*stride));
                    Piece::Grid { offset, length, count, stride: *stride, rows: 1, row_stride: 0 }
                } else {
                    self.cut_block(limit)
                }
            }
            Kind::Blocks { length, offsets } if self.at.is_multiple_of(*length) && limit >= *length => {
                let first = (self.at / length) as usize;
                let offsets = offsets.list().part(first..first + (limit / length) as usize);
                Piece::Blocks { offset: place, length: *length, offsets, rows: 1, row_stride: 0 }
            }
            Kind::Varied { offsets, starts } => {
                let first = starts.partition_point(|start| *start <= self.at) - 1;
                let behind = starts.partition_point(|start| *start <= self.at + limit) - 1;
                if starts[first] == self.at && behind > first {
                    let (offsets, starts) = (&offsets[first..behind], &starts[first..=behind]);
                    Piece::Varied { offset: place, offsets, starts, rows: 1, row_stride: 0 }
                } else {
                    self.cut_block(limit)
                }
            }
            _ => self.cut_block(limit),
        };
        self.at += piece.bytes();
        if self.at == size {
            (self.row, self.at) = (self.row + 1, 0);
        }
        piece
    }

    fn cut_block(&self, limit: u64) -> Piece<'s> {
        let (offset, length) = self.block();
        Piece::block(offset, length.min(limit))
    }

    /// Offset of the position, and bytes from there to the end of its block.
    fn block(&self) -> (i64, u64) {
        let (within, left) = match self.inner.kind() {
            Kind::Loop { stride, body, .. } => {
                let (index, rest) = (self.at / body.size(), self.at % body.size());
                ((index as i64).wrapping_mul(*stride).wrapping_add_unsigned(rest), body.size() - rest)
            }
            Kind::Blocks { length, offsets } => {
                let (index, rest) = (self.at / length, self.at % length);
                (offsets.list().get(index as usize).wrapping_add_unsigned(rest), length - rest)
            }
            Kind::Varied { offsets, starts } => {
                let index = starts.partition_point(|start| *start <= self.at) - 1;
                let rest = self.at - starts[index];
                (offsets[index].wrapping_add_unsigned(rest), starts[index + 1] - self.at)
            }
            _ => (self.at as i64, self.inner.size() - self.at),
        };
        (self.place().wrapping_add(within), left)
    }
}
