//! A ring in mapped memory: a control line pair, then the data.

use std::ptr::NonNull;

use super::RingMemory;
use crate::layout::LINE;
use crate::record::{Payload, copy_short};
use crate::sync::AtomicU64;

/// Bytes before the data: the report's line, and one more so that a prefetch of line pairs does not share it.
const CONTROL: usize = 2 * LINE;

/// One ring of the job memory.
#[derive(Clone)]
pub(crate) struct MappedRing {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is an address of memory that all processes share and that is accessed by the ring's protocol only.
unsafe impl Send for MappedRing {}

impl MappedRing {
    /// # Safety
    /// `at..at + ring_bytes` is mapped for as long as the value exists, is used by this protocol alone, and `at` is a
    /// multiple of a page, `ring_bytes` of a cache line.
    pub(crate) unsafe fn new(at: NonNull<u8>, ring_bytes: usize) -> MappedRing {
        // SAFETY: a ring is longer than its control lines (`layout::MIN_RING_BYTES`).
        MappedRing { data: unsafe { at.add(CONTROL) }, bytes: ring_bytes - CONTROL }
    }
}

impl RingMemory for MappedRing {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline(always)]
    fn credit(&self) -> &AtomicU64 {
        // SAFETY: the first word of the control lines, mapped and aligned by `new`'s contract.
        unsafe { AtomicU64::from_ptr(self.data.as_ptr().sub(CONTROL).cast()) }
    }

    #[inline(always)]
    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at.is_multiple_of(8) && at < self.bytes);
        // SAFETY: inside the mapping and aligned, by the caller's contract.
        unsafe { AtomicU64::from_ptr(self.data.as_ptr().add(at).cast()) }
    }

    #[inline(always)]
    unsafe fn fill(&self, at: usize, len: usize, fill: impl FnOnce(&mut [u8])) {
        debug_assert!(at + len <= self.bytes);
        // SAFETY: inside the mapping by the caller's contract; the receiver does not read it before it is published,
        // and a process that breaks the protocol can damage only the bytes that it receives.
        fill(unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().add(at), len) });
    }

    #[inline(always)]
    unsafe fn write(&self, at: usize, src: &[u8]) {
        debug_assert!(at + src.len() <= self.bytes);
        // SAFETY: inside the mapping by the caller's contract, and `src` is not part of the ring.
        unsafe { copy_short(src.as_ptr(), self.data.as_ptr().add(at), src.len()) };
    }

    /// Demotes the lines to the cache that the cores share, where the receiver finds them sooner (measured: 64 bytes
    /// 272 against 324 ns for a half round trip). Other processors ignore or lack the hint.
    #[inline(always)]
    unsafe fn hand_over(&self, at: usize, bytes: usize) {
        debug_assert!(bytes > 0 && at + bytes <= self.bytes);
        #[cfg(target_arch = "x86_64")]
        {
            let mut done = 0;
            // A record has a line at least, so the first one needs no check; a constant length needs no loop.
            loop {
                // SAFETY: a hint about a line inside the mapping; it changes no memory, and is a no-op where unknown.
                unsafe {
                    let line = self.data.as_ptr().add(at + done);
                    std::arch::asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags));
                }
                done += LINE;
                if done >= bytes {
                    break;
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }

    #[inline(always)]
    unsafe fn view<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        debug_assert!(at + len <= self.bytes);
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we
        // report it as read.
        view(unsafe { Payload::new(self.data.as_ptr().add(at), len) })
    }
}
