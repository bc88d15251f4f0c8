//! Short schedules of persistent operations with a channel of their own, lowered to addresses: their starts look up neither
//! spans nor buffers.
//!
//! A schedule is lowered if each process publishes at most once, all its memory consists of bytes side by side, and only
//! predefined operations combine it.
//! Invariant: a lowered schedule makes the same publications, reads and combinations as its steps, in the same order.
//! Not here: the steps themselves (`record`), when they are carried out (`schedule`).
#![allow(unsafe_code)] // addresses of the program's buffers and of working memory are kept between two starts

use mpi_datatype::Datatype;
use mpi_errors::Result;
use mpi_p2p::{AwaitedWord, Channel};

use crate::memory::Memory;
use crate::op::Kernel;
use crate::record::Step;
use crate::shared::{Heading, outside};
use crate::steps::Span;

/// Longest data of a step, in bytes, so that steps with the process lock held are short.
const LONGEST: u64 = 4096;

/// Bytes in memory.
#[derive(Clone, Copy)]
struct Bytes {
    start: *mut u8,
    length: usize,
}

impl Bytes {
    /// # Safety
    /// The bytes are readable, and nothing writes them while the result exists.
    unsafe fn read<'m>(self) -> &'m [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// # Safety
    /// The bytes are writable, and nothing else uses them while the result exists.
    unsafe fn write<'m>(self) -> &'m mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

/// A step on addresses; as the [`Step`] of its name.
#[derive(Clone, Copy)]
enum Lower {
    Reserve { bytes: usize },
    Put { at: usize, from: Bytes },
    Publish,
    Fetch { source: u32, at: usize, into: Bytes },
    Fold { source: u32, at: usize, into: Bytes },
    Copy { from: Bytes, into: Bytes },
}

/// A lowered schedule.
pub(crate) struct Lowered {
    steps: Box<[Lower]>,
    kernel: Option<Kernel>,
}

// SAFETY: addresses of memory that the schedule keeps, which may itself be sent.
unsafe impl Send for Lowered {}

impl Lowered {
    /// Lowers the steps of a schedule on this memory, which stays where it is as long as the result exists; `kernel`
    /// combines, if they do. `None` if that cannot be.
    pub fn new(
        steps: &[Step],
        memory: &mut Memory<'static>,
        reduction: Option<(&Datatype, Kernel)>,
    ) -> Option<Lowered> {
        let datatype = reduction.map(|(datatype, _)| datatype);
        let length = |span: Span| (1..=LONGEST).contains(&span.bytes).then_some(span.bytes as usize);
        let source = |memory: &Memory<'_>, span: Span| {
            let length = length(span)?;
            let data = memory.source(span, datatype);
            (data.bytes() == span.bytes).then_some(Bytes { start: data.as_ptr()?.cast_mut(), length })
        };
        let target = |memory: &mut Memory<'_>, span: Span| {
            let length = length(span)?;
            let mut room = memory.target(span, datatype);
            let bytes = room.contiguous_mut()?;
            (bytes.len() == length).then_some(Bytes { start: bytes.as_mut_ptr(), length })
        };
        let lower = |step: &Step| {
            Some(match *step {
                Step::Reserve { bytes } if bytes <= LONGEST => Lower::Reserve { bytes: bytes as usize },
                Step::Put { at, from } => Lower::Put { at: at as usize, from: source(memory, from)? },
                Step::Publish => Lower::Publish,
                Step::Fetch { source, at, into } => {
                    Lower::Fetch { source, at: at as usize, into: target(memory, into)? }
                }
                Step::Fold { source, at, into } => {
                    reduction?;
                    Lower::Fold { source, at: at as usize, into: target(memory, into)? }
                }
                Step::Copy { from, into } if from.bytes == into.bytes => {
                    Lower::Copy { from: source(memory, from)?, into: target(memory, into)? }
                }
                _ => return None,
            })
        };
        let steps = steps.iter().map(lower).collect::<Option<_>>()?;
        Some(Lowered { steps, kernel: reduction.map(|(_, kernel)| kernel) })
    }

    /// Carries out steps from `next` on up to one that must wait for a word, which it returns; `None` after the last.
    /// Errors: what another process has published does not match; that step has changed nothing, and may be tried again.
    ///
    /// # Safety
    /// The memory of the schedule is alive, and nothing else uses it.
    #[inline]
    pub unsafe fn carry_out<'c>(
        &self,
        next: &mut usize,
        channel: &'c Channel,
        heading: Heading,
    ) -> Result<Option<AwaitedWord<'c>>> {
        let mut publication = None;
        while let Some(step) = self.steps.get(*next) {
            match *step {
                Lower::Reserve { bytes } => match channel.reserve(bytes) {
                    Ok(room) => publication = Some(room),
                    Err(awaited) => return Ok(Some(awaited)),
                },
                Lower::Put { at, from } => {
                    if let Some(room) = &mut publication {
                        // SAFETY: the caller's promise; nothing writes the contribution before it is put.
                        room.put(at, unsafe { from.read() });
                    }
                }
                // No step between a reservation and this one waits.
                Lower::Publish => {
                    if let Some(room) = publication.take() {
                        room.publish(heading.word());
                    }
                }
                Lower::Fetch { source, at, into } | Lower::Fold { source, at, into } => {
                    let published = match channel.read(source) {
                        Ok(published) => published,
                        Err(awaited) => return Ok(Some(awaited)),
                    };
                    heading.check(source, &published)?;
                    let data = published.bytes(at, into.length).ok_or_else(|| outside(source))?;
                    // SAFETY: the caller's promise; what other processes publish lies elsewhere.
                    let into = unsafe { into.write() };
                    match (step, self.kernel) {
                        (Lower::Fold { .. }, Some(kernel)) => kernel(data, into),
                        _ => into.copy_from_slice(data),
                    }
                }
                // SAFETY: the caller's promise. Both may be the same memory.
                Lower::Copy { from, into } => unsafe { std::ptr::copy(from.start, into.start, from.length) },
            }
            *next += 1;
        }
        Ok(None)
    }
}
