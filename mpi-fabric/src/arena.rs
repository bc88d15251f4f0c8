//! The arena of a process: shared memory for blocks of the program from which receivers copy messages themselves.
//!
//! It consists of a few segments, each an object without a name with a page in front that identifies it. The process keeps the
//! descriptors. A receiver opens a segment through the owner's entry in `/proc` when an offer first names it, and keeps it
//! mapped. Blocks are ranges of whole pages. A freed range gives its pages back to the system (a hole in the object), which
//! removes them from all mappings, so a peer keeps no freed memory alive; the last freed ranges keep their pages for the next
//! blocks of their size. A range may be used again at once, because a send is complete only when its receiver has copied.
//! Invariant: no process can make a segment shorter, and the owner never unmaps one. A page belongs to one block, is
//! one of the last freed ones, or is free.
//! Not here: which blocks come from here (`mpi-env`), the mappings of receivers (`peer_arenas`).

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Once};

mod ranges;

use self::ranges::Ranges;
use crate::layout::PAGE;
use crate::mapping::{Mapping, identity_of};
use crate::shared::host_memory;
use crate::shared_objects::{self, SEGMENT};
use crate::transport::ProcessId;

/// Words of the page in front of a segment: a constant, the number of the segment, and its owner.
pub(crate) const KIND: usize = 0;
pub(crate) const NUMBER: usize = 8;
pub(crate) const JOB: usize = 16;
pub(crate) const RANK: usize = 24;
/// The word at [`KIND`].
pub(crate) const ARENA: u64 = u64::from_ne_bytes(*b"allocmem");

/// Bytes of the first segment, unless a block is longer.
const FIRST_SEGMENT: usize = 64 << 20;

/// How many freed ranges keep their pages, and how many bytes they have at most: as much as the C library keeps.
const KEPT: usize = 8;
const KEPT_BYTES: usize = 32 << 20;

/// The owner's descriptor of a segment. The number has it in its high half, beside [`SEGMENT`]; the low half counts the segments
/// of the process.
pub(crate) fn descriptor_of(number: u64) -> i32 {
    ((number & !SEGMENT) >> 32) as i32
}

/// The arena of a process; used by one thread at a time.
#[derive(Debug)]
pub struct Arena {
    owner: ProcessId,
    segments: Vec<Segment>,
    /// The last freed ranges, which keep their pages, oldest first.
    kept: Vec<Kept>,
}

/// One object, without the page in front.
#[derive(Debug)]
struct Segment {
    /// The address in this process.
    start: usize,
    bytes: usize,
    free: Ranges,
}

/// A freed range that keeps its pages.
#[derive(Debug)]
struct Kept {
    segment: usize,
    offset: usize,
    bytes: usize,
}

impl Arena {
    /// The arena of this process, which has none yet. `None` if the host grants no more memory than it has (strict
    /// overcommitment): it would refuse a page of shared memory only at its first use, which ends the process.
    pub fn new(owner: ProcessId) -> Option<Arena> {
        let mode = std::fs::read("/proc/sys/vm/overcommit_memory").unwrap_or_default();
        (mode.first() != Some(&b'2')).then(|| Arena { owner, segments: Vec::new(), kept: Vec::new() })
    }

    /// The address of a new block of whole pages, which is a multiple of `alignment`, a power of two. What the memory
    /// holds is not defined. `None`: the process cannot have it as shared memory.
    pub fn allocate(&mut self, bytes: u64, alignment: usize) -> Option<usize> {
        if bytes == 0 || bytes > host_memory() {
            return None;
        }
        let bytes = (bytes as usize).next_multiple_of(PAGE);
        let alignment = alignment.max(PAGE);
        let fits = |kept: &Kept| {
            kept.bytes == bytes && (self.segments[kept.segment].start + kept.offset).is_multiple_of(alignment)
        };
        if let Some(at) = self.kept.iter().rposition(fits) {
            let kept = self.kept.remove(at);
            return Some(self.segments[kept.segment].start + kept.offset);
        }
        self.take(bytes, alignment)
            .or_else(|| {
                while !self.kept.is_empty() {
                    self.discard_oldest();
                }
                self.take(bytes, alignment)
            })
            .or_else(|| {
                self.add_segment(bytes, alignment)?;
                self.take(bytes, alignment)
            })
    }

    fn take(&mut self, bytes: usize, alignment: usize) -> Option<usize> {
        self.segments.iter_mut().find_map(|segment| segment.free.take(bytes, alignment, segment.start))
    }

    /// Frees a block of [`Self::allocate`], of which the program makes no use any more.
    ///
    /// # Safety
    /// It was allocated with these bytes and is freed once.
    pub unsafe fn free(&mut self, address: usize, bytes: u64) {
        let bytes = (bytes as usize).next_multiple_of(PAGE);
        let is_in = |segment: &Segment| address.wrapping_sub(segment.start) < segment.bytes;
        let segment = self.segments.iter().position(is_in).expect("a block lies in a segment");
        let offset = address - self.segments[segment].start;
        self.kept.push(Kept { segment, offset, bytes });
        while self.kept.len() > KEPT || self.kept.iter().map(|kept| kept.bytes).sum::<usize>() > KEPT_BYTES {
            self.discard_oldest();
        }
    }

