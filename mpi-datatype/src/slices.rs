//! Buffers of elements in memory that a slice gives: safe, because the elements have to fit.
//!
//! The gaps between the elements belong to the buffer too.
#![allow(unsafe_code)] // makes buffers of addresses inside the slice

use std::slice;

use crate::buffer::{RecvBuf, SendBuf};
use crate::datatype::Datatype;
use crate::element::Element;
use crate::overlap::{ascends, first_overlap};

impl<'a> SendBuf<'a> {
    /// As [`SendBuf::over`], in the memory of a slice.
    pub fn in_slice<T: Element>(slice: &'a [T], count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        // SAFETY: an element has no padding, so all bytes of the slice are initialised.
        let memory = unsafe { slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) };
        SendBuf::over(memory, count, datatype)
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it.
    pub fn over(memory: &'a [u8], count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        let room = memory.len();
        // SAFETY: the span of the elements lies inside the borrowed memory.
        let make = || unsafe { SendBuf::new(memory.as_ptr(), count, datatype) };
        Some(fits(room, count, datatype).then(make)??.with_gaps())
    }

    /// `count` elements of `datatype` in `memory`, the lowest data byte at its start; `None` when they do not fit.
    pub fn in_span(memory: &'a [u8], count: u64, datatype: &Datatype) -> Option<SendBuf<'a>> {
        let start = memory.as_ptr().wrapping_offset((datatype.lowest_byte(count) as isize).wrapping_neg());
        // SAFETY: as in `over`.
        let make = || unsafe { SendBuf::new(start, count, datatype) };
        Some((datatype.span(count) <= memory.len() as u64).then(make)??.with_gaps())
    }
}

impl<'a> RecvBuf<'a> {
    /// As [`RecvBuf::over`], in the memory of a slice.
    pub fn in_slice<T: Element>(slice: &'a mut [T], count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        // SAFETY: an element has no padding, and all bytes that may be stored are valid values of it.
        let memory = unsafe { slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) };
        RecvBuf::over(memory, count, datatype)
    }

    /// `count` elements of `datatype` in `memory`, the first at its start; `None` when they do not fit into it, or some
    /// overlap.
    pub fn over(memory: &'a mut [u8], count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        let room = memory.len();
        // SAFETY: the span of the elements lies inside the exclusively borrowed memory.
        let make = || unsafe { RecvBuf::new(memory.as_mut_ptr(), count, datatype) };
        let made = fits(room, count, datatype).then(make)??;
        let apart = ascends(datatype) || first_overlap(slice::from_ref(&made)).is_none();
        apart.then(|| made.with_gaps())
    }

    /// `count` elements of `datatype` in `memory`, the lowest data byte at its start; `None` when they do not fit.
    pub fn in_span(memory: &'a mut [u8], count: u64, datatype: &Datatype) -> Option<RecvBuf<'a>> {
        let start = memory.as_mut_ptr().wrapping_offset((datatype.lowest_byte(count) as isize).wrapping_neg());
        // SAFETY: as in `over`.
        let make = || unsafe { RecvBuf::new(start, count, datatype) };
        Some((datatype.span(count) <= memory.len() as u64).then(make)??.with_gaps())
    }
}

pub(crate) fn fits(room: usize, count: u64, datatype: &Datatype) -> bool {
    let span = datatype.span(count);
    span == 0
        || datatype.true_lower_bound() >= 0
            && datatype.extent() >= 0
            && span.saturating_add(datatype.true_lower_bound() as u64) <= room as u64
}
