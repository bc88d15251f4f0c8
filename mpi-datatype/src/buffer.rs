//! Typed user memory: the only code that reads and writes a program's buffers.
//!
//! The engine counts in packed bytes, `0 .. bytes()`; a buffer maps them to addresses. Making one from an address is
//! unsafe and states for how long the memory must stay; everything afterwards is safe and clipped to the buffer.
//!
//! Invariants: `bytes` is at most `isize::MAX`, and a buffer of zero bytes never touches its address. Only methods of
//! [`RecvBuf`] that borrow it exclusively write. A contiguous buffer refers to no layout, so making, moving and
//! dropping one costs a few registers.
//! Not here: buffers in memory of Rust (`slices`), the addresses of packed bytes in one element (`layout`).
#![allow(unsafe_code)] // reads and writes user memory through addresses that the program guarantees

use std::marker::PhantomData;
use std::mem::offset_of;
use std::{ptr, slice};

use crate::datatype::Datatype;
use crate::direct_copy::copy_between;
use crate::element::Element;
use crate::kernels::{Direction, Gather, Scatter, move_piece};
use crate::layout::{Layout, LayoutRef};

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

/// Offsets, for readers in other processes.
impl<Access> TypedBuf<'_, Access> {
    /// Of the address of the first element.
    pub const START: usize = offset_of!(TypedBuf<'static, Access>, start);
    /// Of the number of packed bytes.
    pub const BYTES: usize = offset_of!(TypedBuf<'static, Access>, bytes);
}

// SAFETY: the buffer is a borrow of plain bytes, shared or exclusive; any thread that holds it may use them.
unsafe impl<Access> Send for TypedBuf<'_, Access> {}
// SAFETY: as above; a shared reference to a buffer of either kind only reads.
unsafe impl<Access> Sync for TypedBuf<'_, Access> {}

/// The bytes of a buffer that are to be read, by value: a caller that passes this keeps its buffer in registers.
#[derive(Debug, Clone, Copy)]
pub struct Packing<'b> {
    start: *mut u8,
    bytes: u64,
    layout: Option<&'b Layout>,
}

