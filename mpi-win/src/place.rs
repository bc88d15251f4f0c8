//! Elements in the memory of one process of a window.
//!
//! Not here: the check that their owner exposed them (`target`, `serve`).

use mpi_datatype::{RecvBuf, SendBuf};

use crate::basic::Basic;
use crate::memory::Memory;

/// Memory of one process that an operation may access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Its owner's rank in the window's group.
    pub rank: u32,
    /// Bytes from the start of the owner's window.
    pub offset: u64,
    pub count: u64,
    pub basic: Basic,
}

impl Place {
    /// Bytes of data that the elements have.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.basic.datatype.size())
    }

    /// The elements that hold the data bytes `at .. at + bytes`, both of whole elements.
    pub fn piece(&self, at: u64, bytes: u64) -> Place {
        let (size, extent) = (self.basic.datatype.size(), self.basic.datatype.extent() as u64);
        Place { offset: self.offset + at / size * extent, count: bytes / size, ..*self }
    }

    /// Its elements in its owner's memory, to be read.
    pub fn in_memory(&self, memory: &Memory) -> SendBuf<'static> {
        memory.elements(self.offset, self.count, self.basic).expect("the mapping is as long as its owner's memory")
    }

    /// Its elements in its owner's memory, to be written or changed.
    pub fn in_memory_mut(&self, memory: &Memory) -> RecvBuf<'static> {
        memory.elements_mut(self.offset, self.count, self.basic).expect("the mapping is as long as its owner's memory")
    }
}