    /// Gives the pages of the range that was freed first back to the system.
    fn discard_oldest(&mut self) {
        let Kept { segment, offset, bytes } = self.kept.remove(0);
        let segment = &mut self.segments[segment];
        let address = std::ptr::with_exposed_provenance_mut(segment.start + offset);
        // SAFETY: whole pages of a block that the program has freed, in a mapping of this process. Where the kernel
        // cannot do it, the pages stay until the next block uses them.
        unsafe { libc::madvise(address, bytes, libc::MADV_REMOVE) };
        segment.free.give(offset, bytes);
    }

    /// Makes a segment in which such a block finds room: as long as all others together, if the process may have that.
    #[cold]
    fn add_segment(&mut self, bytes: usize, alignment: usize) -> Option<()> {
        // The memory begins behind the page in front, so any alignment may need so much more.
        let least = bytes.checked_add(alignment)?;
        let all: usize = self.segments.iter().map(|segment| segment.bytes).sum();
        let usual = least.max(all).max(FIRST_SEGMENT).next_multiple_of(PAGE);
        let segment = self.segment(usual).or_else(|_| self.segment(least)).ok()?;
        self.segments.push(segment);
        Some(())
    }

    fn segment(&self, bytes: usize) -> io::Result<Segment> {
        let (descriptor, mapping) = Mapping::create(c"ferrum-alloc", PAGE + bytes, std::iter::once((0, PAGE)))?;
        let number = SEGMENT | (descriptor.as_raw_fd() as u64) << 32 | self.segments.len() as u64;
        for (at, word) in [(KIND, ARENA), (NUMBER, number), (JOB, self.owner.job), (RANK, u64::from(self.owner.rank))] {
            // Relaxed: a process that opens it gets the number of the segment afterwards, in a message.
            mapping.word(at).store(word, Ordering::Relaxed);
        }
        let (whole, start) = (mapping.at(0, PAGE).as_ptr(), mapping.at(PAGE, bytes).as_ptr().expose_provenance());
        // SAFETY: a mapping of this process. A hint: hosts that allow large pages for shared memory on request use them.
        unsafe { libc::madvise(whole.cast(), mapping.bytes(), libc::MADV_HUGEPAGE) };
        keep_from_children(&mapping, descriptor.as_raw_fd());
        // The table of the process keeps the mapping, and the descriptor stays open, until the process ends.
        shared_objects::add(number, &Arc::new(mapping));
        let _ = descriptor.into_raw_fd();
        Ok(Segment { start, bytes, free: Ranges::one(bytes) })
    }
}

/// What a child of `fork` needs of a segment.
struct Forked {
    start: usize,
    bytes: usize,
    descriptor: i32,
    /// Device and inode.
    identity: (u64, u64),
    next: *const Forked,
}

/// The segments of this process, the newest first. They are only added.
static SEGMENTS: AtomicPtr<Forked> = AtomicPtr::new(std::ptr::null_mut());

/// From now on a child of `fork` gets the segment as private memory.
fn keep_from_children(mapping: &Mapping, descriptor: i32) {
    static ONCE: Once = Once::new();
    // SAFETY: C calls this function of the library while the library is loaded.
    ONCE.call_once(|| unsafe { _ = pthread_atfork(None, None, Some(in_child)) });
    let Some(identity) = identity_of(descriptor) else { return };
    let start = mapping.at(0, PAGE).as_ptr().expose_provenance();
    let new = Box::new(Forked { start, bytes: mapping.bytes(), descriptor, identity, next: std::ptr::null() });
    let new = Box::leak(new);
    let mut newest = SEGMENTS.load(Ordering::Relaxed);
    loop {
        new.next = newest;
        // Release pairs with the Acquire in `in_child`.
        match SEGMENTS.compare_exchange(newest, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => newest = now,
        }
    }
}

/// In a child of `fork`: replaces the segments by private mappings of the same objects, so that what the child writes
/// stays in the child, as with other memory. Makes system calls only, because the parent may have threads.
extern "C" fn in_child() {
    // Acquire pairs with the Release in `keep_from_children`.
    let mut next = SEGMENTS.load(Ordering::Acquire).cast_const();
    // SAFETY: entries are leaked, and complete when they are in the list.
    while let Some(Forked { start, bytes, descriptor, identity, next: other }) = unsafe { next.as_ref() } {
        next = *other;
        let start = std::ptr::with_exposed_provenance_mut(*start);
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the range is a mapping of the library, and its content stays the same. If the program has closed the
        // descriptor, the child may read the memory only.
        unsafe {
            let same = identity_of(*descriptor) == Some(*identity);
            if !same || libc::mmap(start, *bytes, rights, flags, *descriptor, 0) == libc::MAP_FAILED {
                libc::mprotect(start, *bytes, libc::PROT_READ);
            }
        }
    }
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> libc::c_int;
}

#[cfg(test)]
mod tests;