impl Packing<'_> {
    /// Number of packed bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// As [`TypedBuf::pack`].
    #[inline]
    pub fn pack(&self, at: u64, out: &mut [u8]) -> usize {
        let length = (out.len() as u64).min(self.bytes.saturating_sub(at)) as usize;
        match self.layout {
            // SAFETY: `at + length <= bytes`, which are readable; `out` is at least `length` long. `copy`, not
            // `copy_nonoverlapping`: a program's own buffers may overlap.
            None if length > 0 => unsafe { ptr::copy(self.start.add(at as usize), out.as_mut_ptr(), length) },
            // SAFETY: as above, for the bytes that the layout places.
            Some(layout) if length > 0 => unsafe {
                move_all::<Gather>(layout, self.start, at, out.as_mut_ptr(), length)
            },
            _ => {}
        }
        length
    }
}

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

    /// Elements with what [`layout_of`] gave.
    #[inline]
    fn laid_out(start: *mut u8, count: u64, datatype: &Datatype, layout: LayoutRef) -> Self {
        // Displacements from a null address are addresses of memory that the program exposed.
        let start = if start.is_null() { ptr::with_exposed_provenance_mut(0) } else { start };
        let start = match layout {
            LayoutRef::Contiguous => start.wrapping_offset(datatype.true_lower_bound() as isize),
            _ => start,
        };
        TypedBuf::of(start, count.wrapping_mul(datatype.size()), layout)
    }

    /// The elements of a slice whose type has gaps.
    fn of_gapped<T: Element>(start: *mut u8, count: usize) -> Self {
        let layout = layout_of(count as u64, T::datatype(), false).expect("elements of a slice are in memory");
        TypedBuf::laid_out(start, count as u64, T::datatype(), layout)
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

    /// The first byte, when the bytes are contiguous, to read or write all of them through it later.
    #[inline]
    pub fn as_ptr(&self) -> Option<*const u8> {
        matches!(self.layout, LayoutRef::Contiguous).then_some(self.start.cast_const())
    }

    /// The bytes themselves, when they are contiguous.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bytes == 0 {
            return Some(&[]);
        }
        match self.layout {
            // SAFETY: `bytes` readable bytes, at most isize::MAX, which no code writes while the buffer is borrowed.
            LayoutRef::Contiguous => Some(unsafe { slice::from_raw_parts(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// The buffer as [`Packing`].
    #[inline(always)]
    pub fn packing(&self) -> Packing<'_> {
        Packing { start: self.start, bytes: self.bytes, layout: self.layout.get() }
    }

    /// Copies packed bytes from `at` on into `out`; returns their number. Of a [`RecvBuf`] these are bytes stored
    /// before.
    #[inline]
    pub fn pack(&self, at: u64, out: &mut [u8]) -> usize {
        self.packing().pack(at, out)
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer.
    #[inline]
    fn clipped(&self, at: u64, length: u64) -> Self {
        let at = at.min(self.bytes);
        let length = length.min(self.bytes - at);
        match &self.layout {
            LayoutRef::Contiguous => TypedBuf::of(self.start.wrapping_add(at as usize), length, LayoutRef::Contiguous),
            _ if length == 0 => TypedBuf::of(self.start, 0, LayoutRef::Contiguous),
            layout => {
                let (elements, layout) = layout.behind(at);
                TypedBuf::of(self.start.wrapping_offset(elements as isize), length, layout)
            }
        }
    }

    /// The memory from the lowest to the highest data byte, where the gaps belong to the buffer: for predefined types
    /// and memory of the library.
    #[inline]
    fn native_memory(&self) -> Option<(*mut u8, usize)> {
        match &self.layout {
            LayoutRef::Contiguous => Some((self.start, self.bytes as usize)),
            LayoutRef::Shared(_) => None,
            LayoutRef::Fixed(_) | LayoutRef::WithGaps(_) => {
                let (offset, length) = self.layout.get()?.memory_of(self.bytes)?;
                Some((self.start.wrapping_offset(offset as isize), length))
            }
        }
    }

    /// Mean bytes of the blocks that the packed bytes consist of; all of them where they are contiguous. Adjacent
    /// blocks of different elements count as several.
    pub fn mean_run(&self) -> u64 {
        match self.layout.get() {
            None => self.bytes,
            Some(layout) => layout.mean_run(),
        }
    }

    /// Calls `run` with the address and length of each run of the packed bytes `at .. at + length`, clipped to the
    /// buffer, in packing order, until it returns `false`.
    pub fn each_run(&self, at: u64, length: u64, mut run: impl FnMut(usize, usize) -> bool) {
        let at = at.min(self.bytes);
        let length = length.min(self.bytes - at);
        match self.layout.get() {
            _ if length == 0 => {}
            None => {
                run(self.start as usize + at as usize, length as usize);
            }
            Some(layout) => layout.each_run(at, length, |offset, length| {
                run((self.start as usize).wrapping_add(offset as usize), length as usize)
            }),
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

    /// The same buffer in memory of its own, whose gaps no other code uses.
    pub(crate) fn with_gaps(self) -> Self {
        match &self.layout {
            LayoutRef::Shared(layout) => TypedBuf::of(self.start, self.bytes, LayoutRef::WithGaps(layout.clone())),
            _ => self,
        }
    }
}

impl Clone for SendBuf<'_> {
    #[inline]
    fn clone(&self) -> Self {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }
}

impl<'a> SendBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes, or the type is not
    /// committed.
    /// `start` may be null when there are no data bytes, and when the type's displacements are absolute addresses.
    ///
    /// # Safety
    /// The data bytes are readable and not written by anyone for `'a`.
    #[inline]
    pub unsafe fn new(start: *const u8, count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        match datatype.contiguous_bytes_of(count) {
            Some(bytes) => Some(TypedBuf::of(start.cast_mut(), bytes, LayoutRef::Contiguous)),
            None => Some(TypedBuf::laid_out(start.cast_mut(), count, datatype, layout_of(count, datatype, false)?)),
        }
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a [T]) -> SendBuf<'a> {
        if T::BYTES != size_of::<T>() {
            return TypedBuf::of_gapped::<T>(slice.as_ptr().cast_mut().cast(), slice.len());
        }
        TypedBuf::of(slice.as_ptr().cast_mut().cast(), size_of_val(slice) as u64, LayoutRef::Contiguous)
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer.
    #[inline]
    pub fn part(&self, at: u64, length: u64) -> SendBuf<'a> {
        self.clipped(at, length)
    }

    /// The memory from the lowest to the highest data byte, gaps included: elements as they stand in memory. `None` for
    /// derived types, except in memory that a slice gave, whose gaps belong to the buffer too.
    #[inline]
    pub fn native(&self) -> Option<&[u8]> {
        if self.bytes == 0 {
            return Some(&[]);
        }
        let (start, length) = self.native_memory()?;
        // SAFETY: readable data bytes; gaps of predefined types are padding inside the program's own structs.
        Some(unsafe { slice::from_raw_parts(start, length) })
    }
}

impl<'a> RecvBuf<'a> {
    /// `count` elements of `datatype` at `start`; `None` when no memory has that many bytes, the type is not committed,
    /// or its elements certainly overlap, which is not allowed where data is stored (MPI-5.0, 5.1.11). `start` may be
    /// null as for [`SendBuf::new`].
    ///
    /// # Safety
    /// The data bytes are writable, initialised or not, and no other code reads or writes them for `'a`.
    #[inline]
    pub unsafe fn new(start: *mut u8, count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        match datatype.contiguous_bytes_of(count) {
            Some(bytes) => Some(TypedBuf::of(start, bytes, LayoutRef::Contiguous)),
            None => Some(TypedBuf::laid_out(start, count, datatype, layout_of(count, datatype, true)?)),
        }
    }

    /// Bytes that follow each other.
    ///
    /// # Safety
    /// As [`RecvBuf::new`].
    #[inline]
    pub unsafe fn of_bytes(start: *mut u8, bytes: usize) -> RecvBuf<'a> {
        TypedBuf::of(start, bytes as u64, LayoutRef::Contiguous)
    }

    /// The elements of a slice.
    #[inline]
    pub fn from_slice<T: Element>(slice: &'a mut [T]) -> RecvBuf<'a> {
        if T::BYTES != size_of::<T>() {
            return TypedBuf::of_gapped::<T>(slice.as_mut_ptr().cast(), slice.len());
        }
        TypedBuf::of(slice.as_mut_ptr().cast(), size_of_val(slice) as u64, LayoutRef::Contiguous)
    }

    /// The bytes to write, when they are contiguous.
    #[inline]
    pub fn contiguous_mut(&mut self) -> Option<&mut [u8]> {
        if self.bytes == 0 {
            return Some(&mut []);
        }
        match self.layout {
            // SAFETY: `bytes` bytes that only this buffer, exclusively borrowed here, may access.
            LayoutRef::Contiguous => Some(unsafe { slice::from_raw_parts_mut(self.start, self.bytes as usize) }),
            _ => None,
        }
    }

    /// Stores packed bytes from `at` on; returns the number of those that there was room for.
    #[inline]
    pub fn unpack(&mut self, at: u64, data: &[u8]) -> usize {
        // SAFETY: the slice is readable and stays as it is.
        unsafe { self.unpack_shared(at, data.as_ptr(), data.len()) }
    }

    /// As [`RecvBuf::unpack`], for `length` bytes at `data` that another process may change at any time: what is stored
    /// is undefined then, and nothing else.
    ///
    /// # Safety
    /// The bytes are readable, and no code of this process writes them during the call.
    #[inline]
    pub unsafe fn unpack_shared(&mut self, at: u64, data: *const u8, length: usize) -> usize {
        let length = (length as u64).min(self.bytes.saturating_sub(at)) as usize;
        let start = self.start;
        match self.layout.get() {
            // SAFETY: `at + length <= bytes`, which are writable as `new` demands; `data` is at least `length` long.
            None if length > 0 => unsafe { ptr::copy(data, start.add(at as usize), length) },
            // SAFETY: as above, for the bytes that the layout places; `Scatter` only reads the packed data.
            Some(layout) if length > 0 => unsafe {
                move_all::<Scatter>(layout, start, at, data.cast_mut(), length);
            },
            _ => {}
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
        } else if let (true, Some(from), Some(to)) = (bytes > 0, source.layout.get(), self.layout.get()) {
            // SAFETY: both have at least `bytes` packed bytes, which are readable and writable as `new` demands.
            unsafe { copy_between(from.cursor(0), source.start, to.cursor(0), self.start, bytes) }
        }
        bytes
    }

    /// The packed bytes `at .. at + length`, clipped to the buffer.
    #[inline]
    pub fn part(&mut self, at: u64, length: u64) -> RecvBuf<'_> {
        self.clipped(at, length)
    }

    /// The packed bytes before `at` and those from there on, as two buffers.
    #[inline]
    pub fn split_at(self, at: u64) -> (RecvBuf<'a>, RecvBuf<'a>) {
        let tail = self.clipped(at, u64::MAX);
        (RecvBuf { bytes: self.bytes - tail.bytes, ..self }, tail)
    }

    /// The same buffer, borrowed for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> RecvBuf<'_> {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }

    /// As [`SendBuf::native`], to be written.
    #[inline]
    pub fn native_mut(&mut self) -> Option<&mut [u8]> {
        if self.bytes == 0 {
            return Some(&mut []);
        }
        let (start, length) = self.native_memory()?;
        // SAFETY: bytes that only this buffer, exclusively borrowed here, may access; gaps of predefined types are
        // padding inside the program's own structs.
        Some(unsafe { slice::from_raw_parts_mut(start, length) })
    }

    /// The buffer as one to send from.
    #[inline]
    pub fn as_send(&self) -> SendBuf<'_> {
        TypedBuf::of(self.start, self.bytes, self.layout.clone())
    }
}

