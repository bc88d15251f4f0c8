//! Elements in the memory of one process of a window.
//!
//! Not here: the check that their owner exposed them (`target`, `serve`).

use mpi_datatype::{Layout, RecvBuf, SendBuf, TypedBuf};

use crate::blocks::Block;
use crate::elements::Elements;
use crate::memory::Memory;

/// Bytes of a run of data, on average, from which on the kernel copies runs one by one; shorter ones are packed and
/// sent.
const LONG_RUN: u64 = 512;

/// Memory of one process that an operation may access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'t> {
    /// Its owner's rank in the window's group.
    pub rank: u32,
    /// Bytes from the start of the owner's window to the address of the first element.
    pub offset: u64,
    pub elements: Elements<'t>,
}

/// A part of a place, as a record names it.
#[derive(Debug)]
pub(crate) struct Cut<'t> {
    /// Elements of a predefined type; significant if there are no blocks.
    pub place: Place<'t>,
    /// The memory of the part, if its elements are of a derived type.
    pub blocks: Vec<Block>,
    /// Bytes of data.
    pub bytes: u64,
}

impl<'t> Place<'t> {
    /// Bytes of data that the elements have.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.elements.bytes()
    }

    /// Bytes of data that have to stay together: those of an element that is combined.
    #[inline]
    pub fn unit(&self) -> u64 {
        self.elements.basic.datatype.size()
    }

    /// The part that has the data bytes from `at` on, of which one record can name some: up to `most`. Both are whole
    /// numbers of units.
    pub fn cut(&self, at: u64, most: u64) -> Cut<'t> {
        let Some(datatype) = self.elements.derived else {
            let (size, extent) = (self.unit(), self.elements.basic.datatype.extent() as u64);
            let elements = Elements { count: most / size, ..self.elements };
            let place = Place { offset: self.offset + at / size * extent, elements, ..*self };
            return Cut { place, blocks: Vec::new(), bytes: most };
        };
        let (mut blocks, mut bytes) = Block::list(self.offset, datatype, at, most);
        if !bytes.is_multiple_of(self.unit()) {
            // The list is full within an element.
            (blocks, bytes) = Block::list(self.offset, datatype, at, bytes / self.unit() * self.unit());
        }
        Cut { place: *self, blocks, bytes }
    }

    /// The offsets from the start of the window, and the lengths, of the runs of the first `bytes` data bytes.
    pub fn runs(&self, bytes: u64) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        self.elements.datatype().each_run(0, bytes, |offset, length| {
            runs.push((self.offset.wrapping_add_signed(offset), length));
            true
        });
        runs
    }

    /// Whether the place and a buffer have long runs, on average.
    pub fn has_long_runs<Access>(&self, buffer: &TypedBuf<'_, Access>) -> bool {
        let place = self.elements.datatype().layout().map_or(u64::MAX, Layout::mean_run);
        place.min(buffer.mean_run()) >= LONG_RUN
    }

    /// Its elements in its owner's memory, to be read.
    pub fn in_memory(&self, memory: &Memory) -> SendBuf<'static> {
        memory.elements(self.offset, &self.elements).expect("the mapping is as long as its owner's memory")
    }

    /// Its elements in its owner's memory, to be written or changed.
    pub fn in_memory_mut(&self, memory: &Memory) -> RecvBuf<'static> {
        memory.elements_mut(self.offset, &self.elements).expect("they do not overlap, and lie inside of the memory")
    }
}
