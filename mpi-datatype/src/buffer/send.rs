//! Memory to send from.
//!
//! Invariant: nothing here writes.
//! Not here: where packed bytes lie (`layout`), what both kinds of buffers need (`buffer`).
#![allow(unsafe_code)] // reads user memory through addresses that the program vouched for

use std::marker::PhantomData;
use std::ptr;

use super::{fits, native_length, pack, part_of};
use crate::datatype::Datatype;
use crate::element::Element;
use crate::layout::LayoutRef;

/// Memory to send from. `Send`; not affected by `MPI_Type_free` of its datatype.
#[derive(Debug, Clone)]
pub struct SendBuf<'a> {
    pub(super) start: *const u8,
    pub(super) bytes: u64,
    pub(super) layout: LayoutRef,
    pub(super) memory: PhantomData<&'a [u8]>,
}

// SAFETY: the buffer is a shared borrow of plain bytes; whoever holds it may read them from any thread.
unsafe impl Send for SendBuf<'_> {}
// SAFETY: as above; no method changes anything through a shared reference.
unsafe impl Sync for SendBuf<'_> {}

impl<'a> SendBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes. `start` may be null when
    /// there are no data bytes.
    ///
    /// # Safety
    /// The data bytes are readable and not written by anyone for `'a`.
    #[inline]
    pub unsafe fn new(start: *const u8, count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        let bytes = datatype.bytes_of(count)?;
        Some(SendBuf { start, bytes, layout: datatype.layout_ref().clone(), memory: PhantomData })
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a [T]) -> SendBuf<'a> {
        SendBuf {
            start: slice.as_ptr().cast(),
            bytes: size_of_val(slice) as u64,
            layout: LayoutRef::Contiguous,
            memory: PhantomData,
        }
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it.
    pub fn over(memory: &'a [u8], count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        if !fits(memory.len(), count, datatype) {
            return None;
        }
        // SAFETY: the span of the elements lies inside the borrowed memory.
        unsafe { SendBuf::new(memory.as_ptr(), count, datatype) }
    }

    /// No data.
    #[inline]
    pub const fn empty() -> SendBuf<'a> {
        SendBuf { start: ptr::null(), bytes: 0, layout: LayoutRef::Contiguous, memory: PhantomData }
    }

    /// Number of packed bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes themselves, when they lie one after the other.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bytes == 0 {
            return Some(&[]);
        }
        match self.layout {
            // SAFETY: `bytes` readable bytes, at most isize::MAX, which nobody writes while the buffer lives.
            LayoutRef::Contiguous => Some(unsafe { std::slice::from_raw_parts(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// The address of the bytes, when they lie one after the other: for another process to read them.
    #[inline]
    pub fn address(&self) -> Option<usize> {
        matches!(self.layout, LayoutRef::Contiguous).then_some(self.start as usize)
    }

    /// Copies packed bytes from `at` on into `out`; returns how many there were.
    #[inline]
    pub fn pack(&self, at: u64, out: &mut [u8]) -> usize {
        // SAFETY: `new` was promised that the data bytes are readable.
        unsafe { pack(self.start, self.bytes, &self.layout, at, out) }
    }

    /// Data bytes of one element where elements matter to [`SendBuf::part`], else 1.
    #[inline]
    pub fn granularity(&self) -> u64 {
        self.layout.get().map_or(1, |layout| layout.size().max(1))
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer. Both are rounded down to the granularity.
    #[inline]
    pub fn part(&self, at: u64, length: u64) -> SendBuf<'a> {
        let (offset, bytes) = part_of(self.bytes, &self.layout, at, length);
        let start = self.start.wrapping_offset(offset);
        SendBuf { start, bytes, layout: self.layout.clone(), memory: PhantomData }
    }

    /// The memory from the first to the last data byte, gaps included, for predefined types: elements as they stand
    /// in memory. `None` for derived types.
    #[inline]
    pub fn native(&self) -> Option<&[u8]> {
        match self.layout {
            LayoutRef::Contiguous => self.contiguous(),
            LayoutRef::Fixed(_) if self.bytes > 0 => {
                // SAFETY: gaps of predefined types are padding inside the program's own structs.
                Some(unsafe { std::slice::from_raw_parts(self.start, native_length(self.bytes, &self.layout)) })
            }
            LayoutRef::Fixed(_) => Some(&[]),
            LayoutRef::Shared(_) => None,
        }
    }

    /// The same buffer without its borrow.
    ///
    /// # Safety
    /// The result is gone, and so is everything made of it, before the memory is written, moved or freed.
    #[inline]
    pub unsafe fn detach(self) -> SendBuf<'static> {
        SendBuf { start: self.start, bytes: self.bytes, layout: self.layout, memory: PhantomData }
    }
}
