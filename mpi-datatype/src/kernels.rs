//! Moving the bytes of a piece between memory and packed data.
//!
//! Blocks of the lengths that occur most have loops of their own, in which the sizes of loads and stores are constants.
//! One source serves both directions.
//! Not here: cutting pieces (`cursor`), bounds (`buffer`).
#![allow(unsafe_code)] // reads and writes memory at offsets that the cursor computes

use std::ptr;

use crate::cursor::Piece;
use crate::offsets::OffsetList;

/// Which way bytes move between a place in memory and one in packed data.
pub(crate) trait Direction {
    /// Moves one value. Both places are valid for it, at any alignment.
    unsafe fn one<T: Copy>(memory: *mut u8, packed: *mut u8);
    /// Moves four values, whose packed places follow each other.
    unsafe fn four<T: Copy>(memory: [*mut u8; 4], packed: *mut u8);
    /// Moves this many bytes.
    unsafe fn many(memory: *mut u8, packed: *mut u8, length: usize);
}

/// From memory to packed data.
pub(crate) enum Gather {}

/// From packed data to memory.
pub(crate) enum Scatter {}

impl Direction for Gather {
    #[inline(always)]
    unsafe fn one<T: Copy>(memory: *mut u8, packed: *mut u8) {
        // SAFETY: the caller promises both places.
        unsafe { packed.cast::<T>().write_unaligned(memory.cast::<T>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn four<T: Copy>(memory: [*mut u8; 4], packed: *mut u8) {
        // SAFETY: the caller promises all places.
        unsafe {
            let values = memory.map(|place| place.cast::<T>().read_unaligned());
            packed.cast::<[T; 4]>().write_unaligned(values);
        }
    }

    #[inline(always)]
    unsafe fn many(memory: *mut u8, packed: *mut u8, length: usize) {
        // SAFETY: the caller promises both places. A program's own buffers may overlap, hence not `nonoverlapping`.
        unsafe { ptr::copy(memory, packed, length) }
    }
}

impl Direction for Scatter {
    #[inline(always)]
    unsafe fn one<T: Copy>(memory: *mut u8, packed: *mut u8) {
        // SAFETY: the caller promises both places.
        unsafe { memory.cast::<T>().write_unaligned(packed.cast::<T>().read_unaligned()) }
    }

    #[inline(always)]
    unsafe fn four<T: Copy>(memory: [*mut u8; 4], packed: *mut u8) {
        // SAFETY: the caller promises all places.
        unsafe {
            let values = packed.cast::<[T; 4]>().read_unaligned();
            for (place, value) in memory.into_iter().zip(values) {
                place.cast::<T>().write_unaligned(value);
            }
        }
    }

    #[inline(always)]
    unsafe fn many(memory: *mut u8, packed: *mut u8, length: usize) {
        // SAFETY: as in `Gather`.
        unsafe { ptr::copy(packed, memory, length) }
    }
}

/// Moves all bytes of a piece; returns their number.
///
/// # Safety
/// The piece's blocks, at offsets from `base`, and as many bytes at `packed` are valid: those that are read
/// initialised, those that are written not borrowed.
#[inline(never)] // the kernels of all lengths are large
pub(crate) unsafe fn move_piece<D: Direction>(piece: &Piece<'_>, base: *mut u8, packed: *mut u8) -> usize {
    // SAFETY: the caller's promise, for the part of each arm.
    unsafe {
        match *piece {
            Piece::Grid { offset, length, count: 1, rows: 1, .. } => {
                D::many(base.wrapping_offset(offset as isize), packed, length as usize);
            }
            Piece::Grid { offset, length, count, stride, rows, row_stride }
                if share_lines(rows, row_stride, stride) =>
            {
                let grid = Columns { rows, row_stride: row_stride as isize, count, stride: stride as isize };
                let first = base.wrapping_offset(offset as isize);
                all_columns::<D>(first, grid, packed, length as usize);
            }
            Piece::Grid { offset, length, count, stride, rows, row_stride } => {
                let mut row = base.wrapping_offset(offset as isize);
                let mut packed = packed;
                for _ in 0..rows {
                    strided::<D>(row, stride as isize, count as usize, packed, length as usize);
                    row = row.wrapping_offset(row_stride as isize);
                    packed = packed.wrapping_add((length * count) as usize);
                }
            }
            Piece::Blocks { offset, length, offsets, rows, row_stride } => {
                let mut row = base.wrapping_offset(offset as isize);
                let mut packed = packed;
                for _ in 0..rows {
                    scattered::<D>(row, offsets, packed, length as usize);
                    row = row.wrapping_offset(row_stride as isize);
                    packed = packed.wrapping_add(length as usize * offsets.len());
                }
            }
            Piece::Varied { offset, offsets, starts, rows, row_stride } => {
                let mut row = base.wrapping_offset(offset as isize);
                let mut packed = packed;
                for _ in 0..rows {
                    for (place, ends) in offsets.iter().zip(starts.windows(2)) {
                        let length = (ends[1] - ends[0]) as usize;
                        short::<D>(row.wrapping_offset(*place as isize), packed, length);
                        packed = packed.wrapping_add(length);
                    }
                    row = row.wrapping_offset(row_stride as isize);
                }
            }
        }
    }
    piece.bytes() as usize
}

/// Calls the loop of a block's length: `sized` with a type of that size, `other` without.
macro_rules! by_length {
    ($length:expr, $sized:ident, $other:expr, ($($argument:expr),*)) => {
        match $length {
            1 => $sized::<D, u8>($($argument),*),
            2 => $sized::<D, u16>($($argument),*),
            3 => $sized::<D, [u8; 3]>($($argument),*),
            4 => $sized::<D, u32>($($argument),*),
            6 => $sized::<D, [u16; 3]>($($argument),*),
            8 => $sized::<D, u64>($($argument),*),
            12 => $sized::<D, [u32; 3]>($($argument),*),
            16 => $sized::<D, [u64; 2]>($($argument),*),
            20 => $sized::<D, [u32; 5]>($($argument),*),
            24 => $sized::<D, [u64; 3]>($($argument),*),
            32 => $sized::<D, [u64; 4]>($($argument),*),
            40 => $sized::<D, [u64; 5]>($($argument),*),
            48 => $sized::<D, [u64; 6]>($($argument),*),
            64 => $sized::<D, [u64; 8]>($($argument),*),
            72 => $sized::<D, [u64; 9]>($($argument),*),
            96 => $sized::<D, [u64; 12]>($($argument),*),
            128 => $sized::<D, [u64; 16]>($($argument),*),
            _ => $other,
        }
    };
}

/// Blocks of a grid whose neighbours in memory are in different rows, as in the transposition of a matrix.
#[derive(Clone, Copy)]
struct Columns {
    rows: u64,
    row_stride: isize,
    count: u64,
    stride: isize,
}

/// Bytes of a cache line.
const LINE: u64 = 64;
/// From this distance on, the blocks of a row are so far apart that the caches lose their lines before the next row
/// (measured, 64 columns of 256 blocks of 16 bytes, 4 KiB apart: 4.6 GB/s row by row).
const FAR: u64 = 512;

/// Whether rows of far blocks lie so close together that several of their blocks share a cache line.
#[inline]
fn share_lines(rows: u64, row_stride: i64, stride: i64) -> bool {
    let near = row_stride.unsigned_abs();
    rows > 1 && near > 0 && near <= LINE / 2 && stride.unsigned_abs() >= FAR
}

/// Moves the blocks of as many rows together as share cache lines.
#[inline(never)]
unsafe fn all_columns<D: Direction>(memory: *mut u8, grid: Columns, packed: *mut u8, length: usize) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe {
        by_length!(length, columns, columns_any::<D>(memory, grid, packed, length), (memory, grid, packed));
    }
}

#[inline]
unsafe fn columns<D: Direction, T: Copy>(memory: *mut u8, grid: Columns, packed: *mut u8) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe { columns_by(memory, grid, packed, size_of::<T>(), |memory, packed| D::one::<T>(memory, packed)) }
}

unsafe fn columns_any<D: Direction>(memory: *mut u8, grid: Columns, packed: *mut u8, length: usize) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe { columns_by(memory, grid, packed, length, |memory, packed| short::<D>(memory, packed, length)) }
}

