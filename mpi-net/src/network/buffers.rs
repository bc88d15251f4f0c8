//! The memory of the packets that are sent and received.
//!
//! Invariant: a buffer has one user, the caller or the provider. One that was never used takes no memory, unless it is registered.

use std::alloc::{Layout, handle_alloc_error};
use std::ptr::null_mut;

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
        let (bytes, access) = (Buffers::layout().size(), libc::PROT_READ | libc::PROT_WRITE);
        // The allocator would write zeros to all of it.
        // SAFETY: new memory, at an address that the system chooses.
        let at = unsafe { libc::mmap(null_mut(), bytes, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        if at == libc::MAP_FAILED {
            handle_alloc_error(Buffers::layout());
        }
        Buffers { at: at.cast() }
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
        // SAFETY: mapped with this length; the provider was closed before (`Inner` drops it first).
        unsafe { libc::munmap(self.at.cast(), Buffers::layout().size()) };
    }
}

/// Bytes of words.
pub(super) fn bytes_of(words: &[u64]) -> &[u8] {
    // SAFETY: all bytes of initialised words.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}
