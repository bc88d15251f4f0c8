//! Typed user memory: the only code that reads and writes a program's buffers.
//!
//! The engine counts in packed bytes, `0 .. bytes()`; a buffer maps them to addresses. Making one from an address is
//! unsafe and states for how long the memory must stay; everything afterwards is safe and clipped to the buffer.
//!
//! Invariants: `bytes` is at most `isize::MAX`, and a buffer of zero bytes never touches its address. Only methods of
//! [`RecvBuf`] that borrow it exclusively write. A contiguous buffer refers to no layout, so making, moving and
//! dropping one costs a few registers.
//! Not here: the addresses of packed bytes in one element (`layout`).
#![allow(unsafe_code)] // reads and writes user memory through addresses that the program guarantees

use std::marker::PhantomData;
use std::{ptr, slice};

use crate::datatype::Datatype;
use crate::element::Element;
use crate::layout::LayoutRef;

/// Memory to send from. `Send`; not affected by `MPI_Type_free` of its datatype.
pub type SendBuf<'a> = TypedBuf<'a, Shared>;

/// Memory to receive into. `Send`; not affected by `MPI_Type_free` of its datatype.
pub type RecvBuf<'a> = TypedBuf<'a, Exclusive>;

/// Access of a [`SendBuf`] to its memory: a shared borrow.
#[derive(Debug)]
pub enum Shared {}

/// Access of a [`RecvBuf`] to its memory: an exclusive borrow.
#[derive(Debug)]
pub enum Exclusive {}

/// Memory with its datatype, borrowed for `'a`; `Access` is [`Shared`] or [`Exclusive`].
#[derive(Debug)]
pub struct TypedBuf<'a, Access> {
    start: *mut u8,
    bytes: u64,
    layout: LayoutRef,
    borrow: PhantomData<(&'a [u8], Access)>,
}

// SAFETY: the buffer is a borrow of plain bytes, shared or exclusive; any thread that holds it may use them.
unsafe impl<Access> Send for TypedBuf<'_, Access> {}
// SAFETY: as above; a shared reference to a buffer of either kind only reads.
unsafe impl<Access> Sync for TypedBuf<'_, Access> {}

