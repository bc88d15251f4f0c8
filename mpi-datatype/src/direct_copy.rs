//! Copies from one layout to another, without packed data in between.
#![allow(unsafe_code)] // copies between places that the cursors compute

use crate::cursor::{Cursor, Piece};
use crate::kernels::{Gather, short};

/// Copies `bytes` packed bytes from the memory that one cursor is at to that of another.
///
/// # Safety
/// The places of the next `bytes` packed bytes of both cursors, at offsets from the bases, are valid: those of `from`
/// initialised, those of `to` not borrowed.
pub(crate) unsafe fn copy_between(
    mut from: Cursor<'_>,
    source: *mut u8,
    mut to: Cursor<'_>,
    target: *mut u8,
    bytes: u64,
) {
    let (mut reader, mut writer) = (Blocks::EMPTY, Blocks::EMPTY);
    let mut left = bytes;
    while left > 0 {
        if reader.is_used_up() {
            reader = Blocks::new(from.next(left));
        }
        if writer.is_used_up() {
            writer = Blocks::new(to.next(left));
        }
        let mut moved = 0;
        // Whole blocks of one length on both sides, as far as both go on in steps.
        if let (Some((out, length, count, step)), Some((into, room, places, stride))) = (reader.row(), writer.row())
            && length == room
        {
            let count = count.min(places);
            let (mut memory, mut place) = (source.wrapping_offset(out as isize), target.wrapping_offset(into as isize));
            for _ in 0..count {
                // SAFETY: the caller's promise: both blocks are among the next bytes of the cursors.
                unsafe { short::<Gather>(memory, place, length as usize) };
                memory = memory.wrapping_offset(step as isize);
                place = place.wrapping_offset(stride as isize);
            }
            reader.skip_blocks(count);
            writer.skip_blocks(count);
            moved += count * length;
        } else {
            let ((out, length), (into, room)) = (reader.block(), writer.block());
            let length = length.min(room);
            // SAFETY: as above.
            unsafe {
                short::<Gather>(
                    source.wrapping_offset(out as isize),
                    target.wrapping_offset(into as isize),
                    length as usize,
                );
            }
            reader.skip(length);
            writer.skip(length);
            moved += length;
        }
        left -= moved;
    }
}

/// The blocks of a piece that are not used up yet.
struct Blocks<'s> {
    piece: Piece<'s>,
    row: u64,
    index: u64,
    /// Bytes of the block that are used up.
    within: u64,
}

impl<'s> Blocks<'s> {
    const EMPTY: Blocks<'static> = Blocks {
        piece: Piece::Grid { offset: 0, length: 0, count: 0, stride: 0, rows: 0, row_stride: 0 },
        row: 0,
        index: 0,
        within: 0,
    };

    fn new(piece: Piece<'s>) -> Blocks<'s> {
        Blocks { piece, row: 0, index: 0, within: 0 }
    }

    fn rows_and_blocks(&self) -> (u64, u64) {
        match self.piece {
            Piece::Grid { rows, count, .. } => (rows, count),
            Piece::Blocks { rows, offsets, .. } => (rows, offsets.len() as u64),
            Piece::Varied { rows, offsets, .. } => (rows, offsets.len() as u64),
        }
    }

    #[inline]
    fn is_used_up(&self) -> bool {
        self.row == self.rows_and_blocks().0
    }

    /// Offset and bytes of what is left of the current block.
    #[inline]
    fn block(&self) -> (i64, u64) {
        let (row, index) = (self.row as i64, self.index as usize);
        let (place, length) = match self.piece {
            Piece::Grid { offset, length, stride, row_stride, .. } => {
                (offset + row * row_stride + index as i64 * stride, length)
            }
            Piece::Blocks { offset, length, offsets, row_stride, .. } => {
                (offset + row * row_stride + offsets.get(index), length)
            }
            Piece::Varied { offset, offsets, starts, row_stride, .. } => {
                (offset + row * row_stride + offsets[index], starts[index + 1] - starts[index])
            }
        };
        (place + self.within as i64, length - self.within)
    }

    /// Offset, length, number and stride of the blocks left in the row, when none is used in part.
    #[inline]
    fn row(&self) -> Option<(i64, u64, u64, i64)> {
        match self.piece {
            Piece::Grid { length, count, stride, .. } if self.within == 0 => {
                Some((self.block().0, length, count - self.index, stride))
            }
            _ => None,
        }
    }

    #[inline]
    fn skip(&mut self, bytes: u64) {
        self.within += bytes;
        if self.block().1 == 0 {
            self.within = 0;
            self.skip_blocks(1);
        }
    }

    #[inline]
    fn skip_blocks(&mut self, blocks: u64) {
        self.index += blocks;
        if self.index == self.rows_and_blocks().1 {
            (self.row, self.index) = (self.row + 1, 0);
        }
    }
}