#[inline(always)]
unsafe fn columns_by(memory: *mut u8, grid: Columns, packed: *mut u8, length: usize, one: impl Fn(*mut u8, *mut u8)) {
    let Columns { rows, row_stride, count, stride } = grid;
    let together = (LINE as usize / row_stride.unsigned_abs()).min(8);
    let (rows, count) = (rows as usize, count as usize);
    for first in (0..rows).step_by(together) {
        let together = together.min(rows - first);
        let mut memory = memory.wrapping_offset(first as isize * row_stride);
        let mut packed = packed.wrapping_add(first * count * length);
        for _ in 0..count {
            for row in 0..together {
                one(memory.wrapping_offset(row as isize * row_stride), packed.wrapping_add(row * count * length));
            }
            memory = memory.wrapping_offset(stride);
            packed = packed.wrapping_add(length);
        }
    }
}

/// Moves `count` blocks, `stride` bytes apart in memory.
#[inline]
unsafe fn strided<D: Direction>(memory: *mut u8, stride: isize, count: usize, packed: *mut u8, length: usize) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe {
        by_length!(
            length,
            strided_sized,
            strided_any::<D>(memory, stride, count, packed, length),
            (memory, stride, count, packed)
        );
    }
}

#[inline(never)] // else the invariants of all lengths are computed before the loop of rows
unsafe fn strided_sized<D: Direction, T: Copy>(memory: *mut u8, stride: isize, count: usize, packed: *mut u8) {
    let (mut memory, mut packed) = (memory, packed);
    // Two words of 8 bytes are cheap to join in a vector register, shorter ones are not.
    let fours = if size_of::<T>() == 8 { count / 4 } else { 0 };
    // SAFETY: the caller's promise; `count` blocks are moved in all.
    unsafe {
        for _ in 0..fours {
            D::four::<T>([0, 1, 2, 3].map(|index| memory.wrapping_offset(index * stride)), packed);
            memory = memory.wrapping_offset(4 * stride);
            packed = packed.wrapping_add(4 * size_of::<T>());
        }
        for _ in 0..count - 4 * fours {
            D::one::<T>(memory, packed);
            memory = memory.wrapping_offset(stride);
            packed = packed.wrapping_add(size_of::<T>());
        }
    }
}