impl<Access> TypedBuf<'_, Access> {
    /// No data, or room for none.
    #[inline]
    pub const fn empty() -> Self {
        TypedBuf::of(ptr::null_mut(), 0, LayoutRef::Contiguous)
    }

    #[inline]
    const fn of(start: *mut u8, bytes: u64, layout: LayoutRef) -> Self {
        TypedBuf { start, bytes, layout, borrow: PhantomData }
    }

    /// Number of packed bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The address of the bytes, when they are contiguous: for another process to read or write them.
    #[inline]
    pub fn address(&self) -> Option<usize> {
        matches!(self.layout, LayoutRef::Contiguous).then_some(self.start as usize)
    }

    /// Data bytes of one element where elements matter to `part`, else 1.
    #[inline]
    pub fn granularity(&self) -> u64 {
        self.layout.get().map_or(1, |layout| layout.size().max(1))
    }

    /// The bytes themselves, when they are contiguous.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bytes == 0 {
            return Some(&[]);
        }
        match self.layout {
            // SAFETY: `bytes` readable bytes, at most isize::MAX, which nobody writes while the buffer is borrowed.
            LayoutRef::Contiguous => Some(unsafe { slice::from_raw_parts(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// Copies packed bytes from `at` on into `out`; returns their number. Of a [`RecvBuf`] these are bytes stored
    /// before.
    #[inline]
    pub fn pack(&self, at: u64, out: &mut [u8]) -> usize {
        let length = (out.len() as u64).min(self.bytes.saturating_sub(at)) as usize;
        match self.layout.get() {
            // SAFETY: `at + length <= bytes`, which are readable; `out` is at least `length` long. `copy`, not
            // `copy_nonoverlapping`: a program's own buffers may overlap.
            None if length > 0 => unsafe { ptr::copy(self.start.add(at as usize), out.as_mut_ptr(), length) },
            None => {}
            Some(layout) => layout.each_run(at, length as u64, |memory, packed, length| {
                // SAFETY: each run lies inside the layout's data bytes and inside `out`.
                unsafe { ptr::copy(self.start.offset(memory as isize), out.as_mut_ptr().add(packed), length) }
            }),
        }
        length
    }

    /// Address and packed length of the packed bytes `at .. at + length`, clipped to the buffer and rounded down to the
    /// granularity.
    #[inline]
    fn clipped(&self, at: u64, length: u64) -> (*mut u8, u64) {
        let at = at.min(self.bytes);
        let length = length.min(self.bytes - at);
        match self.layout.get() {
            None => (self.start.wrapping_add(at as usize), length),
            Some(layout) if layout.size() == 0 => (self.start, 0),
            Some(layout) => {
                let element = at / layout.size();
                let end = (at + length) / layout.size();
                let offset = (element as i64).wrapping_mul(layout.extent());
                (self.start.wrapping_offset(offset as isize), (end - element) * layout.size())
            }
        }
    }

    /// Bytes from the first to the last data byte, for predefined types (lower bound 0); `None` for derived types.
    #[inline]
    fn native_length(&self) -> Option<usize> {
        match self.layout {
            _ if self.bytes == 0 => matches!(self.layout, LayoutRef::Contiguous | LayoutRef::Fixed(_)).then_some(0),
            LayoutRef::Contiguous => Some(self.bytes as usize),
            LayoutRef::Fixed(layout) => {
                let end = layout.segments().last().map_or(0, |segment| segment.offset + segment.length as i64);
                let count = self.bytes / layout.size().max(1);
                Some(((count as i64 - 1) * layout.extent() + end).max(0) as usize)
            }
            LayoutRef::Shared(_) => None,
        }
    }
}

impl<'a, Access> TypedBuf<'a, Access> {
    /// The same buffer without its borrow.
    ///
    /// # Safety
    /// The result is dropped, and everything made of it, before the memory is moved or freed; of a [`SendBuf`] also
    /// before it is written, of a [`RecvBuf`] before it is used.
    #[inline]
    pub unsafe fn detach(self) -> TypedBuf<'static, Access> {
        TypedBuf::of(self.start, self.bytes, self.layout)
    }
}

impl Clone for SendBuf<'_> {
    #[inline]
    fn clone(&self) -> Self {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }
}

impl<'a> SendBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes. `start` may be null when
    /// there are no data bytes.
    ///
    /// # Safety
    /// The data bytes are readable and not written by anyone for `'a`.
    #[inline]
    pub unsafe fn new(start: *const u8, count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        Some(TypedBuf::of(start.cast_mut(), datatype.bytes_of(count)?, datatype.layout_ref().clone()))
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a [T]) -> SendBuf<'a> {
        TypedBuf::of(slice.as_ptr().cast_mut().cast(), size_of_val(slice) as u64, LayoutRef::Contiguous)
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it.
    pub fn over(memory: &'a [u8], count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        // SAFETY: the span of the elements lies inside the borrowed memory.
        fits(memory.len(), count, datatype).then(|| unsafe { SendBuf::new(memory.as_ptr(), count, datatype) })?
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer. Both are rounded down to the granularity.
    #[inline]
    pub fn part(&self, at: u64, length: u64) -> SendBuf<'a> {
        let (start, bytes) = self.clipped(at, length);
        TypedBuf::of(start, bytes, self.layout.clone())
    }

    /// The memory from the first to the last data byte, gaps included, for predefined types: elements as they stand
    /// in memory. `None` for derived types.
    #[inline]
    pub fn native(&self) -> Option<&[u8]> {
        match self.native_length()? {
            0 => Some(&[]),
            // SAFETY: readable data bytes; gaps of predefined types are padding inside the program's own structs.
            length => Some(unsafe { slice::from_raw_parts(self.start, length) }),
        }
    }
}

