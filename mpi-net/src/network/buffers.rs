//! The memory of the packets that are sent and received.
//!
//! Invariant: a buffer has one user, the caller or the provider.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use super::{BUFFER, RECEIVES, SENDS};

/// Memory of all buffers.
pub(super) struct Buffers {
    pub(super) at: *mut u8,
}

// SAFETY: memory of this value alone.
unsafe impl Send for Buffers {}

impl Buffers {
    pub(super) fn layout() -> Layout {
        Layout::from_size_align(BUFFER * (RECEIVES + SENDS), 4096).expect("a length far below the address space")
    }

    pub(super) fn new() -> Buffers {
        // SAFETY: the length is not 0.
        let at = unsafe { alloc_zeroed(Buffers::layout()) };
        if at.is_null() {
            handle_alloc_error(Buffers::layout());
        }
        Buffers { at }
    }

    /// A buffer. No other reference to it exists: it is not the provider's now, and the caller has the only access.
    pub(super) fn at(&mut self, number: u32) -> &mut [u8] {
        assert!((number as usize) < RECEIVES + SENDS, "buffer {number}");
        // SAFETY: inside the memory, which is initialised; borrowed from the value.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(number as usize * BUFFER), BUFFER) }
    }

    /// The same as words.
    pub(super) fn words(&self, number: u32) -> &[u64] {
        assert!((number as usize) < RECEIVES + SENDS, "buffer {number}");
        // SAFETY: as above; aligned, because the length of a buffer is a multiple of 8.
        unsafe { std::slice::from_raw_parts(self.at.add(number as usize * BUFFER).cast(), BUFFER / 8) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; the provider was closed before (`Inner` drops it first).
        unsafe { dealloc(self.at, Buffers::layout()) };
    }
}

/// Bytes of words.
pub(super) fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: all bytes of initialised words.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}