#[inline(never)]
unsafe fn strided_any<D: Direction>(memory: *mut u8, stride: isize, count: usize, packed: *mut u8, length: usize) {
    let (mut memory, mut packed) = (memory, packed);
    for _ in 0..count {
        // SAFETY: the caller's promise.
        unsafe { short::<D>(memory, packed, length) };
        memory = memory.wrapping_offset(stride);
        packed = packed.wrapping_add(length);
    }
}

/// Moves blocks at these offsets in memory.
#[inline]
unsafe fn scattered<D: Direction>(memory: *mut u8, offsets: OffsetList<'_>, packed: *mut u8, length: usize) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe {
        match offsets {
            OffsetList::Narrow(offsets) => scattered_at::<D, i32>(memory, offsets, packed, length),
            OffsetList::Wide(offsets) => scattered_at::<D, i64>(memory, offsets, packed, length),
        }
    }
}

#[inline(never)]
unsafe fn scattered_at<D: Direction, O: Copy + Into<i64>>(
    memory: *mut u8,
    offsets: &[O],
    packed: *mut u8,
    length: usize,
) {
    // SAFETY: the caller's promise of `move_piece`.
    unsafe {
        match length {
            1 => scattered_sized::<D, O, u8>(memory, offsets, packed),
            2 => scattered_sized::<D, O, u16>(memory, offsets, packed),
            4 => scattered_sized::<D, O, u32>(memory, offsets, packed),
            8 => scattered_sized::<D, O, u64>(memory, offsets, packed),
            12 => scattered_sized::<D, O, [u32; 3]>(memory, offsets, packed),
            16 => scattered_sized::<D, O, [u64; 2]>(memory, offsets, packed),
            24 => scattered_sized::<D, O, [u64; 3]>(memory, offsets, packed),
            32 => scattered_sized::<D, O, [u64; 4]>(memory, offsets, packed),
            40 => scattered_sized::<D, O, [u64; 5]>(memory, offsets, packed),
            48 => scattered_sized::<D, O, [u64; 6]>(memory, offsets, packed),
            64 => scattered_sized::<D, O, [u64; 8]>(memory, offsets, packed),
            _ => {
                let mut packed = packed;
                for offset in offsets {
                    short::<D>(memory.wrapping_offset((*offset).into() as isize), packed, length);
                    packed = packed.wrapping_add(length);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn scattered_sized<D: Direction, O: Copy + Into<i64>, T: Copy>(memory: *mut u8, offsets: &[O], packed: *mut u8) {
    let place = |offset: O| memory.wrapping_offset(offset.into() as isize);
    let mut packed = packed;
    let (groups, rest) = offsets.as_chunks::<8>();
    // SAFETY: the caller's promise; each offset is used once.
    unsafe {
        for group in groups {
            for (index, offset) in group.iter().enumerate() {
                D::one::<T>(place(*offset), packed.wrapping_add(index * size_of::<T>()));
            }
            packed = packed.wrapping_add(8 * size_of::<T>());
        }
        for offset in rest {
            D::one::<T>(place(*offset), packed);
            packed = packed.wrapping_add(size_of::<T>());
        }
    }
}

/// Moves a block of any length, with no call when it is short: two moves of one size that may overlap each other.
#[inline]
pub(crate) unsafe fn short<D: Direction>(memory: *mut u8, packed: *mut u8, length: usize) {
    // SAFETY: the caller promises `length` bytes at both places, and each arm stays inside of them. Both moves of an
    // arm move the same bytes where they overlap.
    unsafe {
        match length {
            0 => {}
            1 => D::one::<u8>(memory, packed),
            2..4 => both_ends::<D, u16>(memory, packed, length),
            4..8 => both_ends::<D, u32>(memory, packed, length),
            8..=16 => both_ends::<D, u64>(memory, packed, length),
            17..=32 => both_ends::<D, [u64; 2]>(memory, packed, length),
            33..=64 => both_ends::<D, [u64; 4]>(memory, packed, length),
            _ => D::many(memory, packed, length),
        }
    }
}

#[inline(always)]
unsafe fn both_ends<D: Direction, T: Copy>(memory: *mut u8, packed: *mut u8, length: usize) {
    let last = length - size_of::<T>();
    // SAFETY: as in `short`.
    unsafe {
        D::one::<T>(memory, packed);
        D::one::<T>(memory.wrapping_add(last), packed.wrapping_add(last));
    }
}
