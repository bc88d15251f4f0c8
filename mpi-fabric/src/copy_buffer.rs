//! The copy buffer: memory of one sender through which its longer payloads go, to all receivers.
//!
//! The sender copies a payload into the next free part, and pushes a record with its offset into the ring of the
//! receiver, which copies the payload out. The parts are used in turn, around the whole buffer, so that a line is used
//! again only after it has left the second-level caches (see `layout`). A part is free again when its receiver has
//! reported the record as read; parts are freed in the order in which they were taken.
//! Invariant: a part is written only by the sender, and only while no receiver may read it. With a receiver that does not
//! read, the buffer runs full; payloads then go through the rings.
//! Not here: the records (`ring`).

use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::layout::LINE;

/// Most parts in use; more would make the queue of parts longer.
const MOST_PARTS: usize = 4096;

/// A part that a receiver may still read.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: usize,
    /// World rank of the receiver.
    dest: u32,
    /// The position in the ring to it behind the part's last record.
    position: u64,
}

/// The copy buffer of this process.
#[derive(Debug)]
pub(crate) struct CopyBuffer {
    memory: NonNull<u8>,
    bytes: usize,
    /// Where the next part is looked for.
    next: usize,
    /// In the order in which they were taken.
    parts: VecDeque<Part>,
}

// SAFETY: the pointer leads into the job memory, which outlives the value (its endpoint holds the job).
unsafe impl Send for CopyBuffer {}

impl CopyBuffer {
    /// # Safety
    /// `memory..memory + bytes` is mapped for as long as the value exists, aligned to a line, and no other code writes
    /// there.
    pub(crate) unsafe fn new(memory: NonNull<u8>, bytes: usize) -> CopyBuffer {
        CopyBuffer { memory, bytes, next: 0, parts: VecDeque::new() }
    }

    /// The longest payload that always fits once all receivers have read theirs.
    pub(crate) fn longest(&self) -> usize {
        self.bytes / 4
    }

    /// Finds room for `len` bytes, at most [`Self::longest`], and returns its offset: in the first `area` bytes, if there
    /// is room. `has_read` says of a receiver and a position in the ring to it whether all records up to there are read.
    /// Follow with [`Self::taken`].
    pub(crate) fn find(
        &mut self,
        len: usize,
        area: usize,
        mut has_read: impl FnMut(u32, u64) -> bool,
    ) -> Option<usize> {
        debug_assert!(len <= self.longest());
        let need = len.next_multiple_of(LINE);
        if need > self.bytes {
            return None;
        }
        let mut end = area.min(self.bytes);
        loop {
            let found = match self.parts.front() {
                // All is free; still in turn.
                None => Some(if self.next + need <= end { self.next } else { 0 }),
                // A part never ends where the oldest one starts, so that an empty and a full buffer differ.
                Some(oldest) if self.next > oldest.start => match self.next + need <= end {
                    true => Some(self.next),
                    false => (need < oldest.start).then_some(0),
                },
                Some(oldest) => (self.next + need < oldest.start).then_some(self.next),
            };
            if found.is_some() && self.parts.len() < MOST_PARTS {
                return found;
            }
            let oldest = self.parts.front()?;
            if has_read(oldest.dest, oldest.position) {
                self.parts.pop_front();
            } else if found.is_none() && end < self.bytes {
                end = self.bytes;
            } else {
                return None;
            }
        }
    }

    /// The `len` bytes at `start`, which were found, are in use until `dest` has read all records before `position`.
    pub(crate) fn taken(&mut self, start: usize, len: usize, dest: u32, position: u64) {
        if self.parts.capacity() == 0 {
            self.parts.reserve(MOST_PARTS);
        }
        self.parts.push_back(Part { start, dest, position });
        self.next = start + len.next_multiple_of(LINE);
    }

    /// The address of an offset.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.bytes);
        // SAFETY: inside the buffer.
        unsafe { self.memory.as_ptr().add(offset) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn buffer(bytes: usize) -> (Vec<u64>, CopyBuffer) {
        let mut memory = vec![0u64; bytes / 8];
        let at = NonNull::new(memory.as_mut_ptr().cast()).expect("memory");
        // SAFETY: the vector is returned with the buffer, and nothing here writes to it.
        let buffer = unsafe { CopyBuffer::new(at, bytes) };
        (memory, buffer)
    }

    #[test]
    fn parts_in_use_never_overlap_and_all_are_freed_in_turn() {
        let (_memory, mut buffer) = buffer(64 * LINE);
        let (mut read, mut live, mut position) = (HashMap::from([(0, 0), (1, 0)]), Vec::new(), 0);
        let mut random = 12345u64;
        let mut taken = 0;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (len, dest) = (1 + (random >> 33) as usize % buffer.longest(), (random >> 60) as u32 & 1);
            if let Some(start) = buffer.find(len, usize::MAX, |dest, position| read[&dest] >= position) {
                live.retain(|(_, _, dest, position)| read[dest] < *position);
                let end = start + len.next_multiple_of(LINE);
                assert!(end <= 64 * LINE && start.is_multiple_of(LINE));
                assert!(live.iter().all(|(from, to, ..)| end <= *from || start >= *to), "{start}..{end} in {live:?}");
                position += 1;
                buffer.taken(start, len, dest, position);
                live.push((start, end, dest, position));
                taken += 1;
            } else {
                // Nothing fits: the receivers read a part of what there is.
                read.insert((random >> 59) as u32 & 1, position);
            }
        }
        assert!(taken > 5000, "{taken}");
    }

    #[test]
    fn a_receiver_that_does_not_read_fills_the_buffer_and_nothing_more() {
        let (_memory, mut buffer) = buffer(64 * LINE);
        let longest = buffer.longest();
        let mut taken = 0;
        while let Some(start) = buffer.find(longest, usize::MAX, |_, _| false) {
            taken += 1;
            buffer.taken(start, longest, 0, taken);
        }
        assert!((3..=4).contains(&taken), "{taken}");
        assert!(buffer.find(longest, usize::MAX, |_, position| position <= 2).is_some());
    }
}
