//! The memory of one collective call: the program's buffers and working memory, by the spans of its steps.
//!
//! Invariant: a span is clipped to its buffer, so that no step leaves the memory of its call.
//! Not here: what the steps do with it (`run`, `schedule`).
#![allow(unsafe_code)] // steps name memory by spans; the borrow of the buffers is that of the whole call

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::lists::{Sizes, keep_recvs, keep_sends};
use crate::op::{Binning, Reducer};
use crate::scratch::{Areas, Scratch};
use crate::steps::{OTHER, Place, Span};

/// The buffers of one side of a call.
#[derive(Debug)]
pub enum Buffers<B> {
    /// This process needs none, or none is significant in it.
    Absent,
    /// `MPI_IN_PLACE`.
    InPlace,
    /// One buffer, the whole of `blocks` equal blocks in rank order.
    Whole {
        /// The buffer.
        buffer: B,
        /// Number of blocks.
        blocks: u32,
    },
    /// One buffer for each block.
    Each(Vec<B>),
}

impl<B> Buffers<B> {
    /// One buffer that is one block.
    pub fn one(buffer: B) -> Buffers<B> {
        Buffers::Whole { buffer, blocks: 1 }
    }

    /// The sizes of the buffers in bytes.
    fn layout(&self, bytes: impl Fn(&B) -> u64) -> Layout {
        match self {
            Buffers::Absent => Layout::Absent,
            Buffers::InPlace => Layout::InPlace,
            Buffers::Whole { buffer, blocks } => Layout::Whole { bytes: bytes(buffer), blocks: *blocks },
            Buffers::Each(each) => Layout::Each(each.iter().map(bytes).collect()),
        }
    }

    /// The one buffer, where there is one.
    #[inline(always)]
    pub(crate) fn as_whole(&self) -> Option<&B> {
        match self {
            Buffers::Whole { buffer, .. } => Some(buffer),
            Buffers::Absent | Buffers::InPlace | Buffers::Each(_) => None,
        }
    }

    /// As [`Buffers::as_whole`], to write.
    #[inline(always)]
    pub(crate) fn as_whole_mut(&mut self) -> Option<&mut B> {
        match self {
            Buffers::Whole { buffer, .. } => Some(buffer),
            Buffers::Absent | Buffers::InPlace | Buffers::Each(_) => None,
        }
    }

    fn piece(&self, piece: u32) -> Option<&B> {
        match self {
            Buffers::Whole { buffer, .. } => Some(buffer),
            Buffers::Each(each) => each.get(piece as usize),
            Buffers::Absent | Buffers::InPlace => None,
        }
    }

    fn piece_mut(&mut self, piece: u32) -> Option<&mut B> {
        match self {
            Buffers::Whole { buffer, .. } => Some(buffer),
            Buffers::Each(each) => each.get_mut(piece as usize),
            Buffers::Absent | Buffers::InPlace => None,
        }
    }
}

/// The sizes of [`Buffers`].
#[derive(Debug, Clone)]
pub(crate) enum Layout {
    Absent,
    InPlace,
    Whole { bytes: u64, blocks: u32 },
    Each(Sizes),
}

impl Layout {
    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        match self {
            Layout::Absent | Layout::InPlace => 0,
            Layout::Whole { bytes, .. } => *bytes,
            Layout::Each(each) => each.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        }
    }

    /// Whether it is `MPI_IN_PLACE`.
    pub fn in_place(&self) -> bool {
        matches!(self, Layout::InPlace)
    }

    /// Whether there are buffers.
    pub fn present(&self) -> bool {
        matches!(self, Layout::Whole { .. } | Layout::Each(_))
    }

    /// The same; `None` without buffers.
    pub fn bytes_if_present(&self) -> Option<u64> {
        self.present().then(|| self.bytes())
    }

    /// The whole of one buffer.
    pub fn whole(&self, place: Place) -> Span {
        Span { place, piece: 0, at: 0, bytes: self.bytes() }
    }

    /// One of its blocks.
    pub fn block(&self, place: Place, block: u32) -> Span {
        match self {
            Layout::Absent | Layout::InPlace => Span::EMPTY,
            Layout::Whole { bytes, blocks } => {
                let each = bytes / u64::from((*blocks).max(1));
                Span { place, piece: 0, at: u64::from(block) * each, bytes: each }
            }
            Layout::Each(each) => {
                let bytes = each.get(block as usize).copied().unwrap_or(0);
                Span { place, piece: block, at: 0, bytes }
            }
        }
    }
}

