//! A recorder in the job memory.
#![allow(unsafe_code)] // words are found through the recorder's begin

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::{EntryMemory, Recorder, RecorderMemory, Recording};
use crate::layout::block;
use crate::mapping::Mapping;
use crate::sync::{AtomicU32, AtomicU64};

/// The entries of one rank, in its block.
#[derive(Clone)]
pub struct MappedEntries {
    /// The address of the recorder.
    base: NonNull<u8>,
    _mapping: Arc<Mapping>,
}

// SAFETY: `base` leads into the mapping, which is held; what lies there is accessed as atomics only.
unsafe impl Send for MappedEntries {}
// SAFETY: as above.
unsafe impl Sync for MappedEntries {}

/// One entry in the mapping.
#[derive(Clone, Copy, Debug)]
pub struct MappedEntry<'r> {
    /// Its address.
    at: NonNull<u8>,
    _entries: PhantomData<&'r MappedEntries>,
}

// SAFETY: as for the entries, which exist while it does.
unsafe impl Send for MappedEntry<'_> {}
// SAFETY: as above.
unsafe impl Sync for MappedEntry<'_> {}

impl<'r> EntryMemory<'r> for MappedEntry<'r> {
    #[inline(always)]
    fn word(self, offset: usize) -> &'r AtomicU64 {
        debug_assert!(offset.is_multiple_of(8));
        // SAFETY: `entry` gave the address of an entry, and the offsets are those of its words and of its times, which lie
        // inside the recorder for each entry; the entries are borrowed for 'r.
        unsafe { AtomicU64::from_ptr(self.at.as_ptr().add(offset).cast()) }
    }

    #[inline(always)]
    fn half(self, offset: usize) -> &'r AtomicU32 {
        debug_assert!(offset.is_multiple_of(4));
        // SAFETY: as in `word`; by the trait's rule these are halves everywhere.
        unsafe { AtomicU32::from_ptr(self.at.as_ptr().add(offset).cast()) }
    }
}

impl Recorder {
    pub(crate) fn new(mapping: Arc<Mapping>, block_at: usize) -> Recorder {
        let base = mapping.at(block_at + block::RECORDER, block::RECORDER_BYTES);
        Recording(MappedEntries { base, _mapping: mapping })
    }
}

impl RecorderMemory for MappedEntries {
    type Entry<'r> = MappedEntry<'r>;

    #[inline(always)]
    fn entry(&self, offset: usize) -> MappedEntry<'_> {
        debug_assert!(offset < block::RECORDER_BYTES / 2);
        // SAFETY: the offset is that of an entry, which the largest mask keeps inside.
        MappedEntry { at: unsafe { self.base.add(offset) }, _entries: PhantomData }
    }

    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset < block::RECORDER_BYTES);
        // SAFETY: `new` checked the whole recorder; the offsets are those of its first line or of an entry, which the
        // largest mask keeps inside, and multiples of 8; the mapping exists while `self` does.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }

    #[inline(always)]
    fn half(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4) && offset < block::RECORDER_BYTES);
        // SAFETY: as in `word`, multiples of 4; by the trait's rule these are halves everywhere.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(offset).cast()) }
    }
}
