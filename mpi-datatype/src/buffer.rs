//! User memory with its datatype: the only door between the engine and a program's buffers.
//!
//! The engine counts in packed bytes, `0 .. bytes()`; a buffer knows where they lie. Making one from an address is
//! unsafe and says for how long the memory must stay; everything afterwards is safe and clipped to the buffer.
//! - `send`: memory to send from. `receive`: memory to receive into.
//!
//! Invariant: `bytes` is at most `isize::MAX`, and a buffer of zero bytes never touches its address.
//! A contiguous buffer refers to no layout, so making, moving and dropping one costs a few registers.
#![allow(unsafe_code)] // reads user memory through addresses that the program vouched for

mod receive;
mod send;

use std::ptr;

use crate::datatype::Datatype;
use crate::layout::LayoutRef;

pub use receive::RecvBuf;
pub use send::SendBuf;

/// Copies packed bytes `at ..` of the memory at `start` into `out`; returns how many there were.
///
/// # Safety
/// The memory of `bytes` packed bytes in `layout` at `start` is readable.
unsafe fn pack(start: *const u8, bytes: u64, layout: &LayoutRef, at: u64, out: &mut [u8]) -> usize {
    let length = (out.len() as u64).min(bytes.saturating_sub(at)) as usize;
    match layout.get() {
        // SAFETY: `at + length <= bytes`, which are readable; `out` is at least `length` long. `copy`, not
        // `copy_nonoverlapping`: a program's own buffers may overlap.
        None if length > 0 => unsafe { ptr::copy(start.add(at as usize), out.as_mut_ptr(), length) },
        None => {}
        Some(layout) => layout.each_run(at, length as u64, |memory, packed, length| {
            // SAFETY: each run lies inside the layout's data bytes and inside `out`.
            unsafe { ptr::copy(start.offset(memory as isize), out.as_mut_ptr().add(packed), length) }
        }),
    }
    length
}

fn fits(room: usize, count: u64, datatype: &Datatype) -> bool {
    let span = datatype.span(count);
    span == 0
        || datatype.true_lower_bound() >= 0
            && datatype.extent() >= 0
            && span.saturating_add(datatype.true_lower_bound() as u64) <= room as u64
}

/// Memory offset and packed length of a part of a buffer.
#[inline]
fn part_of(bytes: u64, layout: &LayoutRef, at: u64, length: u64) -> (isize, u64) {
    let at = at.min(bytes);
    let length = length.min(bytes - at);
    match layout.get() {
        None => (at as isize, length),
        Some(layout) if layout.size() == 0 => (0, 0),
        Some(layout) => {
            let element = at / layout.size();
            let end = (at + length) / layout.size();
            ((element as i64 * layout.extent()) as isize, (end - element) * layout.size())
        }
    }
}

/// Bytes from the first to the last data byte of a buffer of a predefined type (lower bound 0).
fn native_length(bytes: u64, layout: &LayoutRef) -> usize {
    match layout.get() {
        None => bytes as usize,
        Some(layout) => {
            let end = layout.segments().last().map_or(0, |segment| segment.offset + segment.length as i64);
            let count = bytes / layout.size().max(1);
            ((count as i64 - 1) * layout.extent() + end).max(0) as usize
        }
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