/// The layout of elements that are not contiguous by their type; `Contiguous` for those that are one block, from the
/// first data byte on. `None` when there are too many, the type is not committed, or, with `storing`, they overlap.
#[cold]
#[inline(never)] // what it returns fits into registers, so that buffers of contiguous elements never go through memory
fn layout_of(count: u64, datatype: &Datatype, storing: bool) -> Option<LayoutRef> {
    let (bytes, reference) = (datatype.bytes_of(count)?, datatype.layout_ref()?);
    let layout = reference.get()?;
    if storing && layout.surely_overlaps(count) {
        return None;
    }
    Some(if bytes == 0 || layout.is_one_block(count) { LayoutRef::Contiguous } else { reference })
}

/// Moves the packed bytes `at .. at + length` between memory and packed data.
///
/// # Safety
/// The bytes that the layout places there, at offsets from `start`, and `length` at `packed` are valid for the
/// direction.
#[inline]
unsafe fn move_all<D: Direction>(layout: &Layout, start: *mut u8, at: u64, packed: *mut u8, length: usize) {
    match layout.one_element(at, length as u64) {
        // SAFETY: the piece has exactly the bytes that the caller promised.
        Some(piece) => unsafe {
            move_piece::<D>(&piece, start, packed);
        },
        // SAFETY: the caller's promise.
        None => unsafe { move_pieces::<D>(layout, start, at, packed, length) },
    }
}

/// As [`move_all`], piece by piece.
#[inline(never)]
unsafe fn move_pieces<D: Direction>(layout: &Layout, start: *mut u8, at: u64, packed: *mut u8, length: usize) {
    let mut cursor = layout.cursor(at);
    let mut done = 0;
    while done < length {
        let piece = cursor.next((length - done) as u64);
        // SAFETY: the piece has at most the bytes that are left, and the caller promised these.
        done += unsafe { move_piece::<D>(&piece, start, packed.wrapping_add(done)) };
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
