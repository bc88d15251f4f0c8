//! Layouts: the addresses of packed bytes in memory that holds elements of one type.
//!
//! Invariant: the shape is that of one element; the first data byte of element `i` is `i * extent + offset` bytes from
//! the buffer's address.
//! Not here: user memory (`buffer`), bounds as `MPI_Type_get_extent` returns them (`datatype`).

use std::sync::Arc;

use crate::cursor::{self, Cursor, Piece};
use crate::shape::Shape;

/// The layout of a type whose elements are not contiguous.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(crate) shape: Shape,
    pub(crate) extent: i64,
    /// From an element's address to its first data byte in packing order.
    pub(crate) offset: i64,
    /// From an element's address to its lowest data byte.
    pub(crate) lowest: i64,
    /// Bytes from the lowest data byte to the end of the highest.
    pub(crate) span: i64,
    /// Packed bytes of the first element that a part of a buffer leaves out; below the size.
    pub(crate) skip: u64,
}

impl Layout {
    /// `range` is the lowest data byte of an element and the bytes from there to the end of the highest.
    pub(crate) const fn new(shape: Shape, offset: i64, extent: i64, range: (i64, i64)) -> Layout {
        Layout { shape, extent, offset, lowest: range.0, span: range.1, skip: 0 }
    }

    /// Mean bytes of the blocks of an element. Adjacent blocks of different elements count as several.
    pub fn mean_run(&self) -> u64 {
        self.size() / self.shape.blocks().max(1)
    }

    /// The memory of `bytes` packed bytes, from the lowest to the highest data byte: its offset from the first
    /// element's address, and its length. `None` unless the bytes are whole elements.
    pub(crate) fn memory_of(&self, bytes: u64) -> Option<(i64, usize)> {
        if bytes == 0 || self.skip > 0 || !bytes.is_multiple_of(self.size()) {
            return None;
        }
        // Buffers are made of memory whose length fits.
        let way = (bytes / self.size() - 1) as i64 * self.extent;
        Some((self.lowest + way.min(0), (way.abs() + self.span) as usize))
    }

    /// Data bytes of one element.
    #[inline]
    pub const fn size(&self) -> u64 {
        self.shape.size()
    }

    /// Bytes from one element's address to the next one's.
    #[inline]
    pub const fn extent(&self) -> i64 {
        self.extent
    }

    /// Whether data lies at ascending offsets that do not overlap, in one element and from one to the next.
    pub fn ascends(&self) -> bool {
        self.shape.ascending_end().is_some_and(|end| self.extent >= end)
    }

    /// Number of data bytes of one element that lie below `place`, in bytes from the element's address; for layouts
    /// that ascend.
    pub fn bytes_below(&self, place: i64) -> u64 {
        match place.checked_sub(self.offset) {
            Some(place) => self.shape.bytes_below(place),
            None if place < 0 => 0,
            None => self.size(),
        }
    }

    /// The place of the packed byte `at`, in bytes from the first element's address, and the number of packed bytes
    /// that follow each other in memory from there on. For layouts with data.
    pub fn run(&self, at: u64) -> (i64, u64) {
        self.cursor(at).run()
    }

    /// Calls `run` with the offset from the first element's address, and the length, of each run of the packed bytes
    /// `at .. at + length`, in packing order, until it returns `false`. For layouts with data.
    pub fn each_run(&self, at: u64, length: u64, mut run: impl FnMut(i64, u64) -> bool) {
        let mut cursor = self.cursor(at);
        let (mut place, mut bytes, mut left) = (0i64, 0, length);
        while left > 0 {
            let (offset, length) = cursor.next_block(left);
            left -= length;
            if bytes > 0 && offset == place.wrapping_add_unsigned(bytes) {
                bytes += length;
                continue;
            }
            if bytes > 0 && !run(place, bytes) {
                return;
            }
            (place, bytes) = (offset, length);
        }
        if bytes > 0 {
            run(place, bytes);
        }
    }

    /// Whether a receive into `count` elements would store some byte twice, as far as that is cheap to find.
    pub(crate) fn surely_overlaps(&self, count: u64) -> bool {
        count > 0 && self.shape.surely_overlaps() || count > 1 && self.shape.overlaps_at(self.extent)
    }

    /// Whether `count` elements, without those that follow, are one block.
    pub(crate) fn is_one_block(&self, count: u64) -> bool {
        self.shape.is_block() && (count == 1 || self.extent == self.size() as i64)
    }

    /// The packed bytes `at .. at + length` as one piece, without a cursor, if they are the first element.
    #[inline]
    pub(crate) fn one_element(&self, at: u64, length: u64) -> Option<Piece<'_>> {
        if at + self.skip > 0 || length != self.size() {
            return None;
        }
        cursor::one_element(&self.shape, self.offset)
    }

    /// A cursor at the packed byte `at` of a buffer of such elements. For layouts with data.
    #[inline]
    pub(crate) fn cursor(&self, at: u64) -> Cursor<'_> {
        Cursor::new(&self.shape, self.offset, self.extent, at + self.skip)
    }
}

impl PartialEq for Layout {
    /// Whether the normal forms are the same; may miss that for very large descriptions.
    fn eq(&self, other: &Layout) -> bool {
        let numbers = |it: &Layout| (it.extent, it.offset, it.skip);
        numbers(self) == numbers(other) && self.shape.same(&other.shape, &mut 100_000)
    }
}

/// The reference of a buffer to its layout; the common case, contiguous, has none.
#[derive(Debug, Clone)]
pub(crate) enum LayoutRef {
    /// Contiguous.
    Contiguous,
    /// A predefined type with gaps.
    Fixed(&'static Layout),
    /// A derived type; the buffer keeps the layout alive after `MPI_Type_free`.
    Shared(Arc<Layout>),
    /// The same in memory of the buffer's own, where no other code uses the gaps.
    WithGaps(Arc<Layout>),
}

impl LayoutRef {
    #[inline]
    pub fn get(&self) -> Option<&Layout> {
        match self {
            LayoutRef::Contiguous => None,
            LayoutRef::Fixed(layout) => Some(layout),
            LayoutRef::Shared(layout) | LayoutRef::WithGaps(layout) => Some(layout),
        }
    }
}

impl LayoutRef {
    /// The bytes that a buffer's address moves when its first `at` packed bytes are left out, and the layout from
    /// there. For layouts with data.
    pub fn behind(&self, at: u64) -> (i64, LayoutRef) {
        let Some(layout) = self.get() else { return (at as i64, LayoutRef::Contiguous) };
        let at = at + layout.skip;
        let (elements, skip) = ((at / layout.size()) as i64, at % layout.size());
        let same = if skip == layout.skip {
            self.clone()
        } else {
            let rest = Arc::new(Layout { skip, ..layout.clone() });
            match self {
                LayoutRef::WithGaps(_) => LayoutRef::WithGaps(rest),
                _ => LayoutRef::Shared(rest),
            }
        };
        (elements.wrapping_mul(layout.extent), same)
    }
}