impl<'a> RecvBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes. `start` may be null when
    /// there are no data bytes.
    ///
    /// # Safety
    /// The data bytes are writable, initialised or not, and nobody else reads or writes them for `'a`.
    #[inline]
    pub unsafe fn new(start: *mut u8, count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        Some(TypedBuf::of(start, datatype.bytes_of(count)?, datatype.layout_ref().clone()))
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a mut [T]) -> RecvBuf<'a> {
        TypedBuf::of(slice.as_mut_ptr().cast(), size_of_val(slice) as u64, LayoutRef::Contiguous)
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it.
    pub fn over(memory: &'a mut [u8], count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        // SAFETY: the span of the elements lies inside the exclusively borrowed memory.
        fits(memory.len(), count, datatype).then(|| unsafe { RecvBuf::new(memory.as_mut_ptr(), count, datatype) })?
    }

    /// The bytes to write, when they are contiguous.
    #[inline]
    pub fn contiguous_mut(&mut self) -> Option<&mut [u8]> {
        if self.bytes == 0 {
            return Some(&mut []);
        }
        match self.layout {
            // SAFETY: `bytes` bytes that only this buffer, exclusively borrowed here, may touch.
            LayoutRef::Contiguous => Some(unsafe { slice::from_raw_parts_mut(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// Stores packed bytes from `at` on; returns the number of those that there was room for.
    #[inline]
    pub fn unpack(&mut self, at: u64, data: &[u8]) -> usize {
        let length = (data.len() as u64).min(self.bytes.saturating_sub(at)) as usize;
        let start = self.start;
        match self.layout.get() {
            // SAFETY: `at + length <= bytes`, which are writable as `new` demands; `data` is at least `length` long.
            None if length > 0 => unsafe { ptr::copy(data.as_ptr(), start.add(at as usize), length) },
            None => {}
            Some(layout) => layout.each_run(at, length as u64, |memory, packed, length| {
                // SAFETY: each run lies inside the layout's data bytes and inside `data`.
                unsafe { ptr::copy(data.as_ptr().add(packed), start.offset(memory as isize), length) }
            }),
        }
        length
    }

    /// Stores as much of `source` as there is room for; returns the number of packed bytes copied.
    pub fn copy_from(&mut self, source: &SendBuf<'_>) -> u64 {
        let bytes = self.bytes.min(source.bytes);
        if let Some(data) = source.contiguous() {
            self.unpack(0, data);
        } else if let Some(room) = self.contiguous_mut() {
            source.pack(0, room);
        } else {
            let mut chunk = [0; 1024];
            let mut at = 0;
            while at < bytes {
                let length = source.pack(at, &mut chunk);
                self.unpack(at, &chunk[..length]);
                at += length as u64;
            }
        }
        bytes
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer. Both are rounded down to the granularity.
    #[inline]
    pub fn part(&mut self, at: u64, length: u64) -> RecvBuf<'_> {
        let (start, bytes) = self.clipped(at, length);
        TypedBuf::of(start, bytes, self.layout.clone())
    }

    /// The packed bytes before `at` and those from there on, as two buffers. `at` is rounded down to the granularity.
    #[inline]
    pub fn split_at(self, at: u64) -> (RecvBuf<'a>, RecvBuf<'a>) {
        let (start, rest) = self.clipped(at, u64::MAX);
        let tail = TypedBuf::of(start, rest, self.layout.clone());
        (RecvBuf { bytes: self.bytes - rest, ..self }, tail)
    }

    /// The same buffer, borrowed for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> RecvBuf<'_> {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }

    /// As [`SendBuf::native`], to be written.
    #[inline]
    pub fn native_mut(&mut self) -> Option<&mut [u8]> {
        match self.native_length()? {
            0 => Some(&mut []),
            // SAFETY: bytes that only this buffer, exclusively borrowed here, may touch; gaps of predefined types are
            // padding inside the program's own structs.
            length => Some(unsafe { slice::from_raw_parts_mut(self.start, length) }),
        }
    }

    /// The buffer as one to send from.
    #[inline]
    pub fn as_send(&self) -> SendBuf<'_> {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }
}

fn fits(room: usize, count: u64, datatype: &Datatype) -> bool {
    let span = datatype.span(count);
    span == 0
        || datatype.true_lower_bound() >= 0
            && datatype.extent() >= 0
            && span.saturating_add(datatype.true_lower_bound() as u64) <= room as u64
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