/// The memory of one call.
pub(crate) struct Memory<'b> {
    send: Buffers<SendBuf<'b>>,
    recv: Buffers<RecvBuf<'b>>,
    /// Working memory, if there is any.
    areas: Option<Box<Areas>>,
    /// How the elements of a reproducible sum are kept in working memory.
    binning: Option<Binning>,
}

impl<'b> Memory<'b> {
    /// The buffers of a call; no working memory yet.
    pub fn new(send: Buffers<SendBuf<'b>>, recv: Buffers<RecvBuf<'b>>) -> Memory<'b> {
        Memory { send, recv, areas: None, binning: None }
    }

    /// For a reproducible sum, if there is a binning.
    pub fn binned(mut self, binning: Option<Binning>) -> Memory<'b> {
        self.binning = binning;
        self
    }

    /// The sizes of the send and receive buffers.
    pub fn layouts(&self) -> (Layout, Layout) {
        (self.send.layout(SendBuf::bytes), self.recv.layout(RecvBuf::bytes))
    }

    /// Whether the elements in the receive buffer may be combined where they are: not those of a derived type with
    /// gaps, which may hold other data of the program, and not those of a buffer in another layout than the elements'
    /// type has, such as an array section.
    pub fn recv_is_native(&mut self) -> bool {
        self.recv.piece_mut(0).is_none_or(|buffer| buffer.native_mut().is_some())
    }

    /// Adds working memory of plain bytes. Errors: `MPI_ERR_NO_MEM`.
    pub fn add_bytes(&mut self, area: u8, bytes: u64) -> Result<Span> {
        let into = self.areas.get_or_insert_with(Areas::take).area_mut(area);
        into.memory.provide(bytes)?;
        into.elements = None;
        Ok(Span { place: Place::Work(area), piece: 0, at: 0, bytes })
    }

    /// Adds working memory that holds these words. Errors: `MPI_ERR_NO_MEM`.
    pub fn add_words(&mut self, area: u8, words: &[u64]) -> Result<Span> {
        let span = self.add_bytes(area, 8 * words.len() as u64)?;
        self.set_words(span, words);
        Ok(span)
    }

    /// The words of a span of working memory of bytes.
    pub fn words(&self, span: Span) -> Vec<u64> {
        let bytes = self.source(span, None);
        let words = bytes.native().unwrap_or_default().chunks_exact(8);
        words.map(|word| u64::from_ne_bytes(*word.first_chunk().expect("a whole word"))).collect()
    }

    /// Stores words in working memory of bytes.
    pub fn set_words(&mut self, span: Span, words: &[u64]) {
        let mut bytes = self.target(span, None);
        let room = bytes.native_mut().unwrap_or_default().chunks_exact_mut(8);
        room.zip(words).for_each(|(room, word)| room.copy_from_slice(&word.to_ne_bytes()));
    }

    /// Adds working memory for elements. Errors: `MPI_ERR_NO_MEM`.
    pub fn add_elements(&mut self, area: u8, count: u64, datatype: &Datatype) -> Result<Span> {
        if let Some(binning) = self.binning {
            return self.add_bytes(area, count.saturating_mul(binning.size()));
        }
        let into = self.areas.get_or_insert_with(Areas::take).area_mut(area);
        into.memory.provide_elements(datatype, count)?;
        into.elements = Some(count);
        Ok(Span { place: Place::Work(area), piece: 0, at: 0, bytes: count * datatype.size() })
    }

    /// The bytes of a span, to read. `datatype` is the type of the reduction's elements, if it is one.
    pub fn source(&self, span: Span, datatype: Option<&Datatype>) -> SendBuf<'_> {
        let whole = match span.place {
            Place::Send => self.send.piece(span.piece).cloned(),
            Place::Recv => self.recv.piece(span.piece).map(RecvBuf::as_send),
            Place::Work(area) => self.areas.as_ref().and_then(|areas| {
                let area = areas.area(area);
                let bytes = area.memory.bytes();
                match (area.elements, datatype) {
                    (Some(count), Some(datatype)) => SendBuf::in_span(bytes, count, datatype),
                    _ => Some(SendBuf::from_slice(bytes)),
                }
            }),
        };
        whole.map_or(SendBuf::empty(), |whole| whole.part(span.at, span.bytes))
    }

    /// The bytes of a span, to write.
    pub fn target(&mut self, span: Span, datatype: Option<&Datatype>) -> RecvBuf<'_> {
        let whole = match span.place {
            Place::Send => None,
            Place::Recv => self.recv.piece_mut(span.piece).map(RecvBuf::reborrow),
            Place::Work(area) => self.areas.as_mut().and_then(|areas| {
                let area = areas.area_mut(area);
                let elements = area.elements;
                let bytes = area.memory.bytes_mut();
                match (elements, datatype) {
                    (Some(count), Some(datatype)) => RecvBuf::in_span(bytes, count, datatype),
                    _ => Some(RecvBuf::from_slice(bytes)),
                }
            }),
        };
        let Some(mut whole) = whole else { return RecvBuf::empty() };
        let part = whole.part(span.at, span.bytes);
        // SAFETY: the part is borrowed as long as `self` is, as `whole` was.
        unsafe { part.detach() }
    }

    /// The bytes of two spans that do not overlap: to read the first, and to write the second.
    pub fn both(&mut self, from: Span, into: Span, datatype: Option<&Datatype>) -> (SendBuf<'_>, RecvBuf<'_>) {
        // SAFETY: both are borrowed as long as `self` is, and steps name different memory (`Steps`).
        let from = unsafe { self.source(from, datatype).detach() };
        (from, self.target(into, datatype))
    }

    /// Combines elements that another process published: `into = data op into`. Unless that is possible where they are
    /// (`direct`), they are copied to the area [`OTHER`] first.
    pub fn fold(
        &mut self,
        data: &[u8],
        into: Span,
        datatype: &Datatype,
        reducer: &Reducer<'_>,
        direct: bool,
    ) -> Result<()> {
        if !direct {
            let other = Span { place: Place::Work(OTHER), piece: 0, at: 0, bytes: into.bytes };
            self.target(other, Some(datatype)).unpack(0, data);
            return self.combine(other, into, datatype, reducer);
        }
        let count = into.bytes / datatype.size().max(1);
        match self.target(into, Some(datatype)).native_mut() {
            Some(into) => {
                reducer.apply(data, into, count);
                Ok(())
            }
            None => Err(Error::new(MPI_ERR_INTERN, "elements of a derived datatype in the program's memory")),
        }
    }

    /// Combines elements: `into = from op into`.
    pub fn combine(&mut self, from: Span, into: Span, datatype: &Datatype, reducer: &Reducer<'_>) -> Result<()> {
        let (count, binning) = (into.bytes / datatype.size().max(1), self.binning);
        let (from, mut into) = self.both(from, into, Some(datatype));
        match (from.native(), into.native_mut()) {
            (Some(from), Some(into)) => {
                match binning {
                    None => reducer.apply(from, into, count),
                    Some(_) => Binning::add(from, into),
                }
                Ok(())
            }
            _ => Err(no_elements()),
        }
    }

    /// Converts numbers of the program to sums, for a reproducible sum.
    pub fn widen(&mut self, from: Span, into: Span) -> Result<()> {
        let Some(binning) = self.binning else { return Err(no_elements()) };
        let (from, mut into) = self.both(from, into, None);
        let Some(sums) = into.native_mut() else { return Err(no_elements()) };
        if let Some(numbers) = from.native() {
            binning.widen(numbers, sums);
            return Ok(());
        }
        // Numbers with gaps between them.
        let mut packed = Scratch::new(from.bytes())?;
        RecvBuf::from_slice(packed.bytes_mut()).copy_from(&from);
        binning.widen(packed.bytes(), sums);
        Ok(())
    }

    /// Rounds sums to numbers of the program, for a reproducible sum.
    pub fn narrow(&mut self, from: Span, into: Span) -> Result<()> {
        let Some(binning) = self.binning else { return Err(no_elements()) };
        let (from, mut into) = self.both(from, into, None);
        let Some(sums) = from.native() else { return Err(no_elements()) };
        if let Some(numbers) = into.native_mut() {
            binning.narrow(sums, numbers);
            return Ok(());
        }
        let mut packed = Scratch::new(into.bytes())?;
        binning.narrow(sums, packed.bytes_mut());
        into.copy_from(&SendBuf::from_slice(packed.bytes()));
        Ok(())
    }
}

impl Drop for Memory<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(areas) = self.areas.take() {
            areas.keep();
        }
        if let Buffers::Each(list) = &mut self.send {
            keep_sends(std::mem::take(list));
        }
        if let Buffers::Each(list) = &mut self.recv {
            keep_recvs(std::mem::take(list));
        }
    }
}

#[cold]
fn no_elements() -> Error {
    Error::new(MPI_ERR_INTERN, "elements of a derived datatype in the program's memory")
}
