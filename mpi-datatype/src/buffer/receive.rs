//! Memory to receive into.
//!
//! Invariant: only what borrows a buffer exclusively writes.
//! Not here: where packed bytes lie (`layout`), what both kinds of buffers need (`buffer`).
#![allow(unsafe_code)] // reads and writes user memory through addresses that the program vouched for

use std::marker::PhantomData;
use std::ptr;

use super::send::SendBuf;
use super::{fits, native_length, pack, part_of};
use crate::datatype::Datatype;
use crate::element::Element;
use crate::layout::LayoutRef;

/// Memory to receive into. `Send`; not affected by `MPI_Type_free` of its datatype.
#[derive(Debug)]
pub struct RecvBuf<'a> {
    start: *mut u8,
    bytes: u64,
    layout: LayoutRef,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: the buffer is an exclusive borrow of plain bytes.
unsafe impl Send for RecvBuf<'_> {}
// SAFETY: writing needs `&mut self`; shared references only read.
unsafe impl Sync for RecvBuf<'_> {}

impl<'a> RecvBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes. `start` may be null when
    /// there are no data bytes.
    ///
    /// # Safety
    /// The data bytes are writable, initialised or not, and nobody else reads or writes them for `'a`.
    #[inline]
    pub unsafe fn new(start: *mut u8, count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        let bytes = datatype.bytes_of(count)?;
        Some(RecvBuf { start, bytes, layout: datatype.layout_ref().clone(), memory: PhantomData })
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a mut [T]) -> RecvBuf<'a> {
        RecvBuf {
            bytes: size_of_val(slice) as u64,
            start: slice.as_mut_ptr().cast(),
            layout: LayoutRef::Contiguous,
            memory: PhantomData,
        }
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it.
    pub fn over(memory: &'a mut [u8], count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        if !fits(memory.len(), count, datatype) {
            return None;
        }
        // SAFETY: the span of the elements lies inside the exclusively borrowed memory.
        unsafe { RecvBuf::new(memory.as_mut_ptr(), count, datatype) }
    }

    /// Room for no data.
    #[inline]
    pub const fn empty() -> RecvBuf<'a> {
        RecvBuf { start: ptr::null_mut(), bytes: 0, layout: LayoutRef::Contiguous, memory: PhantomData }
    }

    /// Number of packed bytes there is room for.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes as they stand, when they lie one after the other.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bytes == 0 {
            return Some(&[]);
        }
        match self.layout {
            // SAFETY: `bytes` bytes that nobody else writes while the buffer is borrowed.
            LayoutRef::Contiguous => Some(unsafe { std::slice::from_raw_parts(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// The bytes to write, when they lie one after the other.
    #[inline]
    pub fn contiguous_mut(&mut self) -> Option<&mut [u8]> {
        if self.bytes == 0 {
            return Some(&mut []);
        }
        match self.layout {
            // SAFETY: `bytes` bytes that only this buffer, exclusively borrowed here, may touch.
            LayoutRef::Contiguous => Some(unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// The address of the bytes, when they lie one after the other: for another process to write them.
    #[inline]
    pub fn address(&self) -> Option<usize> {
        matches!(self.layout, LayoutRef::Contiguous).then_some(self.start as usize)
    }

    /// Stores packed bytes from `at` on; returns how many there was room for.
    #[inline]
    pub fn unpack(&mut self, at: u64, data: &[u8]) -> usize {
        let length = (data.len() as u64).min(self.bytes.saturating_sub(at)) as usize;
        let start = self.start;
        match self.layout.get() {
            // SAFETY: `at + length <= bytes`, which `new` was promised are writable; `data` is at least `length` long.
            None if length > 0 => unsafe { ptr::copy(data.as_ptr(), start.add(at as usize), length) },
            None => {}
            Some(layout) => layout.each_run(at, length as u64, |memory, packed, length| {
                // SAFETY: each run lies inside the layout's data bytes and inside `data`.
                unsafe { ptr::copy(data.as_ptr().add(packed), start.offset(memory as isize), length) }
            }),
        }
        length
    }

    /// Copies what is in the buffer, packed bytes from `at` on, into `out`; returns how many there were.
    #[inline]
    pub fn pack(&self, at: u64, out: &mut [u8]) -> usize {
        // SAFETY: `new` was promised that the data bytes are ours; the caller asks for bytes stored before.
        unsafe { pack(self.start, self.bytes, &self.layout, at, out) }
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

    /// Data bytes of one element where elements matter to [`RecvBuf::part`], else 1.
    #[inline]
    pub fn granularity(&self) -> u64 {
        self.layout.get().map_or(1, |layout| layout.size().max(1))
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer. Both are rounded down to the granularity.
    #[inline]
    pub fn part(&mut self, at: u64, length: u64) -> RecvBuf<'_> {
        let (offset, bytes) = part_of(self.bytes, &self.layout, at, length);
        let start = self.start.wrapping_offset(offset);
        RecvBuf { start, bytes, layout: self.layout.clone(), memory: PhantomData }
    }

    /// The packed bytes before `at` and those from there on, as two buffers. `at` is rounded down to the granularity.
    #[inline]
    pub fn split_at(self, at: u64) -> (RecvBuf<'a>, RecvBuf<'a>) {
        let (offset, rest) = part_of(self.bytes, &self.layout, at, u64::MAX);
        let tail = RecvBuf {
            start: self.start.wrapping_offset(offset),
            bytes: rest,
            layout: self.layout.clone(),
            memory: PhantomData,
        };
        (RecvBuf { bytes: self.bytes - rest, ..self }, tail)
    }

    /// The same buffer, borrowed for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> RecvBuf<'_> {
        RecvBuf { start: self.start, bytes: self.bytes, layout: self.layout.clone(), memory: PhantomData }
    }

    /// The memory from the first to the last data byte, gaps included, for predefined types: elements as they stand
    /// in memory. `None` for derived types.
    #[inline]
    pub fn native_mut(&mut self) -> Option<&mut [u8]> {
        match self.layout {
            LayoutRef::Contiguous => self.contiguous_mut(),
            LayoutRef::Fixed(_) if self.bytes > 0 => {
                // SAFETY: gaps of predefined types are padding inside the program's own structs.
                Some(unsafe { std::slice::from_raw_parts_mut(self.start, native_length(self.bytes, &self.layout)) })
            }
            LayoutRef::Fixed(_) => Some(&mut []),
            LayoutRef::Shared(_) => None,
        }
    }

    /// The buffer as one to send from.
    #[inline]
    pub fn as_send(&self) -> SendBuf<'_> {
        SendBuf { start: self.start, bytes: self.bytes, layout: self.layout.clone(), memory: PhantomData }
    }

    /// The same buffer without its borrow.
    ///
    /// # Safety
    /// The result is gone, and so is everything made of it, before the memory is used, moved or freed.
    #[inline]
    pub unsafe fn detach(self) -> RecvBuf<'static> {
        RecvBuf { start: self.start, bytes: self.bytes, layout: self.layout, memory: PhantomData }
    }
}
